"""Questions asked before, remembered by their vectors: three of them, by hand."""

from pathlib import Path

import numpy as np
import pytest

from lexarbor.errors import SearchError
from lexarbor.search.recollection import Recalled, Recollection, Remembered

QUESTIONS = (
    Remembered("F12", 2020),
    Remembered("q1", text="Un chien\u2028perdu ?"),
    Remembered("F99", 2020, elsewhere=("Code civil", "Code rural")),
)
VECTORS = np.array([[1, 0], [0.5, 0.75], [0, -1]], dtype=np.float32)
LABELS = np.array([[0, 4, 0], [0, 1, 1], [1, 1, 0]], dtype=np.int32)
"""The first question is answered by the rows 4 and 1, of which the latter was amended since; the second by 1."""


@pytest.fixture
def recollection() -> Recollection:
    return Recollection(QUESTIONS, VECTORS, LABELS, 6)


def asked(*vector: float) -> np.ndarray:
    return np.array(vector, dtype=np.float32)


@pytest.mark.parametrize("length", [1e-3, 1, 10])
def test_likeness_is_the_product_of_directions(recollection: Recollection, length: float) -> None:
    assert recollection.likeness(asked(0.6 * length, 0.8 * length)) == pytest.approx([0.6, 0.9, -0.8])
    assert recollection.likeness(asked(0, 0)).tolist() == [0, 0, 0]


def test_an_article_gets_the_twentieth_powers_of_the_likeness_of_the_questions_that_it_answers(
    recollection: Recollection,
) -> None:
    scores = recollection.scores(asked(0.9, 0.75, 1))
    assert scores == pytest.approx([0, 0.9**20 + 0.75**20, 0, 0, 0.9**20, 0], rel=1e-5)
    assert scores.dtype == np.float32


def test_what_is_unlike_adds_nothing(recollection: Recollection) -> None:
    assert recollection.scores(asked(-1, -0.5, 1)).tolist() == [0] * 6  # an even power would


def test_popularity_counts_the_questions_that_an_article_answers(recollection: Recollection) -> None:
    assert recollection.popularity.tolist() == [0, 2, 0, 0, 1, 0]
    assert recollection.popularity.dtype == np.float32


def test_the_nearest_question_is_told_with_whether_the_article_was_amended(recollection: Recollection) -> None:
    assert recollection.nearest(1, asked(0.75, 0.5, 1)) == Recalled(QUESTIONS[0], 0.75, True)
    assert recollection.nearest(1, asked(0.25, 0.5, 1)) == Recalled(QUESTIONS[1], 0.5, False)
    assert recollection.nearest(1, asked(0.5, 0.5, 1)) == Recalled(QUESTIONS[0], 0.5, True)  # of two, the first
    assert recollection.nearest(4, asked(0.25, 0.5, 1)) == Recalled(QUESTIONS[0], 0.25, False)
    assert recollection.nearest(0, asked(1, 1, 1)) is None


def test_questions_that_other_law_answers_are_marked(recollection: Recollection) -> None:
    assert recollection.outside.tolist() == [False, False, True]
    nowhere = Recollection([Remembered("F1", elsewhere=())], VECTORS[:1], LABELS[:0], 6)
    assert nowhere.outside.tolist() == [True]  # where its answer is, is not known


def test_a_saved_recollection_is_the_same(recollection: Recollection, tmp_path: Path) -> None:
    recollection.save(tmp_path / "memory")
    found = Recollection.load(tmp_path / "memory", 6)
    assert found.questions == QUESTIONS
    assert (found.vectors == VECTORS).all() and found.vectors.dtype == np.float32
    assert (found.labels == LABELS).all()
    assert found.outside.tolist() == [False, False, True]


def test_likeness_is_the_same_before_and_after_it_was_saved(tmp_path: Path) -> None:
    vectors = np.random.default_rng(0).normal(size=(3, 8)).astype(np.float32)
    before = Recollection(QUESTIONS, vectors, LABELS, 6)
    assert np.abs(before.vectors - vectors).max() < 2e-3
    before.save(tmp_path / "memory")
    after = Recollection.load(tmp_path / "memory", 6)
    assert (after.likeness(vectors[0]) == before.likeness(vectors[0])).all()


@pytest.mark.parametrize(
    ("questions", "vectors", "labels", "message"),
    [
        (QUESTIONS[:2], VECTORS, LABELS, r"2 remembered questions, vectors \(3, 2\), labels \(3, 3\)"),
        (QUESTIONS, VECTORS[0], LABELS, r"vectors \(2,\)"),
        (QUESTIONS, VECTORS, LABELS[:, :2], r"labels \(3, 2\)"),
        (QUESTIONS, VECTORS, LABELS[0], r"labels \(3,\)"),
        (QUESTIONS, VECTORS, LABELS + np.array([3, 0, 0]), "name rows that are not below 3"),
        (QUESTIONS, VECTORS, LABELS - np.array([1, 0, 0]), "name rows that are not below 3"),
        (QUESTIONS, VECTORS, LABELS + np.array([0, 2, 0]), "name rows that are not below 6"),
        (QUESTIONS, VECTORS, LABELS - np.array([0, 2, 0]), "name rows that are not below 6"),
    ],
)
def test_what_does_not_fit_is_refused(
    questions: tuple[Remembered, ...], vectors: np.ndarray, labels: np.ndarray, message: str
) -> None:
    with pytest.raises(SearchError, match=message):
        Recollection(questions, vectors, labels, 6)
