"""Where indexes lie, how they are built and opened: what `index`, `search`, `run`, `mcp` and `corpus update` share."""

import os
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from lexarbor.cli.corpus import law_of, say_not_held, say_unknown
from lexarbor.cli.output import counting, say, working
from lexarbor.errors import FetchError, SearchError

if TYPE_CHECKING:
    from lexarbor.search.building import Models
    from lexarbor.search.engine import Engine

INDEX = typer.Option(
    None, "--index", "-i", help="The index's folder; else $LEXARBOR_INDEX, else a folder in the cache."
)


def folder_of(folder: Path | None, day: date | None = None) -> Path:
    """Where an index lies; that of another day has a place of its own in the cache."""
    from lexarbor.corpus.packages import cache_folder

    named = os.environ.get("LEXARBOR_INDEX")
    if folder is None and day is not None:
        return cache_folder() / f"index-{day}"
    return folder or (Path(named) if named else cache_folder() / "index")


def open_engine(folder: Path | None, day: date | None = None, *, tiny: bool = False) -> "Engine":
    """The engine over an index; the default one, and that of a day, are built where they are missing. Where the law
    cannot be fetched, `tiny` has the tiny corpus in its place: for people who read that it is no real law.
    """
    from lexarbor.search.engine import Engine

    try:
        where, law = ready_index(folder, day)
    except FetchError as error:
        if day is not None or not tiny:
            raise
        return _tiny_engine(error)
    with working("opening the index"):
        engine = Engine.open(where)
    if day is not None and engine.index.law.date != day:
        raise SearchError(
            f"{where}: the index is of the law as of {engine.index.law.date}, not of {day}; build one with "
            f"`lexarbor index --as-of {day}`"
        )
    if folder is None and day is None and engine.index.source != law:
        say(f"the law searched is {engine.index.source}; `lexarbor index` indexes {law}")
    return engine


def ready_index(folder: Path | None, day: date | None = None) -> tuple[Path, str]:
    """The folder of an index that can be opened, and the law that the default one would be built of. The default one,
    and that of a day, are built where they are missing.
    """
    from lexarbor.corpus.sources import default_law, snapshots_around
    from lexarbor.search.store import is_readable

    if day is not None and folder is None and os.environ.get("LEXARBOR_INDEX"):
        raise SearchError(
            "$LEXARBOR_INDEX names an index of one day: build one of another with `lexarbor index --as-of DAY --index "
            "FOLDER --law …` and give --index, or unset the variable to search the French codes"
        )
    where = folder_of(folder, day)
    law = default_law() if day is None else snapshots_around(day)
    found = (where / "manifest.json").exists()
    ours = folder is None and (day is not None or not os.environ.get("LEXARBOR_INDEX"))  # a place in the cache
    if (folder is None and not found) or (ours and not is_readable(where)):
        why = "the index is damaged or of another version of Lexarbor" if found else "no index yet"
        say(f"{why}: fetching and indexing {law}{f' as of {day}' if day else ''}, once")
        build(where, law, None, day)
    return where, law


def _tiny_engine(error: FetchError) -> "Engine":
    """An engine over the tiny corpus, where the law cannot be had: so that people see how it works."""
    from lexarbor.corpus.sources import TINY, read_tiny
    from lexarbor.search.building import make_index, shipped_models
    from lexarbor.search.engine import Engine
    from lexarbor.search.lexical import tuned

    say(f"{error}")
    say("until then the answer comes from a tiny invented law, of the commune of Valombre: it is no real law")
    with working("indexing the tiny corpus"):
        models = shipped_models()
        index = make_index(read_tiny(), source=TINY, settings=tuned("headings+text"), models=models)
    return Engine(index, encoder=models.encoder)


def build(
    folder: Path,
    law: str,
    law_format: str | None,
    day: date | None = None,
    *,
    models: "Models | None" = None,
    questions: Path | None = None,
) -> None:
    """Read a law and index it, with the shipped models unless others are given."""
    from lexarbor.corpus.packages import cache_folder
    from lexarbor.corpus.questions import read_answered
    from lexarbor.corpus.sources import read_law
    from lexarbor.search.building import build_index, shipped_models
    from lexarbor.search.lexical import tuned
    from lexarbor.search.store import check_place

    check_place(folder)
    own = read_answered(questions) if questions else []
    with working(f"reading {law}"):
        whole = read_law(law, format=law_format)
        tree = law_of(whole, day)
    say_not_held(tree)
    say_unknown(tree, whole)
    with counting("articles and headings encoded") as advance:
        build_index(
            tree,
            folder,
            source=law,
            settings=tuned("headings+text"),
            models=models or shipped_models(),
            questions=own,
            cache=cache_folder() / "vectors",
            on_step=advance,
        )
