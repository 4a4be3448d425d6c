"""The baselines that read no article, on BSARD's own questions: what was measured before the first line must come out
(shared/FINDINGS.md, section 5: BSARD's test set is largely memory).
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lexarbor.corpus.benchmarks.catalogue import Benchmark, build_benchmark
from lexarbor.corpus.questions import Question, QuestionSet
from lexarbor.evaluation import evaluate, order
from lexarbor.experiments.evaluation import evaluate_systems
from lexarbor.experiments.systems import DEPTH
from lexarbor.search.memory import QuestionMemory

FOLDER = Path(__file__).parents[3] / "shared" / "data" / "bsard"

pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="BSARD's questions are not beside this checkout: ../shared/data/bsard"
)


@pytest.fixture(scope="module")
def bsard() -> Benchmark:
    return build_benchmark("bsard-questions", str(FOLDER))


@pytest.fixture(scope="module")
def known(bsard: Benchmark) -> QuestionSet:
    """Train and dev together: the 886 questions of the train file, as FINDINGS.md used them."""
    splits = bsard.questions.splits
    return replace(bsard.questions, splits={"train": (*splits["train"], *splits["dev"]), "test": splits["test"]})


def test_the_questions_are_all_there(bsard: Benchmark, known: QuestionSet) -> None:
    assert {name: len(ids) for name, ids in bsard.questions.splits.items()} == {"train": 709, "dev": 177, "test": 222}
    assert len(known.splits["train"]) == 886
    assert len(bsard.law) == 0


def test_most_test_labels_are_train_labels_too(known: QuestionSet) -> None:
    labels = [article for gold in known.gold(["test"]).values() for article in gold]
    seen = sum(article in known.positives(["train"]) for article in labels)
    assert seen / len(labels) == pytest.approx(0.91, abs=0.01)
    sets = set(known.gold(["train"]).values())
    assert sum(gold in sets for gold in known.gold(["test"]).values()) == 143


def remembered(known: QuestionSet, words: Callable[[Question], str]) -> dict[str, float]:
    memory = QuestionMemory(known.split("train"), known.gold(["train"]))
    found = {question.id: order(memory.scores(words(question)).items())[:DEPTH] for question in known.split("test")}
    return {measure: 100 * value for measure, value in evaluate(found, known.gold(["test"])).means().items()}


def test_question_memory_alone_comes_near_the_papers_best(known: QuestionSet) -> None:
    figures = remembered(known, lambda question: question.text)
    assert figures["recall@100"] == pytest.approx(78, abs=5)
    assert 50 <= figures["map"] <= 60
    assert figures["map"] > 47.1  # G-DSR's, which reads the articles
    assert 45 <= figures["mrp"] <= 56


def test_descriptions_in_the_question_find_more(known: QuestionSet) -> None:
    described = remembered(known, lambda question: f"{question.text} {question.description}")
    plain = remembered(known, lambda question: question.text)
    assert described["recall@100"] == pytest.approx(82, abs=3)
    assert described["recall@100"] > plain["recall@100"]


def test_the_systems_by_name_are_scored_in_strata(bsard: Benchmark) -> None:
    results = evaluate_systems(bsard, "test", ["memory", "popularity"])
    memory, popularity = results["memory"].figures, results["popularity"].figures
    assert memory["all"]["recall@100"] > 0.7
    assert memory["seen"]["recall@100"] > 0.85
    assert set(memory["unseen"].values()) == set(popularity["unseen"].values()) == {0.0}
    assert popularity["all"]["recall@100"] < 0.3
    assert popularity["all"]["recall@500"] > 0.5
