"""`lexarbor evaluate` and `lexarbor tune`."""

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from lexarbor.corpus.benchmarks.catalogue import build_benchmark
from lexarbor.corpus.bsard import write_bsard
from lexarbor.corpus.sources import read_tiny, read_tiny_questions
from lexarbor.evaluation import MEASURES, read_run
from lexarbor.experiments.evaluation import evaluate_systems

Command = Callable[..., Any]
SYSTEMS = ["bm25", "bm25+headings", "memory", "popularity"]
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def bsard(tmp_path: Path) -> Path:
    """The tiny corpus in BSARD's columns, which have no dates: what is in force of it."""
    write_bsard(read_tiny().as_of(date(2026, 1, 1)), read_tiny_questions(), tmp_path / "bsard")
    return tmp_path / "bsard"


def evaluate(lexarbor: Command, *arguments: str | Path) -> dict[str, Any]:
    code, out, err = lexarbor("evaluate", *arguments, "--format", "json")
    assert (code, err) == (0, "")
    found: dict[str, Any] = json.loads(out)
    return found


def test_the_shape_in_json(lexarbor: Command) -> None:
    found = evaluate(lexarbor, "--benchmark", "tiny", "--split", "test")
    assert list(found) == ["benchmark", "split", "systems"]
    assert (found["benchmark"], found["split"]) == ("tiny", "test")
    assert list(found["systems"]) == SYSTEMS
    for strata in found["systems"].values():
        assert list(strata) == ["all", "seen", "unseen", "partial"]
        for figures in strata.values():
            assert list(figures) == list(MEASURES)
            assert all(0 <= value <= 1 for value in figures.values())


def test_the_figures_are_those_of_the_library(lexarbor: Command) -> None:
    found = evaluate(lexarbor, "--benchmark", "tiny", "--systems", "bm25, memory")
    results = evaluate_systems(build_benchmark("tiny"), "dev", ["bm25", "memory"])
    assert found["split"] == "dev"  # test is for final figures only
    assert found["systems"] == {name: result.figures for name, result in results.items()}


def test_the_figures_in_tsv(lexarbor: Command) -> None:
    code, out, err = lexarbor("evaluate", "-b", "tiny", "-s", "test", "--systems", "bm25", "-f", "tsv")
    assert (code, err) == (0, "")
    header, *rows = (line.split("\t") for line in out.splitlines())
    assert header == ["system", "stratum", "measure", "value"]
    figures = evaluate(lexarbor, "-b", "tiny", "-s", "test", "--systems", "bm25")["systems"]["bm25"]
    assert [(stratum, measure, float(value)) for _, stratum, measure, value in rows] == [
        (stratum, measure, value) for stratum in figures for measure, value in figures[stratum].items()
    ]


def test_the_figures_in_a_table(lexarbor: Command) -> None:
    code, out, err = lexarbor("evaluate", "-b", "tiny", "-s", "test", "--systems", "memory,popularity")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "tiny, test: figures in %"
    assert lines[1].split() == [
        "Stratum",
        "System",
        "R@10",
        "R@100",
        "R@200",
        "R@500",
        "mAP",
        "mAP@100",
        "mRP",
        "nDCG@10",
    ]
    assert [line.split()[:2] for line in lines if line.startswith("unseen")] == [
        ["unseen", "memory"],
        ["unseen", "popularity"],
    ]


def test_runs_and_curves_are_written_where_asked_for(lexarbor: Command, tmp_path: Path) -> None:
    runs, curve = tmp_path / "new" / "runs", tmp_path / "curve.png"
    evaluate(lexarbor, "-b", "tiny", "-s", "test", "--runs", runs, "--curve", curve)
    assert curve.read_bytes().startswith(PNG)
    assert {path.name for path in runs.iterdir()} == {f"tiny-test-{name}.trec" for name in SYSTEMS}
    result = evaluate_systems(build_benchmark("tiny"), "test", ["bm25"])["bm25"]
    written = {question: ranking for question, ranking in result.run.items() if ranking}
    assert read_run(runs / "tiny-test-bm25.trec") == written


