"""Questions that ship: ids, vectors, and the articles that answered them."""

import json
from datetime import date
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexarbor.corpus.law import Article, Code
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import ModelError
from lexarbor.files import sha256
from lexarbor.search.recollection import Remembered
from lexarbor.search.shipped_memory import (
    Sheet,
    SheetMemory,
    read_memory,
    shipped_memory,
    words_checksum,
    write_memory,
)
from lexarbor.text.folder import ModelFolder
from lexarbor.text.shipped import shipped_model

SHIPPED = Path(str(files("lexarbor"))) / "shipped" / "memory"
TEXTS = {"c1": "Le chien est tenu en laisse.", "c2": "Le chat est libre.", "c3": "L'âne porte 3 sacs (au plus)."}
LAW = LawTree(
    [
        Code("C", "Code des bêtes"),
        *(Article(id, id, "C", TEXTS[cid], (), cid=cid) for id, cid in (("a2", "c1"), ("a1", "c2"), ("a9", "c3"))),
    ]
)
IDS = ("a1", "a2", "a9")
"""Rows: the cat, the dog, the donkey."""
SHEETS = (
    Sheet(Remembered("F1", 2020), (("c1", words_checksum(TEXTS["c1"])), ("gone", 5))),
    Sheet(Remembered("F2", 2020), (("gone", 5), ("lost", 6))),
    Sheet(Remembered("F3", 2021, elsewhere=("Code civil",))),
    Sheet(Remembered("F4", 2019), (("c2", words_checksum("Le chat était libre.")), ("c3", 1), ("c1", 2))),
    Sheet(Remembered("F5", 2019, elsewhere=())),
)
VECTORS = np.random.default_rng(0).normal(size=(5, 8)).astype(np.float32)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_memory(tmp_path / "memory", "an encoder", SHEETS, VECTORS, {"benchmark": "animals"})
    return tmp_path / "memory"


def test_what_was_written_is_read(folder: Path) -> None:
    found = read_memory(folder)
    assert (found.encoder, found.sheets) == ("an encoder", SHEETS)
    assert found.vectors.dtype == np.float32
    assert (np.abs(found.vectors - VECTORS).max(axis=1) <= np.abs(VECTORS).max(axis=1) / 254 * 1.001).all()
    assert json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["benchmark"] == "animals"


@pytest.mark.parametrize("name", ["questions.jsonl", "vectors.npy", "scales.npy"])
@pytest.mark.parametrize("place", [0, 0.5, 0.999])
def test_one_other_byte_in_a_file_is_found(folder: Path, name: str, place: float) -> None:
    content = bytearray((folder / name).read_bytes())
    content[int(len(content) * place)] ^= 1
    (folder / name).write_bytes(content)
    with pytest.raises(ModelError, match=f"{name}: damaged or exchanged.*; install Lexarbor again, or search without"):
        read_memory(folder)


def test_a_missing_file_or_folder_is_told(folder: Path, tmp_path: Path) -> None:
    (folder / "scales.npy").unlink()
    with pytest.raises(ModelError, match=r"scales\.npy: cannot be read \(No such file"):
        read_memory(folder)
    with pytest.raises(ModelError, match="no remembered questions there"):
        read_memory(tmp_path)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "holds no questions that can be read"),
        ('{"id": "F1"}', r"holds no questions that can be read \('year'\)"),
        ('{"id": "F1", "year": 2020, "articles": ["c10"]}', "holds no questions that can be read"),
        ("3", "holds no questions that can be read"),
        ('{"id": "F1", "year": 2020, "elsewhere": 3}', "holds no questions that can be read"),
        ('{"id": "F1", "year": 2020, "articles": []}', r"6 questions and vectors \(5, 8\) do not fit"),
    ],
)
def test_other_content_is_refused_even_with_its_checksum(folder: Path, line: str, message: str) -> None:
    path = folder / "questions.jsonl"
    path.write_text(f"{path.read_text(encoding='utf-8')}{line}\n", encoding="utf-8")
    told = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    told["checksums"][path.name] = sha256(path)
    (folder / "manifest.json").write_text(json.dumps(told), encoding="utf-8")
    with pytest.raises(ModelError, match=message):
        read_memory(folder)


