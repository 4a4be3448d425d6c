"""The legislative graph encoder in torch: against plain loops, against torch-geometric, and on parts of a graph."""

from collections.abc import Mapping
from math import prod

import numpy as np
import pytest
import torch
from dense_layers import dense
from four_nodes import FEATURES, GRAPH, HEARS, VARIANTS, named, random_weights
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from random_graphs import graphs
from torch_geometric.nn import GCNConv

from lexarbor.corpus.sources import read_tiny
from lexarbor.errors import GraphError, ModelError
from lexarbor.graph.encoder import LegislativeGraphEncoder
from lexarbor.graph.legislation import LegislativeGraph, legislative_graph
from lexarbor.graph.settings import LAYERS, GraphSettings
from lexarbor.graph.weights import weight_shapes

torch.set_num_threads(1)


def tensors(edges: Mapping[str, NDArray[np.int32]]) -> dict[str, torch.Tensor]:
    return {kind: torch.from_numpy(ends.astype(np.int64)) for kind, ends in edges.items()}


def random_features(size: int, dimension: int, seed: int = 0) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).standard_normal((size, dimension)).astype(np.float32))


@pytest.mark.parametrize("chosen", VARIANTS, ids=named)
def test_each_variant_is_what_plain_loops_give(chosen: GraphSettings) -> None:
    weights = random_weights(chosen)
    encoder = LegislativeGraphEncoder.from_arrays(chosen, 4, weights)
    found = encoder(torch.from_numpy(FEATURES), tensors(GRAPH.edges)).detach().numpy()
    assert np.abs(found - dense(chosen, weights, FEATURES, HEARS)).max() < 1e-5


@pytest.mark.parametrize("chosen", VARIANTS, ids=named)
def test_weights_have_the_names_and_shapes_that_a_folder_expects(chosen: GraphSettings) -> None:
    encoder = LegislativeGraphEncoder(chosen, 4)
    shapes = weight_shapes(chosen, 4)
    assert {name: tuple(held.shape) for name, held in encoder.state_dict().items()} == shapes
    assert encoder.parameters_count == sum(map(prod, shapes.values()))


@pytest.mark.parametrize(
    ("layer", "millions"), [("gatv2", 28), ("gat", 14), ("gcn", 14), ("graphsage", 28), ("kgnn", 28)]
)
def test_the_papers_layers_have_as_many_numbers_as_it_says(layer: str, millions: int) -> None:
    chosen = GraphSettings(layer=layer, layers=3, width=3072, edges=("contains",), typed=False, residual=False)
    assert round(sum(map(prod, weight_shapes(chosen, 768).values())) / 1e6) == millions


