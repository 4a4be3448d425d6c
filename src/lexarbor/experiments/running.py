"""An experiment from its name to its files: prepare, train, report. Each part goes on where an earlier call stopped."""

import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lexarbor.corpus.benchmarks.catalogue import BENCHMARKS
from lexarbor.errors import BenchmarkError, LexarborError
from lexarbor.experiments.catalogue import EXPERIMENTS, experiment
from lexarbor.experiments.jobs import LENT, Job, check_jobs, distinct, made_path, only, read_made
from lexarbor.experiments.lab import Lab
from lexarbor.experiments.prepared import check_generator, check_lender, check_origin, check_source
from lexarbor.experiments.reports import write_report
from lexarbor.experiments.revisions import revision
from lexarbor.experiments.scales import scale_of
from lexarbor.experiments.workers import BEGINS_FROM, held_alone, train_all
from lexarbor.files import folder_at

PARTS = ("prepare", "train", "report")
UNKNOWN = "an unknown revision"
"""Of models that were trained before it was written down."""


def check(lab: Lab, names: Sequence[str]) -> None:
    """Refuse, before long work, what could not be scored honestly after it."""
    check_benchmark(lab)
    if needs_training(names):
        _ = lab.values  # read now, to be refused now
    if any(experiment(name).search for name in names):
        from lexarbor.experiments.searches import check_optuna

        check_optuna()
    for name in names:
        if lab.train_on != "train" and experiment(name).jobs is None:
            raise BenchmarkError(f"'{name}' trains nothing: leave --train-on out, main alone takes it")
        if lab.train_on != "train" and not experiment(name).final:
            raise BenchmarkError(
                f"'{name}' has no final figures: it is scored on dev, which {lab.train_on} has learned from; leave "
                "--train-on out, main alone takes it"
            )
        if experiment(name).chooses and lab.split not in ("", "dev"):
            raise BenchmarkError(f"'{name}' chooses by dev alone: leave --split out")
        if lab.split and len(names) == 1 and not experiment(name).split:
            raise BenchmarkError(f"'{name}' tells of all questions: leave --split out")
    if not lab.split:
        return
    lab.asked(lab.split)
    if needs_training(names) and lab.split in lab.train_on.split("+"):
        raise BenchmarkError(f"--split is '{lab.split}', which models have learned from: score them on another")


def check_benchmark(lab: Lab) -> None:
    """Refuse a benchmark that is none, and questions that know what it holds out."""
    if lab.name not in BENCHMARKS:
        raise BenchmarkError(f"unknown benchmark '{lab.name}': choose one of {', '.join(BENCHMARKS)}")
    check_generator(lab)


def check_options(lab: Lab, names: Sequence[str]) -> None:
    """Refuse options that none of the experiments reads: whoever gave them expects something of them."""
    trains, searches = needs_training(names), any(experiment(name).search for name in names)
    for option, given, read in (
        ("--scale", lab.scale, trains),
        ("--set", lab.changes, trains),
        ("--questions", lab.questions, trains),
        ("--models", lab.models, trains),
        ("--seeds", lab.seeds, "main" in names),
        ("--trials", lab.trials, searches),
        ("--hub", lab.hub, "language-models" in names),
        ("--start", lab.starts, "language-models" in names),
    ):
        if given and not read:
            raise BenchmarkError(f"{option} changes nothing of {', '.join(names)}: leave it out")


def prepare(lab: Lab, names: Sequence[str]) -> None:
    """Gather what the experiments' models learn from, where any are trained."""
    check_benchmark(lab)
    if needs_training(names):
        from lexarbor.experiments.preparing import prepare_data

        prepare_data(lab)


def train(lab: Lab, names: Sequence[str], keys: Sequence[str] = ()) -> dict[str, str]:
    """Train the models of several experiments, each once, then search what is to be searched. Where jobs are named,
    they and what they begin from are all that is done. Gives why jobs failed, by key, and searches, by the experiment's
    name: others may still be reported.
    """
    check(lab, names)
    check_origin(lab)
    jobs: list[Job] = distinct(job for name in names if (of := experiment(name).jobs) for job in of(lab))
    if keys:
        jobs = only(jobs, keys)
    if lab.models is not None:
        borrow(lab, jobs, lab.models)
    failed = train_all(jobs, lab.work, workers=lab.workers, on_step=lab.on_step)
    for name in names:
        if (search := experiment(name).search) is not None and not keys and not unsearched(lab, name, failed):
            from lexarbor.experiments.trials import run_workers

            try:
                run_workers(search(lab), lab.work, lab.workers, on_step=lab.on_step)
            except LexarborError as error:
                failed[name] = str(error)
    return failed


