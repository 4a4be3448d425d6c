"""Parts of the graph that are as good as the whole, and the control whose edges lead elsewhere."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from random_graphs import graphs

from lexarbor.corpus.sources import read_tiny
from lexarbor.errors import GraphError
from lexarbor.graph.edges import difference, edge_list, mirrored
from lexarbor.graph.legislation import EDGE_KINDS, MIRRORED, LegislativeGraph, legislative_graph

GRAPH = legislative_graph(read_tiny())


@given(graphs(), st.data(), st.integers(0, 4))
def test_a_neighbourhood_is_what_is_heard_in_so_many_steps(
    graph: LegislativeGraph, data: st.DataObject, hops: int
) -> None:
    asked = data.draw(st.lists(st.integers(0, graph.size - 1), max_size=3))
    pairs = {kind: {tuple(edge) for edge in ends.T.tolist()} for kind, ends in graph.edges.items()}
    steps = dict.fromkeys(asked, 0)
    for step in range(1, hops + 1):
        for source, target in set().union(*pairs.values()):
            if steps.get(target) == step - 1:
                steps.setdefault(source, step)
    found = graph.around(asked, hops)
    assert found.rows.tolist() == sorted(steps)
    assert found.rows[found.asked].tolist() == asked
    for kind, wanted in pairs.items():
        kept = found.edges[kind]
        assert kept.dtype == np.int32
        assert {(source, target) for source, target in found.rows[kept].T.tolist()} == {
            (source, target) for source, target in wanted if steps.get(target, hops) < hops
        }
        assert np.array_equal(kept, edge_list(kept.T.tolist()))
    whole = {edge for edges in pairs.values() for edge in edges}
    assert found.degrees.tolist() == [sum(target == row for _, target in whole) for row in sorted(steps)]
    assert {tuple(edge) for edge in found.rows[found.union()].T.tolist()} == {
        edge for edge in whole if steps.get(edge[1], hops) < hops
    }


def convolved(vectors: NDArray[Any], edges: NDArray[Any], degrees: NDArray[Any], layers: int) -> NDArray[Any]:
    """Graph convolutions (Kipf and Welling, 2017), each node hearing itself too, with tanh between them."""
    share = (degrees + 1) ** -0.5
    for _ in range(layers):
        heard = vectors * (share**2)[:, None]
        np.add.at(heard, edges[1], vectors[edges[0]] * (share[edges[0]] * share[edges[1]])[:, None])
        vectors = np.tanh(heard)
    return vectors


@given(graphs(), st.data(), st.integers(0, 4))
def test_graph_convolutions_come_to_the_same_in_it(graph: LegislativeGraph, data: st.DataObject, layers: int) -> None:
    asked = data.draw(st.lists(st.integers(0, graph.size - 1), min_size=1, max_size=3))
    vectors = np.random.default_rng(0).normal(size=(graph.size, 3))
    part = graph.around(asked, layers)
    whole = convolved(vectors, graph.union(), graph.degrees, layers)[asked]
    assert np.allclose(convolved(vectors[part.rows], part.union(), part.degrees, layers)[part.asked], whole, atol=1e-12)


def test_rows_and_steps_that_are_not_there_are_refused() -> None:
    with pytest.raises(GraphError, match=r"no row 93: the graph has 93 nodes"):
        GRAPH.around([0, 93], 1)
    with pytest.raises(GraphError, match=r"no row -1: the graph"):
        GRAPH.around(np.array([-1]), 1)
    with pytest.raises(GraphError, match=r"cannot go -2 steps"):
        GRAPH.around([0], -2)


@given(graphs(), st.integers(0, 3))
def test_shuffled_each_node_hears_as_many_and_is_heard_by_as_many(graph: LegislativeGraph, seed: int) -> None:
    control = graph.shuffled(seed)  # that no edge is there twice and none joins a node to itself, every graph checks
    assert (control.sections, control.articles, control.kinds) == (graph.sections, graph.articles, graph.kinds)
    assert not control.forest
    for kind, ends in control.edges.items():
        for side in (0, 1):
            assert np.array_equal(np.sort(ends[side]), np.sort(graph.edges[kind][side]))


@given(graphs(kinds=False), st.sets(st.sampled_from(EDGE_KINDS)), st.integers(0, 3))
def test_a_kind_is_shuffled_alike_whatever_others_are_there(
    graph: LegislativeGraph, kinds: set[str], seed: int
) -> None:
    one, other = graph.only(kinds).shuffled(seed), graph.shuffled(seed).only(kinds)
    assert one.kinds == other.kinds
    for kind in one.kinds:
        assert np.array_equal(one.edges[kind], other.edges[kind])


def test_the_shuffled_tiny_law_is_another_one() -> None:
    control = GRAPH.shuffled(1)
    for kind, other in MIRRORED:
        size = GRAPH.edges[kind].shape[1]
        assert difference(control.edges[kind], GRAPH.edges[kind]).shape[1] > 2 * 0.8 * size
        assert difference(control.edges[kind], GRAPH.shuffled(2).edges[kind]).shape[1] > 2 * 0.8 * size
        assert np.array_equal(control.edges[kind], GRAPH.shuffled(1).edges[kind])
        assert np.array_equal(control.edges[other], mirrored(control.edges[kind]))


def test_where_no_other_edges_are_possible_they_stay() -> None:
    graph = LegislativeGraph(("code",), ("x", "y"), {"cites": edge_list([(1, 2), (2, 1)])})
    assert np.array_equal(graph.shuffled(5).edges["cites"], graph.edges["cites"])
