"""The law as a graph: every edge of the tiny law, and what is refused."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from lexarbor.corpus.law import Article, Code, Section
from lexarbor.corpus.sources import read_tiny
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import GraphError
from lexarbor.graph.edges import edge_list, mirrored
from lexarbor.graph.legislation import EDGE_KINDS, LegislativeGraph, legislative_graph, section_headings

TINY = read_tiny()
GRAPH = legislative_graph(TINY)
CONTAINS = """
T01>S0101 T01>S0117 S0101>S0102 S0101>S0111 S0102>S0103 S0102>S0107 S0103>S0104 S0103>S0105 S0103>S0106
S0104>0001 S0104>0002 S0104>0003 S0104>0004 S0105>0005 S0105>0006 S0105>0007 S0106>0008 S0106>0009 S0106>0070 S0106>0011
S0107>S0108 S0107>S0109 S0107>S0110 S0108>0012 S0108>0013 S0109>0014 S0109>0015 S0109>0016 S0110>0017 S0110>0018
S0110>0019 S0111>S0112 S0111>S0113 S0111>S0116 S0112>0020 S0112>0021 S0112>0022 S0113>S0114 S0113>S0115 S0114>0024
S0114>0025 S0114>0026 S0115>0027 S0115>0028 S0116>0029 S0116>0030 S0116>0031 S0116>0032 S0117>S0118 S0117>S0119
S0118>0033 S0118>0034 S0118>0035 S0118>0036 S0118>0037 S0118>0040
S0119>S0120 S0119>S0121 S0120>0038 S0120>0039 S0120>0040 S0120>0041 S0120>0042 S0121>0043 S0121>0044 S0121>0045
T02>S0201 T02>S0209 S0201>S0202 S0201>S0206 S0202>S0203 S0203>S0204 S0203>S0205
S0204>0046 S0204>0047 S0205>0048 S0205>0049 S0205>0071 S0205>0051 S0205>0052
S0206>S0207 S0206>S0208 S0207>0053 S0207>0054 S0207>0055 S0207>0056 S0208>0057 S0208>0058 S0208>0059 S0208>0060
S0209>0061 S0209>0062
"""
"""0040 stands at two places."""
NEXT = """
0001>0002 0002>0003 0003>0004 0005>0006 0006>0007 0008>0009 0009>0070 0070>0011 0012>0013 0014>0015 0015>0016 0017>0018
0018>0019 0020>0021 0021>0022 0024>0025 0025>0026 0027>0028 0029>0030 0030>0031 0031>0032 0033>0034 0034>0035 0035>0036
0036>0037 0037>0040 0038>0039 0039>0040 0040>0041 0041>0042 0043>0044 0044>0045 0046>0047 0048>0049 0049>0071 0071>0051
0051>0052 0053>0054 0054>0055 0055>0056 0057>0058 0058>0059 0059>0060 0061>0062
"""
"""0010, 0023 and 0050 are no longer in force: their neighbours are each other's."""
CITES = """
0006>0031 0007>0005 0007>0047 0013>0003 0014>0035 0016>0036 0021>0020 0022>0020 0022>0021 0026>0024 0029>0012 0029>0013
0029>0041 0031>0005 0031>0009 0031>0015 0034>0005 0035>0014 0038>0020 0041>0029 0045>0057 0046>0001 0046>0002 0046>0003
0046>0004 0048>0047 0052>0024 0052>0025 0052>0026 0052>0028 0055>0061 0056>0015 0058>0021 0058>0053 0061>0055 0062>0043
0070>0011
"""


def short(id: str) -> str:
    return id.replace("VALTEXT", "T").replace("VALSCTA", "S").replace("VALARTI", "")


def named(graph: LegislativeGraph, kind: str) -> set[str]:
    ids = [short(id) for id in (*graph.sections, *graph.articles)]
    found = [f"{ids[source]}>{ids[target]}" for source, target in graph.edges[kind].T]
    assert len(set(found)) == len(found)
    return set(found)


