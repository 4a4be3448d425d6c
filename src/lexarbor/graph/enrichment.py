"""Vectors enriched by those around them, with numpy alone: each node of the law hears its neighbourhood."""

from collections.abc import Mapping
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from lexarbor.corpus.tree import LawTree
from lexarbor.errors import GraphError, ModelError
from lexarbor.graph import layers
from lexarbor.graph.features import encode_nodes
from lexarbor.graph.incoming import Floats, Incoming
from lexarbor.graph.legislation import LegislativeGraph, legislative_graph
from lexarbor.graph.model_folder import GraphModelFolder
from lexarbor.graph.settings import GraphSettings
from lexarbor.graph.weights import Weights, check_weights
from lexarbor.text.corpus_vectors import ArticleEncoder, LawVectors, OnStep
from lexarbor.text.known_vectors import KnownVectors

TINY = np.float32(1e-12)
"""What the length of a vector is taken for at least, as in torch: one of zeros stays so."""
_PLAIN = {"graphsage": layers.graphsage, "kgnn": layers.kgnn, "gat": layers.gat, "gatv2": layers.gatv2}


class Enricher:
    """A trained graph encoder, ready for use. It gives what `LegislativeGraphEncoder` gives with the same weights."""

    def __init__(
        self, settings: GraphSettings, dimension: int, encoder: str, weights: Weights, checksum: str = ""
    ) -> None:
        """`encoder`: the checksum of the text encoder whose vectors the graph encoder was trained on; `checksum` its
        own, where it comes from a folder.
        """
        check_weights(weights, settings, dimension, "the graph encoder's weights", "give those of these settings")
        self.settings = settings
        self.dimension = dimension
        self.encoder = encoder
        self.checksum = checksum
        self._weights = {name: np.asarray(held, dtype=np.float32) for name, held in weights.items()}

    @classmethod
    def open(cls, folder: str | Path) -> Self:
        """The model in a folder, its checksums verified; anything amiss is a `ModelError`."""
        found = GraphModelFolder.open(Path(folder))
        return cls(found.settings, found.dimension, found.encoder, found.weights, found.checksum)

    def enrich(self, features: Floats, graph: LegislativeGraph, *, encoder: str) -> Floats:
        """The vectors (size, d) of a graph's nodes, each after it has heard its neighbourhood; not of length 1.

        `encoder`: the checksum of the text encoder that the features come from; another than the model's is refused,
        as are features or a graph that do not fit.
        """
        self._check(features, graph, encoder)
        graph = self.settings.heard(graph)
        x = np.asarray(features, dtype=np.float32)
        if self.settings.normalise:
            x = _of_length_one(x)
        found = self._heard(x, graph)
        if self.settings.scaled:
            found = x + self._weights["scale"] * found
        if self.settings.own:
            one, other = (self._part(f"own.{number}.") for number in range(2))
            inner = np.maximum(layers.linear(x, one["weight"], one["bias"]), 0)
            found = found + layers.linear(inner, other["weight"], other["bias"])
        return found

    def check_encoder(self, encoder: str) -> None:
        """Refuse a text encoder, by its checksum, that the graph encoder was not trained for."""
        if encoder != self.encoder:
            raise ModelError(
                f"the graph encoder was trained on vectors of the text encoder {self.encoder}, these are of {encoder}: "
                "give it the vectors of its own text encoder, or train a graph encoder for this one"
            )

    def _check(self, features: Floats, graph: LegislativeGraph, encoder: str) -> None:
        self.check_encoder(encoder)
        if features.ndim != 2 or features.shape[1] != self.dimension:
            raise ModelError(
                f"the graph encoder reads vectors of {self.dimension} numbers, the features are {features.shape}: "
                "give it the vectors of its own text encoder"
            )
        if not np.isfinite(features).all():
            raise ModelError("some features are no numbers (NaN or infinite): encode the nodes again")
        if len(features) != graph.size:
            raise GraphError(
                f"there are {len(features)} rows of features and {graph.size} nodes in the graph: "
                "encode the nodes of this graph"
            )
        if self.settings.merge_headings and graph.forest:
            raise GraphError(
                "the graph encoder was trained where equal headings are one node, in this graph each has its own: "
                "make the graph with merge_headings"
            )

    def _heard(self, x: Floats, graph: LegislativeGraph) -> Floats:
        """What the layers give."""
        settings = self.settings
        if settings.layer == "hearing":
            kinds = [Incoming(edges, graph.size) for edges in graph.edges.values()]
            for number in range(settings.layers):
                x = layers.hearing(self._part(f"layers.{number}."), x, kinds)
            return x
        lists = _lists(settings, graph)
        for number in range(settings.layers):
            x = np.maximum(x, 0) if number else x
            x = self._convolved(f"layers.{number}.", x, lists, graph.degrees)
        return x

    def _convolved(self, prefix: str, x: Floats, lists: Mapping[str, Incoming], degrees: NDArray[np.int64]) -> Floats:
        """What one layer gives, summed over the lists of edges."""

        def one(name: str) -> Floats:
            weights = self._part(f"{prefix}{name}.")
            if self.settings.layer == "gcn":
                return layers.gcn(weights, x, lists[name], degrees)
            return _PLAIN[self.settings.layer](weights, x, lists[name])

        first, *others = lists
        found = one(first)
        for name in others:
            found += one(name)
        return found

    def _part(self, prefix: str) -> dict[str, Floats]:
        """The weights whose names begin so, by the rest of their names."""
        return {name.removeprefix(prefix): held for name, held in self._weights.items() if name.startswith(prefix)}


def _lists(settings: GraphSettings, graph: LegislativeGraph) -> dict[str, Incoming]:
    """By list of edges, as the weights have them, what leads to each node."""
    if settings.kinds_read:
        return {"all": Incoming.typed(list(graph.edges.values()), graph.size)}
    if settings.lists == ("all",):
        return {"all": Incoming(graph.union(), graph.size)}
    return {kind: Incoming(graph.edges[kind], graph.size) for kind in settings.lists}


def enrich_law(
    enricher: Enricher,
    encoder: ArticleEncoder,
    law: LawTree,
    cache: Path | None = None,
    on_step: OnStep = lambda done, total: None,
    known: KnownVectors | None = None,
) -> LawVectors:
    """Every article in force of a law, sorted by id, with its enriched vector: of length 1 where the encoder's are
    compared by the cosine.

    Articles and headings are encoded first: `cache` and `on_step` are as in `lexarbor.text.corpus_vectors.encode_law`,
    `known` as in its `encode_inputs`.
    """
    enricher.check_encoder(encoder.checksum)  # before the long work
    graph = legislative_graph(law, merge_headings=enricher.settings.merge_headings)
    features = encode_nodes(encoder, law, graph, cache, on_step, known)
    found = enricher.enrich(features, graph, encoder=encoder.checksum)[graph.article_rows]
    return LawVectors(graph.articles, _of_length_one(found) if encoder.settings.similarity == "cosine" else found)


def _of_length_one(vectors: Floats) -> Floats:
    lengths = np.sqrt(np.einsum("nd,nd->n", vectors, vectors))
    found: Floats = vectors / np.maximum(lengths, TINY)[:, None]
    return found
