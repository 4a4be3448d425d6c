"""Supervision on disk: prepared once where the law is, read where models are trained (a machine with a GPU and little
else).

    supervision/manifest.json       format, benchmark, law, what the guard kept out, a checksum for each file
    supervision/articles.jsonl.xz   the law's articles: what is ranked
    supervision/passages.jsonl.xz   other texts that pairs name: chapters of sheets, articles of agreements
    supervision/pairs.jsonl.xz      questions, or what stands for them, with their positives and negatives
    supervision/texts.jsonl.xz      further texts for masked language modelling
    supervision/asked.jsonl.xz      questions to rank articles for; only those of dev carry their gold
    supervision/sections.jsonl.xz   the law's codes and sections: their titles, below the titles above them
    supervision/graph.json.xz       which of the law's sections and articles stands where, and which cites which

The last two came later: a folder without them is read, and refused where they are asked for.
"""

import hashlib
import json
import lzma
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, TypeVar

from lexarbor.errors import GraphError, TrainingError
from lexarbor.files import check_folder, folder_at, replacing, sha256, write_json
from lexarbor.graph.graph_file import read_graph, write_graph
from lexarbor.graph.legislation import LegislativeGraph
from lexarbor.supervision.lines import pack, unpack

FORMAT = "lexarbor-supervision/1"
_MANIFEST = "manifest.json"
_CONTENTS = ("articles", "passages", "pairs", "texts", "asked")
_SECTIONS = "sections"
_GRAPH = "graph.json.xz"
_PREPARE = "write it again with `lexarbor train prepare`"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Passage:
    """Anything that can answer: an article of the law, a chapter of a sheet, an article of an agreement."""

    id: str
    text: str
    headings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pair:
    """A question, or what stands for one, and every passage known to answer it."""

    kind: str
    question: str
    positives: tuple[str, ...]
    """Ids of all passages that are known, so that none of them is taken for a negative."""
    negatives: tuple[str, ...] = ()
    """Ids of what BM25 finds and nobody labelled, best first."""
    left_out: str = ""
    """A part of the single positive's text that the question was taken from: the model must not see it there."""
    bare: bool = False
    """The question was taken from the positives' headings: the model must not see those."""
    source: str = ""
    """Id of the sheet or question that it comes from; none for what the law and the agreements say themselves."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that articles are ranked for."""

    id: str
    split: str
    text: str
    gold: tuple[str, ...] = ()


@dataclass(frozen=True)
class Supervision:
    """All that training reads."""

    articles: list[Passage]
    passages: list[Passage] = field(default_factory=list)
    pairs: list[Pair] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    """Where it comes from: benchmark, law, what the guard kept out."""
    sections: list[Passage] = field(default_factory=list)
    """The graph's codes and sections, in its order: the text is the title."""
    graph: LegislativeGraph | None = None
    """Of the articles and the sections, with edges of all kinds."""

    def kinds(self) -> Counter[str]:
        """How many pairs there are of each kind."""
        return Counter(pair.kind for pair in self.pairs)


class Supervised(Protocol):
    """What training reads of a supervision folder; `Supervision`, in memory, has it too."""

    @property
    def articles(self) -> list[Passage]: ...
    @property
    def passages(self) -> list[Passage]: ...
    @property
    def pairs(self) -> list[Pair]: ...
    @property
    def texts(self) -> list[str]: ...
    @property
    def asked(self) -> list[Asked]: ...
    @property
    def sections(self) -> list[Passage]: ...
    @property
    def graph(self) -> LegislativeGraph | None: ...


