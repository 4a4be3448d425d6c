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

_NONE = np.zeros(0, dtype=np.intp)


class _Largest:
    """The largest value of each of many runs of rows.

    Runs of about one length stand side by side as the columns of a matrix, filled up with their last rows. numpy's
    `reduceat`, which would take the runs as they are, goes from one to the next and takes several times as long.
    """

    def __init__(self, rows: NDArray[np.integer], counts: NDArray[np.integer]) -> None:
        """The runs one after the other, and how many rows each has, 1 or more."""
        starts = np.cumsum(counts) - counts
        heights = 1 << np.ceil(np.log2(counts)).astype(np.intp)
        order, taken = [_NONE], [_NONE]
        self._shapes: list[tuple[int, int]] = []
        for height in np.unique(heights).tolist():
            alike = np.flatnonzero(heights == height)
            order.append(alike)
            taken.append(rows[starts[alike] + np.minimum(np.arange(height)[:, None], counts[alike] - 1)].ravel())
            self._shapes.append((height, len(alike)))
        self._rows = np.concatenate(taken)
        self.places = np.argsort(np.concatenate(order))
        """(runs) where each one's largest value stands in what `of` gives."""

    def of(self, values: Floats) -> Floats:
        """(runs)"""
        taken = values.take(self._rows)
        found = np.empty(len(self.places), dtype=np.float32)
        begin = done = 0
        for height, width in self._shapes:
            end = begin + height * width
            taken[begin:end].reshape(height, width).max(axis=0, out=found[done : done + width])
            begin, done = end, done + width
        return found


class Group:
    """Rows that share a number, and what can be said of them together."""

    def __init__(self, numbers: NDArray[np.int32]) -> None:
        _, self._group_of, counts = np.unique(numbers, return_inverse=True, return_counts=True)
        self._counts = counts.astype(np.float32)
        self._largest = _Largest(np.argsort(self._group_of, kind="stable"), counts)
        self._best_of = self._largest.places[self._group_of]

    @property
    def sizes(self) -> Floats:
        """(rows) how many rows share each one's number."""
        return self._counts[self._group_of]

    def best(self, values: Floats) -> Floats:
        """(rows) the largest value among those that share each one's number."""
        return self._largest.of(values).take(self._best_of)

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
        counts = np.diff(starts)
        having = np.flatnonzero(counts)
        self._largest = _Largest(others, counts[having])
        self._best_of = np.full(len(counts), -1)
        self._best_of[having] = self._largest.places

    def best(self, values: Floats) -> Floats:
        found = np.append(np.maximum(self._largest.of(values), 0), np.float32(0))  # the last for rows without others
        return found.take(self._best_of)


def lengths_of(law: LawTree, article_ids: Sequence[str]) -> Floats:
    return np.fromiter((len(law.articles[id].text) for id in article_ids), np.float32, len(article_ids))
