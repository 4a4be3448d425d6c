"""The layers without torch, against plain loops and against numbers worked out by hand."""

import numpy as np
import pytest
from dense_layers import dense
from four_nodes import FEATURES, GRAPH, HEARS, VARIANTS, named, random_weights
from hypothesis import given
from hypothesis import strategies as st
from random_graphs import graphs

from lexarbor.graph import incoming, layers
from lexarbor.graph.edges import edge_list
from lexarbor.graph.enrichment import Enricher
from lexarbor.graph.incoming import Incoming
from lexarbor.graph.legislation import EDGE_KINDS, LegislativeGraph
from lexarbor.graph.settings import GraphSettings

ARTICLES = Incoming(edge_list([(0, 2), (1, 2), (2, 1)]), 4)


@pytest.mark.parametrize("settings", VARIANTS, ids=named)
def test_each_variant_is_what_plain_loops_give(settings: GraphSettings) -> None:
    weights = random_weights(settings)
    found = Enricher(settings, 4, "text", weights).enrich(FEATURES, GRAPH, encoder="text")
    assert found.dtype == np.float32
    assert np.abs(found - dense(settings, weights, FEATURES, HEARS)).max() < 1e-5


def test_hearing_by_hand() -> None:
    x = np.array([[1, 0], [0, 2], [4, 4], [5, 6]], dtype=np.float32)
    weights = {
        "itself": np.array([0, 1], dtype=np.float32),
        "heard": np.array([[1, 10]], dtype=np.float32),
        "gates": np.array([[0, np.log(3) / 4]], dtype=np.float32),
        "gate_biases": np.zeros(1, dtype=np.float32),
    }
    # the third: itself (4, 8), and 2 · 3/4 of (1, 10) ∘ ((1, 0) + (0, 2)) / 2; the second hears the third, 2 sigmoid(…)
    second = 2 * 3**0.5 / (1 + 3**0.5)
    expected = [[1, 0], [second * 4, 4 + second * 40], [4.75, 23], [5, 12]]
    assert np.allclose(layers.hearing(weights, x, [ARTICLES]), expected, atol=1e-5)


def test_a_graph_convolution_by_hand() -> None:
    x = np.array([[1], [2], [3], [4]], dtype=np.float32)
    weights = {"lin.weight": np.array([[10]], dtype=np.float32), "bias": np.array([1], dtype=np.float32)}
    root = np.sqrt([1, 2, 3, 1])  # of one more than the degrees
    third = 10 * (1 / root[0] / root[2] + 2 / root[1] / root[2] + 3 / 3) + 1
    expected = [[11], [10 * (2 / 2 + 3 / root[1] / root[2]) + 1], [third], [41]]
    assert np.allclose(layers.gcn(weights, x, ARTICLES, ARTICLES.degrees), expected)


def test_a_gate_stays_finite_however_sure_it_is() -> None:
    with np.errstate(all="raise"):
        x = np.array([[1e4], [-1e4]], dtype=np.float32)
        weights = {name: np.ones((1, 1), dtype=np.float32) for name in ("heard", "gates")}
        weights |= {"itself": np.zeros(1, dtype=np.float32), "gate_biases": np.zeros(1, dtype=np.float32)}
        edges = Incoming(edge_list([(0, 1), (1, 0)]), 2)
        assert layers.hearing(weights, x, [edges]).tolist() == [[1e4 - 2e4], [-1e4]]


def test_attention_stays_finite_however_sure_it_is() -> None:
    one = np.ones((1, 1), dtype=np.float32)
    weights = {"lin.weight": one, "att_src": one[None], "att_dst": one[None], "bias": np.zeros(1, dtype=np.float32)}
    x = np.array([[1e4], [-1e4], [5]], dtype=np.float32)
    found = layers.gat(weights, x, Incoming(edge_list([(0, 1), (1, 0), (2, 0)]), 3))
    assert found.tolist() == [[1e4], [1e4], [5]]


@given(graphs(), st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_nothing_depends_on_how_edges_are_cut_into_blocks(graph: LegislativeGraph, block: int, seed: int) -> None:
    x = np.random.default_rng(seed).standard_normal((graph.size, 4)).astype(np.float32)
    for layer in ("hearing", "gatv2", "gat"):
        settings = GraphSettings(layer=layer, width=6, edges=graph.kinds)
        enricher = Enricher(settings, 4, "text", random_weights(settings))
        whole = enricher.enrich(x, graph, encoder="text")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(incoming, "BLOCK", block)
            patch.setattr(layers, "ROWS", 2)
            assert np.allclose(enricher.enrich(x, graph, encoder="text"), whole, atol=1e-5)


@given(graphs(), st.integers(1, 12))
def test_blocks_hold_each_edge_once_and_part_no_node(graph: LegislativeGraph, numbers: int) -> None:
    edges = Incoming(graph.union(), graph.size)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(incoming, "BLOCK", numbers)
        blocks = list(edges.blocks(3))
    seen = [edge for block in blocks for edge in range(block.edges.start, block.edges.stop)]
    assert seen == list(range(edges.targets.size))
    assert [row for block in blocks for row in block.rows] == np.unique(edges.targets).tolist()
    for block in blocks:
        assert block.rows[block.at].tolist() == edges.targets[block.edges].tolist()
        assert block.at.size <= numbers // 3 or block.rows.size == 1


def test_edges_of_several_kinds_know_their_shares() -> None:
    edges = Incoming.typed([GRAPH.edges[kind] for kind in EDGE_KINDS], GRAPH.size)
    assert edges.degrees.tolist() == [2, 0, 4, 4]
    assert edges.shares.tolist() == [
        [0, 1, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0],
        [0.25, 0, 0, 0.25, 0.25, 0.25],
        [0.25, 0, 0.25, 0, 0.25, 0.25],
    ]
