"""The layers of the graph encoder in numpy, for use: what `lexarbor.graph.encoder` trains, without torch.

Each takes its weights by their names in `lexarbor.graph.weights`, vectors x (n, before) and the edges that lead to each
node, and gives (n, after).
"""

from collections.abc import Callable, Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from lexarbor.graph.incoming import Floats, Incoming

Weights = Mapping[str, Floats]
Rows = NDArray[np.integer]
Logits = Callable[[Rows, Rows, Floats | None], Floats]
"""Of edges by their sources, their targets and what is known of their kinds: (e, heads) before the softmax."""

SLOPE = np.float32(0.2)
"""What leaky ReLU leaves of a negative number, as in torch-geometric's attention."""
ROWS = 2048
"""For how many nodes at once it is found how much they hear themselves."""


def hearing(weights: Weights, x: Floats, lists: Iterable[Incoming]) -> Floats:
    """(1 + w_0) ∘ x + Σ_kind g_kind(x) · w_kind ∘ the mean of the kind; g(x) = 2 sigmoid(v·x + b), or 1."""
    found = x * (1 + weights["itself"])
    for number, edges in enumerate(lists):
        found += _heard(weights, x, edges, number)
    return found


def _heard(weights: Weights, x: Floats, edges: Incoming, number: int) -> Floats:
    """What is heard of the kind with this number."""
    found = edges.means(x)
    found *= weights["heard"][number]
    if "gates" in weights:
        found *= _twice_sigmoid(x @ weights["gates"][number] + weights["gate_biases"][number])[:, None]
    return found


def _twice_sigmoid(x: Floats) -> Floats:
    found: Floats = 1 + np.tanh(x / 2)  # which no x overflows
    return found


def gcn(weights: Weights, x: Floats, edges: Incoming, degrees: NDArray[np.int64]) -> Floats:
    """Σ_j x_j / sqrt(d_i d_j) W + b, over i itself too; d is one more than the degree."""
    root = (1 / np.sqrt(degrees + 1)).astype(np.float32)[:, None]
    scaled: Floats = x * root
    sums = edges.sums(scaled)
    sums += scaled
    sums *= root
    return linear(sums, weights["lin.weight"], weights["bias"])


def graphsage(weights: Weights, x: Floats, edges: Incoming) -> Floats:
    """W_l (mean of the neighbours) + b + W_r x."""
    found = linear(edges.means(x), weights["lin_l.weight"], weights["lin_l.bias"])
    found += linear(x, weights["lin_r.weight"])
    return found


def kgnn(weights: Weights, x: Floats, edges: Incoming) -> Floats:
    """W_rel (sum of the neighbours) + b + W_root x."""
    found = linear(edges.sums(x), weights["lin_rel.weight"], weights["lin_rel.bias"])
    found += linear(x, weights["lin_root.weight"])
    return found


def gatv2(weights: Weights, x: Floats, edges: Incoming) -> Floats:
    """Attention a·leaky_relu(W_r x_i + b_r + W_l x_j + b_l + W_e of the kind) over what W_l x_j + b_l says."""
    attention = weights["att"][0]  # (heads, part)
    heard = _parted(linear(x, weights["lin_l.weight"], weights["lin_l.bias"]), attention)
    hearer = _parted(linear(x, weights["lin_r.weight"], weights["lin_r.bias"]), attention)
    by_kind = _parted(weights["lin_edge.weight"].T, attention) if "lin_edge.weight" in weights else None

    def logits(sources: Rows, targets: Rows, of_kind: Floats | None) -> Floats:
        sums = heard[sources] + hearer[targets]  # (e, heads, part)
        if of_kind is not None:
            sums += of_kind
        found: Floats = np.einsum("ehp,hp->eh", _leaky(sums), attention)
        return found

    return _attended(heard, edges, logits, by_kind, weights["bias"])


def gat(weights: Weights, x: Floats, edges: Incoming) -> Floats:
    """Attention leaky_relu(a_dst·W x_i + a_src·W x_j + a_edge·W_e of the kind) over what W x_j says."""
    source, target = weights["att_src"][0], weights["att_dst"][0]  # (heads, part)
    heard = _parted(linear(x, weights["lin.weight"]), source)
    of_source, of_target = (np.einsum("nhp,hp->nh", heard, attention) for attention in (source, target))
    by_kind = None
    if "lin_edge.weight" in weights:
        by_kind = np.einsum("khp,hp->kh", _parted(weights["lin_edge.weight"].T, source), weights["att_edge"][0])

    def logits(sources: Rows, targets: Rows, of_kind: Floats | None) -> Floats:
        sums = of_source[sources] + of_target[targets]  # (e, heads)
        return _leaky(sums if of_kind is None else sums + of_kind)

    return _attended(heard, edges, logits, by_kind, weights["bias"])


def _attended(heard: Floats, edges: Incoming, logits: Logits, by_kind: Floats | None, bias: Floats) -> Floats:
    """(n, width) the mean of what each node hears, itself among it, weighed by the softmax of the logits.

    A node hears itself by an edge that is of each kind in the share that the edges to it have.
    """
    own = np.empty(heard.shape[:2], dtype=np.float32)  # (n, heads)
    for start in range(0, len(heard), ROWS):
        rows = np.arange(start, min(start + ROWS, len(heard)))
        own[rows] = logits(rows, rows, None if by_kind is None else np.tensordot(edges.shares[rows], by_kind, axes=1))
    found = heard.copy()  # all that a node hears that hears none but itself
    for block in edges.blocks(heard.shape[1] * heard.shape[2]):
        sources, targets = edges.sources[block.edges], edges.targets[block.edges]
        said = logits(sources, targets, None if by_kind is None else by_kind[edges.kinds[block.edges]])  # (e, heads)
        largest = np.maximum(own[block.rows], block.largest(said))  # taken off, so that nothing overflows
        said = np.exp(said - largest[block.at])
        itself = np.exp(own[block.rows] - largest)
        total = itself + block.summed(said)
        sums = itself[:, :, None] * heard[block.rows] + block.summed(said[:, :, None] * heard[sources])
        found[block.rows] = sums / total[:, :, None]
    found += bias.reshape(heard.shape[1:])
    return found.reshape(len(found), bias.size)


def linear(x: Floats, matrix: Floats, bias: Floats | None = None) -> Floats:
    """x (n, before) by a matrix (after, before), plus a bias."""
    found: Floats = x @ matrix.T
    if bias is not None:
        found += bias
    return found


def _parted(x: Floats, attention: Floats) -> Floats:
    """(n, width) as (n, heads, part)."""
    return x.reshape(len(x), *attention.shape)


def _leaky(x: Floats) -> Floats:
    found: Floats = np.maximum(x, SLOPE * x)
    return found
