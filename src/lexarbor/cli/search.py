"""`lexarbor index`, `search` and `run`: an index of the law, one question, many questions."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from lexarbor.cli.corpus import AS_OF, LAW, LAW_FORMAT, day_of
from lexarbor.cli.indexes import INDEX, build, folder_of, open_engine
from lexarbor.cli.output import FORMAT, Format, counting, print_json, print_tsv, printable, say, warn_of_age
from lexarbor.errors import SearchError

if TYPE_CHECKING:
    from rich.text import Text

    from lexarbor.search.building import Models

LEGS = typer.Option(None, "--legs", help="Search with these alone, joined by commas: dense, bm25, memory, everyday.")
NEAREST_HEADINGS = 3
"""How many headings people are shown above an article; JSON and TSV give them all, and so does --explain."""
READ_AS_SHOWN = 300
"""Characters of a question that people are shown as it was read."""
LINKS_SHOWN = 12
"""How many citations people are shown; JSON gives them all."""


def index(
    law: str | None = LAW,
    law_format: str | None = LAW_FORMAT,
    as_of: str | None = AS_OF,
    questions: Path | None = typer.Option(
        None, "--questions", help='Questions of your own to remember, as JSONL lines {"id", "text", "gold"}.'
    ),
    encoder: Path | None = typer.Option(None, "--encoder", help="The folder of another encoder than the shipped one."),
    graph: Path | None = typer.Option(None, "--graph", help="The folder of its graph encoder, if it has one."),
    folder: Path | None = INDEX,
) -> None:
    """Build the index of a law: fetched if need be, in force on its date or on another.

    Vectors that ship or were made before are taken again: only what changed is encoded.
    """
    from lexarbor.corpus.sources import default_law, snapshots_around

    if graph is not None and encoder is None:
        raise SearchError("--graph goes with the --encoder that it was trained for: give both")
    day = day_of(as_of)
    where = folder_of(folder, day)
    named = law if law is not None else snapshots_around(day) if day else default_law()
    models = _models(encoder, graph) if encoder is not None else None
    build(where, named, law_format, day, models=models, questions=questions)
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
    legs: str | None = LEGS,
    group: bool = typer.Option(False, "--group", help="Put the articles of one section together."),
    folder: Path | None = INDEX,
    form: Format = FORMAT,
) -> None:
    """Find the articles that govern a question, or those that it names, e.g. "L1234-9 du code du travail".

    The first time, the law is fetched and indexed.
    """
    from lexarbor.corpus.sources import TINY
    from lexarbor.search.engine import check_question
    from lexarbor.search.filters import Filters

    check_question(question, k)
    if group and form is Format.TSV:
        raise SearchError("--group is for tables and JSON: a TSV has one line for each article")
    filters = Filters(tuple(codes or ()), tuple(under or ()))
    day = day_of(as_of)
    answer = open_engine(folder, day, tiny=True).search(question, k, filters, explain=explain, legs=_legs(legs))
    if form is Format.JSON:
        print_json(answer.as_dict(grouped=group))
    elif form is Format.TSV:
        columns = ("rank", "id", "number", "code", "path", "score", "start", "end", "url", "passage")
        rows = ([" › ".join(hit[c]) if c == "path" else hit[c] for c in columns] for hit in answer.as_dict()["hits"])
        print_tsv(columns, rows)
    else:
        _print_answer(answer.as_dict(grouped=group))
    if day is None and answer.law.name != TINY:
        warn_of_age(answer.law.date)


def run(
    queries: Path = typer.Argument(..., help='Questions as JSONL lines {"id", "text"}.'),
    out: Path = typer.Option(..., "--out", "-o", help="The TREC run file to write."),
    k: int = typer.Option(500, "-k", help="How many articles a question."),
    legs: str | None = LEGS,
    folder: Path | None = INDEX,
) -> None:
    """Rank articles for a file of questions, and write a TREC run."""
    from lexarbor.corpus.questions import read_questions
    from lexarbor.evaluation import ScoredArticle, write_run

    questions = read_questions(queries)
    engine = open_engine(folder)
    found = {}
    with counting("questions") as advance:
        for done, question in enumerate(questions, start=1):
            try:
                ranking = engine.rank(question.text, k, legs=_legs(legs))
            except SearchError as error:
                raise SearchError(f"{queries}, question '{question.id}': {error}") from error
            found[question.id] = [ScoredArticle(*scored) for scored in ranking]
            advance(done, len(questions))
    write_run(found, out)
    warn_of_age(engine.index.law.date)
    say(f"{len(found)} questions, {sum(map(len, found.values())):,} lines: {out}")


def _legs(named: str | None) -> tuple[str, ...] | None:
    return None if named is None else tuple(leg.strip() for leg in named.split(",") if leg.strip())


def _models(encoder: Path, graph: Path | None) -> "Models":
    from lexarbor.graph.enrichment import Enricher
    from lexarbor.search.building import Models
    from lexarbor.search.section_questions import shipped_questions
    from lexarbor.text.encoder import TextEncoder

    enricher = Enricher.open(graph) if graph else None
    return Models(TextEncoder.open(encoder), encoder.resolve(), enricher, everyday=shipped_questions())


def _print_answer(answer: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    console = Console(highlight=False)
    if read := answer["read_as"]:
        end = read if len(read) <= READ_AS_SHOWN else f"… {read[-READ_AS_SHOWN:]}"  # what was added stands there
        console.print(Text(f"Read as: {printable(end)}", style="dim"))
    if outside := answer["outside"]:
        console.print(Text(_outside(outside), style="bold"))
    shown = {hit["id"]: hit for hit in answer["hits"]}
    groups = answer.get("groups") or [{"path": None, "hits": list(shown)}]
    for group in groups:
        if group["path"] is not None:
            console.print(Text(printable(" › ".join([group["code"], *group["path"]])), style="bold"))
        for hit in (shown[id] for id in group["hits"]):
            number = (
                hit["number"] if hit["number"][:1].islower() or " " in hit["number"] else f"Article {hit['number']}"
            )
            console.print(
                Text.assemble((f"{hit['rank']:>3}. ", "dim"), (number, "bold"), f" · {printable(hit['code'])}")
            )
            for line in filter(None, _lines(hit, placed=group["path"] is None)):
                console.print(Padding(line, (0, 0, 0, 5)))
    if answer["not_held"]:
        console.print(Text(f"Not in force in these codes: {printable(', '.join(answer['not_held']))}."))
    elif not answer["hits"]:
        console.print(Text("Nothing was found for this question: try other words."))
    console.print(
        Text(
            f"Law as of {answer['law_as_of'] or 'an unknown date'}: {printable(', '.join(answer['codes']))}.",
            style="dim",
        )
    )


def _lines(hit: dict[str, Any], *, placed: bool) -> "list[Text]":
    """What stands below a hit's number; its place too, unless that was told above."""
    from rich.text import Text

    explained = "text" in hit
    place = " › ".join(hit["path"] if explained else hit["path"][-NEAREST_HEADINGS:])
    passage = Text.assemble(*((printable(words), style) for words, style in _marked(hit["passage"], hit["marks"])))
    lines = [Text(printable(place) if placed else "", style="dim"), passage, Text(printable(_facts(hit)), style="dim")]
    if explained:
        lines += [Text(printable(line), style="dim") for line in _explanation(hit)]
        lines += [Text(printable(line)) for line in hit["text"].splitlines()]
    return lines


