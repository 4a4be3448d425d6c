"""The measures on examples worked by hand, and their properties."""

from math import log2

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexarbor.evaluation import MEASURES, average_precision, ndcg, r_precision, recall

# Four relevant articles, of which three were found, at ranks 1, 3 and 6.
RANKS, GOLD = [1, 3, 6], 4


@st.composite
def found(draw: st.DrawFn) -> tuple[list[int], int]:
    """Ascending ranks of the relevant articles found, and how many exist."""
    ranks = sorted(draw(st.sets(st.integers(1, 600), max_size=30)))
    missed = draw(st.integers(0 if ranks else 1, 30))
    return ranks, len(ranks) + missed


@pytest.mark.parametrize(("k", "expected"), [(1, 1 / 4), (2, 1 / 4), (3, 2 / 4), (5, 2 / 4), (6, 3 / 4), (500, 3 / 4)])
def test_recall_by_hand(k: int, expected: float) -> None:
    assert recall(RANKS, GOLD, k) == expected


def test_average_precision_by_hand() -> None:
    assert average_precision(RANKS, GOLD, depth=500) == pytest.approx((1 / 1 + 2 / 3 + 3 / 6) / 4)


def test_average_precision_stops_at_its_depth_but_still_divides_by_all_that_exist() -> None:
    assert average_precision(RANKS, GOLD, depth=5) == pytest.approx((1 / 1 + 2 / 3) / 4)


def test_r_precision_by_hand() -> None:
    assert r_precision(RANKS, GOLD) == 2 / 4  # ranks 1 and 3 are within the first four


def test_ndcg_by_hand() -> None:
    gain = 1 / log2(2) + 1 / log2(4) + 1 / log2(7)
    ideal = 1 / log2(2) + 1 / log2(3) + 1 / log2(4) + 1 / log2(5)
    assert ndcg(RANKS, GOLD, k=10) == pytest.approx(gain / ideal)


def test_ndcg_ideal_stops_at_the_cutoff() -> None:
    assert ndcg(list(range(1, 11)), 25, k=10) == 1.0


def test_the_table_has_the_names_of_the_design() -> None:
    assert list(MEASURES) == [
        "recall@10", "recall@100", "recall@200", "recall@500", "map", "map@100", "mrp", "ndcg@10",
    ]  # fmt: skip


def test_map_looks_to_depth_500() -> None:
    assert MEASURES["map"].score([500], 1) == 1 / 500
    assert MEASURES["map"].score([501], 1) == 0
    assert MEASURES["map@100"].score([101], 1) == 0


@pytest.mark.parametrize("name", MEASURES)
def test_nothing_found_scores_zero(name: str) -> None:
    assert MEASURES[name].score([], 3) == 0


@settings(deadline=None)
@given(found())
def test_every_measure_is_a_fraction(case: tuple[list[int], int]) -> None:
    assert all(0 <= measure.score(*case) <= 1 for measure in MEASURES.values())


@settings(deadline=None)
@given(found(), st.integers(1, 600), st.integers(1, 600))
def test_recall_grows_with_k(case: tuple[list[int], int], one: int, other: int) -> None:
    assert recall(*case, k=min(one, other)) <= recall(*case, k=max(one, other))


@settings(deadline=None)
@given(st.integers(1, 10))
def test_a_perfect_ranking_scores_one_by_every_measure(gold: int) -> None:
    assert all(measure.score(range(1, gold + 1), gold) == 1 for measure in MEASURES.values())
