"""Whatever is wrong: one line that says what and what to do, exit code 2, nothing half-written, no traceback."""

import csv
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lexarbor.corpus import sources
from lexarbor.corpus.bsard import write_bsard
from lexarbor.corpus.sources import read_tiny, read_tiny_questions
from npm_package import pack

Command = Callable[..., Any]

LAW = '{"kind": "law", "format": "lexarbor-law/1", "name": "law"}'
CODE = '{"kind": "code", "id": "C1", "title": "Code"}'


def refused(done: Any) -> str:
    """The one line of a refusal."""
    code, out, err = done
    assert (code, out) == (2, "")
    assert err.startswith("lexarbor: ")
    assert err.endswith("\n")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    return str(err).removeprefix("lexarbor: ").rstrip("\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("evaluate -b tiny --systems bm25,oracle", "unknown system 'oracle': choose among bm25, bm25+headings, "),
        ("evaluate -b tiny --systems ,", "no system was named: choose among bm25, "),
        ("evaluate -b trec", "unknown benchmark 'trec': choose one of vosdroits, "),
        ("evaluate -b tiny --split final", "tiny has no split 'final': it has train, dev, test"),
        ("evaluate -b tiny --format xml", "Invalid value for '--format' / '-f'"),
        ("tune bm25 -b tiny --split final", "tiny has no split 'final'"),
        ("bench show trec", "unknown benchmark 'trec'"),
        ("bench show tiny -f yaml", "Invalid value for '--format' / '-f'"),
        ("bench show bsard --source nowhere", "nowhere: no such folder; give BSARD's CSV files'"),
        ("corpus show --law nowhere", "nowhere: no such file, and no law by that name; known are 'tiny', "),
        ("corpus show --law ,", "no law was named: give 'tiny', "),
        ("corpus show --law tiny --forma json", "No such option: --forma"),
        ("search", "Missing argument"),
        ("search chien -k many", "Invalid value for '-k'"),
        ("search chien -k 0", "k is 0: ask for at least one article"),
        ("search chien --index nowhere", "nowhere: no index there; build one with `lexarbor index`"),
        ("run nowhere.jsonl -o run.trec", "nowhere.jsonl: cannot be read (No such file or directory)"),
        ("serch chien", "No such command 'serch'"),
    ],
)
def test_what_is_unknown_is_named_and_nothing_written(
    lexarbor: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert refused(lexarbor(*arguments.split())).startswith(message)
    assert list(tmp_path.iterdir()) == []


def test_a_failed_evaluation_writes_neither_runs_nor_curve(lexarbor: Command, tmp_path: Path) -> None:
    outputs = ("--runs", tmp_path / "runs", "--curve", tmp_path / "curve.png")
    refused(lexarbor("evaluate", "-b", "tiny", "--split", "final", *outputs))
    refused(lexarbor("evaluate", "-b", "tiny", "--systems", "bm25,oracle", *outputs))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("", "the question is empty: ask something like"),
        (" \t\n ", "the question is empty: ask something like"),
        ("x" * 1_000_000, "the question has 1,000,000 characters, more than 10,000: ask it in a few sentences"),
        ("chien \udcff", "the question holds bytes that are no text: type it, or save it, as UTF-8"),
    ],
)
def test_a_question_that_is_none_is_refused_before_anything_is_fetched(
    lexarbor: Command, tmp_path: Path, question: str, message: str
) -> None:
    assert refused(lexarbor("search", question)).startswith(message)
    assert list(tmp_path.iterdir()) == []


def cut_tarball(folder: Path) -> Path:
    path = pack(folder / "law.tgz", {"data/LEGITEXT1.json": json.dumps(list(range(9999))).encode()})
    path.write_bytes(path.read_bytes()[:-400])
    return path


def foreign_tarball(folder: Path) -> Path:
    path = folder / "law.tgz"
    path.write_text("<html>404 Not Found</html>", encoding="utf-8")
    return path


