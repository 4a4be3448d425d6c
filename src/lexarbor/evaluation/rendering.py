"""How a table is drawn: aligned text, Markdown, LaTeX (booktabs) or JSON.

The three for people print fractions in percent; JSON keeps them as they are, for programs.
"""

import json
import re
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias, get_args

from lexarbor.errors import EvaluationError
from lexarbor.evaluation.tables import Cell, Table, percent

Format: TypeAlias = Literal["text", "markdown", "latex", "json"]

DASH = "–"
FIT_IN_A_COLUMN = 50
"""Characters of a row that can be read in one column of a page of two; LaTeX sets a wider table over both."""
LATEX_SPECIAL = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "[": "{[}",  # after the end of a row, a bare bracket or star would be read as its option
        "*": "{*}",
        **{character: f"\\{character}" for character in "&%$#_{}"},
    }
)


def render(table: Table, form: Format = "text", *, bold_best: bool = False) -> str:
    """Return the table in one of the formats, without a final newline.

    `bold_best` sets the best figure of each column (and group) in bold, where the format has bold.
    """
    if form == "text":
        return _text(table)
    if form == "markdown":
        return _markdown(table, bold_best)
    if form == "latex":
        return _latex(table, bold_best)
    if form == "json":
        return _json(table)
    raise EvaluationError(f"unknown format {form!r}; expected one of: {', '.join(get_args(Format))}")


def _text(table: Table) -> str:
    cells = _printed(table, lambda words: words)
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    right = _right_aligned(table)
    lines = [_aligned(row, widths, right).rstrip() for row in cells]
    rule = "-" * (sum(widths) + 2 * max(0, len(widths) - 1))
    body = [line for rows in table.groups() for line in (rule, *(lines[row + 1] for row in rows))]
    return "\n".join([_one_line(table.title), lines[0], *body, *map(_one_line, table.notes)])


def _markdown(table: Table, bold_best: bool) -> str:
    cells = _printed(table, _markdown_escaped, (lambda words: f"**{words}**") if bold_best else None)
    rule = ["---:" if right else ":---" for right in _right_aligned(table)]
    lines = [f"| {' | '.join(row)} |" for row in (cells[0], rule, *cells[1:])]
    notes = [f"\n{_markdown_escaped(note)}" for note in table.notes]
    return "\n".join([f"**{_markdown_escaped(table.title)}**\n", *lines, *notes])


def _latex(table: Table, bold_best: bool) -> str:
    cells = _printed(table, _latex_escaped, (lambda words: rf"\textbf{{{words}}}") if bold_best else None)
    lines = [rf"{' & '.join(row)} \\" for row in cells]
    body = [line for rows in table.groups() for line in (r"\midrule", *(lines[row + 1] for row in rows))]
    alignment = "".join("r" if right else "l" for right in _right_aligned(table))
    notes = [rf"\par\smallskip{{\footnotesize {_latex_escaped(note)}}}" for note in table.notes]
    tabular = [rf"\begin{{tabular}}{{{alignment}}}", r"\toprule", lines[0], *body, r"\bottomrule", r"\end{tabular}"]
    characters = sum(max(map(len, column)) for column in zip(*_printed(table, _one_line), strict=True))
    place = "table*" if characters > FIT_IN_A_COLUMN else "table"
    return "\n".join(
        [
            r"% needs \usepackage{booktabs, graphicx}",
            rf"\begin{{{place}}}[t]",
            r"\centering",
            rf"\caption{{{_latex_escaped(table.title)}}}",
            r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",  # as small as it must be
            *tabular[:-1],
            tabular[-1] + "}",
            *notes,
            rf"\end{{{place}}}",
        ]
    )


def _json(table: Table) -> str:
    content = {
        "title": table.title,
        "columns": list(table.columns),
        "rows": [list(row) for row in table.rows],
        "notes": list(table.notes),
    }
    return json.dumps(content, ensure_ascii=False, allow_nan=False, indent=2)


def _printed(table: Table, escaped: Callable[[str], str], bold: Callable[[str], str] | None = None) -> list[list[str]]:
    """Return the header and the rows as words fit for one format, the best figures in bold if it is given."""
    best = set() if bold is None else table.best()
    cells = [[escaped(column) for column in table.columns]]
    for number, row in enumerate(table.rows):
        words = [escaped(_words(cell)) for cell in row]
        if bold is not None:
            words = [bold(word) if (number, column) in best else word for column, word in enumerate(words)]
        cells.append(words)
    return cells


def _words(cell: Cell) -> str:
    if cell is None:
        return DASH
    return percent(cell) if isinstance(cell, float) else _one_line(str(cell))


def _right_aligned(table: Table) -> list[bool]:
    """Figures stand to the right; a column with any text in it stands to the left."""
    return [
        bool(table.rows) and not any(isinstance(row[column], str) for row in table.rows)
        for column in range(len(table.columns))
    ]


def _aligned(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    return "  ".join(
        word.rjust(width) if to_right else word.ljust(width)
        for word, width, to_right in zip(row, widths, right, strict=True)
    )


def _one_line(words: str) -> str:
    return " ".join(words.split())


def _markdown_escaped(words: str) -> str:
    return re.sub(r"([\\`*_|<\[\]])", r"\\\1", _one_line(words))


def _latex_escaped(words: str) -> str:
    # two hyphens, as options of a command have, would become a dash; a dash is written with two
    return re.sub("-(?=-)", "-{}", _one_line(words).translate(LATEX_SPECIAL)).replace(DASH, "--")
