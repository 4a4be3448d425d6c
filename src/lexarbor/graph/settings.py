"""How a node's vector hears those around it: the settings that training chooses and that every later reader of the
model needs.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from lexarbor.errors import GraphError, nearest
from lexarbor.graph.legislation import EDGE_KINDS, LegislativeGraph
from lexarbor.text.manifests import settings_from

LAYERS = ("gatv2", "gat", "gcn", "graphsage", "kgnn", "hearing")
"""The paper's five, as torch-geometric has them, and one of our own (see `lexarbor.graph.layers`)."""
ATTENTION = ("gatv2", "gat")


@dataclass(frozen=True, slots=True)
class GraphSettings:
    """The legislative graph encoder's settings; the paper's section "Legislative Graph Encoder" names them.

    The paper's own are `layer="gatv2", layers=3, width=3072, edges=("contains",), typed=False, residual=False,
    normalise=False`; its authors' code has `merge_headings=True`.
    """

    layer: str = "hearing"
    """One of LAYERS."""
    layers: int = 2
    """How many steps away a node hears another. 0 only where nothing is heard: no `edges`, and `own` alone."""
    width: int = 384
    """How many numbers a vector has between two layers; `hearing` keeps the text encoder's."""
    heads: int = 1
    """`gatv2` and `gat` only: attentions beside one another, each with its part of the width."""
    edges: tuple[str, ...] = EDGE_KINDS
    """The kinds of edges that are heard, whatever others the graph has; none at all is a control."""
    typed: bool = True
    """Whether a layer knows an edge's kind. Attention then reads it, and an edge of two kinds counts as two; the other
    layers have weights for each kind. Else all kinds are one list, each edge in it once. `hearing` always knows.
    """
    gates: bool = True
    """`hearing` only: whether a node's own vector says how much it hears of each kind."""
    residual: bool = True
    """Whether what the layers give is added to the node's own vector, at a scale that is learned; else it takes its
    place, as in the paper. `hearing` always adds, without a scale.
    """
    own: int = 0
    """The width of a further part that reads a node's own vector alone, and is added; 0 for none."""
    dropout: float = 0.1
    """In training, what share of numbers is left out: between layers, of what `hearing` hears, within `own`."""
    normalise: bool = True
    """Whether each vector is brought to length 1 before anything else, as fits an encoder compared by the cosine."""
    merge_headings: bool = False
    """Whether equal headings are one node, as in the code that the paper's authors published."""

    def __post_init__(self) -> None:
        if self.layer not in LAYERS:
            raise GraphError(f"the graph encoder's layer is {self.layer!r}: {nearest(self.layer, LAYERS)}")
        for name in ("typed", "gates", "residual", "normalise", "merge_headings"):
            if not isinstance(getattr(self, name), bool):
                raise GraphError(f"the graph encoder's {name} is {getattr(self, name)!r}: write true or false")
        for name, least in (("layers", 0), ("width", 1), ("heads", 1), ("own", 0)):
            found = getattr(self, name)
            if not isinstance(found, int) or isinstance(found, bool) or found < least:
                raise GraphError(f"the graph encoder's {name} is {found!r}: give a whole number of {least} or more")
        if isinstance(self.dropout, bool) or not isinstance(self.dropout, int | float) or not 0 <= self.dropout < 1:
            raise GraphError(f"the graph encoder's dropout is {self.dropout!r}: give a number from 0 to below 1")
        self._check_edges()
        self._check_layer()

    def _check_edges(self) -> None:
        if not isinstance(self.edges, list | tuple):
            raise GraphError(f"the graph encoder's edges are {self.edges!r}: give a list of {', '.join(EDGE_KINDS)}")
        for number, kind in enumerate(self.edges):
            if kind not in EDGE_KINDS:
                raise GraphError(
                    f"the graph encoder's edges have the unknown kind {kind!r}; {nearest(kind, EDGE_KINDS)}"
                )
            if kind in self.edges[:number]:
                raise GraphError(f"the graph encoder's edges have the kind '{kind}' twice: name each once")
        # weights stand in this order, however the kinds were named
        object.__setattr__(self, "edges", tuple(kind for kind in EDGE_KINDS if kind in self.edges))

    def _check_layer(self) -> None:
        if self.layers == 0 and (self.edges or not self.own or not self.residual):
            raise GraphError(
                f"the graph encoder has 0 layers with edges {list(self.edges)}, own {self.own} and residual "
                f"{self.residual}: without layers give no edges, an own width of 1 or more and residual true"
            )
        if self.layer == "hearing" and not (self.typed and self.residual):
            name = "residual" if self.typed else "typed"
            raise GraphError(f"the graph encoder's {name} is False, which the layer 'hearing' cannot be: write true")
        if self.attends and self.width % self.heads:
            raise GraphError(f"{self.heads} heads cannot share a width of {self.width}: give a multiple")

    def widths(self, dimension: int) -> tuple[int, ...]:
        """How many numbers a vector has before the first layer and after each, of a text encoder's `dimension`."""
        if dimension < 1:
            raise GraphError(f"a vector of {dimension} numbers cannot hear: give a dimension of 1 or more")
        if self.attends and self.layers and dimension % self.heads:
            raise GraphError(f"{self.heads} heads cannot share the {dimension} numbers of a vector: give a divisor")
        between = dimension if self.layer == "hearing" else self.width
        return (dimension, *[between] * (self.layers - 1), dimension)[: self.layers + 1]

    @property
    def lists(self) -> tuple[str, ...]:
        """The lists of edges that have weights of their own: a kind each, or "all" where one layer reads all."""
        return self.edges if self.typed and self.edges and not self.attends else ("all",)

    @property
    def attends(self) -> bool:
        """Whether its layers have attention."""
        return self.layer in ATTENTION

    @property
    def kinds_read(self) -> int:
        """How many kinds of edges the attention tells apart; 0 where it does not."""
        return len(self.edges) if self.attends and self.typed else 0

    @property
    def scaled(self) -> bool:
        """Whether there is a scale at which a node's own vector takes what the layers give."""
        return self.residual and self.layers > 0 and self.layer != "hearing"

    def heard(self, graph: LegislativeGraph) -> LegislativeGraph:
        """The graph with the edges that are heard alone: the one whose neighbourhoods and degrees fit these settings.

        A graph without one of these kinds is a `GraphError`.
        """
        missing = [kind for kind in self.edges if kind not in graph.kinds]
        if missing:
            raise GraphError(
                f"the graph encoder hears edges of the kind '{missing[0]}', the graph has "
                f"{', '.join(graph.kinds) or 'no edges'}: make the graph of the law with all kinds"
            )
        return graph.only(self.edges)

    def as_dict(self) -> dict[str, Any]:
        """What `from_dict` reads; words, numbers, lists and truth values only."""
        return asdict(self) | {"edges": list(self.edges)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], where: str = "the graph encoder's settings") -> Self:
        """The settings of a saved model. A key that is missing has its default; a key that is not known, or an
        impossible value, is a `ModelError`.
        """
        return settings_from(cls, values, where, GraphError)
