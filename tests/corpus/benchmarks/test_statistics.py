from dataclasses import replace

import pytest

from lexarbor.corpus.benchmarks.catalogue import Benchmark, build_benchmark
from lexarbor.corpus.benchmarks.statistics import SMALL_TOPIC, statistics
from lexarbor.corpus.benchmarks.vosdroits import Unresolved
from lexarbor.corpus.law import Article, Code
from lexarbor.corpus.questions import Question, QuestionSet
from lexarbor.corpus.tree import LawTree


@pytest.fixture
def tiny() -> Benchmark:
    return build_benchmark("tiny")


def test_the_tiny_corpus_in_numbers(tiny: Benchmark) -> None:
    assert statistics(tiny) == {
        "benchmark": "tiny",
        "law_as_of": "2026-01-01",
        "articles": 64,
        "sections": 30,
        "questions": 24,
        "labels": 51,
        "gold_articles": 43,
        "splits": {"train": 12, "dev": 4, "test": 8},
        "topics": {"other": {"train": 12, "dev": 4, "test": 8}},
        "question_words": {"min": 7, "median": 13.0, "mean": 13.8, "p95": 19, "max": 25},
        "article_words": {"min": 9, "median": 41.0, "mean": 42.5, "p95": 61, "max": 86},
        "gold_per_question": {"min": 1, "median": 2.0, "mean": 2.1, "p95": 4, "max": 6},
        "test_labels_seen_in_train": 0.438,
    }


def benchmark(*topics: str, splits: dict[str, tuple[str, ...]] | None = None) -> Benchmark:
    """A question per topic, q0, q1…, each with an article of its own and the article 'all'."""
    questions = {f"q{count}": Question(f"q{count}", "mot " * (count + 1), topic) for count, topic in enumerate(topics)}
    articles = [Article(id, id, "C", "deux mots", ()) for id in ("all", *(f"a{count}" for count in range(len(topics))))]
    gold = {id: frozenset({"all", "a" + id[1:]}) for id in questions}
    asked = QuestionSet(questions, gold, {"train": tuple(questions)} if splits is None else splits)
    return Benchmark("made", LawTree([Code("C", "Code"), *articles]), asked, asked)


def test_large_topics_are_counted_by_split_and_small_ones_together() -> None:
    topics = ["Bail"] * SMALL_TOPIC + ["Impôts"] * (SMALL_TOPIC + 1) + ["Chasse"] * (SMALL_TOPIC - 1) + [""] * 12
    ids = tuple(f"q{count}" for count in range(len(topics)))
    report = statistics(benchmark(*topics, splits={"train": ids[1:], "test": ids[:1]}))
    assert list(report["topics"].items()) == [
        ("Impôts", {"train": SMALL_TOPIC + 1, "test": 0}),
        ("Bail", {"train": SMALL_TOPIC - 1, "test": 1}),
        ("other", {"train": SMALL_TOPIC - 1 + 12, "test": 0}),
    ]


def test_spreads() -> None:
    report = statistics(benchmark(*["Bail"] * 21))
    assert report["question_words"] == {"min": 1, "median": 11, "mean": 11.0, "p95": 20, "max": 21}
    assert report["article_words"] == {"min": 2, "median": 2.0, "mean": 2.0, "p95": 2, "max": 2}
    assert report["gold_per_question"] == {"min": 2, "median": 2, "mean": 2.0, "p95": 2, "max": 2}
    assert (report["labels"], report["gold_articles"], report["law_as_of"]) == (42, 22, None)


@pytest.mark.parametrize(
    ("splits", "expected"),
    [
        ({"train": ("q0",), "test": ("q1", "q2")}, 0.5),
        ({"train": (), "test": ("q0",)}, 0.0),
        ({"train": ("q0",), "test": ()}, None),
        ({"train": ("q0",)}, None),
        ({"test": ("q0",)}, None),
    ],
)
def test_the_share_of_test_labels_that_training_has_seen(
    splits: dict[str, tuple[str, ...]], expected: float | None
) -> None:
    assert statistics(benchmark("a", "b", "c", splits=splits))["test_labels_seen_in_train"] == expected


def test_a_transfer_test_is_seen_through_its_training_questions(tiny: Benchmark) -> None:
    transfer = replace(tiny, training=replace(tiny.questions, splits={"train": ("V17", "V18")}))
    assert statistics(transfer)["test_labels_seen_in_train"] == round(5 / 16, 3)


def test_references_are_told_where_labels_were_resolved(tiny: Benchmark) -> None:
    assert "references" not in statistics(tiny)
    report = statistics(replace(tiny, references=300, unresolved=(Unresolved("V01", "Code : L9"),)))
    assert (report["references"], report["unresolved"], report["unresolved_share"]) == (300, 1, 0.0033)


def test_a_law_without_articles_has_no_lengths(tiny: Benchmark) -> None:
    assert statistics(replace(tiny, law=LawTree(())))["article_words"] == {}
