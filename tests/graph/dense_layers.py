"""The graph encoder once more, for tests: node by node, in plain loops over a matrix of who hears whom, as the formulas
of the layers' papers are written. Nothing is shared with either half of `lexarbor.graph`.
"""

from collections.abc import Mapping, Sequence
from math import exp, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexarbor.graph.settings import GraphSettings

Vector = NDArray[np.float64]
Weights = Mapping[str, NDArray[Any]]
Hears = Mapping[str, Sequence[Sequence[int]]]
"""By kind, a matrix: hears[kind][i][j] is 1 where i hears j."""


def dense(settings: GraphSettings, weights: Weights, features: NDArray[Any], hears: Hears) -> NDArray[np.float64]:
    """The enriched vectors (n, d)."""
    weights = {name: held.astype(np.float64) for name, held in weights.items()}
    inputs = [row.astype(np.float64) for row in features]
    if settings.normalise:
        inputs = [row / sqrt(sum(number * number for number in row)) for row in inputs]
    vectors = inputs
    for layer in range(settings.layers):
        if layer and settings.layer != "hearing":
            vectors = [np.where(row > 0, row, 0.0) for row in vectors]
        vectors = _layer(settings, _below(weights, f"layers.{layer}."), vectors, hears)
    if settings.residual and settings.layer != "hearing" and settings.layers:
        vectors = [own + weights["scale"] * row for own, row in zip(inputs, vectors, strict=True)]
    if settings.own:
        vectors = [row + _own(weights, own) for own, row in zip(inputs, vectors, strict=True)]
    return np.array(vectors)


def _own(weights: Weights, x: Vector) -> Vector:
    inner = weights["own.0.weight"] @ x + weights["own.0.bias"]
    return weights["own.1.weight"] @ np.where(inner > 0, inner, 0.0) + weights["own.1.bias"]


def _layer(settings: GraphSettings, weights: Weights, x: list[Vector], hears: Hears) -> list[Vector]:
    if settings.layer == "hearing":
        return [_hearing(settings, weights, x, hears, i) for i in range(len(x))]
    together = [[int(any(hears[kind][i][j] for kind in settings.edges)) for j in range(len(x))] for i in range(len(x))]
    if settings.layer in ("gat", "gatv2"):
        return [_attention(settings, _below(weights, "all."), x, hears, together, i) for i in range(len(x))]
    lists = {kind: hears[kind] for kind in settings.edges} if settings.typed and settings.edges else {"all": together}
    found = [np.zeros(1)] * len(x)
    for name, matrix in lists.items():
        for i in range(len(x)):
            found[i] = found[i] + _convolution(settings, _below(weights, f"{name}."), x, matrix, together, i)
    return found


def _hearing(settings: GraphSettings, weights: Weights, x: list[Vector], hears: Hears, i: int) -> Vector:
    found = (1 + weights["itself"]) * x[i]
    for number, kind in enumerate(settings.edges):
        near = [x[j] for j in range(len(x)) if hears[kind][i][j]]
        if near:
            gate = 1.0
            if settings.gates:
                gate = 2 / (1 + exp(-(weights["gates"][number] @ x[i] + weights["gate_biases"][number])))
            found = found + gate * weights["heard"][number] * sum(near) / len(near)
    return found


def _convolution(
    settings: GraphSettings, weights: Weights, x: list[Vector], matrix: Any, together: Any, i: int
) -> Vector:
    near = [j for j in range(len(x)) if matrix[i][j]]
    if settings.layer == "gcn":
        degree = [1 + sum(row) for row in together]
        parts = [weights["lin.weight"] @ x[j] / sqrt(degree[i] * degree[j]) for j in [*near, i]]
        return sum(parts) + weights["bias"]
    total = sum((x[j] for j in near), start=0 * x[i])
    if settings.layer == "graphsage":
        mean = total / len(near) if near else total
        return weights["lin_l.weight"] @ mean + weights["lin_l.bias"] + weights["lin_r.weight"] @ x[i]
    return weights["lin_rel.weight"] @ total + weights["lin_rel.bias"] + weights["lin_root.weight"] @ x[i]


def _attention(
    settings: GraphSettings, weights: Weights, x: list[Vector], hears: Hears, together: Any, i: int
) -> Vector:
    one_hot = np.eye(len(settings.edges))
    typed = settings.typed and bool(settings.edges)
    if typed:
        heard = [(j, one_hot[k]) for k, kind in enumerate(settings.edges) for j in range(len(x)) if hears[kind][i][j]]
    else:
        heard = [(j, np.zeros(0)) for j in range(len(x)) if together[i][j]]
    mean = sum(kind for _, kind in heard) / len(heard) if heard else np.zeros(len(settings.edges) if typed else 0)
    heard.append((i, mean))  # each node hears itself too
    score = _gatv2_score if settings.layer == "gatv2" else _gat_score
    message = "lin_l" if settings.layer == "gatv2" else "lin"
    parts = []
    for head in range(settings.heads):
        scores = [exp(score(weights, x[i], x[j], kind, head)) for j, kind in heard]
        values = [_head(weights, message, x[j], head, settings.heads) for j, _ in heard]
        parts.append(sum(s * value for s, value in zip(scores, values, strict=True)) / sum(scores))
    return np.concatenate(parts) + weights["bias"]


def _gatv2_score(weights: Weights, hearer: Vector, heard: Vector, kind: Vector, head: int) -> float:
    heads = weights["att"].shape[1]
    total = _head(weights, "lin_r", hearer, head, heads) + _head(weights, "lin_l", heard, head, heads)
    if kind.size:
        total = total + _head(weights, "lin_edge", kind, head, heads)
    return float(weights["att"][0][head] @ _leaky(total))


def _gat_score(weights: Weights, hearer: Vector, heard: Vector, kind: Vector, head: int) -> float:
    heads = weights["att_src"].shape[1]
    total = weights["att_dst"][0][head] @ _head(weights, "lin", hearer, head, heads)
    total += weights["att_src"][0][head] @ _head(weights, "lin", heard, head, heads)
    if kind.size:
        total += weights["att_edge"][0][head] @ _head(weights, "lin_edge", kind, head, heads)
    return float(_leaky(np.array([total]))[0])


def _head(weights: Weights, name: str, x: Vector, head: int, heads: int) -> Vector:
    found = weights[f"{name}.weight"] @ x
    if f"{name}.bias" in weights:
        found = found + weights[f"{name}.bias"]
    part = len(found) // heads
    return found[head * part : (head + 1) * part]


def _leaky(x: Vector) -> Vector:
    return np.array([number if number > 0 else 0.2 * number for number in x])


def _below(weights: Weights, prefix: str) -> dict[str, NDArray[Any]]:
    return {name[len(prefix) :]: held for name, held in weights.items() if name.startswith(prefix)}
