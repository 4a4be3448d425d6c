"""How results and progress are shown: tables for people, JSON and TSV for programs, bars on stderr."""

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from enum import StrEnum
from typing import Any

import typer

from lexarbor.corpus.law import OLD_LAW_DAYS
from lexarbor.errors import MissingExtraError


class Format(StrEnum):
    TABLE = "table"
    JSON = "json"
    TSV = "tsv"


_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

FORMAT = typer.Option(Format.TABLE, "--format", "-f", help="How to print the result.")


def printable(text: str) -> str:
    """Without control characters: a law's text must not steer the terminal it is shown on."""
    return _CONTROL.sub("", text)


def print_json(result: Any) -> None:
    typer.echo(json.dumps(result, ensure_ascii=False, indent=2))


def print_tsv(columns: Sequence[str], rows: Iterable[Iterable[Any]]) -> None:
    typer.echo("\t".join(columns))
    for row in rows:
        typer.echo("\t".join(" ".join(printable(str("" if cell is None else cell)).split()) for cell in row))


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=title or None, title_justify="left", show_header=any(columns))
    for column in columns:
        table.add_column(column)
    for row in rows:
        table.add_row(*(escape(printable("" if cell is None else str(cell))) for cell in row))
    Console(file=sys.stdout).print(table)


def print_pairs(title: str, facts: dict[str, Any], form: Format) -> None:
    """Named facts in any of the formats."""
    if form is Format.JSON:
        print_json(facts)
    else:
        flat = list(_flat(facts))
        if form is Format.TSV:
            print_tsv(("name", "value"), flat)
        else:
            print_table(title, ("", ""), flat)


def _flat(facts: dict[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in facts.items():
        full = f"{above}{name}"
        if isinstance(value, dict) and any(isinstance(inner, dict) for inner in value.values()):
            yield from _flat(value, f"{full} · ")
        elif isinstance(value, dict):
            yield full, ", ".join(f"{key} {inner}" for key, inner in value.items())
        elif isinstance(value, list):
            yield full, ", ".join(map(str, value))
        else:
            yield full, value


def say(message: str) -> None:
    """A word to the person at the terminal, beside the result."""
    typer.echo(message, err=True)


def warn_of_age(day: date | None) -> None:
    """Statutes change every month: law older than OLD_LAW_DAYS is shown with a warning."""
    if day and (age := (date.today() - day).days) > OLD_LAW_DAYS:
        say(f"This law is as of {day}, {age} days old: check on the official site that nothing has changed since.")


@contextmanager
def working(what: str) -> Iterator[None]:
    """A spinner on stderr while something takes its time; silent where no person is watching."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(what):
        yield


@contextmanager
def needing_train(what: str = "training") -> Iterator[None]:
    """Around the import of what trains: recipes are YAML, whose reader comes with the extra, as torch does."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtraError(what, "train") from error


@contextmanager
def counting(what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on stderr, moved by calls of (done, total)."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