@pytest.mark.parametrize(
    ("kind", "other", "edges"),
    [("contains", "within", CONTAINS), ("next", "previous", NEXT), ("cites", "cited", CITES)],
)
def test_every_edge_of_the_tiny_law(kind: str, other: str, edges: str) -> None:
    wanted = set(edges.split())
    assert named(GRAPH, kind) == wanted
    assert named(GRAPH, other) == {">".join(reversed(edge.split(">"))) for edge in wanted}


def test_rows_are_sections_in_the_order_of_the_law_then_articles_by_id() -> None:
    assert [short(id) for id in GRAPH.sections[:4]] == ["T01", "S0101", "S0102", "S0103"]
    assert [short(id) for id in GRAPH.sections[21:25]] == ["S0121", "T02", "S0201", "S0202"]
    assert GRAPH.articles == tuple(article.id for article in TINY.current())
    assert (GRAPH.size, GRAPH.section_rows, GRAPH.article_rows) == (32 + 61, slice(0, 32), slice(32, 93))
    assert GRAPH.kinds == EDGE_KINDS
    assert GRAPH.rows_of(["VALARTI0001", "VALTEXT01", "VALTEXT02"]).tolist() == [32, 0, 22]
    with pytest.raises(GraphError, match=r"the id 'VALARTI0010'; was it made of another law"):
        GRAPH.rows_of(["VALARTI0001", "VALARTI0010"])


def test_equal_headings_can_be_one_node() -> None:
    graph = legislative_graph(TINY, merge_headings=True)
    of = {"S0108": "S0104", "S0204": "S0104", "S0118": "S0102", "S0201": "S0101", "S0209": "S0117"}
    merged = {">".join(of.get(end, end) for end in edge.split(">")) for edge in CONTAINS.split()}
    assert named(graph, "contains") == merged
    assert [short(id) for id in graph.sections] == [short(id) for id in GRAPH.sections if short(id) not in of]
    assert graph.articles == GRAPH.articles
    assert named(graph, "next") == set(NEXT.split())
    assert named(graph, "cites") == set(CITES.split())
    assert GRAPH.forest
    assert not graph.forest


def test_a_heading_under_an_equal_one_is_not_joined_to_itself_and_two_may_stand_under_one_another() -> None:
    law = LawTree(
        [
            Code("c", "Code"),
            *(Section(id, title, 1, up) for id, title, up in [("a", "A", "c"), ("b", "B", "a"), ("b2", "B", "b")]),
            Section("a2", "A", 1, "b2"),
            Article("1", "L1", "c", "Texte.", ("a", "b", "b2", "a2")),
        ]
    )
    graph = legislative_graph(law, merge_headings=True)
    assert graph.sections == ("c", "a", "b")
    assert named(graph, "contains") == {"c>a", "a>b", "b>a", "a>1"}


def test_the_titles_above_and_of_a_section() -> None:
    headings = section_headings(TINY)
    assert set(headings) == {*TINY.codes, *TINY.sections}
    assert headings["VALTEXT02"] == ("Code des fêtes, marchés et jardins de Valombre",)
    assert headings["VALSCTA0203"] == (
        "Code des fêtes, marchés et jardins de Valombre",
        "Partie législative",
        "Titre Ier : Fêtes",
        "Chapitre Ier : Organisation des réjouissances publiques",
    )


def test_a_law_of_nothing_is_a_graph_of_nothing() -> None:
    graph = legislative_graph(LawTree([]))
    assert graph.size == 0
    assert [edges.shape for edges in graph.edges.values()] == [(2, 0)] * 6
    assert graph.shuffled(0).around([], 3).rows.size == 0


