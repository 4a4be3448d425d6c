"""Intervals and the paired test; golden numbers from SciPy."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from lexarbor.errors import EvaluationError
from lexarbor.evaluation import (
    bootstrap_interval,
    holm,
    paired_interval,
    randomisation_test,
    significance,
)


def pair(size: int, shift: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    second = rng.random(size)
    return second + rng.normal(shift, 0.2, size), second


def test_the_interval_is_that_of_scipy() -> None:
    scores = np.random.default_rng(1).random(160)
    ours = bootstrap_interval(scores)
    golden = stats.bootstrap((scores,), np.mean, method="percentile", n_resamples=10_000, rng=2).confidence_interval
    assert ours.mean == pytest.approx(scores.mean())
    assert (ours.low, ours.high) == pytest.approx((golden.low, golden.high), abs=0.003)


def test_the_interval_is_the_same_when_drawn_again_and_not_with_another_seed() -> None:
    scores = [0.1, 0.5, 0.9, 0.2]
    assert bootstrap_interval(scores, seed=3) == bootstrap_interval(scores, seed=3)
    assert bootstrap_interval(scores, seed=3, resamples=99) != bootstrap_interval(scores, seed=4, resamples=99)


def test_a_higher_level_gives_a_wider_interval() -> None:
    scores = np.random.default_rng(1).random(50)
    wide, narrow = bootstrap_interval(scores, level=0.99), bootstrap_interval(scores, level=0.8)
    assert wide.low < narrow.low < narrow.mean < narrow.high < wide.high


def test_equal_scores_have_an_interval_of_no_width() -> None:
    assert bootstrap_interval([0.5] * 9) == (0.5, 0.5, 0.5)


def test_draws_in_batches_are_all_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = pair(20, 0.05)
    monkeypatch.setattr(significance, "CELLS_AT_ONCE", 50)
    interval = bootstrap_interval(first, resamples=1001)
    assert interval.low < interval.mean < interval.high
    p = randomisation_test(first, second, resamples=1001)
    assert p * 1002 == pytest.approx(round(p * 1002))


def test_the_paired_interval_is_of_the_difference() -> None:
    first, second = pair(160, 0.1)
    interval = paired_interval(first, second)
    assert interval.mean == pytest.approx(first.mean() - second.mean())
    assert 0 < interval.low < interval.high
    assert paired_interval(second, first).mean == pytest.approx(-interval.mean)


@pytest.mark.parametrize("shift", [0.0, 0.02, 0.05])
def test_the_randomisation_test_is_scipys_permutation_test(shift: float) -> None:
    first, second = pair(80, shift)
    golden = stats.permutation_test(
        (first, second), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=10_000, rng=5,
        vectorized=False,
    )  # fmt: skip
    assert randomisation_test(first, second) == pytest.approx(golden.pvalue, abs=0.02)


def test_the_randomisation_test_by_hand() -> None:
    # Of the 8 ways to sign three equal differences, 2 are as extreme as the observed one, rounding aside.
    p = randomisation_test([0.3, 0.3, 0.3], [0.1, 0.1, 0.1], resamples=40_000)
    assert p == pytest.approx(2 / 8, abs=0.01)


def test_the_randomisation_test_is_never_zero_and_one_without_a_difference() -> None:
    first, second = pair(160, 1.0)
    assert randomisation_test(first, second, resamples=99) == 1 / 100
    assert randomisation_test(first, first) == 1


def test_holm_by_hand() -> None:
    # 3 x 0.01, then 2 x 0.04, then 1 x 0.06, which may not fall below the one before it.
    assert holm({"b": 0.04, "a": 0.01, "c": 0.06}) == pytest.approx({"b": 0.08, "a": 0.03, "c": 0.08})
    assert list(holm({"b": 0.04, "a": 0.01})) == ["b", "a"]
    assert holm({"a": 0.9, "b": 0.8}) == {"a": 1, "b": 1}
    assert holm({}) == {}


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_only_raises_and_keeps_the_order(values: list[float]) -> None:
    p_values = {str(number): p for number, p in enumerate(values)}
    adjusted = holm(p_values)
    assert all(p <= adjusted[name] <= 1 for name, p in p_values.items())
    by_value = sorted(p_values, key=lambda name: p_values[name])
    assert [adjusted[name] for name in by_value] == sorted(adjusted.values())


@pytest.mark.parametrize(
    ("refused", "message"),
    [
        (lambda: bootstrap_interval([]), r"shape \(0,\); expected one figure for each question"),
        (lambda: bootstrap_interval(np.zeros((2, 2))), r"shape \(2, 2\)"),
        (lambda: bootstrap_interval([0.1, float("nan")]), "not a finite number"),
        (lambda: bootstrap_interval([0.1], level=95), "confidence level of 95"),
        (lambda: bootstrap_interval([0.1], resamples=0), "0 resamples"),
        (lambda: randomisation_test([0.1], [0.1], resamples=-1), "-1 resamples"),
        (lambda: paired_interval([0.1, 0.2], [0.1]), "2 scores against 1"),
        (lambda: holm({"a": 1.2}), "p-value of 'a' is 1.2"),
        (lambda: holm({"a": float("nan")}), "p-value of 'a' is nan"),
    ],
)
def test_what_cannot_be_tested_is_refused(refused: Callable[[], object], message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        refused()
