"""The questions that come with Lexarbor, as vectors, ids and the articles that answer them: no text.

shipped/memory/manifest.json     the encoder whose vectors they are, checksums
shipped/memory/questions.jsonl   {"id": "F1234", "year": 2020, "articles": [["LEGIARTI…", 305419896], …]}: the `cid` of
                                 each article and a checksum of its words then; or
                                 {"id": "F5678", "year": 2020, "elsewhere": ["Code civil"]}
shipped/memory/vectors.npy, scales.npy   one row a question, in 8 bits
"""

import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexarbor.corpus.references import fold
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import ModelError
from lexarbor.files import folder_at, replacing, sha256, shipped_path, write_json
from lexarbor.search.recollection import Floats, Recollection, Remembered
from lexarbor.text.eight_bits import to_eight_bits
from lexarbor.text.manifests import MANIFEST, checksums_told, read_manifest, verified

FORMAT = "lexarbor-memory/1"
SHIPPED = "memory"
_QUESTIONS, _VECTORS, _SCALES = "questions.jsonl", "vectors.npy", "scales.npy"
_AGAIN = "install Lexarbor again, or search without memory"
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Sheet:
    """A question asked before, and what answered it then."""

    question: Remembered
    articles: tuple[tuple[str, int], ...] = ()
    """`cid` and `words_checksum` of each article."""


@dataclass(frozen=True, slots=True)
class SheetMemory:
    """Sheets with their vectors (m, d)."""

    encoder: str
    """The checksum of the encoder whose vectors they are."""
    sheets: tuple[Sheet, ...]
    vectors: Floats

    def over(self, law: LawTree, article_ids: Sequence[str]) -> Recollection:
        """What of it speaks of a law's articles today; sheets whose articles are all gone are left out."""
        titles = {fold(code.title) for code in law.codes.values()}
        rows = {law.articles[id].cid: row for row, id in enumerate(article_ids)}
        kept: list[int] = []
        labels: list[tuple[int, int, int]] = []
        for number, sheet in enumerate(self.sheets):
            alive = [(rows[cid], then) for cid, then in sheet.articles if cid in rows]
            elsewhere = sheet.question.elsewhere
            if not alive and (elsewhere is None or any(fold(code) in titles for code in elsewhere)):
                continue  # it says nothing of this law, or its code is held here
            for row, then in alive:
                labels.append((len(kept), row, int(words_checksum(law.articles[article_ids[row]].text) != then)))
            kept.append(number)
        held = np.array(labels, dtype=np.int32).reshape(-1, 3)
        questions = [self.sheets[number].question for number in kept]
        return Recollection(questions, self.vectors[kept], held, len(article_ids))


def words_checksum(text: str) -> int:
    """Equal for texts of the same words, however they are set."""
    return zlib.crc32(" ".join(_WORD.findall(text.lower())).encode())


def write_memory(
    folder: Path, encoder: str, sheets: Sequence[Sheet], vectors: Floats, facts: Mapping[str, Any]
) -> None:
    numbers, scales = to_eight_bits(vectors)
    folder_at(folder)
    with replacing(folder / _QUESTIONS) as temporary:
        temporary.write_text("".join(f"{json.dumps(_told(sheet))}\n" for sheet in sheets), encoding="utf-8")
    for name, array in ((_VECTORS, numbers), (_SCALES, scales)):
        with replacing(folder / name) as temporary, temporary.open("wb") as file:
            np.save(file, array, allow_pickle=False)
    checksums = {name: sha256(folder / name) for name in (_QUESTIONS, _VECTORS, _SCALES)}
    write_json(folder / MANIFEST, {"format": FORMAT, "encoder": encoder, **facts, "checksums": checksums})


def _told(sheet: Sheet) -> dict[str, Any]:
    question = sheet.question
    if question.elsewhere is not None:
        return {"id": question.id, "year": question.year, "elsewhere": question.elsewhere}
    return {"id": question.id, "year": question.year, "articles": sheet.articles}


def read_memory(folder: Path) -> SheetMemory:
    """A memory in a folder, its checksums verified."""
    values = read_manifest(folder, FORMAT, what="remembered questions", other="give a folder of them", again=_AGAIN)
    told = checksums_told(folder, values, again=_AGAIN)
    for name in (_QUESTIONS, _VECTORS, _SCALES):
        verified(folder / name, told.get(name), again=_AGAIN)
    try:
        lines = (folder / _QUESTIONS).read_text(encoding="utf-8").splitlines()
        sheets = tuple(_sheet(json.loads(line)) for line in lines)
        numbers, scales = (np.load(folder / name, allow_pickle=False) for name in (_VECTORS, _SCALES))
        vectors: NDArray[np.float32] = numbers * scales[:, None]
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise ModelError(f"{folder}: holds no questions that can be read ({error}); {_AGAIN}") from error
    if vectors.ndim != 2 or len(vectors) != len(sheets):
        raise ModelError(f"{folder}: {len(sheets)} questions and vectors {vectors.shape} do not fit; {_AGAIN}")
    return SheetMemory(str(values.get("encoder")), sheets, vectors)


def _sheet(told: dict[str, Any]) -> Sheet:
    elsewhere = told.get("elsewhere")
    question = Remembered(told["id"], told["year"], elsewhere=None if elsewhere is None else tuple(elsewhere))
    return Sheet(question, tuple((str(cid), int(then)) for cid, then in told.get("articles", ())))


def shipped_memory() -> SheetMemory | None:
    """That which comes with Lexarbor; None where this copy has none."""
    folder = shipped_path(SHIPPED)
    return read_memory(folder) if (folder / MANIFEST).is_file() else None
