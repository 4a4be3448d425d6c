"""The experiments by name: a table or figure of the paper each. A new one is a function and an entry."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from lexarbor.errors import BenchmarkError, nearest
from lexarbor.experiments import ablations, main_table, tune_models
from lexarbor.experiments.jobs import Job
from lexarbor.experiments.lab import Lab
from lexarbor.experiments.reports import Report

if TYPE_CHECKING:
    from lexarbor.experiments.searches import Search

    SearchOf = Callable[[Lab], Search]


@dataclass(frozen=True)
class Experiment:
    """One table or figure."""

    told: str
    """What it shows, in a line."""
    report: Callable[[Lab], Report]
    jobs: Callable[[Lab], list[Job]] | None = None
    """The models that it needs; none where nothing is trained."""
    search: Callable[[Lab], "Search"] | None = None
    """What is searched over them, trial by trial."""
    split: str = "dev"
    """The questions that it is scored on unless others are named; empty where it tells of all."""
    chooses: bool = False
    """Whether something is chosen by it: never by test."""
    final: bool = False
    """Whether its models may learn from dev too, and be scored on test."""


def _ablation(of: Callable[[Lab], ablations.Ablation], told: str) -> Experiment:
    return Experiment(told, lambda lab: of(lab).report(lab), lambda lab: of(lab).jobs(lab))


def _untrained(name: str, told: str, split: str = "", *, chooses: bool = False) -> Experiment:
    """A function of a module of its own, both called as the experiment; found late, as it may need to search."""

    def report(lab: Lab) -> Report:
        found: Report = getattr(import_module(f"lexarbor.experiments.{name}"), name)(lab)
        return found

    return Experiment(told, report, split=split, chooses=chooses)


def _search(
    told: str, report: Callable[[Lab], Report], jobs: Callable[[Lab], list[Job]], search: "SearchOf"
) -> Experiment:
    return Experiment(told, report, jobs, search, chooses=True)


EXPERIMENTS: dict[str, Experiment] = {
    "main": Experiment(
        "the main table: baselines, DSR step by step, G-DSR, the engine",
        main_table.main,
        main_table.main_jobs,
        split="test",
        final=True,
    ),
    "language-models": _ablation(ablations.language_models, "language models to start from"),
    "gnns": _ablation(ablations.gnns, "graph neural networks"),
    "similarity-loss": _ablation(ablations.similarity_loss, "similarity and loss functions"),
    "passages": _ablation(ablations.passages, "chunk length, document length, pooling"),
    "learning": _ablation(ablations.learning, "how long and how fast DSR learns, negatives, towers, headings"),
    "layers": _ablation(ablations.layers, "layers of the graph encoder"),
    "edges": _ablation(ablations.edges, "kinds of edges"),
    "tune-bm25": _untrained("tune_bm25", "BM25's k1 and b over the paper's grid", "dev", chooses=True),
    "tune-dsr": _search(
        "a search for DSR's hyper-parameters", tune_models.tune_dsr, tune_models.dsr_jobs, tune_models.dsr_search
    ),
    "tune-dsr-wide": _search(
        "the same among larger batches and rates, for small models",
        tune_models.tune_wide,
        tune_models.dsr_jobs,
        tune_models.wide_search,
    ),
    "tune-lge": _search(
        "a search for the graph encoder's", tune_models.tune_lge, tune_models.lge_jobs, tune_models.lge_search
    ),
    "legs": _untrained("legs", "each leg of the engine", "dev"),
    "neighbours": _untrained("neighbours", "how alike 200 consecutive articles are"),
    "lengths": _untrained("lengths", "how long articles and questions are"),
    "vector-map": _untrained("vector_map", "article vectors before and after the graph encoder"),
    "dataset": _untrained("dataset", "the benchmark by topic and split"),
}


def experiment(name: str) -> Experiment:
    if name not in EXPERIMENTS:
        raise BenchmarkError(f"unknown experiment '{name}': {nearest(name, list(EXPERIMENTS))}")
    return EXPERIMENTS[name]
