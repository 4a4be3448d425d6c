"""Calls and processes that meet over one work folder: nothing is lost, nothing passes for another."""

import errno
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from light_training import as_light_python, finish, on_bench

from killed_runs import killed_at
from lexarbor.errors import LexarborError, TrainingError
from lexarbor.experiments import running, workers
from lexarbor.experiments.jobs import Job
from lexarbor.experiments.lab import Lab
from lexarbor.experiments.preparing import prepare_data
from lexarbor.experiments.processes import run_together
from lexarbor.experiments.workers import held_alone, train_all
from lexarbor.training.blocks import MaskedBlocks

GENERAL = Job("general", {"stage": "pretrain"}, texts="law")
DSR = Job("dsr-0", {"stage": "text", "start": "@general"})


def test_a_job_that_kills_its_process_leaves_the_others_to_be_trained(
    tmp_path: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_light_python(tmp_path, monkeypatch)
    heavy, *light = (Job(key, GENERAL.recipe, texts="law") for key in ("heavy", "a", "b", "c", "d"))
    for _ in range(2):  # the second call tries it again
        failed = train_all([heavy, *light], work, workers=2)
        assert failed == {"heavy": "a process was killed while it trained it: lower its batch, or --workers"}
        assert all(job.is_done(work) for job in light)


def test_what_another_call_trained_meanwhile_by_another_recipe_is_refused(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Job("general", {**GENERAL.recipe, "block_tokens": 99}, texts="law")

    def trains(job: Job, work: Path) -> None:
        if job.key == "first":  # while this one is trained
            other.begin(work)
            finish(other, work)
        finish(job, work)

    on_bench(monkeypatch, trains)
    first = Job("first", GENERAL.recipe, texts="law")
    with pytest.raises(TrainingError, match=r"'general' was trained with another block_tokens .*\(99, not "):
        train_all([first, GENERAL, DSR], work)
    assert not DSR.is_done(work)
    assert "another block_tokens" in DSR.failure(work)


def test_a_model_that_another_call_is_training_is_not_replaced_by_a_borrowed_one(
    tmp_path: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "check_lender", lambda lab, models: None)
    (tmp_path / "lender" / "data").mkdir(parents=True)
    GENERAL.begin(tmp_path / "lender")
    finish(GENERAL, tmp_path / "lender")
    lab = Lab("tiny", work, models=tmp_path / "lender")
    with held_alone(work, GENERAL) as held:
        assert held
        running.borrow(lab, [GENERAL], tmp_path / "lender")
        assert not GENERAL.folder(work).exists()
    running.borrow(lab, [GENERAL], tmp_path / "lender")
    assert GENERAL.is_done(work)


def test_a_language_model_whose_process_is_killed_goes_on_from_its_last_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the same weights, bit for bit."""
    torch.set_num_threads(1)
    shape = {"layers": 1, "hidden": 16, "heads": 2, "intermediate": 32, "positions": 64, "vocabulary": 300}
    recipe = {
        "stage": "pretrain",
        "architecture": shape,
        "block_tokens": 16,
        "optimisation": {"batch_size": 4, "steps": 6, "learning_rate": 1e-3},
        "watching": {"save_every": 2},
    }
    job, whole = Job("law", recipe, texts="law"), MaskedBlocks.__getitem__
    straight, work = tmp_path / "straight", tmp_path / "killed"
    for folder in (straight, work):
        prepare_data(Lab("tiny", folder))
    assert train_all([job], straight) == {}
    with killed_at(MaskedBlocks, 4):
        train_all([job], work)
    assert [path.name for path in (job.folder(work) / "checkpoints").iterdir()] == ["checkpoint-2"]
    asked: list[int] = []
    monkeypatch.setattr(MaskedBlocks, "__getitem__", lambda self, at: (asked.append(at), whole(self, at))[1])
    assert train_all([job], work) == {}
    assert min(asked) == 2
    one, other = ((job.folder(folder) / "model.safetensors").read_bytes() for folder in (straight, work))
    assert one == other


def test_a_disk_without_locks_is_told_of(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(file: object, how: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(workers.fcntl, "flock", no_locks)
    with pytest.raises(
        LexarborError, match=r"general\.lock: cannot be locked \(No locks available\), .*on a disk that"
    ):
        train_all([GENERAL], work)


def test_of_calls_that_prepare_at_once_one_does_and_the_others_wait(tmp_path: Path) -> None:
    line = "import sys; from pathlib import Path; from lexarbor.experiments.lab import Lab; "
    line += "from lexarbor.experiments.preparing import prepare_data; prepare_data(Lab('tiny', Path(sys.argv[1])))"
    calls = [subprocess.Popen([sys.executable, "-c", line, str(tmp_path / "work")]) for _ in range(3)]
    assert [call.wait(120) for call in calls] == [0, 0, 0]
    assert (tmp_path / "work" / "data" / "train" / "manifest.json").is_file()


def test_processes_end_with_a_call_that_is_terminated(tmp_path: Path) -> None:
    """A call in a process of its own: its two children tell their numbers and wait."""
    script = tmp_path / "call.py"
    waits = f"open('{tmp_path}/' + str(os.getpid()), 'w').close(); time.sleep(600)"
    script.write_text(
        "import sys\nfrom pathlib import Path\nfrom lexarbor.experiments.processes import run_together\n"
        f"wait = [sys.executable, '-c', \"import os, time; {waits}\"]\n"
        f"run_together([wait, wait], [Path('{tmp_path}/one.log'), Path('{tmp_path}/two.log')])\n",
        encoding="utf-8",
    )
    call = subprocess.Popen([sys.executable, str(script)])
    while len(begun := [int(path.name) for path in tmp_path.iterdir() if path.name.isdigit()]) < 2:
        assert call.poll() is None
        time.sleep(0.02)
    call.terminate()
    assert call.wait(60) == 128 + 15
    for number in begun:
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)


def test_the_logs_of_those_that_failed_are_told(tmp_path: Path) -> None:
    good, bad = [sys.executable, "-c", ""], [sys.executable, "-c", "raise SystemExit(3)"]
    logs = [tmp_path / "good.log", tmp_path / "bad.log"]
    assert run_together([good, bad], logs) == logs[1:]
