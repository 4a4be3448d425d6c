"""Systems scored in strata, on the tiny corpus."""

from dataclasses import replace

import pytest

from lexarbor.corpus.benchmarks.catalogue import build_benchmark
from lexarbor.corpus.questions import QuestionSet
from lexarbor.errors import BenchmarkError
from lexarbor.evaluation import MEASURES, evaluate
from lexarbor.experiments.evaluation import evaluate_systems

TINY = build_benchmark("tiny")

# Read from the file: V17's gold is V01's, V18's is V05's; V19, V20 and V24 share an article with train questions.
STRATA = {"seen": ["V17", "V18"], "unseen": ["V21", "V22", "V23"], "partial": ["V19", "V20", "V24"]}


def test_each_stratum_has_the_mean_of_its_questions() -> None:
    result = evaluate_systems(TINY, "test", ["bm25+headings"])["bm25+headings"]
    assert list(result.figures) == ["all", "seen", "unseen", "partial"]
    gold = TINY.questions.gold(["test"])
    assert result.figures["all"] == evaluate(result.run, gold).means()
    for stratum, ids in STRATA.items():
        assert result.figures[stratum] == pytest.approx(evaluate(result.run, {id: gold[id] for id in ids}).means())
        assert list(result.figures[stratum]) == list(MEASURES)


def test_memory_knows_the_seen_and_is_blind_on_the_unseen() -> None:
    figures = evaluate_systems(TINY, "test", ["memory"])["memory"].figures
    assert set(figures["unseen"].values()) == {0.0}
    assert figures["seen"]["recall@100"] > 0
    assert figures["partial"]["recall@500"] < 1


def test_the_curve_passes_through_the_measures() -> None:
    result = evaluate_systems(TINY, "test", ["bm25"])["bm25"]
    assert len(result.curve) == 500
    for k in (10, 100, 200, 500):
        assert result.curve[k - 1] == pytest.approx(result.figures["all"][f"recall@{k}"])


def test_systems_come_in_the_order_asked_and_each_step_is_told() -> None:
    steps: list[tuple[int, int]] = []
    found = evaluate_systems(
        TINY, "dev", ["popularity", "bm25"], on_step=lambda done, total: steps.append((done, total))
    )
    assert list(found) == ["popularity", "bm25"]
    assert steps == [(0, 2), (1, 2), (2, 2)]


def test_a_stratum_without_questions_has_no_figures() -> None:
    untaught = replace(TINY, training=QuestionSet({}, {}, {}, "untaught"))
    figures = evaluate_systems(untaught, "test", ["bm25"])["bm25"].figures
    assert figures["seen"] == figures["partial"] == {}
    assert figures["unseen"] == figures["all"]


@pytest.mark.parametrize("system", ["memory", "popularity"])
def test_a_system_is_not_scored_on_the_questions_it_learns_from(system: str) -> None:
    with pytest.raises(BenchmarkError, match=f"'{system}' learns from questions of the split 'train' of tiny"):
        evaluate_systems(TINY, "train", ["bm25", system])
    taught = replace(TINY, training=replace(TINY.questions, splits={"train": ("V01", "V17")}))
    with pytest.raises(BenchmarkError, match="of the split 'test' of tiny"):
        evaluate_systems(taught, "test", [system])
    assert list(evaluate_systems(TINY, "train", ["bm25"])) == ["bm25"]


def test_an_unknown_split_or_system_is_named() -> None:
    with pytest.raises(BenchmarkError, match="tiny has no split 'final': it has train, dev, test"):
        evaluate_systems(TINY, "final", ["bm25"])
    with pytest.raises(BenchmarkError, match="unknown system 'oracle'"):
        evaluate_systems(TINY, "test", ["oracle"])