def unsearched(lab: Lab, name: str, failed: Mapping[str, str]) -> bool:
    """Whether an experiment is a search that was not run to its end, or lacks a model that it begins from."""
    one = experiment(name)
    if one.search is None or one.jobs is None:
        return False
    return name in failed or any(job.key in failed for job in one.jobs(lab))


def told_failures(failed: Mapping[str, str], work: Path) -> str:
    """What a person is told of jobs that failed, the first that did not fail for another's sake, and of searches."""
    jobs = {key: why for key, why in failed.items() if key not in EXPERIMENTS}
    told = [f"the search '{name}' did not come to its end: {failed[name]}" for name in failed if name not in jobs]
    if jobs:
        key, why = next((one for one in jobs.items() if not one[1].startswith(BEGINS_FROM)), next(iter(jobs.items())))
        count = f"{len(jobs)} models" if len(jobs) > 1 else "one model"
        told.insert(0, f"{count} could not be trained, '{key}': {why.splitlines()[0]} ({work}/failed has all)")
    return "; ".join(told)


def borrow(lab: Lab, jobs: Sequence[Job], models: Path) -> None:
    """Copy what language models another work folder has, where this one has none. One that begins from a model that was
    trained here is trained here too.
    """
    check_lender(lab, models)
    work = lab.work
    for job in jobs:
        if not (job.texts and job.is_done(models)):
            continue
        with held_alone(work, job) as held:  # another call may be training it
            if not held or job.is_done(work) or not _are_lent(work, job.needs):
                continue
            check_jobs([job], models)
            copying = folder_at(job.folder(work).parent) / f".{job.key}"
            for left in (copying, job.folder(work)):
                shutil.rmtree(left, ignore_errors=True)
            job.begin(work, data=LENT, revision=read_made(models, job.key).get("revision", UNKNOWN))
            Path(shutil.copytree(job.folder(models), copying)).rename(job.folder(work))  # whole, or not at all


def _are_lent(work: Path, keys: Iterable[str]) -> bool:
    return all(made_path(work, key).is_file() and read_made(work, key)["data"] == LENT for key in keys)


def report(lab: Lab, name: str, out: Path, command: str, among: Sequence[str] = ()) -> list[Path]:
    """Score and write one experiment, perhaps among others of one call; gives its files."""
    check(lab, among or [name])
    if experiment(name).chooses and "dev" not in lab.benchmark.questions.splits:
        raise BenchmarkError(f"'{name}' chooses by dev, which {lab.name} does not have: give another --benchmark")
    jobs = of(lab) if (of := experiment(name).jobs) is not None else []
    if jobs:
        check_origin(lab)
        check_source(lab)
    ended = any(job.is_done(lab.work) or job.failure(lab.work) for job in jobs)
    if jobs and not ended and experiment(name).search is None:  # of a search the trials tell, wherever its models are
        raise BenchmarkError(f"no model of '{name}' was trained below {lab.work}: run it first, without --only report")
    check_jobs(jobs, lab.work)  # what rows begin from too: a table must not tell of another
    made = experiment(name).report(lab)
    trained = {read_made(lab.work, job.key).get("revision", UNKNOWN) for job in jobs if job.is_done(lab.work)}
    return write_report(made, stem_of(lab, name), out, facts(lab, name, command, trained))


def stem_of(lab: Lab, name: str) -> str:
    """What its files are called: NAME-BENCHMARK, and what else is not as usual."""
    parts = [name, lab.name]
    if needs_training([name]) and lab.scale_name != scale_of(lab.name):
        parts.append(lab.scale_name)
    if lab.train_on != "train":
        parts.append("final")
    if lab.split and experiment(name).split not in ("", lab.split):
        parts.append(lab.split)
    return "-".join(parts)


def needs_training(names: Sequence[str]) -> bool:
    return any(experiment(name).jobs is not None for name in names)


def facts(lab: Lab, name: str, command: str, trained: Collection[str] = ()) -> dict[str, Any]:
    """What a report is made from; `trained` are the revisions that its models were trained by."""
    now = revision()
    found: dict[str, Any] = {"command": command, "benchmark": lab.name, "revision": now}
    if set(trained) - {now}:
        found["trained at"] = ", ".join(sorted(trained))
    if needs_training([name]):
        found |= {"scale": lab.scale_name, "train_on": lab.train_on, "recipes": lab.values}
    return found
