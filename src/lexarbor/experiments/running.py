"""An experiment from its name to its files: prepare, train, report. Each part goes on where an earlier call stopped."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import lexarbor
from lexarbor.errors import BenchmarkError
from lexarbor.experiments.catalogue import experiment
from lexarbor.experiments.jobs import Job, distinct, only
from lexarbor.experiments.lab import Lab
from lexarbor.experiments.reports import write_report
from lexarbor.experiments.workers import train_all
from lexarbor.files import folder_at

PARTS = ("prepare", "train", "report")


def check(lab: Lab, names: Sequence[str]) -> None:
    """Refuse, before long work, what could not be scored honestly after it."""
    for name in names:
        if lab.train_on != "train" and not experiment(name).final:
            raise BenchmarkError(
                f"'{name}' has no final figures: it is scored on dev, which {lab.train_on} has learned from; leave "
                "--train-on out, main alone takes it"
            )
        if experiment(name).search is not None and lab.split not in ("", "dev"):
            raise BenchmarkError(f"'{name}' chooses by dev alone: leave --split out")
    if not lab.split:
        return
    lab.asked(lab.split)
    if needs_training(names) and lab.split in lab.train_on.split("+"):
        raise BenchmarkError(f"--split is '{lab.split}', which models have learned from: score them on another")


def prepare(lab: Lab, names: Sequence[str]) -> None:
    """Gather what the experiments' models learn from, where any are trained."""
    if needs_training(names):
        from lexarbor.experiments.preparing import prepare_data

        prepare_data(lab)


def train(lab: Lab, names: Sequence[str], keys: Sequence[str] = ()) -> None:
    """Train the models of several experiments, each once, then search what is to be searched. Where jobs are named,
    they and what they begin from are all that is done.
    """
    check(lab, names)
    found = [experiment(name) for name in names]
    jobs: list[Job] = distinct(job for one in found if one.jobs for job in one.jobs(lab))
    if keys:
        jobs = only(jobs, keys)
    if lab.models is not None:
        borrow(jobs, lab.models, lab.work)
    train_all(jobs, lab.work, workers=lab.workers, on_step=lab.on_step)
    for one in found:
        if one.search is not None and not keys:
            from lexarbor.experiments.trials import run_workers

            run_workers(one.search(lab), lab.work, lab.workers)


def borrow(jobs: Sequence[Job], models: Path, work: Path) -> None:
    """Copy what language models another work folder has, where this one has none."""
    for job in jobs:
        if job.texts and job.is_done(models) and not job.is_done(work):
            copying = folder_at(job.folder(work).parent) / f".{job.key}"
            for left in (copying, job.folder(work)):
                shutil.rmtree(left, ignore_errors=True)
            Path(shutil.copytree(job.folder(models), copying)).rename(job.folder(work))  # whole, or not at all


def report(lab: Lab, name: str, out: Path, command: str) -> list[Path]:
    """Score and write one experiment; gives its files."""
    check(lab, [name])
    made = experiment(name).report(lab)
    stem = f"{name}-{lab.name}{'-final' if lab.train_on != 'train' else ''}"
    return write_report(made, f"{stem}{f'-{lab.split}' if lab.split else ''}", out, facts(lab, name, command))


def needs_training(names: Sequence[str]) -> bool:
    return any(experiment(name).jobs is not None for name in names)


def facts(lab: Lab, name: str, command: str) -> dict[str, Any]:
    """What a report is made from."""
    found: dict[str, Any] = {"command": command, "benchmark": lab.name, "revision": revision()}
    if needs_training([name]):
        found |= {"scale": lab.scale_name, "train_on": lab.train_on, "recipes": lab.values}
    return found


def revision() -> str:
    """The commit of the checkout that runs, marked where it was changed since; else the version."""
    folder = Path(lexarbor.__file__).parent
    try:
        found = subprocess.run(
            ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=10", "--exclude=*"],
            capture_output=True, text=True, check=True, timeout=20,
        ).stdout.strip()  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        found = ""
    return found or lexarbor.__version__
