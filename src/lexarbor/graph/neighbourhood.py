"""The part of a graph that some nodes hear: as good as the whole for them, and smaller."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexarbor.graph.edges import Edges, union


class Neighbourhood(NamedTuple):
    """What some nodes hear in a number of steps."""

    rows: NDArray[np.int64]
    """(n,) its nodes by their rows in the graph, ascending."""
    asked: NDArray[np.int64]
    """Where in `rows` the nodes stand that were asked for, in the order in which they were."""
    edges: Mapping[str, Edges]
    """By kind, as in the graph, but between places in `rows`: every edge to a node fewer steps away than were asked."""
    degrees: NDArray[np.int64]
    """(n,) how many edges of all kinds together lead to each node in the whole graph."""

    def union(self) -> Edges:
        """All kinds as one list, each edge once."""
        return union(self.edges.values())


def neighbourhood(
    asked: NDArray[np.int64], hops: int, edges: Mapping[str, Edges], every: Edges, degrees: NDArray[np.int64]
) -> Neighbourhood:
    """What the rows `asked` hear in `hops` steps.

    `every` is the union of the edges, `degrees` how many of them lead to each row.
    """
    near, reached = np.zeros((2, degrees.size), dtype=bool)
    reached[asked] = True
    for _ in range(hops):
        near[:] = reached
        reached[every[0, near[every[1]]]] = True
    place = np.cumsum(reached) - 1
    # an order by row is the same order by place, and what leads to a node that is near comes from one that is reached
    kept = {kind: place[ends[:, near[ends[1]]]].astype(np.int32) for kind, ends in edges.items()}
    rows = np.flatnonzero(reached)
    return Neighbourhood(rows, place[asked], kept, degrees[rows])
