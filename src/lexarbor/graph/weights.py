"""The learned numbers of a graph encoder: their names and shapes, the same in torch and in a model folder.

layers.L.N.…    layer L's weights for the list of edges N, a kind or "all", under the names of torch-geometric
layers.L.…      layer L's weights where the layer is `hearing`
scale           (d) how much of what the layers give is added
own.0.…, own.1.…    the part that reads a node's own vector alone
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from lexarbor.errors import GraphError, ModelError
from lexarbor.graph.settings import GraphSettings

Weights = Mapping[str, NDArray[np.floating]]
Shapes = dict[str, tuple[int, ...]]

HEARD_AT_FIRST = 0.05
"""What `hearing` takes of each kind's mean before it has learned anything."""
SCALE_AT_FIRST = 0.1
"""How much of what the other layers give is added before anything is learned."""


def weight_shapes(settings: GraphSettings, dimension: int) -> Shapes:
    """By name, the shape of each array of a graph encoder over vectors of this dimension."""
    widths = settings.widths(dimension)
    shapes: Shapes = {}
    for number in range(settings.layers):
        before, after = widths[number], widths[number + 1]
        if settings.layer == "hearing":
            shapes |= {f"layers.{number}.{name}": shape for name, shape in _hearing(settings, before).items()}
            continue
        one = _attention(settings, before, after) if settings.attends else _convolution(settings.layer, before, after)
        for edges in settings.lists:
            shapes |= {f"layers.{number}.{edges}.{name}": shape for name, shape in one.items()}
    if settings.scaled:
        shapes["scale"] = (dimension,)
    if settings.own:
        shapes |= {"own.0.weight": (settings.own, dimension), "own.0.bias": (settings.own,)}
        shapes |= {"own.1.weight": (dimension, settings.own), "own.1.bias": (dimension,)}
    return shapes


def _hearing(settings: GraphSettings, width: int) -> Shapes:
    kinds = len(settings.edges)
    gates: Shapes = {"gates": (kinds, width), "gate_biases": (kinds,)} if settings.gates else {}
    return {"itself": (width,), "heard": (kinds, width), **gates}


def _attention(settings: GraphSettings, before: int, after: int) -> Shapes:
    attention = (1, settings.heads, after // settings.heads)
    shapes: Shapes = {"bias": (after,)}
    if settings.layer == "gatv2":
        shapes |= {"att": attention}
        shapes |= {"lin_l.weight": (after, before), "lin_l.bias": (after,)}
        shapes |= {"lin_r.weight": (after, before), "lin_r.bias": (after,)}
    else:
        shapes |= {"att_src": attention, "att_dst": attention, "lin.weight": (after, before)}
    if settings.kinds_read:
        shapes["lin_edge.weight"] = (after, settings.kinds_read)
        if settings.layer == "gat":
            shapes["att_edge"] = attention
    return shapes


def _convolution(layer: str, before: int, after: int) -> Shapes:
    matrix, bias = (after, before), (after,)
    if layer == "gcn":
        return {"bias": bias, "lin.weight": matrix}
    if layer == "graphsage":
        return {"lin_l.weight": matrix, "lin_l.bias": bias, "lin_r.weight": matrix}
    return {"lin_rel.weight": matrix, "lin_rel.bias": bias, "lin_root.weight": matrix}


def check_weights(weights: Weights, settings: GraphSettings, dimension: int, where: str, advice: str) -> None:
    """Refuse arrays that are not those of such a graph encoder, or hold what is no number."""
    try:
        shapes = weight_shapes(settings, dimension)
    except GraphError as error:
        raise ModelError(f"{where}: {error}") from error
    for name in sorted(shapes.keys() ^ weights.keys()):
        said = "are missing" if name in shapes else "are none of its settings'"
        raise ModelError(f"{where}: the weights '{name}' {said}; {advice}")
    for name, shape in shapes.items():
        found = weights[name]
        if found.shape != shape or found.dtype.kind != "f":
            raise ModelError(
                f"{where}: the weights '{name}' are {found.dtype} {found.shape}, its settings say {shape}; {advice}"
            )
        if not np.isfinite(found).all():
            raise ModelError(f"{where}: the weights '{name}' hold infinite numbers or none; {advice}")
