"""Seen, unseen and partial questions."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexarbor.errors import EvaluationError
from lexarbor.evaluation import evaluate, means_by_stratum, strata, stratum

GOLD = {"q1": {"a", "b"}, "q2": {"a", "z"}, "q3": {"y", "z"}, "q4": {"b"}}


@pytest.mark.parametrize(
    ("gold", "expected"), [({"a", "b"}, "seen"), ({"a", "z"}, "partial"), ({"z"}, "unseen"), ({"a"}, "seen")]
)
def test_one_question(gold: set[str], expected: str) -> None:
    assert stratum(gold, {"a", "b", "c"}) == expected


def test_questions_by_stratum_in_the_order_of_the_judgements() -> None:
    assert strata(GOLD, {"a", "b"}) == {
        "all": ["q1", "q2", "q3", "q4"],
        "seen": ["q1", "q4"],
        "unseen": ["q3"],
        "partial": ["q2"],
    }


def test_without_supervision_everything_is_unseen() -> None:
    assert strata(GOLD, frozenset()) == {"all": list(GOLD), "seen": [], "unseen": list(GOLD), "partial": []}


def test_means_by_stratum_leave_an_empty_stratum_without_means() -> None:
    scores = evaluate({"q1": [("a", 1.0)], "q4": [("b", 1.0)]}, GOLD, ["recall@10"])
    assert means_by_stratum(scores, strata(GOLD, {"a", "b", "y", "z"})) == {
        "all": {"recall@10": 0.375},
        "seen": {"recall@10": 0.375},
        "unseen": {},
        "partial": {},
    }


@settings(deadline=None)
@given(
    st.dictionaries(st.text(), st.frozensets(st.integers(0, 5).map(str), min_size=1), min_size=1),
    st.frozensets(st.integers(0, 5).map(str)),
)
def test_the_three_strata_part_the_whole(gold: dict[str, frozenset[str]], supervised: frozenset[str]) -> None:
    groups = strata(gold, supervised)
    assert sorted(groups["seen"] + groups["unseen"] + groups["partial"]) == sorted(groups["all"]) == sorted(gold)


def test_a_question_without_gold_belongs_nowhere() -> None:
    with pytest.raises(EvaluationError, match="belongs to no stratum"):
        stratum(set(), {"a"})
    with pytest.raises(EvaluationError, match="question 'q' has no relevant article"):
        strata({"q": set()}, {"a"})
    with pytest.raises(EvaluationError, match="no question has judgements"):
        strata({}, {"a"})
