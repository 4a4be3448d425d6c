"""The law as a graph: its sections and articles are nodes, and edges of six kinds tell which of them hears which."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray

from lexarbor.corpus.law import Article, Section
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import GraphError, nearest
from lexarbor.graph.edges import (
    Edges,
    check_edges,
    difference,
    edge_list,
    mirrored,
    shuffled_sources,
    union,
    without_loops,
)
from lexarbor.graph.forest import check_forest
from lexarbor.graph.neighbourhood import Neighbourhood, neighbourhood

EDGE_KINDS = ("contains", "within", "next", "previous", "cites", "cited")
"""From source to target; the target hears the source.

contains    from a code or section to what stands directly below it: the only kind in the paper's published code
within      the same, from below to above
next        from an article to the one after it under the same heading
previous    from an article to the one before it under the same heading
cites       from an article to one that it cites, which so hears who cites it
cited       from an article to one that cites it, which so hears what it cites
"""
MIRRORED = (("contains", "within"), ("next", "previous"), ("cites", "cited"))
"""Kinds that join the same nodes, in the one direction and in the other."""


@dataclass(frozen=True, eq=False)
class LegislativeGraph:
    """Nodes by row, sections first, and edges between rows; a graph that does not hold together is a `GraphError`."""

    sections: tuple[str, ...]
    """Ids of the codes and sections in the order of the law: rows 0 … s - 1."""
    articles: tuple[str, ...]
    """Ids of the articles, sorted: rows s … s + a - 1."""
    edges: Mapping[str, Edges]
    """By kind, (2, m): sources and targets, by target and then by source, each edge once."""
    forest: bool = True
    """Whether each section stands at one place and each article at one or more, as in the law. Not so where equal
    headings are one node, or edges are shuffled.
    """

    def __post_init__(self) -> None:
        if len(self._rows) != self.size:
            twice = next(id for row, id in enumerate(self._ids) if self._rows[id] != row)
            raise GraphError(f"the id '{twice}' is used for two nodes: give each section and article its own")
        for before, after in pairwise(self.articles):
            if after < before:
                raise GraphError(f"article '{before}' comes before '{after}': sort articles by their ids")
        for kind in self.edges:
            if kind not in EDGE_KINDS:
                raise GraphError(f"unknown kind of edges '{kind}'; {nearest(kind, EDGE_KINDS)}")
        held = {kind: self.edges[kind] for kind in EDGE_KINDS if kind in self.edges}
        for kind, edges in held.items():
            check_edges(edges, self._ids, f"edges of the kind '{kind}'")
            self._check_ends(kind, edges)
            if edges.flags.writeable:  # what is known of them later must stay true
                held[kind] = edges.copy()
                held[kind].setflags(write=False)
        object.__setattr__(self, "edges", held)
        for kind, other in MIRRORED:
            if kind in held and other in held:
                self._check_mirrored(kind, other)
        if self.forest and (held.keys() & {"contains", "within"}):
            contains = held["contains"] if "contains" in held else mirrored(held["within"])
            check_forest(contains, self._ids, len(self.sections))

    def _check_mirrored(self, kind: str, other: str) -> None:
        for ends in difference(self.edges[kind], mirrored(self.edges[other])).T:
            one, two = (self._ids[row] for row in ends)
            raise GraphError(
                f"'{one}' and '{two}' are joined by an edge of only one of the kinds '{kind}' and '{other}', which are "
                "the same edges in two directions: give both edges, or leave one of the kinds out"
            )

    def _check_ends(self, kind: str, edges: Edges) -> None:
        is_article = edges >= len(self.sections)
        wrong = {"contains": is_article[0], "within": is_article[1]}.get(kind, ~is_article.all(axis=0))
        if wrong.any():
            source, target = (self._ids[row] for row in edges[:, wrong.argmax()])
            ends = {"contains": "from sections", "within": "to sections"}.get(kind, "between articles")
            raise GraphError(f"an edge of the kind '{kind}' leads from '{source}' to '{target}': they lead {ends} only")

    @property
    def size(self) -> int:
        """How many nodes there are."""
        return len(self.sections) + len(self.articles)

    @property
    def section_rows(self) -> slice:
        return slice(0, len(self.sections))

    @property
    def article_rows(self) -> slice:
        return slice(len(self.sections), self.size)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of edges that this graph has, in the order of EDGE_KINDS."""
        return tuple(self.edges)

    @cached_property
    def _ids(self) -> tuple[str, ...]:
        return (*self.sections, *self.articles)

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {id: row for row, id in enumerate(self._ids)}

    def rows_of(self, ids: Iterable[str]) -> NDArray[np.int64]:
        """The rows of some sections and articles, in the order given."""
        try:
            return np.array([self._rows[id] for id in ids], dtype=np.int64)
        except KeyError as error:
            raise GraphError(f"no node of the graph has the id {error}; was it made of another law?") from error

    def only(self, kinds: Iterable[str]) -> Self:
        """The same nodes, with edges of some kinds alone."""
        kinds = set(kinds)
        for kind in sorted(kinds - set(self.kinds)):
            raise GraphError(f"the graph has no edges of the kind '{kind}'; {nearest(kind, self.kinds)}")
        return replace(self, edges={kind: edges for kind, edges in self.edges.items() if kind in kinds})

    def union(self, kinds: Iterable[str] | None = None) -> Edges:
        """All kinds, or some, as one list (2, m), each edge once."""
        return union((self if kinds is None else self.only(kinds)).edges.values())

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """(size,) how many edges of all kinds together lead to each node, an edge of two kinds once.

        What a graph convolution divides by is one more, since there each node hears itself too.
        """
        return np.bincount(self._all[1], minlength=self.size)

    @cached_property
    def _all(self) -> Edges:
        return self.union()

    def around(self, rows: Sequence[int] | NDArray[np.integer], hops: int) -> Neighbourhood:
        """What the nodes at `rows` hear in `hops` steps.

        So many layers of a graph network give these nodes the same vectors here as in the whole graph: a node d steps
        away must be right after hops - d layers, and has all edges that lead to it unless it is the farthest. A layer
        that needs to know how many edges lead to a source takes `degrees`.
        """
        if hops < 0:
            raise GraphError(f"cannot go {hops} steps: give 0 or more")
        asked = np.asarray(rows, dtype=np.int64).reshape(-1)
        for row in asked[(asked < 0) | (asked >= self.size)]:
            raise GraphError(f"there is no row {row}: the graph has {self.size} nodes")
        return neighbourhood(asked, hops, self.edges, self._all, self.degrees)

    def shuffled(self, seed: int) -> Self:
        """A control: nothing but who hears whom is changed, by chance.

        Each node keeps, for each kind, how many it hears and by how many it is heard (see `shuffled_sources`). Two
        kinds that mirror one another still do, and a kind is shuffled alike whatever other kinds are there.
        """
        edges: dict[str, Edges] = {}
        for number, (kind, other) in enumerate(MIRRORED):
            if kind in self.edges or other in self.edges:
                forward = self.edges[kind] if kind in self.edges else mirrored(self.edges[other])
                forward = shuffled_sources(forward, np.random.default_rng([seed, number]))
                edges |= {kind: forward, other: mirrored(forward)}
        return replace(self, edges={kind: edges[kind] for kind in self.kinds}, forest=False)


