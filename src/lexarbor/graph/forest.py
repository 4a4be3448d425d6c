"""Whether what stands below what is a forest: each section at one place, each article at one or more, no way back."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lexarbor.errors import GraphError
from lexarbor.graph.edges import Edges

_AGAIN = "make the graph of the law again"


def check_forest(contains: Edges, ids: Sequence[str], sections: int) -> None:
    """Refuse edges from above to below that are no forest; the first `sections` rows are codes and sections."""
    above = np.full(len(ids), -1, dtype=np.int64)
    above[contains[1]] = contains[0]
    homeless = np.flatnonzero(above[sections:] < 0)
    if homeless.size:
        raise GraphError(f"article '{ids[sections + homeless[0]]}' stands under no code or section; {_AGAIN}")
    twice = np.flatnonzero((np.diff(contains[1]) == 0) & (contains[1, 1:] < sections))
    if twice.size:
        one, other = (ids[row] for row in contains[0, twice[0] : twice[0] + 2])
        raise GraphError(f"section '{ids[contains[1, twice[0]]]}' stands under '{one}' and under '{other}'; {_AGAIN}")
    _check_climb(above[:sections], ids)


def _check_climb(above: NDArray[np.int64], ids: Sequence[str]) -> None:
    """Every climb ends at a section with none above it: each round climbs twice as far as the one before."""
    rows = np.arange(above.size)
    at = np.where(above < 0, rows, above)
    for _ in range(int(above.size).bit_length()):
        at = at[at]
    lost = np.flatnonzero(above[at] >= 0)
    if lost.size:
        here = at[lost[0]]  # so far up, it is in the circle itself
        raise GraphError(
            f"section '{ids[here]}' is its own ancestor: it stands under '{ids[above[here]]}', which stands under it; "
            f"{_AGAIN}"
        )
