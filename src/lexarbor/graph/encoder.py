"""The legislative graph encoder (LGE) in torch, as it is trained."""

from collections.abc import Mapping
from functools import reduce
from itertools import pairwise
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.nn import GATConv, GATv2Conv, GCNConv, GraphConv, SAGEConv
from torch_geometric.utils import scatter

from lexarbor.errors import GraphError
from lexarbor.graph.settings import GraphSettings
from lexarbor.graph.weights import HEARD_AT_FIRST, SCALE_AT_FIRST, Weights, check_weights


class LegislativeGraphEncoder(nn.Module):
    """Node features X (n, d) to enriched vectors Z (n, d): the paper's section "Legislative Graph Encoder".

    Its layers are the H^(l+1) = f(H^(l), A) of that section, H^0 = X, its rows brought to length 1 if the settings say
    so, and H^L = f(X). For `gatv2`, as the paper proposes, h_i' = σ(Σ_j α_ij W h_j) over the neighbours j of i and i
    itself, with α_ij = softmax_j of a·leaky_relu(W_r h_i + W h_j), one head of attention or several. `gat`, `gcn`,
    `graphsage` (mean) and `kgnn` (torch-geometric's GraphConv, the sum over neighbours) are the alternatives. σ is ReLU
    between layers, and nothing after the last. `hearing` is our own (see `Hearing`), without σ.

    Z = X + scale ∘ f(X), or f(X) alone where there is no residual (`hearing` has its own within); in both cases plus
    W2 relu(W1 x + b1) + b2 where `own` is set. Z is not brought to length 1.

    A node's vector depends on nothing but its neighbourhood of as many steps as there are layers, so that the vectors
    of `LegislativeGraph.around(rows, layers)` are those of the whole graph.
    """

    def __init__(self, settings: GraphSettings, dimension: int) -> None:
        super().__init__()
        self.settings = settings
        self.dimension = dimension
        layer = Hearing if settings.layer == "hearing" else Convolutions
        self.layers = nn.ModuleList(layer(settings, *ends) for ends in pairwise(settings.widths(dimension)))
        if settings.scaled:
            self.scale = nn.Parameter(torch.full((dimension,), SCALE_AT_FIRST))
        if settings.own:
            self.own = nn.ModuleList([nn.Linear(dimension, settings.own), nn.Linear(settings.own, dimension)])
            for parameter in self.own[1].parameters():
                nn.init.zeros_(parameter)

    def begin_hearing(self, last: Mapping[str, float], before: Mapping[str, float]) -> None:
        """Let the layers `hearing` begin with so much of each kind, 0 of those that are not named: the last layer with
        `last`, the others with `before`. Nothing named leaves a layer as it is.
        """
        for number, layer in enumerate(self.layers, start=1):
            named = last if number == len(self.layers) else before
            if named and isinstance(layer, Hearing):
                weights = torch.tensor([named.get(kind, 0.0) for kind in self.settings.edges])
                with torch.no_grad():
                    layer.heard.copy_(weights.unsqueeze(1).expand_as(layer.heard))

    @property
    def parameters_count(self) -> int:
        """How many numbers are learned."""
        return sum(parameter.numel() for parameter in self.parameters())

    def forward(self, features: Tensor, edges: Mapping[str, Tensor], degrees: Tensor | None = None) -> Tensor:
        """Enriched vectors (n, d) of features (n, d).

        `edges`: by kind, (2, m) sources and targets; kinds that the settings do not name are not heard.
        `degrees`: (n) how many edges of the heard kinds lead to each node in the whole graph, an edge of two kinds
        once, as `settings.heard(graph).around(...)` gives them: of use to `gcn` alone, and needed only where the edges
        are a part of the graph's.
        """
        if features.ndim != 2 or features.shape[1] != self.dimension:
            raise GraphError(f"features are {tuple(features.shape)}, the graph encoder reads (n, {self.dimension})")
        for kind in self.settings.edges:
            if kind not in edges:
                given = ", ".join(edges) or "none"
                raise GraphError(f"the graph encoder hears edges of the kind '{kind}', given are {given}")
        x = functional.normalize(features, dim=1) if self.settings.normalise else features
        found = self._heard(x, edges, degrees)
        if self.settings.scaled:
            found = x + self.scale * found
        if self.settings.own:
            found = found + self.own[1](self._dropped(torch.relu(self.own[0](x))))
        return found

    def _heard(self, x: Tensor, edges: Mapping[str, Tensor], degrees: Tensor | None) -> Tensor:
        """What the layers give: H^L of H^0 = x."""
        if self.settings.layer == "hearing":
            for layer in self.layers:
                x = layer(x, edges)
            return x
        ways = _ways(self.settings, edges, x, degrees)
        for number, layer in enumerate(self.layers):
            x = layer(self._dropped(torch.relu(x)) if number else x, ways)
        return x

    def _dropped(self, x: Tensor) -> Tensor:
        return functional.dropout(x, self.settings.dropout, self.training)

    def to_arrays(self) -> dict[str, NDArray[np.float16]]:
        """The learned numbers by name, rounded to 16 bits: what a model folder holds."""
        arrays = {name: value.detach().cpu().numpy() for name, value in self.state_dict().items()}
        with np.errstate(over="ignore"):  # what is too large is refused with its name
            rounded = {name: value.astype(np.float16) for name, value in arrays.items()}
        check_weights(rounded, self.settings, self.dimension, "the graph encoder", "train it at a lower rate")
        return rounded

    @classmethod
    def from_arrays(cls, settings: GraphSettings, dimension: int, arrays: Weights) -> Self:
        """The encoder with these numbers; arrays that do not fit are a `ModelError`."""
        check_weights(arrays, settings, dimension, "the graph encoder's weights", "give those of these settings")
        encoder = cls(settings, dimension)
        encoder.load_state_dict({name: torch.from_numpy(np.array(held, np.float32)) for name, held in arrays.items()})
        return encoder.eval()


