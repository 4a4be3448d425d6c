"""A graph as one file: JSON packed by xz, which has a checksum of its own. Nothing in it is ever run.

format      "lexarbor-graph/1"
forest      whether each section stands at one place
sections    ids, in the order of the rows
articles    ids, in the order of the rows
kinds       the kinds of edges
edges       by kind: `degrees`, how many edges lead to each row, and `sources`, where they come from, in order; of two
            kinds that mirror one another only the first
"""

import json
import lzma
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexarbor.errors import GraphError
from lexarbor.files import replacing
from lexarbor.graph.edges import Edges, mirrored
from lexarbor.graph.legislation import MIRRORED, LegislativeGraph

FORMAT = "lexarbor-graph/1"
_AGAIN = "write the graph again, or fetch the file again"


def write_graph(graph: LegislativeGraph, path: Path) -> None:
    """Write the file, whole or not at all; equal graphs give equal bytes."""
    held: dict[str, Edges] = {}
    for kind, other in MIRRORED:
        if kind in graph.edges or other in graph.edges:
            held[kind] = graph.edges[kind] if kind in graph.edges else mirrored(graph.edges[other])
    content = {
        "format": FORMAT,
        "forest": graph.forest,
        "sections": graph.sections,
        "articles": graph.articles,
        "kinds": graph.kinds,
        "edges": {kind: _told(edges, graph.size) for kind, edges in held.items()},
    }
    with replacing(path) as temporary:
        temporary.write_bytes(lzma.compress(json.dumps(content, separators=(",", ":")).encode()))


def _told(edges: Edges, size: int) -> dict[str, list[int]]:
    return {"degrees": np.bincount(edges[1], minlength=size).tolist(), "sources": edges[0].tolist()}


def read_graph(path: Path) -> LegislativeGraph:
    """The graph in a file that `write_graph` made, checked as any graph is; anything amiss is a `GraphError`."""
    try:
        content = json.loads(lzma.decompress(path.read_bytes()))
    except OSError as error:
        raise GraphError(f"{path}: no graph to read ({error.strerror or error}); check the path") from error
    except (lzma.LZMAError, EOFError, ValueError, RecursionError) as error:
        raise GraphError(f"{path}: cannot be read as a graph ({error}); {_AGAIN}") from error
    found = content.get("format") if isinstance(content, dict) else type(content).__name__
    if found != FORMAT:
        raise GraphError(f"{path}: its format is {found!r}, this version reads {FORMAT!r}; {_AGAIN}")
    try:
        return _graph(content)
    except GraphError as error:
        raise GraphError(f"{path}: {error}") from error


def _graph(content: dict[str, Any]) -> LegislativeGraph:
    sections, articles, kinds = (_words(content, name) for name in ("sections", "articles", "kinds"))
    told, forest = content.get("edges"), content.get("forest")
    if not isinstance(told, dict):
        raise GraphError(f"'edges' is a {type(told).__name__}, and should be an object; {_AGAIN}")
    if not isinstance(forest, bool):
        raise GraphError(f"'forest' is {forest!r}, and should be true or false; {_AGAIN}")
    held: dict[str, Edges] = {}
    for kind, other in MIRRORED:
        if kind in told:
            held[kind] = _edges(kind, told[kind], len(sections) + len(articles))
            held[other] = mirrored(held[kind])
    for kind in chain(kinds, told):
        if kind not in held:
            raise GraphError(f"it has no edges of the kind '{kind}', which it names; {_AGAIN}")
    return LegislativeGraph(sections, articles, {kind: held[kind] for kind in kinds}, forest)


def _words(content: dict[str, Any], name: str) -> tuple[str, ...]:
    found = content.get(name)
    if not isinstance(found, list) or not all(isinstance(word, str) for word in found):
        raise GraphError(f"'{name}' is no list of words; {_AGAIN}")
    return tuple(found)


def _edges(kind: str, told: Any, size: int) -> Edges:
    if not isinstance(told, dict):
        raise GraphError(f"edges of the kind '{kind}' are a {type(told).__name__}, and should be an object; {_AGAIN}")
    degrees, sources = (_numbers(kind, told.get(name), name) for name in ("degrees", "sources"))
    if degrees.size != size:
        raise GraphError(f"edges of the kind '{kind}' tell of {degrees.size} nodes, the graph has {size}; {_AGAIN}")
    if degrees.sum() != sources.size:
        raise GraphError(
            f"edges of the kind '{kind}': by their degrees there are {degrees.sum()}, by their sources {sources.size}; "
            f"{_AGAIN}"
        )
    return np.stack([sources, np.repeat(np.arange(size, dtype=np.int32), degrees)])


def _numbers(kind: str, told: Any, name: str) -> NDArray[np.int32]:
    if not isinstance(told, list) or not all(type(number) is int and 0 <= number < 2**31 for number in told):
        raise GraphError(f"the {name} of edges of the kind '{kind}' are no list of rows or counts; {_AGAIN}")
    return np.array(told, dtype=np.int32)
