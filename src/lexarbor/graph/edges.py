"""Lists of edges between rows: an array (2, m) of sources and targets, by target and then by source, each edge once,
none from a row to itself.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from lexarbor.errors import GraphError

Edges = NDArray[np.int32]
ROUNDS = 20
"""How often each edge is offered another's source: 2 to the power of 20 is more than there are edges in a law."""


def edge_list(pairs: Iterable[tuple[int, int]]) -> Edges:
    """Pairs of a source and a target, in any order, some perhaps twice or of one row with itself."""
    return without_loops(np.array(list(pairs), dtype=np.int32).reshape(-1, 2).T)


def without_loops(ends: Edges) -> Edges:
    """The same edges in order and each once, less those of a row with itself."""
    return in_order(ends[:, ends[0] != ends[1]])


def in_order(ends: Edges) -> Edges:
    """The same edges by target and then by source, each once."""
    return _ends(np.unique(_keys(*ends)))


def mirrored(edges: Edges) -> Edges:
    """The same edges from target to source."""
    return in_order(edges[::-1])


def union(lists: Iterable[Edges]) -> Edges:
    """Several lists as one, each edge once."""
    return in_order(np.concatenate([np.empty((2, 0), dtype=np.int32), *lists], axis=1))


def difference(one: Edges, other: Edges) -> Edges:
    """The edges that only one of two lists has."""
    return _ends(np.setxor1d(_keys(*one), _keys(*other), assume_unique=True))


def check_edges(edges: Edges, ids: Sequence[str], what: str) -> None:
    """Refuse what is no list of edges between the nodes of these ids; `what` names the list to a person."""
    if not isinstance(edges, np.ndarray) or edges.dtype != np.int32:
        found = edges.dtype if isinstance(edges, np.ndarray) else type(edges).__name__
        raise GraphError(f"{what} are {found}: give an array of int32")
    if edges.ndim != 2 or len(edges) != 2:
        raise GraphError(f"{what} have the shape {edges.shape}: give (2, m), a row of sources and a row of targets")
    out = (edges < 0) | (edges >= len(ids))
    if out.any():
        at = out.any(axis=0).argmax()
        source, target = (
            f"row {row}" if lost else f"'{ids[row]}'" for row, lost in zip(edges[:, at], out[:, at], strict=True)
        )
        raise GraphError(f"{what}: one leads from {source} to {target}, but there are only {len(ids)} nodes")
    loops = edges[0, edges[0] == edges[1]]
    if loops.size:
        raise GraphError(f"{what}: '{ids[loops[0]]}' is joined to '{ids[loops[0]]}', itself; leave such edges out")
    if np.any(np.diff(_keys(*edges)) <= 0):
        raise GraphError(f"{what} are not in order, or one is there twice: sort by target and then by source")


def shuffled_sources(edges: Edges, draw: np.random.Generator) -> Edges:
    """Other edges of the same number, each row the source of as many as before and the target of as many.

    In each round the edges are paired by chance and the two of a pair exchange their sources, unless an edge would
    come of it that is there already, that another pair makes too, or that joins a row to itself.
    """
    sources, targets = edges.copy()
    half = sources.size // 2
    for _ in range(ROUNDS):
        one, other = draw.permutation(sources.size)[: 2 * half].reshape(2, half)
        offered = np.concatenate([_keys(sources[other], targets[one]), _keys(sources[one], targets[other])])
        _, back, count = np.unique(offered, return_inverse=True, return_counts=True)
        fits = (count[back] == 1) & ~np.isin(offered, _keys(sources, targets)) & (offered >> 32 != offered & 0xFFFFFFFF)
        fits = fits.reshape(2, half).all(axis=0)
        one, other = one[fits], other[fits]
        sources[one], sources[other] = sources[other], sources[one]
    return in_order(np.stack([sources, targets]))


def _keys(sources: Edges, targets: Edges) -> NDArray[np.int64]:
    """One number for each edge, in whose order edges stand."""
    return (targets.astype(np.int64) << 32) | sources


def _ends(keys: NDArray[np.int64]) -> Edges:
    return np.stack([keys & 0xFFFFFFFF, keys >> 32]).astype(np.int32)