class Hearing(nn.Module):
    """A node keeps its vector and hears the mean of its neighbours of each kind, as much as it chooses.

    h_i' = (1 + w_0) ∘ h_i + Σ_kind g_kind(h_i) · w_kind ∘ mean_{j → i} h_j, with g_kind(h) = 2 sigmoid(v_kind·h +
    b_kind), 1 at first; of a kind without edges to it a node hears nothing. One weight for each kind and number:
    matrices learn a few hundred questions by heart.
    """

    def __init__(self, settings: GraphSettings, width: int, _: int) -> None:
        super().__init__()
        self.settings = settings
        kinds = len(settings.edges)
        self.itself = nn.Parameter(torch.zeros(width))
        self.heard = nn.Parameter(torch.full((kinds, width), HEARD_AT_FIRST))
        if settings.gates:
            self.gates = nn.Parameter(torch.zeros(kinds, width))
            self.gate_biases = nn.Parameter(torch.zeros(kinds))

    def forward(self, x: Tensor, edges: Mapping[str, Tensor]) -> Tensor:
        message = torch.zeros_like(x)
        for number, kind in enumerate(self.settings.edges):
            sources, targets = edges[kind]
            heard = self.heard[number] * scatter(x.index_select(0, sources), targets, dim_size=len(x), reduce="mean")
            if self.settings.gates:
                heard = 2 * torch.sigmoid(x @ self.gates[number] + self.gate_biases[number]).unsqueeze(1) * heard
            message = message + heard
        return (1 + self.itself) * x + functional.dropout(message, self.settings.dropout, self.training)


class Convolutions(nn.ModuleDict):
    """One of torch-geometric's convolutions for each list of edges, summed."""

    def __init__(self, settings: GraphSettings, before: int, after: int) -> None:
        super().__init__({name: _convolution(settings, before, after) for name in settings.lists})

    def forward(self, x: Tensor, ways: Mapping[str, tuple[Tensor, ...]]) -> Tensor:
        found: Tensor = reduce(torch.add, (convolution(x, *ways[name]) for name, convolution in self.items()))
        return found


def _convolution(settings: GraphSettings, before: int, after: int) -> nn.Module:
    found: nn.Module
    if settings.attends:
        attention = GATv2Conv if settings.layer == "gatv2" else GATConv
        kinds = settings.kinds_read or None
        found = attention(before, after // settings.heads, settings.heads, edge_dim=kinds, fill_value="mean")
    elif settings.layer == "gcn":  # its edges come with their weights and self loops, see `_normalised`
        found = GCNConv(before, after, normalize=False, add_self_loops=False)
    elif settings.layer == "graphsage":
        found = SAGEConv(before, after, aggr="mean")
    else:
        found = GraphConv(before, after, aggr="add")
    return found


def _ways(
    settings: GraphSettings, edges: Mapping[str, Tensor], x: Tensor, degrees: Tensor | None
) -> dict[str, tuple[Tensor, ...]]:
    """By list of edges, what a convolution reads beside the vectors: the edges, and what it knows of each."""
    kinds = [edges[kind] for kind in settings.edges]
    if settings.kinds_read:
        counts = torch.tensor([ends.shape[1] for ends in kinds], device=x.device)
        known = torch.eye(len(kinds), dtype=x.dtype, device=x.device).repeat_interleave(counts, dim=0)
        return {"all": (torch.cat(kinds, dim=1), known)}
    lists = {name: edges[name] for name in settings.lists} if settings.lists != ("all",) else {"all": _union(kinds, x)}
    if settings.layer != "gcn":
        return {name: (ends,) for name, ends in lists.items()}
    if degrees is None:
        degrees = torch.bincount(_union(kinds, x)[1], minlength=len(x))
    return {name: _normalised(ends, degrees.to(x.dtype)) for name, ends in lists.items()}


def _union(kinds: list[Tensor], x: Tensor) -> Tensor:
    """Several lists as one, each edge once."""
    if len(kinds) == 1:
        return kinds[0]
    sources, targets = torch.cat([torch.empty((2, 0), dtype=torch.long, device=x.device), *kinds], dim=1)
    keys = torch.unique(targets * len(x) + sources)
    return torch.stack([keys % len(x), keys // len(x)])


def _normalised(ends: Tensor, degrees: Tensor) -> tuple[Tensor, Tensor]:
    """Edges and self loops with the weight 1 / sqrt(d_i d_j), d one more than the degree.

    torch-geometric counts degrees in the edges that it is given. In a part of a graph, a source at the rim would seem
    to hear nobody. Where each kind has its own weights, all share the degrees of the union.
    """
    own = torch.arange(len(degrees), device=ends.device)
    ends = torch.cat([ends, own.expand(2, -1)], dim=1)
    root = (degrees + 1).rsqrt()
    return ends, root[ends[0]] * root[ends[1]]