def legislative_graph(law: LawTree, *, merge_headings: bool = False) -> LegislativeGraph:
    """A law's articles in force, its codes and sections, and the edges of all kinds between them.

    `merge_headings` makes one node of all codes and sections with exactly the same title, as the paper's published
    code does (see `merged`). To read citations takes seconds in a large law.
    """
    headings = [node for node in law.nodes() if not isinstance(node, Article)]
    sections = tuple(node.id for node in headings)
    current = law.current()
    articles = tuple(article.id for article in current)
    row_of = {id: row for row, id in enumerate((*sections, *articles))}

    below = ((node.parent, node.id) for node in headings if isinstance(node, Section))
    places = ((path[-1] if path else article.code, article.id) for article in current for path in _paths(article))
    in_force = set(articles)
    articles_under = ([id for id in law.children(node.id) if id in in_force] for node in headings)
    neighbours = chain.from_iterable(map(pairwise, articles_under))
    cited = (pair for pair in law.citations.pairs() if in_force.issuperset(pair))
    edges: dict[str, Edges] = {}
    for (kind, other), pairs in zip(MIRRORED, (chain(below, places), neighbours, cited), strict=True):
        edges[kind] = edge_list((row_of[source], row_of[target]) for source, target in pairs)
        edges[other] = mirrored(edges[kind])
    graph = LegislativeGraph(sections, articles, edges)
    return merged(graph, [node.title for node in headings]) if merge_headings else graph


def merged(graph: LegislativeGraph, titles: Sequence[str]) -> LegislativeGraph:
    """The graph with one node for all sections that have the same one of `titles`, which are in the order of its
    sections: it has the id of the first and the edges of all, but for those from itself to itself.
    """
    if len(titles) != len(graph.sections):
        raise GraphError(
            f"{len(titles)} titles were given for {len(graph.sections)} sections: give each section its own"
        )
    first: dict[str, str] = {}
    nodes = [first.setdefault(title, id) for title, id in zip(titles, graph.sections, strict=True)]
    sections = tuple(first.values())
    row_of = {id: row for row, id in enumerate((*sections, *graph.articles))}
    rows = np.array([row_of[id] for id in (*nodes, *graph.articles)], dtype=np.int32)
    edges = {kind: without_loops(rows[ends]) for kind, ends in graph.edges.items()}
    return LegislativeGraph(sections, graph.articles, edges, forest=False)


def section_headings(law: LawTree) -> dict[str, tuple[str, ...]]:
    """By id of each code and section: the titles from its code's down to its own."""
    found: dict[str, tuple[str, ...]] = {}
    for node in law.nodes():
        if not isinstance(node, Article):
            found[node.id] = (*found[node.parent], node.title) if isinstance(node, Section) else (node.title,)
    return found


def _paths(article: Article) -> tuple[tuple[str, ...], ...]:
    return (article.path, *article.other_paths)
