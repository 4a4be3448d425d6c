"""The legislative graph encoder (LGE) in torch, as it is trained."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.nn import GATConv, GATv2Conv, GCNConv, GraphConv, SAGEConv

from lexarbor.errors import GraphError, ModelError
from lexarbor.graph.settings import ATTENTION, GraphSettings
from lexarbor.graph.weights import HEARD_AT_FIRST, SCALE_AT_FIRST, check_weights

Arrays = dict[str, NDArray[np.float16]]


class LegislativeGraphEncoder(nn.Module):
    """Node features X (n, d) to enriched vectors Z (n, d): the paper's section "Legislative Graph Encoder".

    Its layers are the H^(l+1) = f(H^(l), A) of that section, H^0 = X after each row is brought to length 1, and
    H^L = f(X). For `gatv2`, as the paper proposes, h_i' = σ(Σ_j α_ij W h_j) over the neighbours j of i and i itself,
    with α_ij = softmax_j of a·leaky_relu(W_r h_i + W h_j), one head of attention or several. `gat`, `gcn`, `graphsage`
    (mean) and `kgnn` (torch-geometric's GraphConv, the sum over neighbours) are the paper's alternatives. σ is ReLU
    between layers, and nothing after the last. `hearing` is our own (see `Hearing`), without σ.

    Z = X + scale ∘ f(X), or f(X) alone where there is no residual (`hearing` has its own within); in both cases plus
    W2 relu(W1 x + b1) + b2 where `own` is set. Z is not brought to length 1: compare it by the cosine.

    A node's vector depends on nothing but its neighbourhood of as many steps as there are layers, so that the vectors
    of `LegislativeGraph.around(rows, layers)` are those of the whole graph.
    """

    def __init__(self, settings: GraphSettings, dimension: int) -> None:
        super().__init__()
        self.settings = settings
        self.dimension = dimension
        widths = settings.widths(dimension)
        self.layers = nn.ModuleList(
            nn.ModuleDict({name: _layer(settings, before, after) for name in _modules(settings)})
            for before, after in zip(widths, widths[1:], strict=False)
        )
        if settings.residual and settings.layer != "hearing":
            self.scale = nn.Parameter(torch.full((dimension,), SCALE_AT_FIRST))
        if settings.own:
            self.own = nn.ModuleList([nn.Linear(dimension, settings.own), nn.Linear(settings.own, dimension)])
            for parameter in self.own[1].parameters():
                nn.init.zeros_(parameter)

    @property
    def parameters_count(self) -> int:
        """How many numbers are learned."""
        return sum(parameter.numel() for parameter in self.parameters())

    def forward(self, features: Tensor, edges: Mapping[str, Tensor], degrees: Tensor | None = None) -> Tensor:
        """Enriched vectors (n, d) of features (n, d).

        `edges`: by kind, (2, m) sources and targets; kinds that the settings do not name are not heard.
        `degrees`: (n) how many edges of the heard kinds lead to each node in the whole graph, an edge of two kinds
        once, as `settings.heard(graph).around(...)` gives them: of use to `gcn` alone, and only where the edges are a
        part of the graph's.
        """
        if features.ndim != 2 or features.shape[1] != self.dimension:
            raise GraphError(f"features are {tuple(features.shape)}, the graph encoder reads (n, {self.dimension})")
        for kind in self.settings.edges:
            if kind not in edges:
                raise GraphError(f"the graph encoder hears edges of the kind '{kind}', given are {', '.join(edges)}")
        own = functional.normalize(features, dim=1, eps=TINY) if self.settings.normalise else features
        heard = self._heard(own, edges, degrees)
        if not self.settings.residual:
            found = heard
        elif self.settings.layer == "hearing":
            found = heard  # with the node's own vector in it already
        else:
            found = own + self.scale * heard
        if self.settings.own:
            inner = self._dropped(torch.relu(self.own[0](own)))
            found = found + self.own[1](inner)
        return found

    def _heard(self, own: Tensor, edges: Mapping[str, Tensor], degrees: Tensor | None) -> Tensor:
        raise NotImplementedError