@st.composite
def laws(draw: st.DrawFn) -> LawTree:
    nodes: list[Code | Section | Article] = [Code("c", "Code")]
    paths: dict[str, tuple[str, ...]] = {"c": ()}
    for number in range(draw(st.integers(0, 6))):
        up = draw(st.sampled_from(sorted(paths)))
        paths[f"s{number}"] = (*paths[up], f"s{number}")
        nodes.append(Section(f"s{number}", "Titre", len(paths[up]) + 1, up))
    for number in draw(st.permutations(range(draw(st.integers(0, 6))))):
        first, *others = draw(st.lists(st.sampled_from(sorted(paths.values())), min_size=1, max_size=3, unique=True))
        text = f"Voir l'article L. {draw(st.integers(0, 7))}-1."
        nodes.append(Article(f"a{number}", f"L{number}-1", "c", text, first, other_paths=tuple(others)))
    return LawTree(nodes)


@given(laws())
def test_edges_are_what_the_tree_says(law: LawTree) -> None:
    graph = legislative_graph(law)
    places = {above: law.children(above) for above in (*law.codes, *law.sections)}
    assert named(graph, "contains") == {f"{above}>{id}" for above, below in places.items() for id in below}
    siblings = [[id for id in below if id in law.articles] for below in places.values()]
    assert named(graph, "next") == {f"{one}>{two}" for ids in siblings for one, two in pairwise(ids)}
    assert named(graph, "cites") == {f"{one}>{two}" for one, two in law.citations.pairs()}
    assert graph.articles == tuple(sorted(law.articles))


def test_some_kinds_alone() -> None:
    some = GRAPH.only(["cited", "contains"])
    assert some.kinds == ("contains", "cited")
    assert np.array_equal(some.edges["cited"], GRAPH.edges["cited"])
    assert GRAPH.only([]).union().shape == (2, 0)
    with pytest.raises(GraphError, match=r"no edges of the kind 'contain'; did you mean 'contains'\?"):
        GRAPH.only(["contain"])
    with pytest.raises(GraphError, match=r"no edges of the kind 'next'; known are contains, cited"):
        some.only(["next"])


def test_the_union_has_each_edge_once() -> None:
    both = GRAPH.union(["previous", "cites"])
    pairs = [tuple(edge) for edge in both.T.tolist()]
    assert pairs == sorted(set(pairs), key=lambda edge: edge[::-1])
    assert both.dtype == np.int32
    # 0022 cites the one before it, 0021, and 0021 cites 0020: both kinds, one edge
    shared = {edge[::-1] for edge in (("0020", "0021"), ("0021", "0022"))}
    assert {f"{one}>{two}" for one, two in shared} == named(GRAPH, "previous") & named(GRAPH, "cites")
    assert len(pairs) == len(named(GRAPH, "previous")) + len(named(GRAPH, "cites")) - 2
    assert GRAPH.only(["previous", "cites"]).degrees.tolist() == np.bincount(both[1], minlength=93).tolist()
    assert GRAPH.only(["previous", "cites"]).degrees[GRAPH.rows_of(["VALARTI0020"])] == 3


def test_what_is_known_of_edges_stays_true() -> None:
    given = edge_list([(0, 1)])
    graph = LegislativeGraph(("s",), ("x",), {"contains": given})
    given[:] = 7
    assert graph.edges["contains"].tolist() == [[0], [1]]
    with pytest.raises(ValueError, match="read-only"):
        graph.edges["contains"][0] = 1


# What is refused


def little(**changed: Any) -> LegislativeGraph:
    whole: dict[str, Any] = {
        "sections": ("code", "book", "title"),
        "articles": ("x", "y"),
        "edges": {"contains": edge_list([(0, 1), (1, 2), (2, 3), (2, 4)]), "cites": edge_list([(3, 4)])},
    }
    return LegislativeGraph(**whole | changed)


def edges(*pairs: tuple[int, int]) -> NDArray[np.int32]:
    """As given, whatever they are."""
    return np.array(pairs, dtype=np.int32).reshape(-1, 2).T


