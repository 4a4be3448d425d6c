"""A graph of four nodes, and every variant of the graph encoder to be tried on it."""

from collections.abc import Iterator
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from lexarbor.graph.edges import edge_list
from lexarbor.graph.legislation import EDGE_KINDS, LegislativeGraph
from lexarbor.graph.settings import LAYERS, GraphSettings
from lexarbor.graph.weights import weight_shapes

DIMENSION = 4
GRAPH = LegislativeGraph(
    ("title", "empty"),
    ("1", "2"),
    {
        "contains": edge_list([(0, 2), (0, 3)]),
        "within": edge_list([(2, 0), (3, 0)]),
        "next": edge_list([(2, 3)]),
        "previous": edge_list([(3, 2)]),
        "cites": edge_list([(2, 3), (3, 2)]),
        "cited": edge_list([(2, 3), (3, 2)]),
    },
)
"""A title with two articles, which cite one another, and a title that nothing stands under: it hears nobody. The edge
from the first article to the second is of three kinds.
"""
HEARS = {
    kind: [[int([j, i] in GRAPH.edges[kind].T.tolist()) for j in range(4)] for i in range(4)] for kind in EDGE_KINDS
}
FEATURES = np.random.default_rng(7).standard_normal((4, DIMENSION)).astype(np.float32)


def _variants() -> Iterator[GraphSettings]:
    for layer, typed, residual, own in product(LAYERS, (True, False), (True, False), (0, 3)):
        if layer != "hearing" or (typed and residual):
            yield GraphSettings(layer=layer, layers=2, width=6, typed=typed, residual=residual, own=own)
    for layer in LAYERS:
        yield GraphSettings(layer=layer, layers=3, width=6, edges=(), own=2)
        yield GraphSettings(layer=layer, layers=1, width=6, edges=("contains",), normalise=False)
    yield GraphSettings(gates=False)
    yield GraphSettings(layers=0, edges=(), own=3)
    for layer in ("gat", "gatv2"):
        yield GraphSettings(layer=layer, layers=2, width=6, heads=2)


VARIANTS = list(_variants())


def named(settings: GraphSettings) -> str:
    words = [settings.layer, str(settings.layers), f"{len(settings.edges)}edges", f"{settings.heads}heads"]
    words += [name for name in ("typed", "gates", "residual", "own", "normalise") if getattr(settings, name)]
    return "-".join(words)


def random_weights(settings: GraphSettings, dimension: int = DIMENSION) -> dict[str, NDArray[np.float32]]:
    """Numbers of no meaning, exactly those that 16 bits can hold."""
    draw = np.random.default_rng(sum(map(prod, weight_shapes(settings, dimension).values())))
    shapes = weight_shapes(settings, dimension).items()
    return {name: draw.normal(0, 0.5, shape).astype(np.float16).astype(np.float32) for name, shape in shapes}
