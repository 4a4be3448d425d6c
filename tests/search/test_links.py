"""Citations by row."""

from pathlib import Path

import numpy as np
import pytest

from lexarbor.corpus.sources import read_tiny
from lexarbor.errors import SearchError
from lexarbor.search.links import Links

LAW = read_tiny()
IDS = tuple(sorted(LAW.articles))


def test_links_are_the_tree_s_citations() -> None:
    links = Links.build(LAW, IDS)
    assert len(links.pairs) == len(set(LAW.citations.pairs())) > 10
    for row, id in enumerate(IDS):
        assert [IDS[other] for other in links.cites(row)] == list(LAW.citations.cites(id))
        assert [IDS[other] for other in links.cited_by(row)] == list(LAW.citations.cited_by(id))


def test_articles_that_are_not_indexed_are_left_out() -> None:
    links = Links.build(LAW, IDS[:10])
    assert (links.pairs < 10).all() and 0 < len(links.pairs) < len(Links.build(LAW, IDS).pairs)


def test_a_law_without_citations_has_none(tmp_path: Path) -> None:
    links = Links.build(LAW, IDS[:1])
    links.save(tmp_path / "citations.npy")
    assert len(Links.load(tmp_path / "citations.npy", 1).cites(0)) == 0


def test_saved_links_are_the_same(tmp_path: Path) -> None:
    links = Links.build(LAW, IDS)
    links.save(tmp_path / "citations.npy")
    assert (Links.load(tmp_path / "citations.npy", len(IDS)).pairs == links.pairs).all()


@pytest.mark.parametrize("pairs", [np.zeros(3), np.zeros((2, 3)), np.array([[0, 5]]), np.array([[-1, 0]])])
def test_what_are_no_pairs_of_rows_is_refused(pairs: np.ndarray) -> None:
    with pytest.raises(SearchError, match="should be pairs of rows below 5"):
        Links(pairs.astype(np.int32), 5)
