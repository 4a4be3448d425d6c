"""The paper's two searches (appendix "G-DSR Hyperparameter Tuning"), as experiments: over which models each goes."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lexarbor.errors import TrainingError
from lexarbor.experiments.jobs import Job
from lexarbor.experiments.lab import Lab
from lexarbor.experiments.main_table import below_graph
from lexarbor.experiments.plans import Plan
from lexarbor.experiments.reports import Report
from lexarbor.experiments.scales import merged

if TYPE_CHECKING:
    from lexarbor.experiments.searches import Search

SEED = 0


def dsr_jobs(lab: Lab) -> list[Job]:
    """What every trial of DSR begins from."""
    *needed, _ = Plan.of(lab).complete([Plan.of(lab).text("dsr", SEED)])
    return needed


def dsr_search(lab: Lab) -> "Search":
    return _search(lab, "dsr", Plan.of(lab).text("dsr", SEED).recipe)


def wide_search(lab: Lab) -> "Search":
    """For models that are smaller than the paper's."""
    return _search(lab, "wide", Plan.of(lab).text("dsr", SEED).recipe)


def tune_dsr(lab: Lab) -> Report:
    return _report(lab, dsr_search(lab))


def tune_wide(lab: Lab) -> Report:
    return _report(lab, wide_search(lab))


def chosen(lab: Lab, name: str) -> list[str]:
    """The best values that a search of DSR has found so far, as changes of the scale. Only those of the cosine: graph
    encoders enrich vectors that are compared by it.
    """
    from lexarbor.experiments.trial_reports import trials_of

    search = {"dsr": dsr_search, "wide": wide_search}[name](lab)
    trials = [
        trial
        for trial in trials_of(search, lab.work)
        if trial.state.name == "COMPLETE" and trial.params["encoder.similarity"] == "cosine"
    ]
    if not trials:
        raise TrainingError(f"the search '{name}' has no trial of the cosine that went to the end: search on")
    best = max(trials, key=lambda trial: (trial.value or 0.0, -trial.number))
    return [
        f"text.{key}={value:e}" if isinstance(value, float) else f"text.{key}={value}"  # YAML reads 5e-05 as a word
        for key, value in best.params.items()
    ]


def lge_jobs(lab: Lab) -> list[Job]:
    """The retriever whose vectors every trial of the graph encoder enriches; they stay as they are."""
    return Plan.of(lab).complete([below_graph(lab, SEED)])


def lge_search(lab: Lab) -> "Search":
    return _search(lab, "lge", Plan.of(lab).graph("g-dsr", below_graph(lab, SEED)).recipe)


def tune_lge(lab: Lab) -> Report:
    return _report(lab, lge_search(lab))


def _search(lab: Lab, name: str, recipe: Mapping[str, Any]) -> "Search":
    from lexarbor.experiments.searches import Search

    told = lab.values["tuning"][name]
    job = Job(name, merged(recipe, told.get("set", {})))
    data = lab.work / "data" / "train"
    trials = lab.trials or told["trials"]
    return Search(name, name, job.recipe, data, trials=trials, looks=told["looks"], made=job.made_from(lab.work))


def _report(lab: Lab, search: "Search") -> Report:
    from lexarbor.experiments.trial_reports import report

    return report(search, lab.work)
