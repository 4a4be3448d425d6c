"""Systems run on a benchmark's questions and scored in strata."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexarbor.corpus.benchmarks.catalogue import Benchmark, written_split
from lexarbor.corpus.questions import Question
from lexarbor.errors import BenchmarkError
from lexarbor.evaluation import Run, Scores, evaluate, means_by_stratum, recall_curve, strata
from lexarbor.experiments.systems import LEARNED_FROM, TAUGHT, build_system, run


@dataclass(frozen=True, slots=True)
class Result:
    """What one system did on one split."""

    run: Run
    scores: Scores
    figures: dict[str, dict[str, float]]
    """By stratum, then by measure."""
    curve: NDArray[np.float64]
    """R@1 to R@500."""


def evaluate_systems(
    benchmark: Benchmark,
    split: str,
    systems: Sequence[str],
    *,
    questions: Path | None = None,
    on_step: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, Result]:
    """Each system by name. Strata are those of the train split for every system, so that rows can be compared:

    a question is `seen` if every gold article of it is gold for some train question, `unseen` if none is.
    `questions` names the file that doc2query expands articles with, unless it is the shipped one.
    """
    asked = benchmark.questions.split(split)
    gold = benchmark.questions.gold([split])
    train = _train(benchmark)
    for name in systems:
        known = {question.id for question in train} if name in TAUGHT else learned_by(name)
        if not known.isdisjoint(question.id for question in asked):
            raise BenchmarkError(
                f"'{name}' learns from questions of the split '{split}' of {benchmark.name}: it would find the "
                "answers it was given; choose another split, or leave it out"
            )
    groups = strata(gold, frozenset().union(*(benchmark.training.qrels[question.id] for question in train)))
    results: dict[str, Result] = {}
    for done, name in enumerate(systems):
        on_step(done, len(systems))
        found = run(build_system(name, benchmark, questions=questions), asked)
        scores = evaluate(found, gold)
        figures = {str(stratum): means for stratum, means in means_by_stratum(scores, groups).items()}
        results[name] = Result(found, scores, figures, recall_curve(found, gold))
    on_step(len(systems), len(systems))
    return results


def learned_by(system: str) -> set[str]:
    """The ids of the questions that a shipped model has seen."""
    return set(written_split(LEARNED_FROM[system])["train"]) if system in LEARNED_FROM else set()


def _train(benchmark: Benchmark) -> list[Question]:
    """The questions that systems may learn from; none where there is no such split."""
    return benchmark.training.split("train") if "train" in benchmark.training.splits else []
