"""Where each row of an index stands: under which heading, below which other, linked with which rows by citations.

Gold often is a run of neighbouring articles: what a question finds around an article says something of the article.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from lexarbor.corpus.tree import LawTree
from lexarbor.errors import SearchError
from lexarbor.search.links import Links

Floats = NDArray[np.float32]


class Group:
    """Rows that share a number, and what can be said of them together."""

    def __init__(self, numbers: NDArray[np.int32]) -> None:
        _, self._group_of, counts = np.unique(numbers, return_inverse=True, return_counts=True)
        self._order = np.argsort(self._group_of, kind="stable")
        self._starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        self._counts = counts.astype(np.float32)

    @property
    def sizes(self) -> Floats:
        """(rows) how many rows share each one's number."""
        return self._counts[self._group_of]

    def best(self, values: Floats) -> Floats:
        """(rows) the largest value among those that share each one's number."""
        found: Floats = np.maximum.reduceat(values.take(self._order), self._starts).take(self._group_of)
        return found

    def mean(self, values: Floats) -> Floats:
        sums = np.bincount(self._group_of, values, len(self._counts)).astype(np.float32)
        found: Floats = (sums / self._counts).take(self._group_of)
        return found


class Surroundings:
    """The places of all rows."""

    def __init__(self, places: NDArray[np.int32], lengths: Floats, links: Links) -> None:
        """`places` (2, n): the number of the heading that each row stands under, and of the one above it; `lengths`
        (n) of the texts, in characters.
        """
        if places.shape != (2, len(lengths)):
            raise SearchError(f"places are {places.shape} for {len(lengths)} articles: expected (2, {len(lengths)})")
        self.places = places
        self.section, self.above = Group(places[0]), Group(places[1])
        self.lengths = lengths
        self._citing, self._cited = (_Linked(*ends) for ends in links.by_end)

    @classmethod
    def build(cls, law: LawTree, article_ids: Sequence[str], links: Links) -> Self:
        numbers: dict[str, int] = {}
        places = np.empty((2, len(article_ids)), dtype=np.int32)
        for row, id in enumerate(article_ids):
            heading = law.articles[id].parent
            above = law.sections[heading].parent if heading in law.sections else heading
            places[:, row] = [numbers.setdefault(one, len(numbers)) for one in (heading, above)]
        return cls(places, lengths_of(law, article_ids), links)

    def citing(self, values: Floats) -> Floats:
        """(rows) the largest value among those that cite each; 0 where none does, or none is above 0."""
        return self._citing.best(values)

    def cited(self, values: Floats) -> Floats:
        """(rows) the largest value among those that each cites."""
        return self._cited.best(values)

    def save(self, path: Path) -> None:
        np.save(path, self.places)

    @classmethod
    def load(cls, path: Path, law: LawTree, article_ids: Sequence[str], links: Links) -> Self:
        return cls(np.load(path, allow_pickle=False), lengths_of(law, article_ids), links)


class _Linked:
    """For each row some others."""

    def __init__(self, others: NDArray[np.int32], starts: NDArray[np.int64]) -> None:
        """Row i has `others[starts[i]:starts[i + 1]]`."""
        self._size = len(starts) - 1
        self._others = others
        self._having = np.flatnonzero(np.diff(starts))
        self._starts = starts[self._having]

    def best(self, values: Floats) -> Floats:
        found = np.zeros(self._size, dtype=np.float32)
        if len(self._having):
            found[self._having] = np.maximum(np.maximum.reduceat(values[self._others], self._starts), 0)
        return found


def lengths_of(law: LawTree, article_ids: Sequence[str]) -> Floats:
    return np.fromiter((len(law.articles[id].text) for id in article_ids), np.float32, len(article_ids))
