"""Where each row stands, against plain loops."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from six_articles import AROUND, CITATIONS, IDS, LAW, PAIRS, above, heading

from lexarbor.corpus.sources import read_tiny
from lexarbor.errors import SearchError
from lexarbor.search.links import Links
from lexarbor.search.surroundings import Group, Surroundings

NUMBERS = st.floats(-1e3, 1e3, width=32)
TINY = read_tiny().as_of(read_tiny().date)  # type: ignore[arg-type]
TINY_IDS = tuple(sorted(TINY.articles))


def floats(values: object) -> np.ndarray:
    return np.array(values, dtype=np.float32)


@given(st.lists(st.tuples(st.integers(-5, 5), NUMBERS), min_size=1, max_size=40))
def test_rows_of_one_number_share_their_best_and_their_mean(rows: list[tuple[int, float]]) -> None:
    group = Group(np.array([number for number, _ in rows], dtype=np.int32))
    values = floats([value for _, value in rows])
    together = [[other for number, other in rows if number == own] for own, _ in rows]
    assert group.best(values).tolist() == [max(held) for held in together]
    assert group.mean(values) == pytest.approx([sum(held) / len(held) for held in together], abs=1e-3)
    assert group.sizes.tolist() == [len(held) for held in together]
    assert group.best(values).dtype == group.mean(values).dtype == np.float32


@given(st.lists(NUMBERS, min_size=6, max_size=6))
def test_what_cites_and_what_is_cited_gives_its_best_where_that_is_above_nothing(values: list[float]) -> None:
    of = dict(zip(IDS, values, strict=True))
    citing = [max((of[one] for one, other in CITATIONS if other == id), default=0) for id in IDS]
    cited = [max((of[other] for one, other in CITATIONS if one == id), default=0) for id in IDS]
    assert AROUND.citing(floats(values)).tolist() == [max(value, 0) for value in citing]
    assert AROUND.cited(floats(values)).tolist() == [max(value, 0) for value in cited]


def test_a_law_without_citations_gives_nothing_by_them() -> None:
    around = Surroundings.build(LAW, IDS, Links(np.zeros((0, 2), dtype=np.int32), 6))
    assert not around.citing(np.ones(6, dtype=np.float32)).any()
    assert not around.cited(np.ones(6, dtype=np.float32)).any()


def test_sections_and_what_is_above_them_are_those_of_the_law() -> None:
    assert [heading(id) for id in IDS] == ["S3", "S1", "S2", "S2", "S3", "C"]
    assert [above(id) for id in IDS] == ["S1", "C", "S1", "S1", "S1", "C"]
    assert AROUND.section.sizes.tolist() == [2, 1, 2, 2, 2, 1]
    assert AROUND.above.sizes.tolist() == [4, 2, 4, 4, 4, 2]
    assert AROUND.lengths.tolist() == [len(LAW.articles[id].text) for id in IDS]


def test_the_tiny_corpus_has_its_own_places() -> None:
    around = Surroundings.build(TINY, TINY_IDS, Links.build(TINY, TINY_IDS))
    parents = [TINY.articles[id].parent for id in TINY_IDS]
    assert around.section.sizes.tolist() == [Counter(parents)[parent] for parent in parents]
    higher = [TINY.parent(parent) or parent for parent in parents]
    assert around.above.sizes.tolist() == [Counter(higher)[place] for place in higher]
    row = TINY_IDS.index("VALARTI0034")  # R112-2, "pour l'application de l'article L. 112-1"
    only = floats([id == "VALARTI0034" for id in TINY_IDS])
    assert {TINY_IDS[other] for other in np.flatnonzero(around.citing(only))} == set(
        TINY.citations.cites("VALARTI0034")
    )
    assert around.citing(only)[row] == 0


def test_saved_places_are_the_same(tmp_path: Path) -> None:
    AROUND.save(tmp_path / "places.npy")
    found = Surroundings.load(tmp_path / "places.npy", LAW, IDS, Links(PAIRS, 6))
    assert (found.places == AROUND.places).all() and (found.lengths == AROUND.lengths).all()


@pytest.mark.parametrize("shape", [(2, 5), (3, 6), (6,), (6, 2), (0,)])
def test_places_of_another_shape_are_refused(tmp_path: Path, shape: tuple[int, ...]) -> None:
    np.save(tmp_path / "places.npy", np.zeros(shape, dtype=np.int32))
    with pytest.raises(SearchError, match=r"places are \(.*\) for 6 articles: expected \(2, 6\)"):
        Surroundings.load(tmp_path / "places.npy", LAW, IDS, Links(PAIRS, 6))
