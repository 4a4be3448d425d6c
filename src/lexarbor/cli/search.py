"""`lexarbor index`, `search` and `run`: an index of the law, one question, many questions."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from lexarbor.cli.corpus import LAW, LAW_FORMAT
from lexarbor.cli.output import FORMAT, Format, counting, print_json, print_tsv, printable, say, warn_of_age, working
from lexarbor.errors import SearchError

if TYPE_CHECKING:
    from lexarbor.search.engine import Engine

INDEX = typer.Option(
    None, "--index", "-i", help="The index's folder; else $LEXARBOR_INDEX, else a folder in the cache."
)

NEAREST_HEADINGS = 3
"""How many headings people are shown above an article; JSON and TSV give them all."""


def index(
    law: str | None = LAW,
    law_format: str | None = LAW_FORMAT,
    folder: Path | None = INDEX,
) -> None:
    """Build the index of a law: fetched if need be, in force on its date."""
    from lexarbor.corpus.sources import DEFAULT_LAW

    where = _folder(folder)
    _build(where, DEFAULT_LAW if law is None else law, law_format)
    typer.echo(where)


def search(
    question: str = typer.Argument(..., help="The question, in everyday words."),
    k: int = typer.Option(10, "-k", help="How many articles."),
    codes: list[str] | None = typer.Option(None, "--code", help="Look in this code alone; may be repeated."),
    under: list[str] | None = typer.Option(
        None, "--under", help="Look under this heading alone, by words of it or its id; may be repeated."
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
    answer = _engine(folder).search(question, k, Filters(tuple(codes or ()), tuple(under or ())))
    if form is Format.JSON:
        print_json(answer.as_dict())
    elif form is Format.TSV:
        columns = ("rank", "id", "number", "code", "path", "score", "start", "end", "url", "passage")
        rows = ([" › ".join(hit[c]) if c == "path" else hit[c] for c in columns] for hit in answer.as_dict()["hits"])
        print_tsv(columns, rows)
    else:
        _print_answer(answer.as_dict())
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


def _folder(folder: Path | None) -> Path:
    from lexarbor.corpus.packages import cache_folder

    named = os.environ.get("LEXARBOR_INDEX")
    return folder or (Path(named) if named else cache_folder() / "index")


def _engine(folder: Path | None) -> "Engine":
    from lexarbor.corpus.sources import DEFAULT_LAW
    from lexarbor.search.engine import Engine

    where = _folder(folder)
    if folder is None and not (where / "manifest.json").exists():
        say(f"no index yet: fetching and indexing {DEFAULT_LAW}, once")
        _build(where, DEFAULT_LAW, None)
    with working("opening the index"):
        engine = Engine.open(where)
    if folder is None and engine.index.source != DEFAULT_LAW:
        say(f"the law searched is {engine.index.source}; `lexarbor index` indexes {DEFAULT_LAW}")
    return engine


def _build(folder: Path, law: str, law_format: str | None) -> None:
    from lexarbor.corpus.sources import read_law
    from lexarbor.search.lexical import tuned
    from lexarbor.search.store import build_index

    with working(f"reading {law}"):
        tree = read_law(law, format=law_format)
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
        since = f"in force since {hit['start']}" if hit["start"] else ""
        until = f"until {hit['end']}" if hit["end"] else ""
        facts = " · ".join(
            filter(None, (f"score {hit['score']:.2f}", " ".join(filter(None, (since, until))), hit["url"]))
        )
        place = " › ".join(hit["path"][-NEAREST_HEADINGS:])
        for line, style in ((place, "dim"), (hit["passage"], ""), (facts, "dim")):
            if line:
                console.print(Padding(Text(printable(line), style=style), (0, 0, 0, 5)))
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
