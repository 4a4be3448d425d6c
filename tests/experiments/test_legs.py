"""Each leg of the engine: which rows there are, what they score, and on what they may not be asked."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from math import prod
from pathlib import Path

import onnx
import pytest

from lexarbor.corpus.benchmarks.catalogue import Benchmark, build_benchmark, written_split
from lexarbor.corpus.questions import Question, QuestionSet
from lexarbor.errors import BenchmarkError
from lexarbor.evaluation import compare, evaluate, holm, order
from lexarbor.experiments import legs as experiment
from lexarbor.experiments.lab import Lab
from lexarbor.experiments.legs import legs, parameters, rows_of, text_parameters
from lexarbor.experiments.reports import Report
from lexarbor.experiments.systems import build_system, hybrid, run
from lexarbor.search.ranking import LEGS, shipped_weights
from lexarbor.text.folder import ENCODER, Manifest, ModelFolder
from lexarbor.text.shipped import shipped_model

TINY = build_benchmark("tiny")
DEV, GOLD = TINY.questions.split("dev"), TINY.questions.gold(["dev"])


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Report]:
    """The experiment on the tiny corpus, over an index that was made once; its vectors are kept for the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEXARBOR_CACHE", str(tmp_path_factory.mktemp("cache")))
        made = []
        shipped_index = experiment.shipped_index
        patch.setattr(experiment, "shipped_index", lambda law: made.append(law) or shipped_index(law))
        report = legs(Lab("tiny", tmp_path_factory.mktemp("work")))
        assert len(made) == 1
        yield report


def test_a_row_for_the_engine_without_each_leg_and_for_each_alone() -> None:
    rows = {row.name: (row.legs, row.ranked_by) for row in rows_of(LEGS, shipped_weights())}
    learned, fused, alone = "learned weights", "reciprocal ranks", "its own scores"
    assert rows == {
        "the engine": (LEGS, learned),
        "without the ranker": (LEGS, fused),
        "without dense": (("bm25", "memory", "everyday"), fused),
        "without bm25": (("dense", "memory", "everyday"), fused),
        "without memory": (("dense", "bm25", "everyday"), learned),
        "without everyday": (("dense", "bm25", "memory"), learned),
        "dense alone": (("dense",), alone),
        "bm25 alone": (("bm25",), alone),
        "memory alone": (("memory",), alone),
        "everyday alone": (("everyday",), alone),
    }
    assert next(iter(rows)) == "the engine"


def test_of_two_legs_and_of_one_nothing_is_told_twice() -> None:
    pair = [row.name for row in rows_of(("dense", "bm25"), {frozenset({"dense", "bm25"})})]
    assert pair == ["the engine", "without the ranker", "dense alone", "bm25 alone"]
    assert [row.name for row in rows_of(("dense", "bm25"), ())] == ["the engine", "dense alone", "bm25 alone"]
    assert [row.name for row in rows_of(("bm25",), ())] == ["the engine"]


def test_each_row_scores_as_the_engine_with_these_legs(told: Report) -> None:
    rows = told.data["rows"]
    assert rows["the engine"]["means"] == evaluate(run(build_system("hybrid", TINY), DEV), GOLD).means()
    for leg in ("dense", "bm25"):
        scores = evaluate(run(hybrid(TINY, legs=(leg,)), DEV), GOLD)
        assert rows[f"{leg} alone"]["means"] == scores.means()
    assert list(rows) == ["the engine", "without the ranker", "dense alone", "bm25 alone"]


def test_without_the_ranker_reciprocal_ranks_are_added_up(told: Report) -> None:
    run_of = {leg: run(hybrid(TINY, legs=(leg,)), DEV) for leg in ("dense", "bm25")}
    fused = {}
    for question in DEV:
        summed: dict[str, float] = defaultdict(float)
        for found in run_of.values():
            for rank, (article, _) in enumerate(found[question.id], start=1):
                summed[article] += 1 / (60 + rank)
        fused[question.id] = order(summed.items())
    assert told.data["rows"]["without the ranker"]["means"] == evaluate(fused, GOLD).means()


