"""Article HTML to clean text: paragraphs become lines, table rows lines of cells, list items dashes."""

import re
from html import unescape

_MARK = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(?P<silent>script|style)\b.*?(?:</(?P=silent)\s*>|\Z)"
    r"|<(?P<closing>/?)(?P<name>[a-z][a-z0-9]*)\b[^<>]*>",
    re.DOTALL | re.IGNORECASE,
)
_SPACES = re.compile(r"\s+")
_LINES = frozenset(
    "p br div table thead tbody tfoot tr ul ol li dl dt dd hr center blockquote pre section article "
    "h1 h2 h3 h4 h5 h6 caption".split()
)
_CELLS = frozenset(("td", "th"))


def text_of(html: str) -> str:
    """The text of an HTML fragment, its structure kept as lines; plain text comes back with its spaces folded."""
    page = _Page()
    at = 0
    for mark in _MARK.finditer(html):
        page.write(html[at : mark.start()])
        at = mark.end()
        if name := mark["name"]:
            page.tag(name.lower(), closing=bool(mark["closing"]))
    page.write(html[at:])
    page.end_line()
    return "\n".join(page.lines)


class _Page:
    """Lines as they are filled. Inside a table row, paragraphs are no line breaks and cells are joined by ' | '."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.piece: list[str] = []
        self.cells: list[str] | None = None
        self.bullet = False

    def write(self, text: str) -> None:
        if text:
            self.piece.append(text)

    def tag(self, name: str, *, closing: bool) -> None:
        if name == "tr":
            self.end_line()
            self.cells = None if closing else []
        elif name == "table" and closing:
            self.end_line()
            self.cells = None
        elif self.cells is not None and name in _CELLS:
            self._end_cell(keep_empty=closing)
        elif self.cells is not None and name in _LINES:
            self.piece.append(" ")
        elif name in _LINES or name in _CELLS:
            self.end_line()
            if name in ("li", "ul", "ol"):  # a paragraph inside an item leaves its dash waiting
                self.bullet = name == "li" and not closing

    def end_line(self) -> None:
        if self.cells is not None:
            self._end_cell(keep_empty=False)
            # empty cells keep their place, without spaces around nothing
            line = _fold(" | ".join(self.cells)) if any(self.cells) else ""
            self.cells = []
        else:
            line = self._take()
        if line:
            self.lines.append(f"- {line}" if self.bullet else line)
            self.bullet = False

    def _end_cell(self, *, keep_empty: bool) -> None:
        cell = self._take()
        if self.cells is not None and (cell or keep_empty):
            self.cells.append(cell)

    def _take(self) -> str:
        text = _fold(unescape("".join(self.piece)))
        self.piece.clear()
        return text


def _fold(text: str) -> str:
    return _SPACES.sub(" ", text).strip()
