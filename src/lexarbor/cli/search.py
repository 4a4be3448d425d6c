"""`lexarbor index`, `search` and `run`: an index of the law, one question, many questions."""

import os
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from lexarbor.cli.corpus import AS_OF, LAW, LAW_FORMAT, day_of, law_of, say_not_held, say_unknown
from lexarbor.cli.output import FORMAT, Format, counting, print_json, print_tsv, printable, say, warn_of_age, working
from lexarbor.errors import SearchError

if TYPE_CHECKING:
    from lexarbor.search.engine import Engine

INDEX = typer.Option(
    None, "--index", "-i", help="The index's folder; else $LEXARBOR_INDEX, else a folder in the cache."
)

NEAREST_HEADINGS = 3
"""How many headings people are shown above an article; JSON and TSV give them all, and so does --explain."""
LINKS_SHOWN = 12
"""How many citations people are shown; JSON gives them all."""


def index(
    law: str | None = LAW,
    law_format: str | None = LAW_FORMAT,
    as_of: str | None = AS_OF,
    folder: Path | None = INDEX,
) -> None:
    """Build the index of a law: fetched if need be, in force on its date or on another."""
    from lexarbor.corpus.sources import DEFAULT_LAW, snapshots_around

    day = day_of(as_of)
    where = _folder(folder, day)
    named = law if law is not None else snapshots_around(day) if day else DEFAULT_LAW
    _build(where, named, law_format, day)
    typer.echo(where)


def search(
    question: str = typer.Argument(..., help="The question, in everyday words."),
    k: int = typer.Option(10, "-k", help="How many articles."),
    codes: list[str] | None = typer.Option(None, "--code", help="Look in this code alone; may be repeated."),
    under: list[str] | None = typer.Option(
        None, "--under", help="Look under this heading alone, by words of it or its id; may be repeated."
    ),
    as_of: str | None = AS_OF,
    explain: bool = typer.Option(
        False, "--explain", help="With each article's whole text, its reasons, its neighbours and what is cited."
    ),
    folder: Path | None = INDEX,
    form: Format = FORMAT,
) -> None:
    """Find the articles that govern a question, or those that it names, e.g. "L1234-9 du code du travail".

    The first time, the law is fetched and indexed.
    """
    from lexarbor.search.engine import check_question
    from lexarbor.search.filters import Filters

    check_question(question, k)
    filters = Filters(tuple(codes or ()), tuple(under or ()))
    day = day_of(as_of)
    answer = _engine(folder, day).search(question, k, filters, explain=explain)
    if form is Format.JSON:
        print_json(answer.as_dict())
    elif form is Format.TSV:
        columns = ("rank", "id", "number", "code", "path", "score", "start", "end", "url", "passage")
        rows = ([" › ".join(hit[c]) if c == "path" else hit[c] for c in columns] for hit in answer.as_dict()["hits"])
        print_tsv(columns, rows)
    else:
        _print_answer(answer.as_dict())
    if day is None:
        warn_of_age(answer.law.date)


def run(
    queries: Path = typer.Argument(..., help='Questions as JSONL lines {"id", "text"}.'),
    out: Path = typer.Option(..., "--out", "-o", help="The TREC run file to write."),
    k: int = typer.Option(500, "-k", help="How many articles a question."),
    folder: Path | None = INDEX,
) -> None:
    """Rank articles for a file of questions, and write a TREC run."""
    from lexarbor.corpus.questions import read_questions
    from lexarbor.evaluation import ScoredArticle, write_run

    questions = read_questions(queries)
    engine = _engine(folder)
    found = {}
    with counting("questions") as advance:
        for done, question in enumerate(questions, start=1):
            try:
                ranking = engine.rank(question.text, k)
            except SearchError as error:
                raise SearchError(f"{queries}, question '{question.id}': {error}") from error
            found[question.id] = [ScoredArticle(*scored) for scored in ranking]
            advance(done, len(questions))
    write_run(found, out)
    warn_of_age(engine.index.law.date)
    say(f"{len(found)} questions, {sum(map(len, found.values())):,} lines: {out}")


def _folder(folder: Path | None, day: date | None = None) -> Path:
    """Where an index lies; that of another day has a place of its own in the cache."""
    from lexarbor.corpus.packages import cache_folder

    named = os.environ.get("LEXARBOR_INDEX")
    if folder is None and day is not None:
        return cache_folder() / f"index-{day}"
    return folder or (Path(named) if named else cache_folder() / "index")