def test_bsards_columns_give_the_same_figures(lexarbor: Command, bsard: Path) -> None:
    arguments = ("--split", "test", "--systems", "bm25,bm25+headings,memory")
    found = evaluate(lexarbor, "--benchmark", "bsard", "--source", bsard, *arguments)
    tiny = evaluate(lexarbor, "--benchmark", "tiny", *arguments)
    assert found["benchmark"] == "bsard"
    # ids are other ids there, so that equal scores come in another order: recall at a depth below all is safe
    for system, strata in tiny["systems"].items():
        for stratum, figures in strata.items():
            for measure in ("recall@100", "recall@500"):
                assert found["systems"][system][stratum][measure] == pytest.approx(figures[measure])
    assert found["systems"]["bm25+headings"]["all"]["map"] == pytest.approx(
        tiny["systems"]["bm25+headings"]["all"]["map"]
    )


def test_questions_without_their_law_are_enough_for_memory_and_popularity(lexarbor: Command, bsard: Path) -> None:
    arguments = ("--source", bsard, "--split", "test")
    systems = ("--systems", "memory,popularity")
    found = evaluate(lexarbor, "--benchmark", "bsard-questions", *arguments, *systems)
    assert found["systems"] == evaluate(lexarbor, "--benchmark", "bsard", *arguments, *systems)["systems"]
    code, out, err = lexarbor("evaluate", "--benchmark", "bsard-questions", *arguments, "--systems", "memory,bm25")
    assert (code, out) == (2, "")
    assert err.startswith("lexarbor: the law 'bsard' holds no article to rank")


def test_tuning_tries_the_grid_and_draws_it(lexarbor: Command, tmp_path: Path) -> None:
    figure = tmp_path / "grid.png"
    code, out, err = lexarbor(
        "tune", "bm25", "--benchmark", "tiny", "--measure", "map", "--figure", figure, "-f", "json"
    )
    assert (code, err) == (0, f"heat-map: {figure}\n")
    assert figure.read_bytes().startswith(PNG)
    told = json.loads(out)
    assert {key: told[key] for key in ("benchmark", "split", "field", "measure", "analyser")} == {
        "benchmark": "tiny",
        "split": "dev",
        "field": "headings+text",
        "measure": "map",
        "analyser": "stems",
    }
    assert len(told["grid"]) == 187
    highest = max(cell["map"] for cell in told["grid"])
    assert told["best"] == next(cell for cell in told["grid"] if cell["map"] == highest)


def test_tuning_in_tsv_and_for_people(lexarbor: Command) -> None:
    lines = lexarbor("tune", "bm25", "-b", "tiny", "-s", "train", "--field", "text", "-f", "tsv").out.splitlines()
    assert lines[0] == "k1\tb\trecall@200"
    assert [line.split("\t")[:2] for line in (lines[1], lines[-1])] == [["0.0", "0.0"], ["8.0", "1.0"]]
    code, out, err = lexarbor("tune", "bm25", "-b", "tiny", "-s", "train", "--field", "text")
    assert (code, err) == (0, "")
    assert out.startswith("best of 187: k1 = ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--split", "test"), "test is never tuned on: choose on dev"),
        (("--field", "titles"), "unknown field 'titles': choose one of text, headings+text"),
        (("--analyser", "soundex"), "unknown analyser 'soundex': choose one of stems, lemmas"),
        (("--measure", "map@7"), "unknown measure 'map@7': choose one of recall@10, "),
    ],
)
def test_what_cannot_be_tuned_is_told_and_nothing_drawn(
    lexarbor: Command, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    code, out, err = lexarbor("tune", "bm25", "-b", "tiny", "--figure", tmp_path / "grid.png", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"lexarbor: {message}")
    assert err.count("\n") == 1
    assert not (tmp_path / "grid.png").exists()
