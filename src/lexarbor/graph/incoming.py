"""The edges that lead to each node, read in blocks, so that what is gathered for them stays small."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lexarbor.graph.edges import Edges

Floats = NDArray[np.float32]
BLOCK = 2**20
"""How many numbers are gathered for edges at once: 4 MB."""


class Block(NamedTuple):
    """Edges that follow one another, all those to some nodes."""

    edges: slice
    rows: NDArray[np.int64]
    """(r,) the nodes that they lead to."""
    starts: NDArray[np.int64]
    """(r,) where the edges to each begin within the block."""
    at: NDArray[np.int64]
    """(e,) for each edge, where in `rows` the node stands that it leads to."""

    def summed(self, values: Floats) -> Floats:
        """Values of each edge (e, …), summed by node (r, …)."""
        found: Floats = np.add.reduceat(values, self.starts, axis=0)
        return found

    def largest(self, values: Floats) -> Floats:
        """The largest value by node (r, …)."""
        found: Floats = np.maximum.reduceat(values, self.starts, axis=0)
        return found


class Incoming:
    """Edges by target, of one kind or of several together."""

    def __init__(self, edges: Edges, size: int, kinds: NDArray[np.int64] | None = None, number: int = 1) -> None:
        """`edges` (2, m) in order of their targets; `kinds` (m) of which of `number` kinds each is."""
        self.sources, self.targets = edges
        self.size = size
        self.kinds = np.zeros(edges.shape[1], dtype=np.int64) if kinds is None else kinds
        self.number = number

    @classmethod
    def typed(cls, lists: Sequence[Edges], size: int) -> Self:
        """Several lists as one that knows of each edge which list it comes from."""
        kinds = np.repeat(np.arange(len(lists)), [edges.shape[1] for edges in lists])
        edges = np.concatenate(lists, axis=1)
        order = np.argsort(edges[1], kind="stable")
        return cls(edges[:, order], size, kinds[order], len(lists))

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """(n) how many edges lead to each node."""
        return np.bincount(self.targets, minlength=self.size)

    @cached_property
    def shares(self) -> Floats:
        """(n, kinds) what share of the edges to a node is of each kind; 0 of all where there are none."""
        places = self.targets.astype(np.int64) * self.number + self.kinds
        counts = np.bincount(places, minlength=self.size * self.number).reshape(self.size, self.number)
        return self._divided(counts.astype(np.float32))

    def blocks(self, width: int) -> Iterator[Block]:
        """All edges, about BLOCK numbers at once where each edge has `width` of them; no node's edges are parted."""
        rows = np.flatnonzero(self.degrees)
        degrees = self.degrees[rows]
        ends = np.cumsum(degrees)
        begins = ends - degrees
        at = 0
        while at < rows.size:
            after = max(at + 1, int(np.searchsorted(ends, begins[at] + BLOCK // width, side="right")))
            within = slice(int(begins[at]), int(ends[after - 1]))
            places = np.repeat(np.arange(after - at), degrees[at:after])
            yield Block(within, rows[at:after], begins[at:after] - begins[at], places)
            at = after

    def sums(self, x: Floats) -> Floats:
        """(n, w) the vectors (n, w) of those that each node hears, summed."""
        found = np.zeros_like(x)
        for block in self.blocks(x.shape[1]):
            found[block.rows] = block.summed(x[self.sources[block.edges]])
        return found

    def means(self, x: Floats) -> Floats:
        """(n, w) the mean of the vectors of those that each node hears; 0 where it hears nobody."""
        return self._divided(self.sums(x))

    def _divided(self, sums: Floats) -> Floats:
        """Sums (n, w) over the edges to each node, divided by how many these are."""
        sums /= np.maximum(self.degrees, 1)[:, None]
        return sums