def _outside(told: dict[str, Any]) -> str:
    """What is said of a question that other law answers."""
    codes = f" Questions like it are answered by: {', '.join(told['codes'])}." if told["codes"] else ""
    return f"This does not seem to be in these codes (chance {told['chance']:.0%}).{codes} The nearest articles held:"


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
    if remembered := hit["reasons"].get("memory", {}).get("question"):
        lines.append(_remembered(remembered))
    if everyday := hit["reasons"].get("everyday", {}).get("question"):
        lines.append(f"its section answers questions such as: {everyday['text']}")
    for name in ("before", "after", "cites", "cited_by"):
        numbers = [other["number"] for other in hit[name]]
        if len(numbers) > LINKS_SHOWN:
            numbers = [*numbers[:LINKS_SHOWN], f"{len(numbers) - LINKS_SHOWN} more"]
        if numbers:
            lines.append(f"{name.replace('_', ' ')} {', '.join(numbers)}")
    return lines


def _remembered(question: dict[str, Any]) -> str:
    """The question asked before that an article answers."""
    named = question["url"] or question["text"] or question["id"]
    year = f", of {question['year']}" if question["year"] else ""
    amended = "; the article was amended since" if question["amended_since"] else ""
    return f"answers a question asked before ({named}{year}), likeness {question['likeness']:.2f}{amended}"
