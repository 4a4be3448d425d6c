"""Two systems compared on the same questions: the difference, its interval, and the paired test."""

from typing import NamedTuple

from lexarbor.errors import EvaluationError
from lexarbor.evaluation.scores import Scores
from lexarbor.evaluation.significance import RESAMPLES, Interval, paired_interval, randomisation_test


class Comparison(NamedTuple):
    """How much the first system scores above the second, and how easily chance would do the same."""

    measure: str
    difference: Interval
    """Mean of the first less mean of the second, with its 95 % bootstrap interval."""
    p_randomisation: float
    """Two-sided, from sign flips: correct it with `holm` where several are reported."""


def compare(first: Scores, second: Scores, measure: str, *, resamples: int = RESAMPLES, seed: int = 0) -> Comparison:
    """Compare two systems by one measure, paired by question id, whatever order each has them in.

    Both must have scored the same questions: anything else would not be a pair, and raises.
    """
    lone = set(first.questions) ^ set(second.questions)
    if lone:
        raise EvaluationError(
            f"question {min(lone)!r} was scored for one system only; expected the same questions for both"
        )
    left, right = first[measure], second.select(first.questions)[measure]
    return Comparison(
        measure,
        paired_interval(left, right, resamples=resamples, seed=seed),
        randomisation_test(left, right, resamples=resamples, seed=seed),
    )
