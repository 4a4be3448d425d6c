"""Workers as processes: with a log each, ended with the call that began them, and what they read their jobs from."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from light_training import as_light_python, as_python

from lexarbor.errors import LexarborError, TrainingError
from lexarbor.experiments.__main__ import main
from lexarbor.experiments.jobs import Job
from lexarbor.experiments.workers import read_plan, train_all

GENERAL = Job("general", {"stage": "pretrain"}, texts="law")
DSR = Job("dsr-0", {"stage": "text", "start": "@general"})
JOBS = [GENERAL, DSR]


def test_several_processes_train_together(tmp_path: Path, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    as_light_python(tmp_path, monkeypatch)
    jobs = [Job(f"model-{number}", {"stage": "pretrain"}, texts="law") for number in range(12)]
    broken = Job("broken", {"stage": "pretrain", "start": "@model-11"}, texts="law")
    lost = Job("lost", {"stage": "pretrain", "start": "@broken"}, texts="law")
    steps = []
    train_all([lost, broken, *jobs], work, workers=2, on_step=lambda *step: steps.append(step))
    assert all(job.is_done(work) for job in jobs)
    assert broken.failure(work) == "it is broken"
    assert lost.failure(work) == "it begins from broken, which could not be trained"
    assert steps[-1] == (12, 14)
    (plan,) = (work / "plans").iterdir()
    assert read_plan(plan) == [lost, broken, *jobs]
    logs = [path.read_text(encoding="utf-8") for path in (work / "logs").iterdir()]
    assert len(logs) == 2
    for job in (broken, *jobs):
        assert "".join(logs).count(f" {job.key} begins\n") == 1


def test_a_worker_that_ends_early_is_told_with_its_log(
    tmp_path: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_python(tmp_path / "python", "echo it went wrong; exit 3", monkeypatch)
    with pytest.raises(LexarborError, match=r"a worker ended early: .*-0\.log, .*-1\.log says why; run it again"):
        train_all(JOBS, work, workers=2)
    assert {path.read_text() for path in (work / "logs").iterdir()} == {"it went wrong\n"}


def test_two_calls_in_one_second_have_plans_of_their_own(
    tmp_path: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_python(tmp_path / "python", "exit 0", monkeypatch)
    monkeypatch.setattr(time, "strftime", lambda form: "20260101-000000")
    for number, jobs in ((1, [GENERAL]), (2, [GENERAL, DSR])):
        monkeypatch.setattr(os, "getpid", lambda number=number: number)
        train_all(jobs, work, workers=2)
    found = sorted((work / "plans").iterdir())
    assert [[job.key for job in read_plan(path)] for path in found] == [["general"], ["general", "dsr-0"]]
    assert len(list((work / "logs").iterdir())) == 4


def test_workers_end_with_the_call_that_began_them(tmp_path: Path, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    as_python(tmp_path / "python", "exec sleep 600", monkeypatch)
    begun: list[subprocess.Popen[bytes]] = []
    start = subprocess.Popen

    def recorded(*arguments: object, **options: object) -> "subprocess.Popen[bytes]":
        begun.append(start(*arguments, **options))  # type: ignore[call-overload]
        return begun[-1]

    def interrupted(done: int, total: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess, "Popen", recorded)
    with pytest.raises(KeyboardInterrupt):
        train_all(JOBS, work, workers=2, on_step=interrupted)
    assert [process.wait(60) for process in begun] == [-signal.SIGTERM] * 2


def test_what_is_no_plan_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "plan.json"
    for written in (None, "[", '[{"key": "dsr-0"}]', '[{"key": "a", "recipe": {}, "asked": [], "more": 1}]', "[1]"):
        if written is not None:
            path.write_text(written, encoding="utf-8")
        with pytest.raises(TrainingError, match=r"plan\.json: no plan of jobs"):
            read_plan(path)
    assert main(["--work", str(tmp_path), "--plan", str(path)]) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"lexarbor: {path}: no plan of jobs")
    assert told.count("\n") == 1