class SupervisionFolder:
    """Supervision as it lies on disk; each file is read when it is first asked for."""

    def __init__(self, path: Path, manifest: dict[str, Any]) -> None:
        self.path = path
        self.facts: dict[str, Any] = manifest.get("facts", {})
        self._checksums: dict[str, str] = manifest["files"]

    @classmethod
    def open(cls, path: Path) -> "SupervisionFolder":
        try:
            manifest = json.loads((path / _MANIFEST).read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise TrainingError(f"{path}: no supervision there; write it with `lexarbor train prepare`") from error
        except (OSError, ValueError, RecursionError) as error:
            raise TrainingError(f"{path / _MANIFEST}: cannot be read ({error}); {_PREPARE}") from error
        if (
            not isinstance(manifest, dict)
            or manifest.get("format") != FORMAT
            or not isinstance(manifest.get("files"), dict)
        ):
            raise TrainingError(f"{path}: not a folder of format {FORMAT}; {_PREPARE}")
        return cls(path, manifest)

    @cached_property
    def articles(self) -> list[Passage]:
        return self._read("articles", _passage)

    @cached_property
    def passages(self) -> list[Passage]:
        return self._read("passages", _passage)

    @cached_property
    def pairs(self) -> list[Pair]:
        return self._read("pairs", _pair)

    @cached_property
    def texts(self) -> list[str]:
        return self._read("texts", str)

    @cached_property
    def asked(self) -> list[Asked]:
        return self._read("asked", _asked)

    @cached_property
    def sections(self) -> list[Passage]:
        return self._read(_SECTIONS, _passage)

    @cached_property
    def graph(self) -> LegislativeGraph:
        try:
            self._verified(_GRAPH)
            return read_graph(self.path / _GRAPH)
        except (OSError, GraphError) as error:
            raise TrainingError(f"{self.path / _GRAPH}: cannot be read ({error}); {_PREPARE}") from error

    def kinds(self) -> Counter[str]:
        """How many pairs there are of each kind."""
        return Counter(pair.kind for pair in self.pairs)

    def verify(self) -> None:
        """Refuse a folder of which a file is damaged or missing, before any is read."""
        for name in self._checksums:
            self._verified(name)

    def _read(self, name: str, make: Callable[[Any], T]) -> list[T]:
        try:
            return unpack(self._verified(_file(name)), make)
        except (lzma.LZMAError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise TrainingError(f"{self.path / _file(name)}: cannot be read ({error}); {_PREPARE}") from error

    def _verified(self, name: str) -> bytes:
        """A file's bytes, if the manifest knows them."""
        if name not in self._checksums:
            raise TrainingError(f"{self.path}: was written without {name}, as by an earlier version; {_PREPARE}")
        try:
            held = (self.path / name).read_bytes()
        except OSError as error:
            raise TrainingError(f"{self.path / name}: cannot be read ({error}); {_PREPARE}") from error
        if hashlib.sha256(held).hexdigest() != self._checksums[name]:
            raise TrainingError(f"{self.path / name}: damaged, its checksum is not the manifest's; {_PREPARE}")
        return held


def check_place(path: Path) -> None:
    """Refuse a place where supervision could not be written or would mix with something else; nothing is made yet."""
    check_folder(path)
    if path.exists() and (others := sorted(held.name for held in path.iterdir() if not _is_ours(held))):
        raise TrainingError(
            f"{path}: holds something else already ({', '.join(others[:3])}{'…' if others[3:] else ''}); "
            "give a new or empty folder, or one that held supervision"
        )


def _is_ours(path: Path) -> bool:
    # a file that was not written to its end has a hidden name, see `replacing`
    ours = (_MANIFEST, _GRAPH, *map(_file, (*_CONTENTS, _SECTIONS)))
    return path.is_file() and (path.name in ours or path.name.startswith("."))


def write_supervision(supervision: Supervision, path: Path) -> SupervisionFolder:
    """Write the folder; the manifest last, so that what was cut short is not taken for whole."""
    check_place(path)
    folder_at(path)
    (path / _MANIFEST).unlink(missing_ok=True)
    files: dict[str, str] = {}
    for name in (_file(_SECTIONS), _GRAPH):
        (path / name).unlink(missing_ok=True)  # where there is no graph, that of earlier supervision must not stay
    for name in _CONTENTS if supervision.graph is None else (*_CONTENTS, _SECTIONS):
        packed = pack(name, getattr(supervision, name))
        with replacing(path / _file(name)) as temporary:
            temporary.write_bytes(packed)
        files[_file(name)] = hashlib.sha256(packed).hexdigest()
    if supervision.graph is not None:
        write_graph(supervision.graph, path / _GRAPH)
        files[_GRAPH] = sha256(path / _GRAPH)
    manifest = {"format": FORMAT, "facts": supervision.facts, "kinds": dict(supervision.kinds()), "files": files}
    write_json(path / _MANIFEST, manifest)
    return SupervisionFolder.open(path)


def _file(name: str) -> str:
    return f"{name}.jsonl.xz"


def _passage(line: dict[str, Any]) -> Passage:
    return Passage(line["id"], line.get("text", ""), tuple(line.get("headings", ())))


def _pair(line: dict[str, Any]) -> Pair:
    return Pair(
        kind=line["kind"],
        question=line["question"],
        positives=tuple(line["positives"]),
        negatives=tuple(line.get("negatives", ())),
        left_out=line.get("left_out", ""),
        bare=line.get("bare", False),
        source=line.get("source", ""),
    )


def _asked(line: dict[str, Any]) -> Asked:
    return Asked(line["id"], line["split"], line["text"], tuple(line.get("gold", ())))