def empty_package(folder: Path) -> Path:
    return pack(folder / "law.tgz", {"package.json": b"{}"})


def escaping_tarball(folder: Path) -> Path:
    return pack(folder / "law.tgz", {"../../escaped.json": b"{}"})


def truncated_member(folder: Path) -> Path:
    return pack(folder / "law.tgz", {"data/LEGITEXT1.json": b'{"type": "code", "data": {"id": "LEGI'})


def foreign_member(folder: Path) -> Path:
    return pack(folder / "law.tgz", {"data/LEGITEXT1.json": b'{"articles": []}'})


def lines(folder: Path, *content: str) -> Path:
    path = folder / "law.jsonl"
    path.write_text("\n".join(content), encoding="utf-8")
    return path


def truncated_jsonl(folder: Path) -> Path:
    return lines(folder, LAW, CODE, '{"kind": "section", "id": "S1", "pare')


def foreign_jsonl(folder: Path) -> Path:
    return lines(folder, '{"id": "1", "text": "Une question ?"}')


def cycle(folder: Path) -> Path:
    sections = [f'{{"kind": "section", "id": "S{a}", "parent": "S{b}", "title": "Titre"}}' for a, b in ((1, 2), (2, 1))]
    return lines(folder, LAW, CODE, *sections)


def orphan(folder: Path) -> Path:
    return lines(folder, LAW, CODE, '{"kind": "section", "id": "S1", "parent": "S9", "title": "Titre"}')


def two_texts(folder: Path) -> Path:
    article = '{{"kind": "article", "id": "A1", "parent": "C1", "number": "1", "text": "{}"}}'
    return lines(folder, LAW, CODE, article.format("Un."), article.format("Deux."))


def rewrite(folder: Path, change: Callable[[list[list[str]]], list[list[str]]]) -> Path:
    """The tiny corpus in BSARD's columns, its articles' table changed."""
    write_bsard(read_tiny(), read_tiny_questions(), folder)
    path = folder / "articles_fr.csv"
    with path.open(encoding="utf-8", newline="") as file:
        table = list(csv.reader(file))
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(change(table))
    return folder


def missing_column(folder: Path) -> Path:
    return rewrite(folder, lambda table: [row[:2] + row[3:] for row in table])


def short_row(folder: Path) -> Path:
    return rewrite(folder, lambda table: [*table[:5], table[5][:4], *table[6:]])