def test_the_table_has_differences_to_the_engine_and_their_chance(told: Report) -> None:
    (table,) = told.tables
    assert table.title == "tiny, dev: 4 questions"
    assert list(table.columns) == [
        "System", "Ranked by", "Parameters", "R@10", "R@100", "R@200", "R@500", "mAP", "mRP",
        "Against", "Difference of R@100", "p (Holm)",
    ]  # fmt: skip
    cells = {row[0]: list(row[1:]) for row in table.rows}
    assert cells["the engine"][-3:] == [None, None, None]
    assert [row[-3] for row in list(cells.values())[1:]] == ["the engine"] * 3
    assert [row[1] for row in cells.values()] == ["17.3M", "17.3M", "17.3M", None]
    systems = {
        "the engine": build_system("hybrid", TINY),
        **{f"{leg} alone": hybrid(TINY, legs=(leg,)) for leg in ("dense", "bm25")},
    }
    scores = {name: evaluate(run(system, DEV), GOLD) for name, system in systems.items()}
    rows = told.data["rows"]
    for name in ("dense alone", "bm25 alone"):
        found = compare(scores[name], scores["the engine"], "recall@100")
        assert rows[name]["difference"] == found.difference._asdict()
        mean, low, high = (100 * value for value in found.difference)
        assert cells[name][-2] == f"{mean:+.1f} [{low:+.1f}, {high:+.1f}]"
        assert cells[name][2:8] == [
            rows[name]["means"][measure]
            for measure in ("recall@10", "recall@100", "recall@200", "recall@500", "map", "mrp")
        ]
    assert "no memory and no everyday" in told.told[-1]


def test_a_row_that_lost_the_ranker_with_its_leg_is_compared_with_the_engine_without_it() -> None:
    rows = rows_of(LEGS, shipped_weights())
    names = {row.name for row in rows}
    against = {row.name: experiment._against(row, names) for row in rows}
    unranked = {"without dense", "without bm25"}
    assert against.pop("the engine") is None
    assert {name for name, other in against.items() if other == "without the ranker"} == unranked
    assert {other for name, other in against.items() if name not in unranked} == {"the engine"}
    fused = rows_of(LEGS, ())  # nothing was learned: nothing but legs is lost
    assert {experiment._against(row, {one.name for one in fused}) for row in fused} == {None, "the engine"}


def test_holm_is_over_all_rows_but_the_engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[dict[str, float]] = []
    monkeypatch.setenv("LEXARBOR_CACHE", str(tmp_path))
    monkeypatch.setattr(experiment, "holm", lambda chances: asked.append(chances) or holm(chances))
    found = legs(Lab("tiny", tmp_path, split="test"))
    assert list(asked[0]) == ["without the ranker", "dense alone", "bm25 alone"]
    rows = found.data["rows"]
    assert {name: rows[name]["p_holm"] for name in asked[0]} == holm(asked[0])
    assert found.data["split"] == "test"


def test_parameters_are_the_weights_in_the_files() -> None:
    """Those of the ONNX graph by the package `onnx`: matrices and tables in 8 bits, and the floats beside them that a
    layer is named in; scales, zero points and smoothing belong to the 8 bits.
    """
    sizes = {held.name: prod(held.dims) for held in onnx.load(shipped_model() / ENCODER).graph.initializer}
    counted = sum(size for name, size in sizes.items() if name.endswith(("_quantized", "_rows", ".weight", ".bias")))
    assert text_parameters(ModelFolder.open(shipped_model())) == counted == 17_332_608
    assert parameters(["bm25", "everyday"]) == 0
    assert parameters(["memory", "bm25"]) == counted
    assert counted < parameters(["dense"]) < counted + 100_000  # the graph encoder is small


def test_a_model_that_does_not_tell_its_architecture_is_refused() -> None:
    held = ModelFolder.open(shipped_model())
    silent = replace(held, manifest=Manifest(held.manifest.settings, 384, (2, 3), {"recipes": {}}))
    with pytest.raises(BenchmarkError, match=r"does not tell the architecture \(no 'pretrain'\)"):
        text_parameters(silent)


def test_questions_that_the_engine_learned_from_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    known = written_split("vosdroits")["train"][0]
    questions = QuestionSet({known: Question(known, "?!")}, {known: frozenset({"VALARTI0005"})}, {"dev": (known,)})
    learned: Benchmark = replace(TINY, questions=questions)
    monkeypatch.setattr("lexarbor.experiments.lab.build_benchmark", lambda name, source: learned)
    monkeypatch.setattr(experiment, "shipped_index", None)  # nothing is built before
    with pytest.raises(BenchmarkError, match="the engine learned from questions of the split 'dev' of tiny"):
        legs(Lab("tiny", tmp_path))
