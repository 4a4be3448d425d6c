"""Two systems on the same questions."""

import numpy as np
import pytest

from lexarbor.errors import EvaluationError
from lexarbor.evaluation import Scores, compare, paired_interval, randomisation_test

RNG = np.random.default_rng(0)
QUESTIONS = tuple(f"q{number}" for number in range(40))
FIRST = Scores(("map",), QUESTIONS, RNG.random((1, 40)))
SECOND = Scores(("map",), QUESTIONS, RNG.random((1, 40)))


def test_a_comparison_holds_the_interval_and_the_test() -> None:
    comparison = compare(FIRST, SECOND, "map", seed=1)
    assert comparison.measure == "map"
    assert comparison.difference == paired_interval(FIRST["map"], SECOND["map"], seed=1)
    assert comparison.p_randomisation == randomisation_test(FIRST["map"], SECOND["map"], seed=1)


def test_questions_are_paired_by_id_not_by_place() -> None:
    assert compare(FIRST, SECOND.select(reversed(QUESTIONS)), "map") == compare(FIRST, SECOND, "map")


def test_systems_scored_on_other_questions_are_refused() -> None:
    with pytest.raises(EvaluationError, match="question 'q0' was scored for one system only"):
        compare(FIRST, SECOND.select(QUESTIONS[1:]), "map")