@pytest.mark.parametrize(
    ("make", "place", "complaint", "remedy"),
    [
        (cut_tarball, "law.tgz", "not a whole .tgz package", "fetch it again with `lexarbor corpus fetch`"),
        (foreign_tarball, "law.tgz", "not a whole .tgz package", "fetch it again with `lexarbor corpus fetch`"),
        (empty_package, "law.tgz", "no data/LEGITEXT….json inside", "fetch one with `lexarbor corpus fetch`"),
        (escaping_tarball, "law.tgz", "'package/../../escaped.json' points outside", "from its publisher"),
        (truncated_member, "law.tgz, data/LEGITEXT1.json", "not valid JSON", "fetch the package again"),
        (foreign_member, "law.tgz, data/LEGITEXT1.json", "not the shape of a LEGI code", "expected nested"),
        (truncated_jsonl, "law.jsonl, line 3", "not valid JSON", "see docs/jsonl-format.md"),
        (foreign_jsonl, "law.jsonl, line 1", "'kind' is missing", "see docs/jsonl-format.md"),
        (cycle, "law.jsonl", "is its own ancestor", "see docs/jsonl-format.md"),
        (orphan, "law.jsonl", "'S1' is an orphan: its parent 'S9'", "see docs/jsonl-format.md"),
        (two_texts, "law.jsonl, line 4", "the id 'A1' is used twice, with two texts", "see docs/jsonl-format.md"),
        (missing_column, "articles_fr.csv", "no column article, but id, reference, ", "take BSARD's own file"),
        (short_row, "articles_fr.csv, line ", "4 values, 12 columns", "correct the file or fetch it again"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_law_that_is_none_is_refused_by_file_place_and_remedy(
    lexarbor: Command, tmp_path: Path, make: Callable[[Path], Path], place: str, complaint: str, remedy: str
) -> None:
    given = tmp_path / "given"
    given.mkdir()
    source = make(given)
    for command in (("corpus", "show"), ("index", "--index", tmp_path / "ix")):
        line = refused(lexarbor(*command, "--law", source))
        assert line.startswith(f"{given}/{place}")
        assert complaint in line
        assert remedy in line
    assert list(tmp_path.iterdir()) == [given]
    assert not (tmp_path.parent / "escaped.json").exists()


@pytest.mark.usefixtures("kept")
def test_a_refused_law_leaves_the_index_that_was_there(lexarbor: Command, tmp_path: Path) -> None:
    assert lexarbor("index", "--law", "tiny").code == 0
    before = (tmp_path / "cache" / "index" / "manifest.json").read_bytes()
    refused(lexarbor("index", "--law", two_texts(tmp_path)))
    assert (tmp_path / "cache" / "index" / "manifest.json").read_bytes() == before
    assert lexarbor("search", "canidés").code == 0


def test_questions_without_a_column_stop_an_evaluation(lexarbor: Command, tmp_path: Path) -> None:
    folder = tmp_path / "bsard"
    write_bsard(read_tiny(), read_tiny_questions(), folder)
    path = folder / "questions_fr_test.csv"
    path.write_text(path.read_text(encoding="utf-8").replace("article_ids", "articles", 1), encoding="utf-8")
    for benchmark in ("bsard", "bsard-questions"):
        line = refused(lexarbor("evaluate", "-b", benchmark, "--source", folder, "--runs", tmp_path / "runs"))
        assert line.startswith(f"{path}: no column article_ids, but id, category, ")
    assert list(tmp_path.iterdir()) == [folder]


def test_a_folder_that_holds_something_else_is_no_place_for_an_index(lexarbor: Command, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine", encoding="utf-8")
    line = refused(lexarbor("index", "--law", "tiny", "--index", tmp_path))
    assert line == f"{tmp_path}: holds something else than an index; give an empty or new folder"
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_what_the_system_refuses_is_a_line_too(lexarbor: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken_disk() -> None:
        raise OSError(5, "Input/output error", "law.jsonl")

    monkeypatch.setattr(sources, "read_tiny", broken_disk)
    assert refused(lexarbor("corpus", "show", "--law", "tiny")) == "[Errno 5] Input/output error: 'law.jsonl'"


def test_a_name_longer_than_any_file_is_refused_too(lexarbor: Command) -> None:
    refused(lexarbor("corpus", "show", "--law", "x" * 5000))
    refused(lexarbor("index", "--law", "tiny", "--index", "x" * 5000))
    refused(lexarbor("search", "chien", "--index", "x" * 5000))


@pytest.mark.parametrize("code", [0, 3])
def test_what_ends_the_process_keeps_its_exit_code(
    lexarbor: Command, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    monkeypatch.setattr(sources, "read_tiny", lambda: sys.exit(code))
    assert lexarbor("corpus", "show", "--law", "tiny") == (code, "", "")


def test_no_command_shows_the_help(lexarbor: Command) -> None:
    for group in ((), ("corpus",), ("bench",), ("tune",)):
        code, out, err = lexarbor(*group)
        assert (code, err) == (2, "")
        assert "Usage: lexarbor" in out


def test_in_a_shell_a_refusal_is_exit_code_2_and_one_line(shell: Command) -> None:
    assert shell("lexarbor search ' '") == (
        2,
        "",
        "lexarbor: the question is empty: ask something like 'Puis-je être licencié pendant un arrêt maladie ?'\n",
    )
    assert shell("lexarbor bench show tiny -f xml").code == 2
