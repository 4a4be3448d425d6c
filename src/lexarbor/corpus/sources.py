"""Where law comes from: a name, a package or a file to a `LawTree`. A new format is one reader and one line in
FORMATS.
"""

import re
from collections.abc import Callable
from datetime import date
from importlib.resources import as_file, files
from pathlib import Path

from lexarbor.corpus import packages, updates
from lexarbor.corpus.bsard import read_bsard_law
from lexarbor.corpus.jsonl import read_jsonl
from lexarbor.corpus.legi import read_legi
from lexarbor.corpus.questions import QuestionSet, read_question_set
from lexarbor.corpus.tree import LawTree
from lexarbor.corpus.versions import join
from lexarbor.errors import CorpusError

DEFAULT_LAW = "@socialgouv/legi-data@2.513.0"
"""The newest snapshot of the French codes that Lexarbor pins."""

SNAPSHOTS = {
    "@socialgouv/legi-data@1.1.19": date(2020, 3, 20),
    "@socialgouv/legi-data@1.46.0": date(2020, 11, 4),
    "@socialgouv/legi-data@2.24.0": date(2021, 1, 1),
    "@socialgouv/legi-data@2.100.0": date(2021, 12, 15),
    "@socialgouv/legi-data@2.229.0": date(2023, 2, 20),
    "@socialgouv/legi-data@2.263.0": date(2023, 6, 1),
    DEFAULT_LAW: date(2026, 3, 27),
}
"""The published states of the French codes that Lexarbor pins, oldest first, with their days."""

TINY = "tiny"
"""Two small codes of an invented commune, inside the package: for tests and for use without a network."""

FORMATS: dict[str, tuple[str, Callable[[Path], LawTree]]] = {
    "legi": (r".*\.tgz$", read_legi),
    "jsonl": (r".*\.jsonl$", read_jsonl),
    "bsard": (r".*(articles(_fr)?\.csv|[/\\])$", read_bsard_law),
}
"""By name: the file names of a format, and its reader."""


def read_law(source: str, *, format: str | None = None) -> LawTree:
    """The law a source holds: `tiny`, a known package by name (fetched once, then kept), a file or folder by path.

    Several sources joined by commas are snapshots of one law and give one tree that answers `as_of`. `format` is for
    files whose name does not tell it.
    """
    if format is not None and format not in FORMATS:
        raise CorpusError(f"unknown format '{format}': choose one of {', '.join(FORMATS)}")
    parts = [part.strip() for part in source.split(",") if part.strip()]
    if not parts:
        raise CorpusError(f"no law was named: give 'tiny', a package like '{DEFAULT_LAW}', or a file by path")
    trees = [_read_one(part, format) for part in parts]
    return join(trees) if len(trees) > 1 else trees[0]


def default_law() -> str:
    """The law that is read where none is named: the pinned one, or the newer one that `lexarbor corpus update` took."""
    newer = _newer()
    return newer.package.spec if newer else DEFAULT_LAW


def snapshots() -> dict[str, date]:
    """The pinned snapshots and the newer law that is current, oldest first, with their days; of one day the newest."""
    days = {day: spec for spec, day in SNAPSHOTS.items()}
    if newer := _newer():
        days[newer.date] = newer.package.spec
    return {spec: day for day, spec in sorted(days.items())}


def _newer() -> updates.Taken | None:
    """The law that an update made current; a newer Lexarbor may pin one that is newer still."""
    taken, current = updates.read_updates()
    return taken[current] if current and updates.is_newer(current, DEFAULT_LAW) else None


def snapshots_around(day: date) -> str:
    """The snapshots that tell the law of a day: the last before it, and all behind it, which hold what came into force
    since, and know when versions ended.
    """
    held = snapshots()
    first = min(held.values())
    if day < first:
        raise CorpusError(f"{day}: the oldest snapshot of the law that is held is of {first}; ask for a later day")
    before = [spec for spec, its in held.items() if its <= day]
    behind = [spec for spec, its in held.items() if its > day]
    return ",".join([before[-1], *behind])


def _read_one(source: str, format: str | None) -> LawTree:
    if source == TINY:
        return read_tiny()
    if source.startswith("@"):
        return read_legi(packages.fetch(updates.known_package(source)))
    path = Path(source)
    try:
        found = path.exists()
    except OSError as error:
        raise CorpusError(f"{source}: cannot be read ({error.strerror}); check the path") from error
    if not found and format == "bsard":
        return read_bsard_law(source)  # a dataset by its name on the hub
    if not found:
        raise CorpusError(
            f"{source}: no such file, and no law by that name; known are 'tiny', packages like '{DEFAULT_LAW}', "
            f"and files of the formats {', '.join(FORMATS)}"
        )
    return _reader(path, format)(path)


def _reader(path: Path, format: str | None) -> Callable[[Path], LawTree]:
    if format is not None:
        return FORMATS[format][1]
    name = f"{path.name}/" if path.is_dir() else path.name
    for pattern, reader in FORMATS.values():
        if re.match(pattern, name):
            return reader
    raise CorpusError(f"{path}: its format cannot be told from its name; say --law-format {'|'.join(FORMATS)}")


def read_tiny() -> LawTree:
    with as_file(files("lexarbor.corpus.tiny") / "law.jsonl") as path:
        return read_jsonl(path)


def read_tiny_questions() -> QuestionSet:
    with as_file(files("lexarbor.corpus.tiny") / "questions.jsonl") as path:
        return read_question_set(path, TINY)