def test_over_a_law_the_dead_are_dropped_and_what_lies_outside_is_kept() -> None:
    found = SheetMemory("an encoder", SHEETS, VECTORS).over(LAW, IDS)
    assert [question.id for question in found.questions] == ["F1", "F3", "F4", "F5"]
    assert np.abs(found.vectors - VECTORS[[0, 2, 3, 4]]).max() < 2e-3
    assert found.labels.tolist() == [[0, 1, 0], [2, 0, 1], [2, 2, 1], [2, 1, 1]]
    assert found.outside.tolist() == [False, True, False, True]
    assert found.popularity.tolist() == [1, 2, 1]


def test_over_a_law_without_any_of_its_articles_nothing_but_the_outside_is_left() -> None:
    other = LawTree([Code("C", "Code"), Article("z", "1", "C", "Rien.", ())])
    found = SheetMemory("an encoder", SHEETS, VECTORS).over(other, ("z",))
    assert [question.id for question in found.questions] == ["F3", "F5"]
    assert found.labels.shape == (0, 3)


def test_a_law_may_hold_several_wordings_of_an_article() -> None:
    wordings = [Article(id, "1", "C", TEXTS["c1"], (), cid=cid) for id, cid in (("a", "c0"), ("b", "c0"), ("c", "c1"))]
    found = SheetMemory("an encoder", SHEETS[:1], VECTORS[:1]).over(LawTree([Code("C", "Code"), *wordings]), "abc")
    assert found.labels.tolist() == [[0, 2, 0]]
    assert found.popularity.tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("Le chien est tenu en laisse.", 0),
        ("Le  chien\nest tenu\u00a0en laisse", 0),
        ("LE CHIEN — est tenu, en laisse !", 0),
        ("Le chien n'est pas tenu en laisse.", 1),
        ("Le chien est en laisse tenu.", 1),
        ("Le chien est tenu en laissé.", 1),
    ],
)
def test_an_article_has_changed_where_its_words_have_not_where_its_layout_has(text: str, changed: int) -> None:
    law = LawTree([Code("C", "Code"), Article("a2", "1", "C", text, (), date(2026, 1, 1), cid="c1")])
    found = SheetMemory("an encoder", SHEETS[:1], VECTORS[:1]).over(law, ("a2",))
    assert found.labels.tolist() == [[0, 0, changed]]


@given(st.lists(st.text("aéœ0Z", min_size=1, max_size=4), max_size=6), st.sampled_from((" ", "\n", " - ", ", ", "«")))
def test_the_checksum_is_that_of_the_words(words: list[str], between: str) -> None:
    assert words_checksum(between.join(words)) == words_checksum(" ".join(words))
    assert words_checksum(" ".join((*words, "mot"))) != words_checksum(" ".join(words))


def test_the_shipped_memory_holds_ids_years_and_articles_and_no_text() -> None:
    lines = (SHIPPED / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) > 1000
    for line in lines:
        told = json.loads(line)
        assert set(told) in ({"id", "year", "articles"}, {"id", "year", "elsewhere"})
        assert told["id"][:1] in "FN" and told["id"][1:].isdigit()
        assert isinstance(told["year"], int)
        for cid, checksum in told.get("articles", ()):
            assert cid.startswith("LEGIARTI") and cid[8:].isdigit() and isinstance(checksum, int)
    assert {path.name for path in SHIPPED.iterdir()} == {
        *("manifest.json", "questions.jsonl", "vectors.npy", "scales.npy"),
    }  # fmt: skip


def test_where_it_says_elsewhere_it_names_codes_alone() -> None:
    memory = shipped_memory()
    assert memory is not None
    named = {code for sheet in memory.sheets for code in sheet.question.elsewhere or ()}
    assert named and all(len(code) < 120 and code.isprintable() for code in named)
    assert not any(sheet.question.text for sheet in memory.sheets)
    assert not any(sheet.articles for sheet in memory.sheets if sheet.question.elsewhere is not None)


def test_the_shipped_memory_is_of_the_shipped_encoder() -> None:
    memory = shipped_memory()
    assert memory is not None and memory.encoder == ModelFolder.open(shipped_model()).checksum
    assert len(memory.sheets) == len(memory.vectors)
    assert np.linalg.norm(memory.vectors, axis=1) == pytest.approx(1, abs=0.3)
