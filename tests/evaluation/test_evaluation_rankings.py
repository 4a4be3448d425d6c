"""Order within a question: scores, then ids, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexarbor.errors import EvaluationError
from lexarbor.evaluation import ScoredArticle, gold_ranks, order
from lexarbor.evaluation.rankings import ranking_of

SCORED = st.dictionaries(st.text("abc", min_size=1, max_size=3), st.integers(-2, 2).map(float)).map(
    lambda scores: list(scores.items())
)


def test_higher_scores_come_first_and_ties_go_by_article_id() -> None:
    ranking = order([("b", 1.0), ("c", 2.0), ("a", 1.0)])
    assert ranking == [ScoredArticle("c", 2.0), ScoredArticle("a", 1.0), ScoredArticle("b", 1.0)]


def test_infinite_scores_and_minus_zero_are_ordered() -> None:
    ranking = order([("c", 0.0), ("b", -0.0), ("z", float("inf")), ("a", float("-inf"))])
    assert [article for article, _ in ranking] == ["z", "b", "c", "a"]


def test_scores_of_numpy_become_plain_floats() -> None:
    (only,) = order([("a", np.float32(0.5))])
    assert type(only.score) is float


def test_an_article_twice_is_refused() -> None:
    with pytest.raises(EvaluationError, match="'a' is ranked twice"):
        order([("a", 1.0), ("b", 3.0), ("a", 2.0)])


def test_a_score_that_is_not_a_number_is_refused() -> None:
    with pytest.raises(EvaluationError, match=r"'b' is not a number \(NaN\)"):
        order([("a", 1.0), ("b", float("nan"))])


def test_the_error_of_a_run_names_the_question() -> None:
    with pytest.raises(EvaluationError, match="question 'q7': article 'a' is ranked twice"):
        ranking_of("q7", {"q7": [("a", 1.0), ("a", 2.0)]})


def test_gold_ranks_count_from_one() -> None:
    assert gold_ranks(order([("a", 3.0), ("b", 2.0), ("c", 1.0)]), {"a", "c", "absent"}) == [1, 3]


@settings(deadline=None)
@given(SCORED, st.randoms(use_true_random=False))
def test_the_order_given_does_not_matter(scored: list[tuple[str, float]], random: object) -> None:
    shuffled = list(scored)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert order(shuffled) == order(scored) == order(order(scored))
