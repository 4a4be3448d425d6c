"""The index on disk: a folder with a manifest and one generation of files.

    index/manifest.json                  which generation is current, what it holds, a checksum for each of its files
    index/generation-3f2a9c1b/law.json   the law, in columns
    index/generation-3f2a9c1b/bm25/      what each term adds to an article, as bm25s computes it
    index/generation-3f2a9c1b/citations.npy  pairs of rows, citing and cited
    index/generation-3f2a9c1b/dense/     the articles' vectors in 8 bits; with it come
    index/generation-3f2a9c1b/places.npy     where each row stands in the tree
    index/generation-3f2a9c1b/words.tsv      the law's words and how often it has them, to mend a question's by
    index/generation-3f2a9c1b/memory/    remembered questions: vectors, ids, rows of the articles that answer them
    index/generation-3f2a9c1b/everyday/  questions in everyday words that sections answer, BM25 over them

A new generation is built beside the old one; replacing the manifest is the one step that makes it current, so a
crash leaves the old index whole. Nothing is unpickled.
"""

import json
import re
import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any
from uuid import uuid4

from lexarbor import __version__
from lexarbor.corpus.columns import read_columns, write_columns
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import CorpusError, LexarborError, SearchError
from lexarbor.files import flush_to_disk, sha256, write_json
from lexarbor.search.dense import THREADS, DenseIndex
from lexarbor.search.lexical import BM25Settings, LexicalIndex
from lexarbor.search.links import Links
from lexarbor.search.recollection import Recollection
from lexarbor.search.section_questions import SectionQuestions
from lexarbor.search.spelling import Spelling, known_words
from lexarbor.search.surroundings import Surroundings
from lexarbor.text.encoder import TextEncoder
from lexarbor.text.folder import ModelFolder
from lexarbor.text.shipped import open_shipped, shipped_model

FORMAT = "lexarbor-index/5"
_REBUILD = "build it again with `lexarbor index`"
_GENERATION = re.compile(r"generation-[0-9a-f]{8}")
_STALE = 24 * 3600
"""Seconds after which a generation that was never finished is taken for the trace of a crash."""


@dataclass(frozen=True, slots=True)
class EncoderOfIndex:
    """The text encoder whose vectors an index holds."""

    checksum: str
    folder: Path | None = None
    """None for the one that ships."""

    def open(self) -> TextEncoder:
        """The encoder itself, if it is still the same."""
        found = open_shipped() if self.folder is None else TextEncoder.open(self.folder)
        if found.checksum != self.checksum:
            where = "the shipped encoder" if self.folder is None else str(self.folder)
            raise SearchError(
                f"the index has vectors of the encoder {self.checksum[:12]}, {where} is now {found.checksum[:12]}; "
                f"{_REBUILD}"
            )
        return found


@dataclass(frozen=True, slots=True)
class Index:
    """An index: the law in force on its date, BM25 over it, its citations. Rows are the articles in the order of their
    ids. One that was built with an encoder has the other parts too, and a memory where questions are remembered.
    """

    law: LawTree
    lexical: LexicalIndex
    links: Links
    article_ids: tuple[str, ...]
    source: str
    dense: DenseIndex | None = None
    around: Surroundings | None = None
    recollection: Recollection | None = None
    encoder: EncoderOfIndex | None = None
    spelling: Spelling | None = None
    everyday: SectionQuestions | None = None

    @property
    def legs(self) -> tuple[str, ...]:
        """The legs that it can be searched with."""
        held = {"dense": self.dense, "bm25": self.lexical, "memory": self.recollection, "everyday": self.everyday}
        return tuple(leg for leg, part in held.items() if part is not None)


def write_index(index: Index, folder: Path, *, field: str) -> None:
    """Write an index as a new generation; the one already there stays until the new one is whole."""
    with _new_generation(folder) as generation:
        write_columns(index.law, generation / "law.json")
        index.lexical.save(generation / "bm25")
        index.links.save(generation / "citations.npy")
        if index.dense is not None and index.around is not None:
            index.dense.save(generation / "dense")
            index.around.save(generation / "places.npy")
        if index.spelling is not None:
            index.spelling.save(generation / "words.tsv")
        if index.recollection is not None:
            index.recollection.save(generation / "memory")
        if index.everyday is not None:
            index.everyday.save(generation / "everyday")
        for path in _files(generation):
            flush_to_disk(path)
        law, encoder = index.law, index.encoder
        manifest = {
            "format": FORMAT,
            "lexarbor": __version__,
            "generation": generation.name,
            "source": index.source,
            "law_as_of": law.date.isoformat() if law.date else None,
            "not_held": sorted(law.not_held),
            "articles": len(index.article_ids),
            "field": field,
            "bm25": asdict(index.lexical.settings),
            "legs": index.legs,
            "encoder": encoder and {"checksum": encoder.checksum, "folder": encoder.folder and str(encoder.folder)},
            "files": _checksums(generation),
        }
        before = _current(folder)
        write_json(folder / "manifest.json", manifest)
    _sweep(folder, generation.name, before)


def check_place(folder: Path) -> None:
    """Refuse a folder that holds something else than an index: to be asked before the long work."""
    try:
        if folder.exists() and not _is_ours(folder):
            raise SearchError(f"{folder}: holds something else than an index; give an empty or new folder")
    except OSError as error:
        raise LexarborError(f"{folder}: the index could not be written ({error.strerror or error})") from error


