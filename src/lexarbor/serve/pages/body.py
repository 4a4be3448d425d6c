"""The text of an article as a page shows it: its lines (see `corpus.html`) as paragraphs, lists and tables."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from lexarbor.serve.pages.views import Block

_BAR = re.compile(r"(?:^| )\|(?= |$)")
"""Between two cells; an empty cell has no spaces of its own, so a bar can open or end a line."""
_DASH = "- "


def blocks(text: str) -> tuple[Block, ...]:
    """Runs of lines that begin with a dash are lists, runs of two or more lines with cells are tables, and every other
    line is a paragraph. A blank line ends a run.
    """
    lines = [line.strip() for line in text.splitlines()]
    found: list[Block] = []
    for kind, run in groupby(zip(_kinds(lines), lines, strict=True), key=lambda pair: pair[0]):
        part = [line for _, line in run]
        if kind == "table":
            found.append(Block(kind, _rows(part)))
        elif kind == "list":
            found.append(Block(kind, tuple((line.removeprefix(_DASH).strip(),) for line in part)))
        elif kind == "paragraph":
            found += [Block(kind, ((line,),)) for line in part]
    return tuple(found)


def opening(text: str, most: int = 160) -> str:
    """The first words, on one line of at most `most` characters; an ellipsis tells where there are more."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    room = max(most - 2, 1)
    words = line[: room + 1].rpartition(" ")[0] or line[:room]  # a word longer than the room is cut
    return (words.rstrip(" ,;:") or words) + " …"


def _kinds(lines: Sequence[str]) -> Iterator[str]:
    """The kind of block that each line belongs to; empty for a blank line."""
    in_cells = [False, *map(_has_cells, lines), False]
    for at, line in enumerate(lines, 1):
        if in_cells[at] and (in_cells[at - 1] or in_cells[at + 1]):
            yield "table"  # also where a first cell begins with a dash, as many do
        elif line.startswith(_DASH):
            yield "list"
        else:
            yield "paragraph" if line else ""


def _has_cells(line: str) -> bool:
    cells = _cells(line)
    return len(cells) > 1 and any(cells)  # bars around nothing are no row: a table would not show them


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in _BAR.split(line)]


def _rows(lines: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The cells of a table's lines, as many in each row."""
    rows = [_cells(line) for line in lines]
    width = max(map(len, rows))
    return tuple((*row, *[""] * (width - len(row))) for row in rows)
