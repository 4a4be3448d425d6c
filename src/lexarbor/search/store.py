"""The index on disk: a folder with a manifest and one generation of files.

    index/manifest.json       which generation is current, what it holds, a checksum for each of its files
    index/3f2a9c1b/law.jsonl  the law, in Lexarbor's exchange format
    index/3f2a9c1b/bm25/      bm25s's arrays (.npy) and vocabulary (JSON)

A new generation is built beside the old one; replacing the manifest is the one step that makes it current, so a
crash leaves the old index whole. Nothing is unpickled.
"""

import hashlib
import json
import shutil
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from lexarbor import __version__
from lexarbor.corpus.jsonl import read_jsonl, write_jsonl
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import CorpusError, LexarborError, SearchError
from lexarbor.files import replacing
from lexarbor.search.fields import FIELDS
from lexarbor.search.lexical import BM25Settings, LexicalIndex

FORMAT = "lexarbor-index/1"
_REBUILD = "build it again with `lexarbor index`"
_STALE = 24 * 3600
"""Seconds after which a generation that was never finished is taken for the trace of a crash."""


@dataclass(frozen=True, slots=True)
class Index:
    """An opened index: the law in force on its date, and BM25 over it. Rows are the articles in the order of their
    ids.
    """

    law: LawTree
    lexical: LexicalIndex
    article_ids: tuple[str, ...]
    source: str


def build_index(
    law: LawTree,
    folder: Path,
    *,
    source: str,
    settings: BM25Settings,
    field: str = "headings+text",
) -> None:
    """Index the articles that are in force on the law's date; an index already there stays until the new one is
    whole.
    """
    held = law.as_of(law.date) if law.date else law
    if not held.articles:
        raise SearchError(f"the law '{law.name}' holds no article in force: nothing to index")
    if folder.exists() and not (folder.is_dir() and (_is_index(folder) or not any(folder.iterdir()))):
        raise SearchError(f"{folder}: holds something else than an index; give an empty or new folder")
    name = uuid4().hex[:8]
    building = folder / f"building-{name}"
    try:
        building.mkdir(parents=True)
        rows = sorted(held.articles)
        write_jsonl(held, building / "law.jsonl")
        texts = (FIELDS[field](held, held.articles[id]) for id in rows)
        LexicalIndex.build(texts, settings).save(building / "bm25")
        manifest = {
            "format": FORMAT,
            "lexarbor": __version__,
            "generation": name,
            "source": source,
            "law_as_of": held.date.isoformat() if held.date else None,
            "articles": len(rows),
            "field": field,
            "bm25": asdict(settings),
            "files": _checksums(building),
        }
        building.rename(folder / name)
        with replacing(folder / "manifest.json") as temporary:
            temporary.write_text(json.dumps(manifest, indent=1), encoding="utf-8")
    except OSError as error:
        raise LexarborError(f"{folder}: the index could not be written ({error.strerror or error})") from error
    finally:
        shutil.rmtree(building, ignore_errors=True)
    _sweep(folder, name)


def open_index(folder: Path) -> Index:
    """The current generation, its checksums verified."""
    manifest = _manifest(folder)
    try:
        generation = folder / manifest["generation"]
        settings = BM25Settings(**manifest["bm25"])
        rows = int(manifest["articles"])
        files = manifest["files"]
        source = str(manifest["source"])
    except (KeyError, TypeError, ValueError) as error:
        raise SearchError(f"{folder / 'manifest.json'}: incomplete ({error}); {_REBUILD}") from error
    try:
        found = _checksums(generation)
    except OSError as error:
        raise SearchError(f"{generation}: cannot be read ({error.strerror}); {_REBUILD}") from error
    for name, checksum in files.items():
        if found.get(name) != checksum:
            raise SearchError(
                f"{generation / name}: damaged or missing, its checksum is not the manifest's; {_REBUILD}"
            )
    try:
        law = read_jsonl(generation / "law.jsonl")
    except CorpusError as error:
        raise SearchError(f"{error}; {_REBUILD}") from error
    ids = tuple(sorted(law.articles))
    if len(ids) != rows:
        raise SearchError(f"{generation}: {len(ids)} articles where the manifest has {rows}; {_REBUILD}")
    return Index(law, LexicalIndex.load(generation / "bm25", settings, rows), ids, source)


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / "manifest.json"
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise SearchError(f"{folder}: no index there; build one with `lexarbor index`") from error
    except (OSError, ValueError) as error:
        raise SearchError(f"{path}: cannot be read ({error}); {_REBUILD}") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        found = manifest.get("format") if isinstance(manifest, dict) else type(manifest).__name__
        raise SearchError(f"{path}: its format is {found!r}, this version reads {FORMAT!r}; {_REBUILD}")
    return manifest


def _is_index(folder: Path) -> bool:
    return (folder / "manifest.json").is_file() or all(entry.name.startswith("building-") for entry in folder.iterdir())


def _checksums(generation: Path) -> dict[str, str]:
    return {
        path.relative_to(generation).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(generation.rglob("*"))
        if path.is_file()
    }


def _sweep(folder: Path, current: str) -> None:
    """Take away earlier generations, and what a crash left half-built long ago."""
    for entry in folder.iterdir():
        if not entry.is_dir() or entry.name == current:
            continue
        if not entry.name.startswith("building-") or time.time() - entry.stat().st_mtime > _STALE:
            shutil.rmtree(entry, ignore_errors=True)
