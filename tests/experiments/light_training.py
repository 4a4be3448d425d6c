"""Training without models: what a job leaves, and processes in place of those that train."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lexarbor.experiments import job_trainer, workers
from lexarbor.experiments.jobs import Job, data_manifest

LIGHT = """
import os, signal, sys, types
from lexarbor.errors import TrainingError

class JobTrainer:
    def __init__(self, work): self.work = work
    def run(self, job):
        if job.key == "broken":
            raise TrainingError("it is broken")
        if job.key == "heavy":
            os.kill(os.getpid(), signal.SIGKILL)  # as a machine does whose memory ends
        job.folder(self.work).mkdir(parents=True)
        (job.folder(self.work) / "log.json").touch()

sys.modules["lexarbor.experiments.job_trainer"] = types.SimpleNamespace(JobTrainer=JobTrainer)
from lexarbor.experiments.__main__ import main
sys.exit(main(sys.argv[1:]))
"""
"""A worker whose job_trainer imports nothing: torch would take it longer than all the rest."""


def pretend_prepared(work: Path, *names: str) -> Path:
    """A work folder whose supervision passes for prepared, where nobody reads it."""
    for name in names:
        manifest = data_manifest(work, name)
        manifest.parent.mkdir(parents=True)
        manifest.touch()
    return work


def finish(job: Job, work: Path) -> None:
    """What a job leaves, as far as it tells that it is done."""
    job.folder(work).mkdir(parents=True)
    (work / "rankings").mkdir(exist_ok=True)
    if job.ranks:
        (work / "rankings" / f"{job.key}.json").touch()
    (job.folder(work) / ("tokenizer.json" if job.stage == "vocabulary" else "log.json")).touch()
    assert job.is_done(work)


def failing(key: str, error: Exception) -> Callable[[Job, Path], None]:
    """Trains all jobs but one."""

    def trains(job: Job, work: Path) -> None:
        if job.key == key:
            raise error
        finish(job, work)

    return trains


def on_bench(monkeypatch: pytest.MonkeyPatch, trains: Callable[[Job, Path], None], *, well: bool = True) -> list[str]:
    """Jobs are given to a function, in this process; gives their keys as they come, in order."""
    given: list[str] = []

    class JobTrainer:
        def __init__(self, work: Path) -> None:
            self.work = work

        def run(self, job: Job) -> None:
            given.append(job.key)
            trains(job, self.work)

        def can_go_on(self) -> bool:
            return well

    monkeypatch.setattr(job_trainer, "JobTrainer", JobTrainer)
    monkeypatch.setattr(workers, "PAUSE", 0.01)
    return given


def as_python(script: Path, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What workers are, in place of a Python that trains."""
    script.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(script))
    monkeypatch.setattr(workers, "PAUSE", 0.01)


def as_light_python(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers that train as LIGHT does."""
    light = folder / "light.py"
    light.write_text(LIGHT, encoding="utf-8")
    as_python(folder / "python", f'shift 2; exec "{sys.executable}" "{light}" "$@"', monkeypatch)  # after -m NAME
