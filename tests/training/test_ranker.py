"""Weights of features, on toys whose answer is known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexarbor.training.ranker import Example, fit_weights


def toys(count: int = 12, candidates: int = 15) -> list[Example]:
    """Questions whose answer is the candidate that has the most of the second feature; the others are noise. No two
    have as many candidates.
    """
    draw = np.random.default_rng(0)
    found = []
    for number in range(count):
        features = draw.normal(size=(candidates + number, 3)).astype(np.float32)
        found.append(Example(features, features[:, 1] == features[:, 1].max()))
    return found


TOYS = toys()
WEIGHTS = fit_weights(TOYS)


def test_the_feature_that_tells_answers_apart_is_found() -> None:
    assert WEIGHTS.shape == (3,) and WEIGHTS.dtype == np.float32
    assert WEIGHTS[1] > 5 * max(abs(WEIGHTS[0]), abs(WEIGHTS[2]))
    for one in TOYS:
        assert one.answers[np.argmax(one.features @ WEIGHTS)]


def test_one_that_answers_lack_gets_a_weight_below_zero() -> None:
    turned = [Example(one.features * np.float32([1, -1, 1]), one.answers) for one in TOYS]
    assert fit_weights(turned) == pytest.approx(WEIGHTS * [1, -1, 1], rel=1e-3, abs=1e-3)


@settings(max_examples=10, deadline=None)
@given(st.tuples(*[st.floats(0.01, 100)] * 3), st.tuples(*[st.floats(-10, 10)] * 3))
def test_the_scale_of_a_feature_divides_its_weight_and_its_zero_does_not_matter(
    scale: tuple[float, ...], shift: tuple[float, ...]
) -> None:
    by, zero = np.array(scale), np.array(shift)
    moved = [Example(((one.features + zero) * by).astype(np.float32), one.answers) for one in TOYS]
    assert fit_weights(moved) * by == pytest.approx(WEIGHTS, rel=0.02, abs=0.02)


def test_the_order_of_candidates_and_questions_does_not_matter() -> None:
    turned = [Example(one.features[::-1].copy(), one.answers[::-1].copy()) for one in reversed(TOYS)]
    assert fit_weights(turned) == pytest.approx(WEIGHTS, rel=1e-2, abs=1e-2)


def test_what_is_the_same_for_all_candidates_gets_no_weight() -> None:
    same = [Example(np.c_[one.features, np.full(len(one.answers), 3, np.float32)], one.answers) for one in TOYS]
    found = fit_weights(same)
    assert found[:3] == pytest.approx(WEIGHTS, rel=1e-2, abs=1e-2)
    assert found[3] == pytest.approx(0, abs=1e-3)


def test_several_answers_share_what_there_is() -> None:
    features = np.array([[1, 0], [1, 0], [0, 1], [0, 0]], dtype=np.float32)
    found = fit_weights([Example(features, np.array([True, True, False, False]))])
    scores = features @ found
    assert scores[0] == scores[1] > max(scores[2:])
