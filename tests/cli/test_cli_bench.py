"""`lexarbor bench`: the benchmarks built, shown and exported."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lexarbor.corpus.bsard import write_bsard
from lexarbor.corpus.questions import read_question_set
from lexarbor.corpus.sources import read_tiny, read_tiny_questions

Command = Callable[..., Any]


@pytest.fixture
def bsard(tmp_path: Path) -> Path:
    """The tiny corpus in BSARD's columns."""
    write_bsard(read_tiny(), read_tiny_questions(), tmp_path / "bsard")
    return tmp_path / "bsard"


def test_what_a_benchmark_is_made_of(lexarbor: Command) -> None:
    code, out, err = lexarbor("bench", "show", "tiny", "--format", "json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert (told["benchmark"], told["law_as_of"]) == ("tiny", "2026-01-01")
    assert (told["articles"], told["sections"], told["questions"], told["labels"]) == (64, 30, 24, 51)
    assert told["splits"] == {"train": 12, "dev": 4, "test": 8}
    assert told["gold_per_question"] == {"min": 1, "median": 2.0, "mean": 2.1, "p95": 4, "max": 6}


def test_the_same_in_tsv_and_as_a_table(lexarbor: Command) -> None:
    lines = lexarbor("bench", "show", "tiny", "-f", "tsv").out.splitlines()
    assert lines[:3] == ["name\tvalue", "benchmark\ttiny", "law_as_of\t2026-01-01"]
    assert "splits\ttrain 12, dev 4, test 8" in lines
    assert "train 12, dev 4, test 8" in lexarbor("bench", "show", "tiny").out


def test_a_benchmark_is_built_into_the_cache_or_a_folder(lexarbor: Command, tmp_path: Path) -> None:
    for arguments, folder in (
        ((), tmp_path / "cache" / "benchmarks" / "tiny"),
        (("--out", tmp_path / "out" / "tiny"), tmp_path / "out" / "tiny"),
    ):
        code, out, err = lexarbor("bench", "build", "tiny", "-f", "json", *arguments)
        assert (code, err) == (0, f"written to {folder}\n")
        assert sorted(path.name for path in folder.iterdir()) == [
            "questions.jsonl",
            "statistics.json",
            "unresolved.tsv",
        ]
        assert read_question_set(folder / "questions.jsonl", "tiny") == read_tiny_questions()
        assert json.loads((folder / "statistics.json").read_text(encoding="utf-8")) == json.loads(out)
        assert (folder / "unresolved.tsv").read_text(encoding="utf-8") == "question\tlabel\n"


def test_the_export_is_in_beirs_layout(lexarbor: Command, tmp_path: Path) -> None:
    code, out, err = lexarbor("bench", "export", tmp_path / "beir", "--benchmark", "tiny")
    assert (code, out, err) == (0, "", f"written to {tmp_path / 'beir'}\n")

    def lines(name: str) -> list[str]:
        return (tmp_path / "beir" / name).read_text(encoding="utf-8").splitlines()

    assert {json.loads(line)["_id"] for line in lines("corpus.jsonl")} == set(read_tiny().articles)
    assert [json.loads(line)["_id"] for line in lines("queries.jsonl")] == list(read_tiny_questions().questions)
    assert lines("qrels/test.tsv")[:2] == ["query-id\tcorpus-id\tscore", "V17\tVALARTI0005\t1"]


def test_bsards_columns_give_the_same_benchmark(lexarbor: Command, bsard: Path) -> None:
    told = json.loads(lexarbor("bench", "show", "bsard", "--source", bsard, "-f", "json").out)
    tiny = json.loads(lexarbor("bench", "show", "tiny", "-f", "json").out)
    assert told == tiny | {"benchmark": "bsard", "law_as_of": None}


def test_questions_without_their_law_are_described_all_the_same(lexarbor: Command, bsard: Path) -> None:
    told = json.loads(lexarbor("bench", "show", "bsard-questions", "--source", bsard, "-f", "json").out)
    assert (told["benchmark"], told["articles"], told["questions"], told["labels"]) == ("bsard-questions", 0, 24, 51)
    assert told["article_words"] == {}