def _engine(folder: Path | None, day: date | None = None) -> "Engine":
    """The engine over an index; the default one, and that of a day, are built where they are missing."""
    from lexarbor.corpus.sources import DEFAULT_LAW, snapshots_around
    from lexarbor.search.engine import Engine
    from lexarbor.search.store import is_readable

    where = _folder(folder, day)
    law = DEFAULT_LAW if day is None else snapshots_around(day)
    found = (where / "manifest.json").exists()
    ours = folder is None and (day is not None or "LEXARBOR_INDEX" not in os.environ)  # a place in the cache
    if (folder is None and not found) or (ours and not is_readable(where)):
        why = "the index is damaged or of another version of Lexarbor" if found else "no index yet"
        say(f"{why}: fetching and indexing {law}{f' as of {day}' if day else ''}, once")
        _build(where, law, None, day)
    with working("opening the index"):
        engine = Engine.open(where)
    if day is not None and engine.index.law.date != day:
        raise SearchError(
            f"{where}: the index is of the law as of {engine.index.law.date}, not of {day}; build one with "
            f"`lexarbor index --as-of {day}`"
        )
    if folder is None and day is None and engine.index.source != DEFAULT_LAW:
        say(f"the law searched is {engine.index.source}; `lexarbor index` indexes {DEFAULT_LAW}")
    return engine


def _build(folder: Path, law: str, law_format: str | None, day: date | None = None) -> None:
    from lexarbor.corpus.sources import read_law
    from lexarbor.search.lexical import tuned
    from lexarbor.search.store import build_index

    with working(f"reading {law}"):
        whole = read_law(law, format=law_format)
        tree = law_of(whole, day)
    say_not_held(tree)
    say_unknown(tree, whole)
    with working(f"indexing {len(tree):,} articles"):
        build_index(tree, folder, source=law, settings=tuned("headings+text"))


def _print_answer(answer: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    console = Console(highlight=False)
    for hit in answer["hits"]:
        number = hit["number"] if hit["number"][:1].islower() or " " in hit["number"] else f"Article {hit['number']}"
        console.print(Text.assemble((f"{hit['rank']:>3}. ", "dim"), (number, "bold"), f" · {hit['code']}"))
        explained = "text" in hit
        place = " › ".join(hit["path"] if explained else hit["path"][-NEAREST_HEADINGS:])
        passage = Text.assemble(*((printable(words), style) for words, style in _marked(hit["passage"], hit["marks"])))
        lines = [Text(printable(place), style="dim"), passage, Text(printable(_facts(hit)), style="dim")]
        if explained:
            lines += [Text(printable(line), style="dim") for line in _explanation(hit)]
            lines += [Text(printable(line)) for line in hit["text"].splitlines()]
        for line in filter(None, lines):
            console.print(Padding(line, (0, 0, 0, 5)))
    if answer["not_held"]:
        console.print(Text(f"Not in force in these codes: {printable(', '.join(answer['not_held']))}."))
    elif not answer["hits"]:
        console.print(Text("No article shares a word with this question: try other words."))
    console.print(
        Text(
            f"Law as of {answer['law_as_of'] or 'an unknown date'}: {', '.join(answer['codes'])}.",
            style="dim",
        )
    )


def _facts(hit: dict[str, Any]) -> str:
    since = f"in force since {hit['start']}" if hit["start"] else ""
    until = f"until {hit['end']}" if hit["end"] else ""
    return " · ".join(filter(None, (f"score {hit['score']:.2f}", " ".join(filter(None, (since, until))), hit["url"])))


def _marked(passage: str, marks: list[list[int]]) -> Iterator[tuple[str, str]]:
    """Pieces of a passage, each with its style."""
    at = 0
    for start, end in marks:
        yield passage[at:start], ""
        yield passage[start:end], "bold"
        at = end
    yield passage[at:], ""


def _explanation(hit: dict[str, Any]) -> list[str]:
    """The reasons for a hit, and the articles that it is to be read with, a line each."""
    legs = [f"{leg} {reason['score']:.2f} (rank {reason['rank']})" for leg, reason in hit["reasons"].items()]
    lines = [f"found by {', '.join(legs)}"]
    for name in ("before", "after", "cites", "cited_by"):
        numbers = [other["number"] for other in hit[name]]
        if len(numbers) > LINKS_SHOWN:
            numbers = [*numbers[:LINKS_SHOWN], f"{len(numbers) - LINKS_SHOWN} more"]
        if numbers:
            lines.append(f"{name.replace('_', ' ')} {', '.join(numbers)}")
    return lines
