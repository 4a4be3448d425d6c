"""Supervision on disk."""

import hashlib
import json
import lzma
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexarbor.errors import LexarborError, TrainingError
from lexarbor.graph.edges import edge_list, mirrored
from lexarbor.graph.legislation import EDGE_KINDS, LegislativeGraph
from lexarbor.supervision.folder import (
    FORMAT,
    Asked,
    Pair,
    Passage,
    Supervision,
    SupervisionFolder,
    check_place,
    write_supervision,
)

CONTENTS = ["articles", "asked", "pairs", "passages", "texts"]
NAMES = sorted(["manifest.json", *(f"{name}.jsonl.xz" for name in CONTENTS)])
SMALL = Supervision(
    articles=[Passage("A1", "Le pont est libre.\u2028Il ferme\u2029la nuit.\x85\x1c", ("Code des ponts", "Les piles"))],
    passages=[Passage("F1-0", "Une ligne.\nUne autre.")],
    pairs=[
        Pair("gold", "Qui ferme le pont\u2028la nuit ?", ("A1",), ("A2", "A3")),
        Pair("sentence", "Il ferme", ("A1",), left_out="Il ferme"),
        Pair("headings", "Les piles", ("A1",), bare=True),
    ],
    texts=["Un texte\u2028à part.\r\n", ""],
    asked=[Asked("Q1", "dev", "Où ?", ("A1",)), Asked("Q2", "test", "Quand ?")],
    facts={"benchmark": "petit", "law_as_of": None, "kept_out_by_the_guard": {"sheet": 2}},
)

_words = st.text(max_size=8)
_several = st.lists(_words, max_size=3).map(tuple)
_passages = st.lists(st.builds(Passage, _words, _words, _several), max_size=3)
_supervision = st.builds(
    Supervision,
    _passages,
    _passages,
    st.lists(st.builds(Pair, _words, _words, _several, _several, _words, st.booleans()), max_size=3),
    st.lists(_words, max_size=3),
    st.lists(st.builds(Asked, _words, _words, _words, _several), max_size=3),
    st.dictionaries(_words, st.integers() | _words | st.none(), max_size=3),
)


def assert_same(folder: SupervisionFolder, supervision: Supervision) -> None:
    for name in (*CONTENTS, "facts"):
        assert getattr(folder, name) == getattr(supervision, name)
    assert folder.kinds() == supervision.kinds()


def test_what_is_written_is_read(tmp_path: Path) -> None:
    assert_same(write_supervision(SMALL, tmp_path / "new" / "folder"), SMALL)
    folder = SupervisionFolder.open(tmp_path / "new" / "folder")
    assert_same(folder, SMALL)
    assert folder.kinds() == {"gold": 1, "sentence": 1, "headings": 1}
    assert sorted(path.name for path in folder.path.iterdir()) == NAMES


@given(_supervision)
@settings(max_examples=30, deadline=None)
def test_any_supervision_comes_back(supervision: Supervision) -> None:
    with TemporaryDirectory() as folder:
        assert_same(write_supervision(supervision, Path(folder)), supervision)


def with_graph() -> Supervision:
    edges = {kind: edge_list([(0, 1)] if kind == "contains" else []) for kind in EDGE_KINDS}
    edges["within"] = mirrored(edges["contains"])
    graph = LegislativeGraph(("C1",), ("A1",), edges)
    return replace(SMALL, sections=[Passage("C1", "Code des ponts")], graph=graph)


def test_the_graph_of_the_law_comes_back(tmp_path: Path) -> None:
    whole = with_graph()
    folder = write_supervision(whole, tmp_path)
    assert_same(folder, whole)
    assert folder.sections == whole.sections
    assert whole.graph is not None
    assert (folder.graph.sections, folder.graph.articles) == (whole.graph.sections, whole.graph.articles)
    assert folder.graph.kinds == EDGE_KINDS
    assert folder.graph.edges["within"].tolist() == [[1], [0]]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*NAMES, "graph.json.xz", "sections.jsonl.xz"])


def test_a_folder_of_an_earlier_version_is_read_but_for_the_graph(tmp_path: Path) -> None:
    write_supervision(with_graph(), tmp_path)
    folder = write_supervision(SMALL, tmp_path)  # nothing of the graph that was there stays
    assert sorted(path.name for path in tmp_path.iterdir()) == NAMES
    assert_same(folder, SMALL)
    for name, file in (("graph", "graph.json.xz"), ("sections", "sections.jsonl.xz")):
        with pytest.raises(TrainingError) as raised:
            getattr(folder, name)
        assert str(raised.value) == (
            f"{tmp_path}: was written without {file}, as by an earlier version; write it again with "
            "`lexarbor train prepare`"
        )


@pytest.mark.parametrize("name", ["graph", "sections"])
def test_a_graph_that_is_damaged_or_none_is_refused(tmp_path: Path, name: str) -> None:
    folder = write_supervision(with_graph(), tmp_path)
    (path,) = tmp_path.glob(f"{name}.*")
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(TrainingError, match=f"{path.name}: damaged, its checksum is not the manifest's"):
        getattr(folder, name)
    path.unlink()
    with pytest.raises(TrainingError, match=f"{path.name}: cannot be read .*lexarbor train prepare"):
        getattr(folder, name)
    content = lzma.compress(b"[1]\n")
    path.write_bytes(content)
    manifest = {"format": FORMAT, "files": {path.name: hashlib.sha256(content).hexdigest()}}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(TrainingError, match=f"{path.name}: cannot be read .*lexarbor train prepare"):
        getattr(SupervisionFolder.open(tmp_path), name)


