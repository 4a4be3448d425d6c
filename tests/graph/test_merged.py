"""Sections with the same title as one node."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_graphs import graphs

from lexarbor.errors import GraphError
from lexarbor.graph.legislation import LegislativeGraph, merged


@given(graphs(), st.data())
def test_merging_joins_what_a_plain_loop_joins(graph: LegislativeGraph, data: st.DataObject) -> None:
    count = len(graph.sections)
    titles = data.draw(st.lists(st.sampled_from("abc"), min_size=count, max_size=count))
    one = {id: graph.sections[titles.index(title)] for id, title in zip(graph.sections, titles, strict=True)}
    found = merged(graph, titles)
    assert found.sections == tuple(dict.fromkeys(one.values()))
    assert found.articles == graph.articles
    assert found.kinds == graph.kinds
    before, after = (*graph.sections, *graph.articles), (*found.sections, *found.articles)
    for kind, ends in graph.edges.items():
        joined = {tuple(one.get(before[row], before[row]) for row in edge) for edge in ends.T}
        assert {tuple(after[row] for row in edge) for edge in found.edges[kind].T} == {
            edge for edge in joined if edge[0] != edge[1]
        }


@given(graphs())
def test_titles_that_all_differ_merge_nothing(graph: LegislativeGraph) -> None:
    found = merged(graph, graph.sections)
    assert (found.sections, found.articles, found.forest) == (graph.sections, graph.articles, False)
    assert all((found.edges[kind] == graph.edges[kind]).all() for kind in graph.kinds)


def test_each_section_needs_a_title() -> None:
    with pytest.raises(GraphError, match="1 titles were given for 2 sections"):
        merged(LegislativeGraph(("c", "s"), (), {}), ["Code"])
