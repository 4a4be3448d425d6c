"""Vectors enriched without torch: what torch gives, for articles that no model ever saw too."""

import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
import torch
from four_nodes import FEATURES, GRAPH, VARIANTS, named, random_weights
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from random_graphs import graphs

from lexarbor.corpus.law import Article
from lexarbor.corpus.sources import read_tiny
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import GraphError, ModelError
from lexarbor.graph.encoder import LegislativeGraphEncoder
from lexarbor.graph.enrichment import Enricher, enrich_law
from lexarbor.graph.features import encode_nodes
from lexarbor.graph.legislation import LegislativeGraph, legislative_graph
from lexarbor.graph.model_folder import write_model
from lexarbor.graph.settings import GraphSettings
from lexarbor.text.settings import EncoderSettings

torch.set_num_threads(1)
LAW = read_tiny()


@dataclass
class Toy:
    """An encoder that spells out a hash."""

    settings: EncoderSettings = field(default_factory=EncoderSettings)
    checksum: str = "ab" * 32
    dimension: int = 4

    def encode_articles(self, inputs: Iterable[str]) -> NDArray[np.float32]:
        rows = [list(sha256(text.encode()).digest()[:4]) for text in inputs]
        return np.array(rows, dtype=np.float32).reshape(-1, 4) - 128


def enricher(chosen: GraphSettings) -> Enricher:
    return Enricher(chosen, 4, Toy().checksum, random_weights(chosen))


@pytest.mark.parametrize("chosen", VARIANTS, ids=named)
def test_a_folder_gives_what_torch_gives_with_the_same_rounded_weights(chosen: GraphSettings, tmp_path: Path) -> None:
    torch.manual_seed(1)
    encoder = LegislativeGraphEncoder(chosen, 4)
    for parameter in encoder.parameters():  # with none left as it is at first
        torch.nn.init.normal_(parameter, std=0.5)
    write_model(tmp_path, chosen, 4, Toy().checksum, encoder.to_arrays())
    graph = legislative_graph(LAW)
    features = encode_nodes(Toy(), LAW, graph)
    found = Enricher.open(tmp_path).enrich(features, graph, encoder=Toy().checksum)
    rounded = LegislativeGraphEncoder.from_arrays(chosen, 4, encoder.to_arrays())
    edges = {kind: torch.from_numpy(ends.astype(np.int64)) for kind, ends in graph.edges.items()}
    expected = rounded(torch.from_numpy(features), edges).detach().numpy()
    assert found.dtype == np.float32
    length = np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.abs((found - expected) / length).max() < 1e-4