@given(graphs(), st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_gcn_is_torch_geometrics_on_a_whole_graph(graph: LegislativeGraph, seed: int) -> None:
    torch.manual_seed(seed)
    chosen = GraphSettings(layer="gcn", layers=1, edges=graph.kinds, typed=False, residual=False, normalise=False)
    encoder = LegislativeGraphEncoder(chosen, 3).eval()
    theirs = GCNConv(3, 3)
    theirs.load_state_dict(encoder.layers[0]["all"].state_dict())  # type: ignore[index]
    features = torch.randn(graph.size, 3)
    union = torch.from_numpy(graph.union().astype(np.int64))
    assert torch.allclose(encoder(features, tensors(graph.edges)), theirs(features, union), atol=1e-6)


@pytest.mark.parametrize("typed", [True, False])
@pytest.mark.parametrize("layer", LAYERS)
def test_a_neighbourhood_gives_the_vectors_of_the_whole_graph(layer: str, typed: bool) -> None:
    graph = legislative_graph(read_tiny())
    chosen = GraphSettings(layer=layer, layers=2, width=8, edges=("contains", "next", "cites"), typed=True)
    if layer != "hearing":
        chosen = GraphSettings(layer=layer, layers=2, width=8, edges=chosen.edges, typed=typed)
    encoder = LegislativeGraphEncoder.from_arrays(chosen, 4, random_weights(chosen))
    features = random_features(graph.size, 4)
    whole = encoder(features, tensors(graph.edges))
    for row in range(graph.size):
        near = chosen.heard(graph).around([row], 2)
        found = encoder(features[near.rows], tensors(near.edges), torch.from_numpy(near.degrees))
        assert torch.allclose(found[near.asked[0]], whole[row], atol=1e-6)


def test_before_it_has_learned_hearing_takes_a_twentieth_of_each_mean() -> None:
    encoder = LegislativeGraphEncoder(GraphSettings(layers=1, edges=("contains", "within")), 4).eval()
    x = torch.nn.functional.normalize(torch.from_numpy(FEATURES), dim=1)
    found = encoder(torch.from_numpy(FEATURES), tensors(GRAPH.edges))
    expected = torch.stack([x[0] + 0.05 * (x[2] + x[3]) / 2, x[1], x[2] + 0.05 * x[0], x[3] + 0.05 * x[0]])
    assert torch.allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("layer", [layer for layer in LAYERS if layer != "hearing"])
def test_before_it_has_learned_a_tenth_of_what_the_layers_give_is_added(layer: str) -> None:
    torch.manual_seed(0)
    encoder = LegislativeGraphEncoder(GraphSettings(layer=layer, width=6), 4).eval()
    bare = LegislativeGraphEncoder(GraphSettings(layer=layer, width=6, residual=False), 4).eval()
    bare.load_state_dict({name: held for name, held in encoder.state_dict().items() if name != "scale"})
    features, edges = torch.from_numpy(FEATURES), tensors(GRAPH.edges)
    x = torch.nn.functional.normalize(features, dim=1)
    assert torch.allclose(encoder(features, edges), x + 0.1 * bare(features, edges), atol=1e-6)


def test_the_part_that_reads_itself_alone_says_nothing_at_first() -> None:
    encoder = LegislativeGraphEncoder(GraphSettings(layers=0, edges=(), own=5), 4).eval()
    features = torch.from_numpy(FEATURES)
    assert torch.equal(encoder(features, {}), torch.nn.functional.normalize(features, dim=1))


@pytest.mark.parametrize("chosen", [chosen for chosen in VARIANTS if chosen.edges], ids=named)
def test_every_number_learns(chosen: GraphSettings) -> None:
    encoder = LegislativeGraphEncoder.from_arrays(chosen, 4, random_weights(chosen))
    encoder(torch.from_numpy(FEATURES), tensors(GRAPH.edges)).pow(2).sum().backward()
    for name, parameter in encoder.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().sum() > 0, name


def test_numbers_are_left_out_in_training_alone() -> None:
    for layer in LAYERS:
        chosen = GraphSettings(layer=layer, width=6, own=4, dropout=0.5)
        encoder = LegislativeGraphEncoder.from_arrays(chosen, 4, random_weights(chosen))
        features, edges = torch.from_numpy(FEATURES), tensors(GRAPH.edges)
        assert torch.equal(encoder(features, edges), encoder(features, edges))
        torch.manual_seed(0)
        assert not torch.equal(encoder.train()(features, edges), encoder(features, edges))


@pytest.mark.parametrize("chosen", VARIANTS, ids=named)
def test_arrays_hold_the_encoder_in_16_bits(chosen: GraphSettings) -> None:
    weights = random_weights(chosen)
    arrays = LegislativeGraphEncoder.from_arrays(chosen, 4, weights).to_arrays()
    assert arrays.keys() == weights.keys()
    for name, held in arrays.items():
        assert held.dtype == np.float16
        assert np.array_equal(held, weights[name])


def test_what_does_not_fit_is_refused() -> None:
    encoder = LegislativeGraphEncoder(GraphSettings(), 4)
    with pytest.raises(GraphError, match=r"features are \(4, 5\), the graph encoder reads \(n, 4\)"):
        encoder(torch.zeros(4, 5), tensors(GRAPH.edges))
    with pytest.raises(GraphError, match="hears edges of the kind 'within', given are contains"):
        encoder(torch.zeros(4, 4), tensors(GRAPH.only(["contains"]).edges))
    with pytest.raises(ModelError, match=r"the weights 'layers\.0\.gate_biases' are missing"):
        LegislativeGraphEncoder.from_arrays(GraphSettings(), 4, {})
    with torch.no_grad():
        encoder.layers[0].itself[2] = 1e6  # type: ignore[index, operator]
    with pytest.raises(ModelError, match=r"the weights 'layers\.0\.itself' hold infinite numbers"):
        encoder.to_arrays()
