"""The index on disk: whole or not at all, checked when opened, nothing unpickled."""

import hashlib
import json
import os
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lexarbor.corpus.law import Article, Code, Version
from lexarbor.corpus.sources import read_tiny
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import LexarborError, SearchError
from lexarbor.search import store
from lexarbor.search.building import build_index
from lexarbor.search.fields import FIELDS
from lexarbor.search.lexical import BM25Settings, LexicalIndex
from lexarbor.search.store import open_index

TINY = read_tiny()
SETTINGS = BM25Settings(0.5, 0.8)
FILES = [
    "bm25/rows.npy",
    "bm25/starts.npy",
    "bm25/terms.json",
    "bm25/weights.npy",
    "citations.npy",
    "law.json",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An index of the tiny corpus."""
    return build(tmp_path / "index")


def build(folder: Path, field: str = "headings+text") -> Path:
    build_index(TINY, folder, source="tiny", settings=SETTINGS, field=field)
    return folder


def manifest(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return found


def generation(folder: Path) -> Path:
    return folder / str(manifest(folder)["generation"])


def everything(folder: Path) -> dict[str, bytes | None]:
    """What a folder holds, by path; None for a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


@pytest.mark.parametrize("field", FIELDS)
def test_what_was_built_is_opened(tmp_path: Path, field: str) -> None:
    index = open_index(build(tmp_path / "new" / "index", field))
    held = TINY.as_of(date(2026, 1, 1))
    assert index.law.articles == held.articles
    assert index.law.sections == held.sections
    assert index.law.codes == held.codes
    assert index.law.date == TINY.date
    assert (index.source, index.lexical.settings) == ("tiny", SETTINGS)
    assert index.article_ids == tuple(sorted(held.articles))
    fresh = LexicalIndex.build((FIELDS[field](held, held.articles[id]) for id in index.article_ids), SETTINGS)
    question = "une amende pour le bruit des voisins"
    assert index.lexical.scores(question).tolist() == fresh.scores(question).tolist()
    assert index.lexical.scores(question).max() > 0


def test_only_what_is_in_force_is_indexed(folder: Path) -> None:
    ids = open_index(folder).article_ids
    assert "VALARTI0070" in ids
    assert "VALARTI0010" not in ids  # the wording before it
    assert "VALARTI0023" not in ids  # repealed


def test_the_manifest_names_every_file_with_its_checksum(folder: Path) -> None:
    told = manifest(folder)
    assert set(everything(folder)) == {
        "manifest.json",
        told["generation"],
        f"{told['generation']}/bm25",
        *(f"{told['generation']}/{name}" for name in FILES),
    }
    assert told["format"] == "lexarbor-index/5"
    assert told["law_as_of"] == "2026-01-01"
    assert told["not_held"] == []
    assert told["articles"] == 61
    assert told["field"] == "headings+text"
    assert told["bm25"] == {"k1": 0.5, "b": 0.8, "analyser": "stems"}
    assert (told["legs"], told["encoder"]) == (["bm25"], None)
    assert told["files"] == {
        name: hashlib.sha256((generation(folder) / name).read_bytes()).hexdigest() for name in FILES
    }


@pytest.mark.parametrize("name", FILES)
def test_a_file_with_one_other_byte_is_named(folder: Path, name: str) -> None:
    path = generation(folder) / name
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(SearchError, match=rf"{path}: damaged or missing.*; build it again with `lexarbor index`$"):
        open_index(folder)


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    path = generation(folder) / name
    path.unlink()
    with pytest.raises(SearchError, match=f"{path}: damaged or missing.*; build it again with `lexarbor index`$"):
        open_index(folder)


def test_a_missing_generation_is_named(folder: Path) -> None:
    generation(folder).rename(folder.parent / "elsewhere")
    with pytest.raises(SearchError, match=f"{folder}/generation-.*: damaged or missing"):
        open_index(folder)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"format": "lexarbor-index/1", "gener', "cannot be read"),
        ("\x80", "cannot be read"),
        ("[1]", "its format is 'list', this version reads 'lexarbor-index/5'"),
        ('{"name": "an extension"}', "its format is None, this version reads 'lexarbor-index/5'"),
        ('{"format": "lexarbor-index/1"}', "its format is 'lexarbor-index/1', this version reads 'lexarbor-index/5'"),
        ('{"format": "lexarbor-index/5"}', "incomplete \\('generation'\\)"),
    ],
)
def test_a_foreign_or_broken_manifest_is_refused(folder: Path, content: str, message: str) -> None:
    (folder / "manifest.json").write_text(content, encoding="latin-1")
    with pytest.raises(SearchError, match=f"{folder}/manifest.json: {message}.*; build it again"):
        open_index(folder)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("files", 3, "manifest.json: incomplete"),
        ("files", {"bm25/more.npy": "0" * 64}, "bm25/more.npy: damaged or missing"),
        ("bm25", {"k2": 1}, "manifest.json: incomplete"),
        ("bm25", {"k1": -1}, "BM25 needs k1 ≥ 0"),
        ("bm25", {"analyser": "soundex"}, "unknown analyser 'soundex'"),
        ("articles", "many", "manifest.json: incomplete"),
        ("legs", None, "manifest.json: incomplete"),
        ("legs", ["dense"], "cannot be read .*No such file"),
        ("legs", ["memory"], "cannot be read .*No such file"),
        ("legs", ["everyday"], "cannot be read .*No such file"),
        ("encoder", {"checksum": "0"}, "manifest.json: incomplete \\('folder'\\)"),
        ("not_held", 3, "manifest.json: incomplete"),
        ("articles", 12, "61 articles where the manifest has 12"),
    ],
)
def test_a_manifest_that_says_something_else_is_refused(folder: Path, key: str, value: Any, message: str) -> None:
    (folder / "manifest.json").write_text(json.dumps(manifest(folder) | {key: value}), encoding="utf-8")
    with pytest.raises(SearchError, match=message):
        open_index(folder)


