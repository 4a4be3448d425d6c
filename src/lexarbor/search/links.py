"""Which article of an index cites which, by row."""

from collections.abc import Sequence
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from lexarbor.corpus.tree import LawTree
from lexarbor.errors import SearchError

Rows = NDArray[np.int32]


class Links:
    """Citations between rows, looked up from either end."""

    def __init__(self, pairs: Rows, size: int) -> None:
        """`pairs` (m, 2): citing and cited rows, of `size`."""
        if pairs.ndim != 2 or pairs.shape[1] != 2 or (pairs.size and not 0 <= pairs.min() <= pairs.max() < size):
            raise SearchError(f"citations are {pairs.shape}, and should be pairs of rows below {size}")
        self.pairs = pairs
        self._cited, self._cited_from = _gathered(pairs[:, 0], pairs[:, 1], size)
        self._citing, self._citing_from = _gathered(pairs[:, 1], pairs[:, 0], size)

    @classmethod
    def build(cls, law: LawTree, article_ids: Sequence[str]) -> Self:
        rows = {id: row for row, id in enumerate(article_ids)}
        found = [(rows[one], rows[other]) for one, other in law.citations.pairs() if one in rows and other in rows]
        return cls(np.array(found, dtype=np.int32).reshape(-1, 2), len(article_ids))

    def cites(self, row: int) -> Rows:
        """The rows that a row cites, in the order of mention."""
        return self._cited[self._cited_from[row] : self._cited_from[row + 1]]

    def cited_by(self, row: int) -> Rows:
        """The rows that cite it, in the order of the law."""
        return self._citing[self._citing_from[row] : self._citing_from[row + 1]]

    @property
    def by_end(self) -> tuple[tuple[Rows, NDArray[np.int64]], tuple[Rows, NDArray[np.int64]]]:
        """First the rows that cite each row, then those that each cites: all of them, and where each one's begin."""
        return (self._citing, self._citing_from), (self._cited, self._cited_from)

    def save(self, path: Path) -> None:
        np.save(path, self.pairs)

    @classmethod
    def load(cls, path: Path, size: int) -> Self:
        return cls(np.load(path, allow_pickle=False), size)


def _gathered(ends: Rows, others: Rows, size: int) -> tuple[Rows, NDArray[np.int64]]:
    """The others, by end, those of one end in the order given; and where those of each end begin."""
    order = np.argsort(ends, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=size))])
    return others[order], starts
