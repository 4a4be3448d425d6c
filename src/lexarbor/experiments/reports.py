"""What an experiment comes to: a title, tables and figures, written as Markdown, LaTeX, JSON and PNG, each with what it
was made from.
"""

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lexarbor.errors import LexarborError
from lexarbor.evaluation import Table, render
from lexarbor.files import check_file, folder_at, replacing, write_json

Draw = Callable[[Path], None]
"""Draws a figure into a PNG file."""


@dataclass(frozen=True)
class Report:
    """One experiment's result."""

    title: str
    tables: Sequence[Table] = ()
    told: Sequence[str] = ()
    """Paragraphs, in Markdown, above the tables: what was asked, what was found."""
    figures: Mapping[str, Draw] = field(default_factory=dict)
    """By a figure's name, e.g. "recall": drawn into NAME-BENCHMARK-FIGURE.png; "" has no name of its own."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """What stands behind tables and figures, for programs."""


def write_report(report: Report, stem: str, out: Path, facts: Mapping[str, Any]) -> list[Path]:
    """`out`/`stem`.md, .tex, .json and a PNG a figure; `facts` say what it was made from: command, seeds, revision,
    recipe. Gives the files, in this order. They appear together; what lies there and tells of more stays.
    """
    if more := _lost(out / f"{stem}.json", report.data):
        raise LexarborError(
            f"{out / stem}.md tells of more than this run can ({more}): give another --out, or remove {stem}.json there"
        )
    with tempfile.TemporaryDirectory(prefix=f".{stem}-", dir=folder_at(out)) as building:
        written = _write_all(report, stem, Path(building), facts)
        places = [out / path.name for path in written]
        for place in places:
            check_file(place)
        for path, place in zip(written, places, strict=True):
            path.replace(place.resolve())  # a link is followed
        return places


def _lost(path: Path, data: Mapping[str, Any]) -> str:
    """What would be lost if new data took the place of those on disk: rows, seeds of rows, trials of a search. A run
    that failed in part, or was asked for less, must not replace one that cost hours.
    """
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
        before, trials = _seeds(held), len(held.get("trials", ()))
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return ""  # there is none, or it is no report
    now = _seeds(data)
    fewer = [label for label, seeds in before.items() if now.get(label, 0) < seeds]
    told = [f"{before[label]} seeds of '{label}', not {now[label]}" for label in fewer if now.get(label)]
    told += [f"'{label}'" for label in fewer if not now.get(label)]
    if trials > (tried := len(data.get("trials", ()))):
        told.append(f"{trials} trials, not {tried}")
    return ", ".join(told[:3]) + (", …" if told[3:] else "")


def _seeds(data: Mapping[str, Any]) -> dict[str, int]:
    """By label, how many each row of models or systems has; other rows have none."""
    rows = (row for row in data.get("rows", ()) if isinstance(row, Mapping) and "seeds" in row)
    return {row["label"]: len(row["seeds"]) for row in rows}


def _write_all(report: Report, stem: str, out: Path, facts: Mapping[str, Any]) -> list[Path]:
    drawn = {name: out / f"{stem}{'-' if name else ''}{name}.png" for name in report.figures}
    for name, path in drawn.items():
        report.figures[name](path)
    markdown = [f"# {report.title}", "", *(f"{paragraph}\n" for paragraph in (_made_from(facts), *report.told))]
    markdown += [f"{render(table, 'markdown', bold_best=True)}\n" for table in report.tables]
    markdown += [f"![{name or report.title}]({path.name})\n" for name, path in drawn.items()]
    written = [_write(out / f"{stem}.md", "\n".join(markdown))]
    if report.tables:
        written.append(
            _write(out / f"{stem}.tex", "\n\n".join(render(table, "latex", bold_best=True) for table in report.tables))
        )
    tables = [
        {"title": table.title, "columns": list(table.columns), "rows": [list(row) for row in table.rows]}
        for table in report.tables
    ]
    write_json(out / f"{stem}.json", {"title": report.title, **facts, "tables": tables, **report.data})
    return [*written, out / f"{stem}.json", *drawn.values()]


def _made_from(facts: Mapping[str, Any]) -> str:
    """The command on a line of its own, then what else is short enough to be read."""
    short = {name: value for name, value in facts.items() if name != "command" and not isinstance(value, Mapping)}
    told = "; ".join(f"{name.replace('_', ' ')}: {value}" for name, value in short.items())
    return f"`{facts['command']}` ({told})." if told else f"`{facts['command']}`."


def _write(path: Path, text: str) -> Path:
    with replacing(path) as temporary:
        temporary.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
    return path
