"""What a benchmark is made of: questions per topic and split, lengths, gold articles per question."""

from collections import Counter
from collections.abc import Iterable
from statistics import mean, median
from typing import Any

from lexarbor.corpus.benchmarks.catalogue import Benchmark

SMALL_TOPIC = 10
"""Topics of fewer questions are counted together."""


def statistics(benchmark: Benchmark) -> dict[str, Any]:
    """Plain numbers, ready for JSON."""
    questions = benchmark.questions
    gold_sizes = [len(gold) for gold in questions.qrels.values()]
    report: dict[str, Any] = {
        "benchmark": benchmark.name,
        "law_as_of": benchmark.law.date.isoformat() if benchmark.law.date else None,
        "articles": len(benchmark.law),
        "sections": len(benchmark.law.sections),
        "questions": len(questions.questions),
        "labels": sum(gold_sizes),
        "gold_articles": len(frozenset().union(*questions.qrels.values())),
        "splits": {name: len(ids) for name, ids in questions.splits.items()},
        "topics": _topics(benchmark),
        "question_words": _spread(len(question.text.split()) for question in questions.questions.values()),
        "article_words": _spread(len(article.text.split()) for article in benchmark.law.articles.values()),
        "gold_per_question": _spread(gold_sizes),
        "test_labels_seen_in_train": _seen_share(benchmark),
    }
    if benchmark.references:
        report["references"] = benchmark.references
        report["unresolved"] = len(benchmark.unresolved)
        report["unresolved_share"] = round(len(benchmark.unresolved) / benchmark.references, 4)
    return report


def _topics(benchmark: Benchmark) -> dict[str, dict[str, int]]:
    """Questions per topic and split; the small topics together, last."""
    questions = benchmark.questions
    sizes = Counter(question.topic for question in questions.questions.values())
    large = [topic for topic, size in sizes.most_common() if topic and size >= SMALL_TOPIC]
    counts = {
        split: Counter(question.topic if question.topic in large else "other" for question in questions.split(split))
        for split in questions.splits
    }
    return {
        topic: {split: counts[split][topic] for split in counts}
        for topic in (*large, "other")
        if any(counts[split][topic] for split in counts)
    }


def _spread(numbers: Iterable[int]) -> dict[str, float]:
    ordered = sorted(numbers)
    if not ordered:
        return {}
    return {
        "min": ordered[0],
        "median": median(ordered),
        "mean": round(mean(ordered), 1),
        "p95": ordered[int(0.95 * (len(ordered) - 1))],
        "max": ordered[-1],
    }


def _seen_share(benchmark: Benchmark) -> float | None:
    """The part of test labels that point to an article which is gold in training too: what memory alone could know."""
    if "test" not in benchmark.questions.splits or "train" not in benchmark.training.splits:
        return None
    known = benchmark.training.positives(["train"])
    labels = [article for gold in benchmark.questions.gold(["test"]).values() for article in gold]
    return round(sum(article in known for article in labels) / len(labels), 3) if labels else None