@contextmanager
def _new_generation(folder: Path) -> Iterator[Path]:
    """A new folder inside `folder`; what cannot be finished is taken away again."""
    generation = folder / f"generation-{uuid4().hex[:8]}"
    try:
        new = not folder.exists()
        check_place(folder)
        try:
            generation.mkdir(parents=True)
            yield generation
        except BaseException:
            shutil.rmtree(generation, ignore_errors=True)
            if new:
                with suppress(OSError):
                    folder.rmdir()
            raise
    except OSError as error:
        raise LexarborError(f"{folder}: the index could not be written ({error.strerror or error})") from error


def open_index(folder: Path, threads: int = THREADS) -> Index:
    """The current generation, its checksums verified. `threads`: those of one question.

    A build that ends meanwhile sweeps the generation being read away: then the new one is opened.
    """
    manifest = _manifest(folder)
    try:
        return _open_generation(folder, manifest, threads)
    except SearchError:
        newer = _manifest(folder)
        if newer.get("generation") == manifest.get("generation"):
            raise
    return _open_generation(folder, newer, threads)


def _open_generation(folder: Path, manifest: dict[str, Any], threads: int) -> Index:
    try:
        generation = folder / manifest["generation"]
        settings = BM25Settings(**manifest["bm25"])
        rows = int(manifest["articles"])
        files, legs = dict(manifest["files"]), tuple(manifest["legs"])
        source, not_held = str(manifest["source"]), frozenset(manifest["not_held"])
        encoder = _encoder(manifest["encoder"])
    except (KeyError, TypeError, ValueError) as error:
        raise SearchError(f"{folder / 'manifest.json'}: incomplete ({error}); {_REBUILD}") from error
    try:
        with ThreadPoolExecutor(1) as pool:
            verifying = pool.submit(_verify, generation, files)  # beside the reading: it needs little of Python's lock
            try:
                law = read_columns(generation / "law.json")
            finally:
                verifying.result()  # where a byte has changed, this is what is told
        law.not_held = not_held
        ids = tuple(sorted(law.articles))
        if len(ids) != rows:
            raise SearchError(f"{generation}: {len(ids)} articles where the manifest has {rows}; {_REBUILD}")
        lexical = LexicalIndex.load(generation / "bm25", settings, rows)
        links = Links.load(generation / "citations.npy", rows)
        dense = around = recollection = spelling = everyday = None
        if "words.tsv" in files:
            spelling = Spelling.load(generation / "words.tsv", known_words())
        if "dense" in legs:
            dense = DenseIndex.load(generation / "dense", threads)
            if len(dense.vectors) != rows or encoder is None:
                raise SearchError(f"{generation}: {len(dense.vectors)} vectors for {rows} articles; {_REBUILD}")
            around = Surroundings.load(generation / "places.npy", law, ids, links)
        if "memory" in legs:
            recollection = Recollection.load(generation / "memory", rows)
        if "everyday" in legs:
            everyday = SectionQuestions.load(generation / "everyday", rows)
    except CorpusError as error:
        raise SearchError(f"{error}; {_REBUILD}") from error
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise SearchError(f"{generation}: cannot be read ({error}); {_REBUILD}") from error
    return Index(law, lexical, links, ids, source, dense, around, recollection, encoder, spelling, everyday)


def _encoder(told: dict[str, Any] | None) -> EncoderOfIndex | None:
    if told is None:
        return None
    return EncoderOfIndex(str(told["checksum"]), Path(told["folder"]) if told["folder"] else None)


def _verify(generation: Path, files: dict[str, str]) -> None:
    """Refuse a generation in which a byte has changed."""
    try:
        found = _checksums(generation)
    except OSError as error:
        raise SearchError(f"{generation}: cannot be read ({error.strerror}); {_REBUILD}") from error
    for name, checksum in files.items():
        if found.get(name) != checksum:
            raise SearchError(
                f"{generation / name}: damaged or missing, its checksum is not the manifest's; {_REBUILD}"
            )


def source_and_day(folder: Path) -> tuple[str, date | None]:
    """Where the law of an index came from, and its day, by the manifest."""
    manifest = _manifest(folder)
    day = manifest.get("law_as_of")
    return str(manifest.get("source")), date.fromisoformat(day) if day else None


def is_readable(folder: Path) -> bool:
    """Whether there is an index that this version can read and ask, by its manifest."""
    try:
        encoder = _encoder(_manifest(folder).get("encoder"))
    except (SearchError, KeyError, TypeError):
        return False
    return (
        encoder is None or encoder.folder is not None or encoder.checksum == ModelFolder.open(shipped_model()).checksum
    )


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


def _current(folder: Path) -> str | None:
    """The generation that the manifest names, if there is one to read."""
    try:
        return str(_manifest(folder).get("generation"))
    except SearchError:
        return None


def _is_ours(folder: Path) -> bool:
    """Whether a folder may be built in: it is empty, or holds an index, perhaps a damaged one, and nothing else."""
    names = {entry.name for entry in folder.iterdir() if not entry.name.startswith(".manifest.json.")}
    generations = {name for name in names if _GENERATION.fullmatch(name)}
    return names == generations or (names == generations | {"manifest.json"} and bool(generations))


def _checksums(generation: Path) -> dict[str, str]:
    return {path.relative_to(generation).as_posix(): sha256(path) for path in _files(generation)}


def _files(generation: Path) -> list[Path]:
    return sorted(path for path in generation.rglob("*") if path.is_file())


def _sweep(folder: Path, current: str, before: str | None) -> None:
    """Take away the generation before, and what a crash left half-built long ago."""
    with suppress(OSError):  # a second build may be sweeping too
        for entry in folder.iterdir():
            if not _GENERATION.fullmatch(entry.name) or entry.name == current:
                continue
            if entry.name == before or time.time() - entry.stat().st_mtime > _STALE:
                shutil.rmtree(entry, ignore_errors=True)
