"""How sure one may be: bootstrap intervals, the paired test, and Holm's correction for several comparisons.

Scores are one figure a question; in a pair, the same question stands at the same place on both sides.
Questions are the unit that is drawn again: the interval says what other questions might have given, not what
another training seed would. Every draw is seeded, so that a table printed twice is the same table.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lexarbor.errors import EvaluationError

Sample: TypeAlias = Sequence[float] | NDArray[np.float64]

RESAMPLES = 10_000
CELLS_AT_ONCE = 2_000_000  # of (resamples, questions): bounds the memory of one draw to tens of MB


class Interval(NamedTuple):
    """A mean and the percentile interval around it."""

    mean: float
    low: float
    high: float


def bootstrap_interval(scores: Sample, *, level: float = 0.95, resamples: int = RESAMPLES, seed: int = 0) -> Interval:
    """Percentile bootstrap interval of a mean: questions drawn with replacement, `resamples` times."""
    if not 0 < level < 1:
        raise EvaluationError(f"a confidence level of {level}; expected one between 0 and 1, such as 0.95")
    values = _sample(scores)
    rng = np.random.default_rng(seed)
    means = np.concatenate(
        [
            values[rng.integers(values.size, size=(rows, values.size))].mean(axis=1)
            for rows in _batches(resamples, values.size)
        ]
    )
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(values.mean()), float(low), float(high))


def paired_interval(
    first: Sample, second: Sample, *, level: float = 0.95, resamples: int = RESAMPLES, seed: int = 0
) -> Interval:
    """Bootstrap interval of mean(first) - mean(second), the same questions drawn on both sides."""
    return bootstrap_interval(_differences(first, second), level=level, resamples=resamples, seed=seed)


def randomisation_test(first: Sample, second: Sample, *, resamples: int = RESAMPLES, seed: int = 0) -> float:
    """Two-sided p-value of the paired randomisation test: the sign of each difference is flipped at random.

    The observed labelling counts as one of the draws, so that p is never 0: at best 1 / (resamples + 1).
    """
    differences = _differences(first, second)
    # A draw equal to the observed sum but for rounding must count as equal.
    observed = abs(differences.sum()) - 1e-12 * np.abs(differences).sum()
    rng = np.random.default_rng(seed)
    extreme = 1
    for rows in _batches(resamples, differences.size):
        kept = rng.integers(2, size=(rows, differences.size), dtype=np.int8)
        sums = (2.0 * kept - 1.0) @ differences
        extreme += int(np.count_nonzero(np.abs(sums) >= observed))
    return extreme / (resamples + 1)


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Holm's step-down correction: adjusted p-values by comparison, to hold against the usual 0.05."""
    for name, p in p_values.items():
        if not 0 <= p <= 1:
            raise EvaluationError(f"the p-value of {name!r} is {p}; expected one from 0 to 1")
    adjusted: dict[str, float] = {}
    running = 0.0
    for rank, name in enumerate(sorted(p_values, key=lambda name: p_values[name])):
        running = max(running, min(1.0, (len(p_values) - rank) * p_values[name]))
        adjusted[name] = running
    return {name: adjusted[name] for name in p_values}


def _sample(scores: Sample) -> NDArray[np.float64]:
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1 or values.size == 0:
        raise EvaluationError(f"scores of shape {values.shape}; expected one figure for each question")
    if not np.isfinite(values).all():
        raise EvaluationError("a score is not a finite number")
    return values


def _differences(first: Sample, second: Sample) -> NDArray[np.float64]:
    left, right = _sample(first), _sample(second)
    if left.size != right.size:
        raise EvaluationError(f"{left.size} scores against {right.size}; expected the same questions on both sides")
    return left - right


def _batches(resamples: int, size: int) -> Iterator[int]:
    if resamples < 1:
        raise EvaluationError(f"{resamples} resamples; expected 1 or more")
    rows = max(1, CELLS_AT_ONCE // size)
    while resamples > 0:
        yield min(rows, resamples)
        resamples -= rows
