"""Systems run on a benchmark's questions and scored in strata."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lexarbor.corpus.benchmarks.catalogue import Benchmark
from lexarbor.evaluation import Run, Scores, evaluate, means_by_stratum, recall_curve, strata
from lexarbor.experiments.systems import build_system, run


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
    on_step: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, Result]:
    """Each system by name. Strata are those of the train split for every system, so that rows can be compared:

    a question is `seen` if every gold article of it is gold for some train question, `unseen` if none is.
    """
    questions = benchmark.questions.split(split)
    gold = benchmark.questions.gold([split])
    learned_from = [name for name in ("train",) if name in benchmark.training.splits]
    groups = strata(gold, benchmark.training.positives(learned_from))
    results: dict[str, Result] = {}
    for done, name in enumerate(systems):
        on_step(done, len(systems))
        found = run(build_system(name, benchmark), questions)
        scores = evaluate(found, gold)
        figures = {str(stratum): means for stratum, means in means_by_stratum(scores, groups).items()}
        results[name] = Result(found, scores, figures, recall_curve(found, gold))
    on_step(len(systems), len(systems))
    return results
