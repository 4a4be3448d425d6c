"""A graph as one file: what is written is read, and what is no graph is refused by a line that says what is amiss."""

import json
import lzma
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_graphs import graphs

from lexarbor.corpus.sources import read_tiny
from lexarbor.errors import GraphError, LexarborError
from lexarbor.graph.graph_file import read_graph, write_graph
from lexarbor.graph.legislation import LegislativeGraph, legislative_graph


def same(one: LegislativeGraph, other: LegislativeGraph) -> bool:
    assert (one.sections, one.articles, one.forest) == (other.sections, other.articles, other.forest)
    assert one.kinds == other.kinds
    return all(np.array_equal(one.edges[kind], other.edges[kind]) for kind in one.kinds)


@given(graphs(), st.none() | st.integers(0, 2))
def test_what_is_written_is_read(graph: LegislativeGraph, seed: int | None) -> None:
    graph = graph if seed is None else graph.shuffled(seed)
    with TemporaryDirectory() as folder:
        one, other = Path(folder, "one"), Path(folder, "other")
        write_graph(graph, one)
        found = read_graph(one)
        assert same(found, graph)
        write_graph(found, other)
        assert one.read_bytes() == other.read_bytes()


def test_the_tiny_law_is_written_whole_its_merged_headings_too(tmp_path: Path) -> None:
    for merge in (False, True):
        graph = legislative_graph(read_tiny(), merge_headings=merge)
        write_graph(graph, tmp_path / "graph.json.xz")
        assert same(read_graph(tmp_path / "graph.json.xz"), graph)
    assert [path.name for path in tmp_path.iterdir()] == ["graph.json.xz"]


GOOD: dict[str, Any] = {
    "format": "lexarbor-graph/1",
    "forest": True,
    "sections": ["code", "book"],
    "articles": ["x", "y"],
    "kinds": ["contains", "cited"],
    "edges": {
        "contains": {"degrees": [0, 1, 1, 1], "sources": [0, 1, 1]},
        "cites": {"degrees": [0, 0, 0, 1], "sources": [2]},
    },
}


def with_edges(degrees: Any, sources: Any) -> dict[str, Any]:
    return {"edges": {**GOOD["edges"], "contains": {"degrees": degrees, "sources": sources}}}


BAD: list[tuple[dict[str, Any], str]] = [
    ({"format": "lexarbor-graph/2"}, r"its format is 'lexarbor-graph/2', this version reads 'lexarbor-graph/1'"),
    ({"forest": 1}, r"'forest' is 1, and should be true or false"),
    ({"sections": "code"}, r"'sections' is no list of words"),
    ({"articles": ["x", 2]}, r"'articles' is no list of words"),
    ({"articles": None}, r"'articles' is no list of words"),
    ({"edges": []}, r"'edges' is a list, and should be an object"),
    ({"edges": {**GOOD["edges"], "contains": []}}, r"edges of the kind 'contains' are a list"),
    ({"kinds": ["contains", "next"]}, r"it has no edges of the kind 'next', which it names"),
    ({"edges": {**GOOD["edges"], "near": {}}}, r"it has no edges of the kind 'near', which it names"),
    (with_edges([0, 1, 1], [0, 1]), r"'contains' tell of 3 nodes, the graph has 4"),
    (with_edges([0, 1, 1, 2], [0, 1, 1]), r"by their degrees there are 4, by their sources 3"),
    (with_edges([0, 1, 1, 1.0], [0, 1, 1]), r"the degrees of edges of the kind 'contains' are no list of rows"),
    (with_edges([0, 1, 1, True], [0, 1, 1]), r"the degrees of edges"),
    (with_edges([0, 1, 1, 1], [0, 1, -1]), r"the sources of edges"),
    (with_edges([0, 1, 1, 1], [0, 1, 2**40]), r"the sources of edges"),
    (with_edges([0, 1, 1, 1], None), r"the sources of edges"),
    (with_edges([0, 1, 1, 1], [0, 1, 9]), r"one leads from row 9 to 'y', but there are only 4 nodes"),
    (with_edges([1, 1, 1, 1], [1, 0, 1, 1]), r"is its own ancestor: it stands under '"),
    (with_edges([0, 1, 1, 0], [0, 1]), r"article 'y' stands under no code or section"),
    ({"articles": ["x", "x"]}, r"the id 'x' is used for two nodes"),
]


@pytest.mark.parametrize(("changed", "message"), BAD, ids=[message for _, message in BAD])
def test_what_is_no_graph_is_refused(tmp_path: Path, changed: dict[str, Any], message: str) -> None:
    path = tmp_path / "graph"
    path.write_bytes(lzma.compress(json.dumps(GOOD).encode()))
    assert read_graph(path).edges["cited"].tolist() == [[3], [2]]
    path.write_bytes(lzma.compress(json.dumps(GOOD | changed).encode()))
    with pytest.raises(GraphError, match=message) as found:
        read_graph(path)
    assert str(found.value).startswith(f"{path}: ")


@pytest.mark.parametrize(
    "content", [b"", b"PK\x03\x04", lzma.compress(b"{"), lzma.compress(b"\xff"), lzma.compress(b"[]")]
)
def test_what_is_no_such_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "graph"
    path.write_bytes(content)
    with pytest.raises(GraphError, match=r"cannot be read as a graph|its format is 'list'"):
        read_graph(path)


def test_a_file_cut_or_damaged_anywhere_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "graph"
    write_graph(legislative_graph(read_tiny()), path)
    whole = path.read_bytes()
    for place in range(0, len(whole), 97):
        for content in (whole[:place], whole[:place] + bytes([whole[place] ^ 8]) + whole[place + 1 :]):
            path.write_bytes(content)
            with pytest.raises(GraphError, match="cannot be read as a graph"):
                read_graph(path)


def test_places_that_cannot_be_read_or_written_are_told(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match=r"no graph to read \(No such file or directory\)"):
        read_graph(tmp_path / "missing")
    with pytest.raises(GraphError, match=r"no graph to read \(Is a directory\)"):
        read_graph(tmp_path)
    with pytest.raises(LexarborError, match=r"cannot write"):
        write_graph(legislative_graph(read_tiny()), tmp_path)
