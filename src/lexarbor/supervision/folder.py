"""Supervision on disk: prepared once where the law is, read where models are trained (a machine with a GPU and little
else).

    supervision/manifest.json       format, benchmark, law, what the guard kept out, a checksum for each file
    supervision/articles.jsonl.xz   the law's articles: what is ranked
    supervision/passages.jsonl.xz   other texts that pairs name: chapters of sheets, articles of agreements
    supervision/pairs.jsonl.xz      questions, or what stands for them, with their positives and negatives
    supervision/texts.jsonl.xz      further texts for masked language modelling
    supervision/asked.jsonl.xz      questions to rank articles for; only those of dev carry their gold
"""

import hashlib
import json
import lzma
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from lexarbor.errors import TrainingError
from lexarbor.files import folder_at, replacing

FORMAT = "lexarbor-supervision/1"
_PREPARE = "write it again with `lexarbor train prepare`"


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

    def kinds(self) -> Counter[str]:
        """How many pairs there are of each kind."""
        return Counter(pair.kind for pair in self.pairs)


class SupervisionFolder:
    """Supervision as it lies on disk; each file is read when it is first asked for."""

    def __init__(self, path: Path, manifest: dict[str, Any]) -> None:
        self.path = path
        self.facts: dict[str, Any] = manifest.get("facts", {})
        self._checksums: dict[str, str] = manifest["files"]

    @classmethod
    def open(cls, path: Path) -> "SupervisionFolder":
        try:
            manifest = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise TrainingError(f"{path}: no supervision there; write it with `lexarbor train prepare`") from error
        except (OSError, ValueError) as error:
            raise TrainingError(f"{path / 'manifest.json'}: cannot be read ({error}); {_PREPARE}") from error
        if not isinstance(manifest, dict) or manifest.get("format") != FORMAT or "files" not in manifest:
            raise TrainingError(f"{path}: not a folder of format {FORMAT}; {_PREPARE}")
        return cls(path, manifest)

    @cached_property
    def articles(self) -> list[Passage]:
        return [_passage(line) for line in self._lines("articles")]

    @cached_property
    def passages(self) -> list[Passage]:
        return [_passage(line) for line in self._lines("passages")]

    @cached_property
    def pairs(self) -> list[Pair]:
        return [_pair(line) for line in self._lines("pairs")]

    @cached_property
    def texts(self) -> list[str]:
        return [str(line) for line in self._lines("texts")]

    @cached_property
    def asked(self) -> list[Asked]:
        return [Asked(line["id"], line["split"], line["text"], tuple(line["gold"])) for line in self._lines("asked")]

    def kinds(self) -> Counter[str]:
        return Counter(pair.kind for pair in self.pairs)

    def _lines(self, name: str) -> Iterator[Any]:
        path = self.path / f"{name}.jsonl.xz"
        try:
            packed = path.read_bytes()
            if hashlib.sha256(packed).hexdigest() != self._checksums.get(path.name):
                raise TrainingError(f"{path}: damaged, its checksum is not the manifest's; {_PREPARE}")
            # not splitlines: it would also cut at the separators that a text may hold
            for line in lzma.decompress(packed).decode("utf-8").split("\n")[:-1]:
                yield json.loads(line)
        except (OSError, lzma.LZMAError, ValueError) as error:
            raise TrainingError(f"{path}: cannot be read ({error}); {_PREPARE}") from error


def write_supervision(supervision: Supervision, path: Path) -> SupervisionFolder:
    """Write the folder; the manifest last, so that what was cut short is not taken for whole."""
    folder_at(path)
    (path / "manifest.json").unlink(missing_ok=True)
    contents: dict[str, Iterable[Any]] = {
        "articles": (_plain(asdict(passage)) for passage in supervision.articles),
        "passages": (_plain(asdict(passage)) for passage in supervision.passages),
        "pairs": (_plain(asdict(pair)) for pair in supervision.pairs),
        "texts": supervision.texts,
        "asked": (asdict(asked) for asked in supervision.asked),
    }
    files: dict[str, str] = {}
    for name, lines in contents.items():
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        packed = lzma.compress(text.encode("utf-8"), preset=6)
        with replacing(path / f"{name}.jsonl.xz") as temporary:
            temporary.write_bytes(packed)
        files[f"{name}.jsonl.xz"] = hashlib.sha256(packed).hexdigest()
    manifest = {"format": FORMAT, "facts": supervision.facts, "kinds": dict(supervision.kinds()), "files": files}
    with replacing(path / "manifest.json") as temporary:
        temporary.write_text(json.dumps(manifest, ensure_ascii=False, indent=1), encoding="utf-8")
    return SupervisionFolder.open(path)


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """Without what is empty: most pairs have most fields so."""
    return {name: value for name, value in values.items() if value}


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
    )
