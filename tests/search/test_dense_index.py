"""Articles as vectors in 8 bits."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexarbor.errors import SearchError
from lexarbor.search.dense import DenseIndex

DRAW = np.random.default_rng(0)


def drawn(*shape: int) -> np.ndarray:
    found = DRAW.normal(size=shape).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def test_scores_are_the_products_of_the_rounded_vectors() -> None:
    vectors, questions = drawn(500, 384), drawn(7, 384)
    index = DenseIndex.build(vectors)
    rounded = index.vectors * index.scales[:, None]
    assert np.abs(rounded - vectors).max() <= index.scales.max() / 2 * 1.001
    assert np.allclose(index.scores(questions), questions @ rounded.T, atol=2e-4)


def test_what_is_nearest_comes_first() -> None:
    vectors = drawn(300, 64)
    scores = DenseIndex.build(vectors).scores(vectors[:20])
    assert (scores.argmax(axis=1) == np.arange(20)).all()
    assert np.allclose(scores[np.arange(20), np.arange(20)], 1, atol=0.01)


def test_many_questions_score_as_each_alone() -> None:
    index, questions = DenseIndex.build(drawn(50, 32)), drawn(9, 32)
    alone = np.concatenate([index.scores(question[None]) for question in questions])
    assert (index.scores(questions) == alone).all()


@given(st.floats(1e-20, 1e20))
def test_scale_does_not_matter(factor: float) -> None:
    vectors, questions = drawn(20, 16), drawn(2, 16)
    index = DenseIndex.build(vectors)
    assert np.allclose(index.scores(questions * np.float32(factor)) / factor, index.scores(questions), atol=1e-4)


def test_vectors_of_zeros_score_nothing() -> None:
    index = DenseIndex.build(np.zeros((3, 8), dtype=np.float32))
    assert (index.scores(drawn(2, 8)) == 0).all()
    assert (DenseIndex.build(drawn(3, 8)).scores(np.zeros((1, 8), dtype=np.float32)) == 0).all()


def test_a_saved_index_scores_alike(tmp_path: Path) -> None:
    index, questions = DenseIndex.build(drawn(50, 32)), drawn(3, 32)
    index.save(tmp_path / "dense")
    assert (DenseIndex.load(tmp_path / "dense").scores(questions) == index.scores(questions)).all()


def test_what_does_not_fit_is_refused_with_both_values() -> None:
    with pytest.raises(SearchError, match=r"a question's vector is \(31,\), those of the index are 32"):
        DenseIndex.build(drawn(5, 32)).scores(drawn(1, 31))
    with pytest.raises(SearchError, match=r"vectors are \(0, 3\) and scales \(0,\)"):
        DenseIndex.build(np.zeros((0, 3), dtype=np.float32))
    with pytest.raises(SearchError, match="some vectors are no numbers"):
        DenseIndex.build(np.array([[1, np.nan]], dtype=np.float32))