PLACES = ((0, 1), (1, 2), (2, 3), (2, 4))
BAD = [
    ({"sections": ("code", "x", "title")}, r"the id 'x' is used for two nodes"),
    ({"articles": ("y", "x")}, r"article 'y' comes before 'x': sort"),
    ({"edges": {"contain": edges()}}, r"unknown kind of edges 'contain'; did you mean 'contains'"),
    ({"edges": {"cites": [[3], [4]]}}, r"'cites' are list: give an array of int32"),
    ({"edges": {"cites": edges((3, 4)).astype(np.int64)}}, r"'cites' are int64: give an array of int32"),
    ({"edges": {"cites": edges((3, 4)).T}}, r"have the shape \(1, 2\): give \(2, m\)"),
    ({"edges": {"contains": edges((0, 1), (9, 2))}}, r"one leads from row 9 to 'title', but there are only 5 nodes"),
    ({"edges": {"cites": edges((3, 5))}}, r"one leads from 'x' to row 5, but there are only 5 nodes"),
    ({"edges": {"cites": edges((-1, 4))}}, r"one leads from row -1 to 'y'"),
    ({"edges": {"contains": edges((1, 1))}}, r"'contains': 'book' is joined to 'book', itself"),
    ({"edges": {"cites": edges((3, 4), (3, 4))}}, r"one is there twice"),
    ({"edges": {"cites": edges((3, 4), (4, 3))}}, r"'cites' are not in order"),
    ({"edges": {"cites": edges((1, 4))}}, r"'cites' leads from 'book' to 'y': they lead between articles only"),
    ({"edges": {"next": edges((3, 1))}}, r"'next' leads from 'x' to 'book'"),
    ({"edges": {"contains": edges((3, 4))}}, r"'contains' leads from 'x' to 'y': they lead from sections only"),
    ({"edges": {"within": edges((2, 4))}}, r"'within' leads from 'title' to 'y': they lead to sections only"),
    (
        {"edges": {"contains": edges(*PLACES), "within": mirrored(edges((0, 1), (1, 2), (1, 3), (2, 3), (2, 4)))}},
        r"'book' and 'x' are joined by an edge of only one of the kinds 'contains' and 'within'",
    ),
    ({"edges": {"contains": edges(*PLACES[:3])}}, r"article 'y' stands under no code or section"),
    ({"edges": {"within": mirrored(edges(*PLACES[:3]))}}, r"article 'y' stands under no code or section"),
    (
        {"edges": {"contains": edges((0, 1), (0, 2), (1, 2), (2, 3), (2, 4))}},
        r"section 'title' stands under 'code' and under 'book'",
    ),
    (
        {"edges": {"contains": edges((2, 1), (1, 2), (2, 3), (2, 4))}},
        r"section '(book|title)' is its own ancestor: it stands under '(title|book)', which stands under it",
    ),
    (
        {"edges": {"within": mirrored(edges((1, 0), (2, 1), (0, 2), (2, 3), (2, 4)))}},
        r"its own anc",
    ),
]


@pytest.mark.parametrize(("changed", "message"), BAD, ids=[message for _, message in BAD])
def test_what_does_not_hold_together_is_refused(changed: dict[str, Any], message: str) -> None:
    assert little().size == 5
    with pytest.raises(GraphError, match=message):
        little(**changed)


def test_a_long_circle_far_above_an_article_is_found_and_a_long_climb_is_none() -> None:
    ids = tuple(f"s{row:02}" for row in range(100))
    climb = [(0, 100), *((row + 1, row) for row in range(99))]  # the article under s00, under s01 …
    assert LegislativeGraph(ids, ("x",), {"contains": edge_list(climb)}).forest
    circle = edge_list([*climb, (50, 99)])
    with pytest.raises(GraphError, match=r"section 's\d\d' is its own ancestor: it stands under 's\d\d', ") as found:
        LegislativeGraph(ids, ("x",), {"contains": circle})
    below, above = (int(word[2:4]) for word in str(found.value).split() if word.startswith("'s"))
    assert 50 <= below <= 99
    assert (above, below) in [tuple(edge) for edge in circle.T.tolist()]
    assert LegislativeGraph(ids, ("x",), {"contains": circle}, forest=False).size == 101
