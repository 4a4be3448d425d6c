"""The citations around an article, drawn as SVG: at its left those that cite it, at its right those that it cites.

The page's style sheet gives the colours, by class names; without it everything is drawn in the colour of the text.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from markupsafe import Markup

from lexarbor.serve.pages.views import ArticleLink

MOST = 8
"""Articles drawn on each side."""

_WIDTH, _EDGE = 480.0, 2.0
"""Narrow, so that a phone need not make it much smaller."""
_BESIDE, _CENTRE = 138.0, 104.0
"""Widths of a node at a side and of that in the middle."""
_BESIDE_ALONE, _CENTRE_ALONE = 228.0, 132.0
"""The same where only one side has any."""
_ONE_LINE, _TWO_LINES, _CENTRE_HEIGHT, _BETWEEN = 40.0, 52.0, 46.0, 10.0
_ABOVE, _PADDING, _ARROW = 26.0, 6.0, 8.0
_TEXT, _BOLD, _CODE, _HEADING = 15.0, 14.0, 11.5, 13.0
"""Font sizes."""

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_CODE_OF = re.compile(r"Code (?:de la |de l['’]|des |du |de |d['’])?", re.IGNORECASE)

_SVG = Markup(
    '<svg class="graph" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="group"'
    ' aria-labelledby="citations-title" aria-describedby="citations-desc" fill="currentColor">'
    '<title id="citations-title">{title}</title><desc id="citations-desc">{desc}</desc>'
    '<defs><marker id="citations-arrow" viewBox="0 0 8 8" refX="0" refY="4" markerWidth="8" markerHeight="8"'
    ' markerUnits="userSpaceOnUse" orient="auto">'
    '<path class="graph-arrow" d="M0 0.5 7 4 0 7.5z" fill="currentColor"/></marker></defs>'
    '<g fill="none" stroke="currentColor" stroke-width="1.25" aria-hidden="true">{curves}</g>{parts}</svg>'
)
_COLUMN = Markup(
    '<g role="group" aria-labelledby="{id}"><text class="graph-heading" id="{id}" x="{x:g}" y="{y:g}"'
    ' text-anchor="{anchor}" font-size="{size:g}" font-weight="600">{heading}</text>{nodes}</g>'
)
_LINKED = Markup('<a class="graph-node" href="{url}"><title>{full}</title>{inside}</a>')
_MORE = Markup('<g class="graph-node graph-more">{inside}</g>')
_MIDDLE = Markup('<g class="graph-centre" font-weight="700"><title>{full}</title>{inside}</g>')
_BOX = Markup(
    '<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="8" fill="none" stroke="currentColor"'
    ' stroke-width="{stroke:g}" stroke-dasharray="{dashes}" pointer-events="all"/>'  # a link is its whole box
)
_WORDS = Markup('<text class="{name}" x="{x:g}" y="{y:g}" text-anchor="middle" font-size="{size:g}">{words}</text>')
_CURVE = Markup(
    '<path class="graph-link" d="M{x:g} {y:g}C{bend:g} {y:g} {bend:g} {to_y:g} {to_x:g} {to_y:g}"'
    ' stroke-dasharray="{dashes}" marker-end="url(#citations-arrow)"/>'
)


class _Node(NamedTuple):
    words: str
    code: str
    """Its second line; empty where it has none."""
    link: ArticleLink | None
    """None for the articles that are counted and not drawn."""

    @property
    def height(self) -> float:
        return _TWO_LINES if self.code else _ONE_LINE

    @property
    def dashes(self) -> str:
        return "none" if self.link else "4 3"


class _Column(NamedTuple):
    id: str
    heading: str
    nodes: Sequence[_Node]
    x: float
    width: float
    middle: float
    centre: float
    """Where the node in the middle has the edge that faces this column."""

    @property
    def at_left(self) -> bool:
        return self.x < self.centre

    @property
    def edge(self) -> float:
        """The edge that faces the middle."""
        return self.x + self.width if self.at_left else self.x

    def placed(self) -> Iterator[tuple[float, _Node]]:
        """The nodes, each with its top."""
        top = self.middle - _height(self.nodes) / 2
        for node in self.nodes:
            yield top, node
            top += node.height + _BETWEEN


def draw_citations(
    number: str, cited_by: Sequence[ArticleLink], cites: Sequence[ArticleLink], t: Callable[..., str]
) -> Markup | None:
    """None where there are no citations. `t` gives the phrases "graph.title" (of a number), "graph.cited_by",
    "graph.cites" and "graph.more" (of a count).
    """
    if not cited_by and not cites:
        return None
    beside, centre = (_BESIDE, _CENTRE) if cited_by and cites else (_BESIDE_ALONE, _CENTRE_ALONE)
    start = (_WIDTH - centre) / 2 if cited_by and cites else _WIDTH - centre - _EDGE if cited_by else _EDGE
    left, right = _nodes(cited_by, t), _nodes(cites, t)
    tallest = max(_height(left), _height(right), _CENTRE_HEIGHT)
    middle = _ABOVE + tallest / 2
    columns = (
        _Column("citations-cited-by", t("graph.cited_by"), left, _EDGE, beside, middle, start),
        _Column("citations-cites", t("graph.cites"), right, _WIDTH - beside - _EDGE, beside, middle, start + centre),
    )
    before, after = map(_column, columns)
    counts = zip(columns, (len(cited_by), len(cites)), strict=True)
    return _SVG.format(
        width=_WIDTH,
        height=_ABOVE + tallest + _EDGE,
        title=_clean(t("graph.title", number=number)),
        desc=_clean(", ".join(f"{column.heading} ({count})" for column, count in counts if count)),
        curves=Markup().join(map(_curves, columns)),
        parts=before + _centre(number, start, centre, middle) + after,
    )


def _nodes(links: Sequence[ArticleLink], t: Callable[..., str]) -> Sequence[_Node]:
    """The first articles, and how many more there are: never one alone, as "1 others" is no phrase."""
    shown = links if len(links) <= MOST else links[: MOST - (len(links) == MOST + 1)]
    nodes = [_Node(link.number, _clean(link.code) if link.elsewhere else "", link) for link in shown]
    if more := len(links) - len(shown):
        nodes.append(_Node(t("graph.more", count=more), "", None))
    return nodes


def _height(nodes: Sequence[_Node]) -> float:
    return sum(node.height + _BETWEEN for node in nodes) - _BETWEEN


def _column(column: _Column) -> Markup:
    if not column.nodes:
        return Markup()
    room = column.width + abs(column.centre - column.edge) - _PADDING
    return _COLUMN.format(
        id=column.id,
        x=column.x if column.at_left else column.x + column.width,
        y=next(column.placed())[0] - 10,
        anchor="start" if column.at_left else "end",
        size=_HEADING,
        heading=_fitted(column.heading, _HEADING, room),
        nodes=Markup().join(_node(node, column.x, top, column.width) for top, node in column.placed()),
    )


def _node(node: _Node, x: float, top: float, width: float) -> Markup:
    inside = _BOX.format(x=x, y=top, width=width, height=node.height, stroke=1.25, dashes=node.dashes)
    room, middle = width - 2 * _PADDING, x + width / 2
    if node.link is None:
        words = _fitted(node.words, _CODE, room)
        inside += _WORDS.format(name="graph-code", x=middle, y=top + 24, size=_CODE, words=words)
        return _MORE.format(inside=inside)
    words = _fitted(node.words, _TEXT, room)
    y = top + (23 if node.code else 25)
    inside += _WORDS.format(name="graph-text", x=middle, y=y, size=_TEXT, words=words)
    if node.code:
        words = _short_code(node.code, room)
        inside += _WORDS.format(name="graph-code", x=middle, y=top + 41, size=_CODE, words=words)
    full = ", ".join(filter(None, map(_clean, (node.link.number, node.link.code))))
    return _LINKED.format(url=_NOT_IN_XML.sub("", node.link.url), full=full, inside=inside)


def _centre(number: str, x: float, width: float, middle: float) -> Markup:
    top = middle - _CENTRE_HEIGHT / 2
    inside = _BOX.format(x=x, y=top, width=width, height=_CENTRE_HEIGHT, stroke=2.5, dashes="none")
    words = _fitted(number, _BOLD, (width - 2 * _PADDING) / 1.1)  # bold letters are wider
    inside += _WORDS.format(name="graph-text", x=x + width / 2, y=middle + 5, size=_BOLD, words=words)
    return _MIDDLE.format(full=_clean(number), inside=inside)


def _curves(column: _Column) -> Markup:
    """Each from the article that cites to the one cited, its arrow head before the box."""
    curves = Markup()
    for top, node in column.placed():
        end, inner = (column.edge, top + node.height / 2), (column.centre, column.middle)
        (x, y), (to_x, to_y) = (end, inner) if column.at_left else (inner, end)
        to_x -= _ARROW
        curves += _CURVE.format(x=x, y=y, to_x=to_x, to_y=to_y, bend=(x + to_x) / 2, dashes=node.dashes)
    return curves


def _short_code(title: str, room: float) -> str:
    """A code's title in little room: "C. sécurité sociale" for "Code de la sécurité sociale"."""
    return title if _length(title) * _CODE <= room else _fitted(_CODE_OF.sub("C. ", title, count=1), _CODE, room)


def _fitted(text: str, size: float, room: float) -> str:
    """On one line, cut with an ellipsis where it would not fit in the room."""
    text = _clean(text)
    if text and _length(text) * size <= room:
        return text
    lengths = accumulate(map(_advance, text), initial=_advance("…"))
    fitting = sum(length * size <= room for length in lengths) - 1
    return text[: max(fitting, 0)].rstrip() + "…"


def _length(text: str) -> float:
    """About how many times its font size a text is long, in a wide font; too long rather than too short."""
    return sum(map(_advance, text))


def _advance(character: str) -> float:
    letter = unicodedata.normalize("NFD", character)[0]
    if letter in " .,;:'’|!ijlftrI()[]-":
        return 0.4
    if letter in "mwMW…@%" or not letter.isascii():
        return 1.0
    return 0.75 if letter.isupper() else 0.63


def _clean(text: str) -> str:
    """Without the characters that XML has no place for; spaces folded."""
    return " ".join(_NOT_IN_XML.sub("", text).split())
