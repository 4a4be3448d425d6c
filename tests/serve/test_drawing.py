import re
from collections.abc import Iterator
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexarbor.serve.pages.drawing import MOST, draw_citations
from lexarbor.serve.pages.views import ArticleLink

SVG = "{http://www.w3.org/2000/svg}"
WORDS = {
    "graph.title": "Citations autour de l'article {number}",
    "graph.cited_by": "Cité par",
    "graph.cites": "Cite",
    "graph.more": "… et {count} autres",
}


def t(key: str, **values: object) -> str:
    return WORDS[key].format(**values)


def article(number: str, code: str = "Code du travail", *, elsewhere: bool = False) -> ArticleLink:
    return ArticleLink(number, code, f"/article/{number}", elsewhere)


def articles(letter: str, count: int) -> list[ArticleLink]:
    return [article(f"{letter}{at}") for at in range(count)]


def drawn(
    cited_by: list[ArticleLink], cites: list[ArticleLink], number: str = "L1234-9"
) -> tuple[str, ElementTree.Element]:
    svg = draw_citations(number, cited_by, cites, t)
    assert svg is not None
    return svg, ElementTree.fromstring(svg)


def of_class(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [element for element in root.iter() if name in element.get("class", "").split()]


def texts(element: ElementTree.Element) -> list[str]:
    return ["".join(text.itertext()) for text in element.iter(f"{SVG}text")]


def ends(curve: ElementTree.Element) -> tuple[float, float]:
    """Where a curve begins and ends, from left to right."""
    numbers = [float(number) for number in re.findall(r"-?[\d.]+", curve.get("d", ""))]
    return numbers[0], numbers[-2]


def box(element: ElementTree.Element) -> tuple[float, float, float, float]:
    """Left, top, right and bottom."""
    rect = element.find(f"{SVG}rect")
    assert rect is not None
    x, y, width, height = (float(rect.get(name, "")) for name in ("x", "y", "width", "height"))
    return x, y, x + width, y + height


def test_no_citations_no_drawing() -> None:
    assert draw_citations("L1", [], [], t) is None


@pytest.mark.parametrize(
    ("count", "shown", "more"), [(1, 1, 0), (7, 7, 0), (8, 8, 0), (9, 7, 2), (10, 8, 2), (300, 8, 292)]
)
def test_each_side_has_its_articles_up_to_a_number(count: int, shown: int, more: int) -> None:
    _, root = drawn(articles("L", count), articles("R", 2))
    linked = [link.get("href") for link in root.iter(f"{SVG}a")]
    assert linked == [*(f"/article/L{at}" for at in range(shown)), "/article/R0", "/article/R1"]
    assert shown <= MOST
    assert len(of_class(root, "graph-link")) == shown + bool(more) + 2
    assert [texts(node) for node in of_class(root, "graph-more")] == ([[f"… et {more} autres"]] if more else [])


def test_a_code_is_told_where_it_is_another_one() -> None:
    long = "Code de la construction et de l'habitation"
    _, root = drawn(
        [article("L1"), article("L2", "Code civil", elsewhere=True)],
        [article("L3", "Code de la sécurité sociale", elsewhere=True), article("L4", long, elsewhere=True)],
    )
    first, second, third, fourth = of_class(root, "graph-node")
    assert texts(first) == ["L1"]
    assert texts(second) == ["L2", "Code civil"]
    assert texts(third) == ["L3", "C. sécurité sociale"]
    assert texts(fourth) == ["L4", "C. construction et…"]
    assert fourth.findtext(f"{SVG}title") == f"L4, {long}"


def test_what_is_too_long_is_cut_and_told_whole_in_the_title() -> None:
    number = "Annexe II à l'article R4214-26"
    _, root = drawn([article(number)], [article("W" * 5000)], number)
    assert texts(root) == ["Cité par", "Annexe II à l'…", "Annexe I…", "Cite", "WWWWWWW…"]
    assert [title.text for title in root.iter(f"{SVG}title")] == [
        f"Citations autour de l'article {number}",
        f"{number}, Code du travail",
        number,
        f"{'W' * 5000}, Code du travail",
    ]


@pytest.mark.parametrize(("left", "right"), [(3, 2), (3, 0), (0, 2), (20, 1)])
def test_arrows_go_from_the_article_that_cites_to_the_one_cited(left: int, right: int) -> None:
    _, root = drawn(articles("L", left), articles("R", right))
    (centre,) = of_class(root, "graph-centre")
    begins, _, stops, _ = box(centre)
    curves = of_class(root, "graph-link")
    assert all(curve.get("marker-end") == "url(#citations-arrow)" for curve in curves)
    nodes = of_class(root, "graph-node")
    for node, curve in zip(nodes, curves, strict=True):
        start, end = ends(curve)
        node_begins, _, node_stops, _ = box(node)
        assert start < end
        if node_stops < begins:
            assert start == node_stops and end == begins - 8  # an arrow head's length
        else:
            assert start == stops and end == node_begins - 8


@pytest.mark.parametrize(("left", "right"), [(1, 1), (1, 0), (0, 1), (9, 3), (2, 50)])
def test_nothing_overlaps_nor_leaves_the_picture(left: int, right: int) -> None:
    others = [article(f"D{at}", "Code civil", elsewhere=at % 2 == 0) for at in range(right)]
    _, root = drawn(articles("L", left), others)
    _, _, width, height = map(float, root.get("viewBox", "").split())
    assert width <= 680
    boxes = [box(node) for node in of_class(root, "graph-node") + of_class(root, "graph-centre")]
    for at, (begins, top, stops, bottom) in enumerate(boxes):
        assert begins >= 0 and stops <= width and top >= 20 and bottom <= height  # a heading stands above
        assert bottom - top >= 36
        for begins_2, top_2, stops_2, bottom_2 in boxes[:at]:
            assert stops < begins_2 or stops_2 < begins or bottom < top_2 or bottom_2 < top


def test_it_is_named_for_those_who_do_not_see_it() -> None:
    _, root = drawn(articles("L", 12), articles("R", 1))
    named = {element.get("id"): "".join(element.itertext()) for element in root.iter() if element.get("id")}
    assert root.get("role") == "group"  # links inside an image could not be reached
    assert named[root.get("aria-labelledby")] == "Citations autour de l'article L1234-9"
    assert named[root.get("aria-describedby")] == "Cité par (12), Cite (1)"
    groups = [group.get("aria-labelledby") for group in root.iter(f"{SVG}g") if group.get("role") == "group"]
    assert [named[group] for group in groups] == ["Cité par", "Cite"]
    assert all(id is not None and id.startswith("citations-") for id in named)


def test_a_side_without_articles_is_not_drawn() -> None:
    _, root = drawn(articles("L", 2), [])
    assert texts(root) == ["Cité par", "L0", "L1", "L1234-9"]
    assert root.findtext(f"{SVG}desc") == "Cité par (2)"


HOSTILE = [
    "<script>alert(1)</script>",
    '" onload="x',
    "' style='x",
    "{number}",
    "&amp;",
    "]]>",
    "<!--",
    "\0\ufffe\ud800",
]
hostile = st.one_of(st.text(), st.text(st.characters(categories=("Cc", "Cs", "Cn", "Mn"))), st.sampled_from(HOSTILE))
links = st.lists(st.builds(ArticleLink, hostile, hostile, hostile, st.booleans()), max_size=12)


def as_read(url: str) -> str:
    """As an XML reader gives an attribute back."""
    kept = re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "", url)
    return re.sub("\r\n|[\t\n\r]", " ", kept)


def attributes(root: ElementTree.Element) -> Iterator[str]:
    for element in root.iter():
        yield from element.attrib


@given(hostile, links, links)
def test_hostile_words_stay_words(number: str, cited_by: list[ArticleLink], cites: list[ArticleLink]) -> None:
    svg = draw_citations(number, cited_by, cites, t)
    if svg is None:
        assert not cited_by and not cites
        return
    root = ElementTree.fromstring(svg)
    svg.encode()
    names = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert names <= {"svg", "title", "desc", "defs", "marker", "path", "g", "a", "rect", "text"}
    assert not [name for name in attributes(root) if name == "style" or name.startswith("on")]
    hrefs = [element.get("href") for element in root.iter() if "href" in element.attrib]
    given_urls = [as_read(link.url) for side in (cited_by, cites) for link in _first(side)]
    assert hrefs == given_urls
    assert all(texts(root))


def _first(side: list[ArticleLink]) -> list[ArticleLink]:
    return side[:7] if len(side) == 9 else side[:8]
