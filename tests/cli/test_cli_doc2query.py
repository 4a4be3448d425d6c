"""Synthetic questions at the command line: articles expanded with them, and pairs made of them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_cli_errors import refused

from lexarbor.corpus.benchmarks.catalogue import build_benchmark
from lexarbor.experiments.bm25_grid import tune_bm25
from lexarbor.experiments.evaluation import evaluate_systems
from lexarbor.supervision import synthetic
from lexarbor.supervision.folder import SupervisionFolder
from lexarbor.supervision.synthetic import SyntheticQuestion, write_synthetic

Command = Callable[..., Any]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be in, with questions that each of two articles of the tiny law might be asked."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    asked = [("VALARTI0009", "Puis-je garder un éléphant ?"), ("VALARTI0055", "Combien coûte une place ?")]
    write_synthetic([SyntheticQuestion(id, text, "tiny-mt5", -1.0) for id, text in asked], Path("q.jsonl"))
    return folder


def told(done: Any) -> dict[str, Any]:
    code, out, err = done
    assert (code, err) == (0, "")
    found: dict[str, Any] = json.loads(out)
    return found


def test_doc2query_is_evaluated_with_the_file_that_is_named(lexarbor: Command, here: Path) -> None:
    systems = ["bm25", "doc2query", "doc2query+headings"]
    arguments = ("-b", "tiny", "--systems", ",".join(systems), "--questions", "q.jsonl", "-f", "json")
    found = told(lexarbor("evaluate", *arguments))
    results = evaluate_systems(build_benchmark("tiny"), "dev", systems, questions=Path("q.jsonl"))
    assert found["systems"] == {name: result.figures for name, result in results.items()}


def test_the_expanded_field_is_tuned(lexarbor: Command, here: Path) -> None:
    arguments = ("-b", "tiny", "--field", "text+questions", "--questions", "q.jsonl", "--measure", "map", "-f", "json")
    found = told(lexarbor("tune", "bm25", *arguments))
    grid = tune_bm25(build_benchmark("tiny"), "text+questions", measure="map", questions=Path("q.jsonl"))
    assert found["field"] == "text+questions"
    assert [cell["map"] for cell in found["grid"]] == grid.values.ravel().tolist()


def test_synthetic_pairs_are_prepared_from_several_files(lexarbor: Command, here: Path) -> None:
    asked = [("LEGIARTI1", "Qui ?"), ("VALARTI0009", "puis-je garder un éléphant ?")]
    write_synthetic([SyntheticQuestion(id, text, "other", -2.0) for id, text in asked], Path("more.jsonl"))
    arguments = ("-b", "tiny", "--kinds", "citation", "--synthetic", "q.jsonl", "--synthetic", "more.jsonl")
    code, out, err = lexarbor("train", "prepare", *arguments, "-o", "data", "-f", "json")
    assert (code, err) == (0, "written to data\n")
    found = json.loads(out)
    assert found["kinds"] == {"gold": 12, "citation": 24, "synthetic": 2}
    assert [(one["file"], one["questions"], one["of_unknown_articles"]) for one in found["synthetic"]] == [
        ("q.jsonl", 2, 0),
        ("more.jsonl", 2, 1),
    ]
    assert SupervisionFolder.open(Path("data")).facts["synthetic"] == found["synthetic"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("evaluate -b tiny --systems bm25,doc2query", "no synthetic questions come with this copy of Lexarbor: write"),
        ("tune bm25 -b tiny --field text+questions", "no synthetic questions come with this copy of Lexarbor: write"),
        ("evaluate -b none --systems doc2query --questions no.jsonl", "no.jsonl: no such file of synthetic questions"),
        ("tune bm25 -b none --field text+questions --questions no.jsonl", "no.jsonl: no such file of synthetic"),
        ("evaluate -b tiny --systems doc2query --questions bad.jsonl", "bad.jsonl, line 1: not a synthetic question"),
        (
            "evaluate -b none --systems bm25,memory --questions q.jsonl",
            "--questions is for doc2query and doc2query+headings alone: name one among --systems, or leave --questions",
        ),
        (
            "tune bm25 -b none --field text --questions q.jsonl",
            "the field 'text' has no questions: choose text+questions or headings+text+questions, or leave --questions",
        ),
        ("tune bm25 -b tiny --field questions", "unknown field 'questions': choose one of text, headings+text, text+q"),
        ("train prepare -b none --synthetic no.jsonl -o out", "no.jsonl: no such file of synthetic questions"),
        ("train prepare -b none --synthetic bad.jsonl -o out", "bad.jsonl, line 1: not a synthetic question"),
    ],
)
def test_what_is_wrong_is_told_before_any_law_is_read(
    lexarbor: Command, here: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, message: str
) -> None:
    monkeypatch.setattr(synthetic, "shipped_path", lambda name: here / name)  # nothing is shipped there
    Path("bad.jsonl").write_text('{"article": "A"', encoding="utf-8")
    assert refused(lexarbor(*arguments.split())).startswith(message)
    assert not Path("out").exists()
