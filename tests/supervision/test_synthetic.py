"""Synthetic questions on disk: as they were written, or a line that says where and what is wrong."""

import json
import lzma
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexarbor.errors import TrainingError
from lexarbor.supervision.synthetic import (
    SyntheticQuestion,
    line_of,
    question_of,
    read_synthetic,
    write_synthetic,
)

QUESTIONS = [
    SyntheticQuestion("A2", "Puis-je pêcher « la nuit » ?", "lexarbor/mt5", -1.25),
    SyntheticQuestion("A1", "Qui paie\u2028les œufs\nde poule ?", "lexarbor/mt5", -0.5),
    SyntheticQuestion("A2", "Puis-je pêcher « la nuit » ?", "lexarbor/mt5", 0.0),
]
GOOD = '{"article": "A1", "question": "Qui ?", "generator": "mt5", "score": -1}'

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)


@pytest.mark.parametrize("name", ["questions.jsonl", "questions.jsonl.xz"])
def test_what_is_written_is_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    write_synthetic(QUESTIONS, path)
    assert read_synthetic(path) == QUESTIONS
    content = path.read_bytes()
    lines = (lzma.decompress(content) if name.endswith(".xz") else content).decode("utf-8").split("\n")
    assert lines[0] == (
        '{"article": "A2", "question": "Puis-je pêcher « la nuit » ?", "generator": "lexarbor/mt5", "score": -1.25}'
    )
    assert (len(lines), lines[3]) == (4, "")
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["questions.jsonl", "questions.jsonl.xz"])
def test_no_questions_are_a_file_too(tmp_path: Path, name: str) -> None:
    write_synthetic([], tmp_path / name)
    assert read_synthetic(tmp_path / name) == []


@given(texts, texts, texts, st.floats(allow_nan=False, allow_infinity=False))
def test_any_question_is_one_line(article: str, question: str, generator: str, score: float) -> None:
    one = SyntheticQuestion(article, question, generator, score)
    assert "\n" not in line_of(one)
    assert question_of(line_of(one)) == one


def test_the_last_line_needs_no_end_and_more_fields_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(f'{GOOD}\r\n{{"rank": 3, {GOOD[1:]}', encoding="utf-8")
    assert read_synthetic(path) == [SyntheticQuestion("A1", "Qui ?", "mt5", -1.0)] * 2


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (GOOD[:-9].encode(), "not valid JSON at column 60: Unterminated string"),
        (b"", "not valid JSON at column 1: Expecting value"),
        (b"[1, 2]", "expected a JSON object, found list"),
        (GOOD.replace("article", "id").encode(), "the field 'article' is missing"),
        (GOOD.replace(', "score": -1', "").encode(), "the field 'score' is missing"),
        (GOOD.replace('"Qui ?"', "null").encode(), "the field 'question' must be text, found None"),
        (GOOD.replace("Qui ?", " ").encode(), "the field 'question' must be text, found ' '"),
        (GOOD.replace("Qui", "\\ud800").encode(), "the field 'question' must be text, found '\\ud800 ?'"),
        (GOOD.replace("-1", '"-1"').encode(), "the field 'score' must be a number, found '-1'"),
        (GOOD.replace("-1", "true").encode(), "the field 'score' must be a number, found True"),
        (GOOD.replace("-1", "NaN").encode(), "the field 'score' must be a number, found nan"),
        (GOOD.replace("-1", "4" * 400).encode(), "the field 'score' must be a number, found inf"),
        (GOOD.replace("-1", "-" + "4" * 5000).encode(), "the field 'score' must be a number, found -inf"),
        (GOOD.replace('"A1"', "4" * 5000).encode(), "the field 'article' must be text, found inf"),
        (GOOD.replace('"A1"', "[" * 5000 + "]" * 5000).encode(), "maximum recursion depth exceeded"),
        (GOOD.replace("Qui", "Où").encode("latin-1"), "'utf-8' codec can't decode byte 0xf9"),
        (b"[" * 100_000, "maximum recursion depth exceeded"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("name", ["questions.jsonl", "questions.jsonl.xz"])
def test_a_line_that_is_no_question_is_named(tmp_path: Path, name: str, line: bytes, fault: str) -> None:
    path = tmp_path / name
    content = b"\n".join((GOOD.encode(), GOOD.encode(), line, GOOD.encode(), b""))
    path.write_bytes(lzma.compress(content) if name.endswith(".xz") else content)
    with pytest.raises(TrainingError) as refused:
        read_synthetic(path)
    assert str(refused.value).startswith(f"{path}, line 3: not a synthetic question ({fault}")
    assert str(refused.value).endswith("; mend the line, or write the file again with `lexarbor augment`")


def test_what_cannot_be_read_back_is_not_written() -> None:
    with pytest.raises(TrainingError, match="the field 'score' must be a number, found nan"):
        SyntheticQuestion("A1", "Qui ?", "mt5", float("nan"))
    with pytest.raises(TrainingError, match="the field 'question' must be text, found ''"):
        SyntheticQuestion("A1", "", "mt5", 0.0)


def test_no_file_no_folder_no_whole_package(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="no such file of synthetic questions; write one with `lexarbor augment`"):
        read_synthetic(tmp_path / "none.jsonl")
    with pytest.raises(TrainingError, match="cannot be read as synthetic questions"):
        read_synthetic(tmp_path)
    path = tmp_path / "cut.jsonl.xz"
    write_synthetic(QUESTIONS, path)
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(TrainingError, match=r"cut\.jsonl\.xz: cannot be read as synthetic questions \(Compressed data"):
        read_synthetic(path)


def test_a_failure_leaves_the_file_that_was_there(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    write_synthetic(QUESTIONS[:1], path)

    def broken():  # type: ignore[no-untyped-def]
        yield QUESTIONS[1]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_synthetic(broken(), path)
    assert read_synthetic(path) == QUESTIONS[:1]
    assert json.loads(path.read_text(encoding="utf-8"))["article"] == "A2"
    assert len(list(tmp_path.iterdir())) == 1