def test_written_twice_it_is_the_same_to_the_byte(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        write_supervision(SMALL, tmp_path / folder)
    for name in NAMES:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_the_manifest_tells_kinds_and_checksums(tmp_path: Path) -> None:
    write_supervision(SMALL, tmp_path)
    manifest = json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["format"] == FORMAT
    assert manifest["facts"] == SMALL.facts
    assert manifest["kinds"] == {"gold": 1, "sentence": 1, "headings": 1}
    for name, checksum in manifest["files"].items():
        assert hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() == checksum
    assert sorted(["manifest.json", *manifest["files"]]) == NAMES


def test_supervision_is_written_over_supervision(tmp_path: Path) -> None:
    write_supervision(SMALL, tmp_path)
    (tmp_path / ".pairs.jsonl.xz.0123abcd.tmp").touch()  # left by a run that was killed
    other = Supervision([Passage("B", "Autre.")])
    assert_same(write_supervision(other, tmp_path), other)


def test_what_is_cut_short_has_no_manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_supervision(SMALL, tmp_path)
    monkeypatch.setattr(lzma, "compress", lambda content, preset: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_supervision(SMALL, tmp_path)
    with pytest.raises(TrainingError, match="no supervision there"):
        SupervisionFolder.open(tmp_path)


def test_files_are_read_when_they_are_asked_for(tmp_path: Path) -> None:
    write_supervision(SMALL, tmp_path)
    (tmp_path / "texts.jsonl.xz").unlink()
    folder = SupervisionFolder.open(tmp_path)
    assert folder.articles == SMALL.articles
    with pytest.raises(TrainingError, match=r"texts\.jsonl\.xz: cannot be read .*lexarbor train prepare"):
        _ = folder.texts


def test_a_folder_without_supervision_says_how_to_write_it(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(
            TrainingError, match=f"{path}: no supervision there; write it with `lexarbor train prepare`"
        ):
            SupervisionFolder.open(path)


@pytest.mark.parametrize(
    ("manifest", "complaint"),
    [
        (b"{", r"manifest\.json: cannot be read"),
        (b"\xff\xfe\xfa", r"manifest\.json: cannot be read"),
        (b"[" * 100_000, r"manifest\.json: cannot be read"),
        (b"[]", "not a folder of format"),
        (b"{}", "not a folder of format"),
        (b'{"format": "lexarbor-supervision/9", "files": {}}', "not a folder of format lexarbor-supervision/1"),
        (json.dumps({"format": FORMAT}).encode(), "not a folder of format"),
        (json.dumps({"format": FORMAT, "files": ["pairs"]}).encode(), "not a folder of format"),
    ],
)
def test_a_manifest_that_is_none_is_refused(tmp_path: Path, manifest: bytes, complaint: str) -> None:
    (tmp_path / "manifest.json").write_bytes(manifest)
    with pytest.raises(TrainingError, match=complaint) as raised:
        SupervisionFolder.open(tmp_path)
    assert str(raised.value).endswith("write it again with `lexarbor train prepare`")


@pytest.mark.parametrize("name", CONTENTS)
def test_a_file_whose_checksum_differs_is_damaged(tmp_path: Path, name: str) -> None:
    folder = write_supervision(SMALL, tmp_path)
    path = tmp_path / f"{name}.jsonl.xz"
    path.write_bytes(path.read_bytes()[:-1])
    for read in (lambda: getattr(folder, name), SupervisionFolder.open(tmp_path).verify):
        with pytest.raises(TrainingError, match=rf"{name}\.jsonl\.xz: damaged, its checksum is not the manifest's"):
            read()
    path.unlink()
    with pytest.raises(TrainingError, match=rf"{name}\.jsonl\.xz: cannot be read"):
        folder.verify()
    write_supervision(SMALL, tmp_path).verify()


@pytest.mark.parametrize(
    "content",
    [
        b"not packed",
        lzma.compress(b"\xff\xfe\xfa\n"),
        lzma.compress(b"{\n"),
        lzma.compress(b"3\n"),
        lzma.compress(b'{"kind": "gold"}\n'),
        lzma.compress(b'{"kind": "gold", "question": "", "positives": 3}\n'),
    ],
)
def test_a_file_of_something_else_is_refused(tmp_path: Path, content: bytes) -> None:
    checksum = hashlib.sha256(content).hexdigest()
    (tmp_path / "pairs.jsonl.xz").write_bytes(content)
    manifest = {"format": FORMAT, "files": {"pairs.jsonl.xz": checksum}}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(TrainingError, match=r"pairs\.jsonl\.xz: cannot be read"):
        _ = SupervisionFolder.open(tmp_path).pairs


def test_a_folder_that_holds_something_else_is_not_mixed_with(tmp_path: Path) -> None:
    for name in ("thèse.odt", "a.txt", "b.txt", "manifest.json", "c.txt"):
        (tmp_path / name).touch()
    with pytest.raises(TrainingError, match=r"holds something else already \(a\.txt, b\.txt, c\.txt…\); give a new"):
        write_supervision(SMALL, tmp_path)
    assert (tmp_path / "manifest.json").read_bytes() == b""


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LexarborError, match="a file; give the name of a folder"):
        check_place(tmp_path / "file")


def test_a_good_place_is_left_as_it_is(tmp_path: Path) -> None:
    check_place(tmp_path)
    check_place(tmp_path / "new" / "folder")
    assert not list(tmp_path.iterdir())


def test_a_manifest_that_is_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").mkdir()
    with pytest.raises(LexarborError, match=r"manifest\.json"):
        write_supervision(SMALL, tmp_path)


def test_half_a_character_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match=r"texts: holds half a character \('.ud83d'\)"):
        write_supervision(Supervision([], texts=["Un demi \ud83d"]), tmp_path)