def forge(folder: Path, name: str, write: Callable[[Path], object]) -> None:
    """Put another file in place of one, and its checksum into the manifest."""
    write(generation(folder) / name)
    told = manifest(folder)
    told["files"][name] = hashlib.sha256((generation(folder) / name).read_bytes()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(told), encoding="utf-8")


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(".npy")])
def test_nothing_is_unpickled(folder: Path, tmp_path: Path, name: str) -> None:
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.mkdir, (str(tmp_path / "sprung"),)

    forge(folder, name, lambda path: np.save(path, np.array([Trap()], dtype=object), allow_pickle=True))
    with pytest.raises(SearchError, match=r"cannot be read .*allow_pickle=False.*; build it again"):
        open_index(folder)
    assert not (tmp_path / "sprung").exists()


def test_a_law_that_cannot_be_read_is_refused_even_with_its_checksum(folder: Path) -> None:
    forge(folder, "law.json", lambda path: path.write_text('{"kind": "law"', encoding="utf-8"))
    with pytest.raises(SearchError, match=r"cannot be read .*; build it again"):
        open_index(folder)


@pytest.mark.parametrize("place", ["absent", "file"])
def test_where_there_is_no_index_the_message_says_how_to_build_one(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")
    with pytest.raises(SearchError, match=f"{place}.*`lexarbor index`"):
        open_index(tmp_path / place)


@pytest.mark.parametrize(
    "content",
    [
        {"notes.txt": "mine"},
        {"manifest.json": '{"name": "an extension"}'},
        {"manifest.json": '{"name": "an extension"}', "src/code.js": "mine"},
        {"manifest.json": '{"format": "lexarbor-index/1"}', "generation-0a1b2c3d/law.json": "", "thesis.tex": "mine"},
        {"0a1b2c3d/data": "mine"},
    ],
)
def test_a_folder_with_other_content_is_refused_and_left_as_it_was(tmp_path: Path, content: dict[str, str]) -> None:
    folder = tmp_path / "folder"
    for name, text in content.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    before = everything(folder)
    with pytest.raises(SearchError, match="folder: holds something else than an index; give an empty or new folder"):
        build(folder)
    assert everything(folder) == before


def test_a_place_that_cannot_be_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    for place in (tmp_path / "file", tmp_path / "file" / "index"):
        with pytest.raises(LexarborError, match=f"{place}: the index could not be written"):
            build(place)
    assert everything(tmp_path) == {"file": b"mine"}


def break_field(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Break a build off in the middle of the articles."""

    def text(law: LawTree, article: Article) -> str:
        if article.id == "VALARTI0030":
            raise error
        return article.text

    monkeypatch.setitem(FIELDS, "headings+text", text)


def break_writing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Break it off as the first file is written."""

    def write_columns(tree: LawTree, path: Path) -> None:
        raise error

    monkeypatch.setattr(store, "write_columns", write_columns)


def break_manifest(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Break it off at the last step."""

    def write_json(path: Path, content: object) -> None:
        raise error

    monkeypatch.setattr(store, "write_json", write_json)


@pytest.mark.parametrize("break_off", [break_field, break_writing, break_manifest])
@pytest.mark.parametrize(
    "error",
    [
        ZeroDivisionError("a bug"),
        KeyboardInterrupt(),
        PermissionError(13, "Permission denied"),
        OSError(28, "No space left on device"),
    ],
    ids=repr,
)
def test_a_build_that_fails_midway_leaves_the_old_index_and_nothing_else(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    break_off: Callable[[pytest.MonkeyPatch, BaseException], None],
    error: BaseException,
) -> None:
    refused = isinstance(error, OSError) and break_off is not break_field  # what the disk refuses is told in words
    seen = LexarborError if refused else type(error)
    before = everything(folder)
    break_off(monkeypatch, error)
    with pytest.raises(seen):
        build(folder)
    assert everything(folder) == before
    assert len(open_index(folder).article_ids) == 61
    with pytest.raises(seen):
        build(tmp_path / "new")
    assert sorted(tmp_path.iterdir()) == [folder]


def test_what_the_disk_refuses_is_told_with_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    break_writing(monkeypatch, OSError(28, "No space left on device"))
    with pytest.raises(LexarborError, match=rf"{tmp_path}: the index could not be written \(No space left on device\)"):
        build(tmp_path)


def test_a_second_build_takes_the_place_of_the_first(folder: Path) -> None:
    first, opened = generation(folder), open_index(folder)
    build(folder, "text")
    assert generation(folder) != first
    assert sorted(entry.name for entry in folder.iterdir()) == sorted([generation(folder).name, "manifest.json"])
    assert manifest(folder)["field"] == "text"
    assert opened.lexical.scores("fourrière refuge").max() > 0  # who had opened the first goes on with it


@pytest.mark.parametrize("step", ["_checksums", "read_columns"])
def test_who_opens_while_a_build_ends_gets_the_new_generation(
    folder: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    first, real = generation(folder), getattr(store, step)

    def overtaken(path: Path) -> Any:
        monkeypatch.setattr(store, step, real)
        build(folder, "text")
        return real(path)

    monkeypatch.setattr(store, step, overtaken)
    opened = open_index(folder)
    assert not first.exists()
    assert opened.lexical.scores("fourrière").tolist() == open_index(folder).lexical.scores("fourrière").tolist()


def test_every_file_is_on_the_disk_before_the_manifest_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: set[int] = set()

    def fsync(descriptor: int) -> None:
        assert not (tmp_path / "manifest.json").exists()
        flushed.add(os.fstat(descriptor).st_ino)

    monkeypatch.setattr(os, "fsync", fsync)
    build(tmp_path)
    assert flushed == {path.stat().st_ino for path in tmp_path.rglob("*") if path.is_file()}


def test_a_damaged_index_can_be_built_again(folder: Path) -> None:
    (folder / "manifest.json").write_text('{"format": "lex', encoding="utf-8")
    build(folder)
    assert len(open_index(folder).article_ids) == 61


def test_traces_of_a_crash_are_swept_once_they_are_old(folder: Path) -> None:
    for name, age in (("generation-00000000", 25 * 3600), ("generation-11111111", 3600)):
        (folder / name).mkdir()
        os.utime(folder / name, (time.time() - age,) * 2)
    build(folder)
    left = {entry.name for entry in folder.iterdir()}
    assert left == {"manifest.json", generation(folder).name, "generation-11111111"}  # it may still be at work


def test_a_first_build_after_a_crash_finds_its_place(tmp_path: Path) -> None:
    (tmp_path / "generation-00000000").mkdir()
    (tmp_path / ".manifest.json.0a1b2c3d.tmp").write_text("{", encoding="utf-8")
    assert len(open_index(build(tmp_path)).article_ids) == 61


@pytest.mark.parametrize(
    "law",
    [
        LawTree([Code("C1", "Code")], name="blank"),
        LawTree(
            [Code("C1", "Code"), Article("A1", "1", "C1", "Abrogé.", (), end=date(2020, 1, 1))],
            date=date(2026, 1, 1),
            name="blank",
        ),
    ],
    ids=["no article", "none in force"],
)
def test_a_law_without_an_article_in_force_is_refused(tmp_path: Path, law: LawTree) -> None:
    with pytest.raises(SearchError, match="the law 'blank' holds no article in force: nothing to index"):
        build_index(law, tmp_path / "index", source="blank", settings=SETTINGS)
    assert not (tmp_path / "index").exists()


def test_what_was_in_force_but_is_not_held_is_told_by_the_manifest_and_the_law(tmp_path: Path) -> None:
    history = {"B": [Version("B1", date(2020, 1, 1), None)]}
    law = LawTree([Code("C", "Code"), Article("A1", "1", "C", "Un.", ())], date=date(2026, 1, 1), history=history)
    build_index(law, tmp_path / "index", source="", settings=SETTINGS)
    assert manifest(tmp_path / "index")["not_held"] == ["B"]
    assert open_index(tmp_path / "index").law.not_held == {"B"}


def test_law_without_a_date_is_indexed_whole(tmp_path: Path) -> None:
    law = LawTree([Code("C1", "Code"), Article("A1", "1", "C1", "Un chien.", (), end=date(2020, 1, 1))])
    build_index(law, tmp_path / "index", source="undated", settings=SETTINGS)
    assert open_index(tmp_path / "index").article_ids == ("A1",)