@given(graphs(), st.sampled_from([chosen for chosen in VARIANTS if chosen.edges]), st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_any_graph_gives_what_torch_gives(graph: LegislativeGraph, chosen: GraphSettings, seed: int) -> None:
    chosen = replace(chosen, edges=graph.kinds)
    weights = random_weights(chosen)
    features = np.random.default_rng(seed).standard_normal((graph.size, 4)).astype(np.float32)
    found = Enricher(chosen, 4, "text", weights).enrich(features, graph, encoder="text")
    edges = {kind: torch.from_numpy(ends.astype(np.int64)) for kind, ends in graph.edges.items()}
    expected = LegislativeGraphEncoder.from_arrays(chosen, 4, weights)(torch.from_numpy(features), edges)
    assert np.allclose(found, expected.detach().numpy(), atol=1e-5, rtol=1e-5)


def test_a_vector_of_zeros_stays_finite() -> None:
    found = enricher(GraphSettings()).enrich(np.zeros_like(FEATURES), GRAPH, encoder=Toy().checksum)
    assert not found.any()


def test_features_are_left_as_they_are() -> None:
    for chosen in VARIANTS:
        features = FEATURES.copy()
        enricher(chosen).enrich(features, GRAPH, encoder=Toy().checksum)
        assert np.array_equal(features, FEATURES)


def test_a_law_is_enriched_article_by_article(tmp_path: Path) -> None:
    model, graph = enricher(GraphSettings()), legislative_graph(LAW)
    steps: list[tuple[int, int]] = []
    found = enrich_law(model, Toy(), LAW, tmp_path, lambda done, total: steps.append((done, total)))
    assert found.ids == tuple(article.id for article in LAW.current())
    whole = model.enrich(encode_nodes(Toy(), LAW, graph), graph, encoder=Toy().checksum)
    assert np.allclose(found.vectors, _of_length_one(whole[graph.article_rows]))
    assert steps[-1] == (graph.size, graph.size)
    assert np.array_equal(enrich_law(model, Toy(), LAW, tmp_path).vectors, found.vectors)


def test_a_law_is_enriched_with_equal_headings_as_one_where_the_model_is_so() -> None:
    model = enricher(GraphSettings(merge_headings=True))
    graph = legislative_graph(LAW, merge_headings=True)
    whole = model.enrich(encode_nodes(Toy(), LAW, graph), graph, encoder=Toy().checksum)
    assert np.allclose(enrich_law(model, Toy(), LAW).vectors, _of_length_one(whole[graph.article_rows]))
    with pytest.raises(GraphError, match="equal headings are one node, in this graph each has its own: make the graph"):
        model.enrich(FEATURES, GRAPH, encoder=Toy().checksum)


@pytest.mark.parametrize("layer", ["hearing", "gatv2"])
def test_an_article_that_no_model_saw_is_heard_by_its_neighbours_and_by_none_farther(layer: str) -> None:
    beside = LAW.current()[0]
    new = Article("zz-new", "L9999", beside.code, "La commune répare ce que le vent a brisé.", beside.path)
    longer = LawTree([*LAW.nodes(), new], date=LAW.date)
    model = enricher(GraphSettings(layer=layer, width=6))
    before, after = (dict(zip(*enrich_law(model, Toy(), law), strict=True)) for law in (LAW, longer))
    assert after.keys() - before.keys() == {"zz-new"}

    graph = legislative_graph(longer)
    rows = {id: graph.rows_of([id]) for id in graph.articles}
    near = {id for id in before if rows["zz-new"][0] in graph.around(rows[id], 2).rows}
    assert beside.id in near
    assert near < before.keys()
    for id, vector in before.items():
        assert np.allclose(after[id], vector, atol=1e-6) == (id not in near)

    features = encode_nodes(Toy(), longer, graph)
    alone = model.enrich(features, replace(graph, edges=_without(graph, "zz-new")), encoder=Toy().checksum)
    assert not np.allclose(alone[rows["zz-new"][0]], after["zz-new"], atol=1e-3)


def _without(graph: LegislativeGraph, id: str) -> dict[str, NDArray[np.int32]]:
    """Edges that leave an article only where it stands."""
    row = graph.rows_of([id])[0]
    kept = {kind: ends[:, (ends != row).all(axis=0)] for kind, ends in graph.edges.items()}
    return kept | {kind: graph.edges[kind] for kind in ("contains", "within")}


def test_what_does_not_fit_is_refused_with_both_values() -> None:
    model = enricher(GraphSettings())
    with pytest.raises(ModelError, match=rf"trained on vectors of the text encoder {'ab' * 32}, these are of other:"):
        model.enrich(FEATURES, GRAPH, encoder="other")
    with pytest.raises(ModelError, match=rf"text encoder {'ab' * 32}, these are of other:"):
        enrich_law(model, Toy(checksum="other"), LAW)
    with pytest.raises(ModelError, match=r"reads vectors of 4 numbers, the features are \(4, 3\)"):
        model.enrich(FEATURES[:, :3], GRAPH, encoder=Toy().checksum)
    with pytest.raises(ModelError, match=r"reads vectors of 4 numbers, the features are \(4,\)"):
        model.enrich(FEATURES[0], GRAPH, encoder=Toy().checksum)
    with pytest.raises(GraphError, match="3 rows of features and 4 nodes in the graph: encode the nodes of this graph"):
        model.enrich(FEATURES[:3], GRAPH, encoder=Toy().checksum)
    with pytest.raises(GraphError, match="hears edges of the kind 'within', the graph has contains:"):
        model.enrich(FEATURES, GRAPH.only(["contains"]), encoder=Toy().checksum)
    with pytest.raises(ModelError, match=r"the weights 'layers\.0\.itself' are float32 .*, its settings say"):
        Enricher(GraphSettings(), 5, "text", random_weights(GraphSettings()))


def test_enrichment_needs_no_torch() -> None:
    code = "import sys, lexarbor.graph.enrichment; print(*{'torch', 'torch_geometric'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == []


def test_features_that_are_no_numbers_are_refused() -> None:
    model, graph = enricher(GraphSettings()), legislative_graph(LAW)
    features = encode_nodes(Toy(), LAW, graph)
    features[3, 1] = np.nan
    with pytest.raises(ModelError, match="some features are no numbers"):
        model.enrich(features, graph, encoder=Toy().checksum)


def test_vectors_compared_by_their_product_keep_their_lengths() -> None:
    settings = GraphSettings(normalise=False)
    model, graph = enricher(settings), legislative_graph(LAW)
    toy = replace(Toy(), settings=EncoderSettings(similarity="dot"))
    whole = model.enrich(encode_nodes(toy, LAW, graph), graph, encoder=toy.checksum)
    assert np.array_equal(enrich_law(model, toy, LAW).vectors, whole[graph.article_rows])


def _of_length_one(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
