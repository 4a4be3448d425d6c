"""Jobs shared out: in order, each once, again after a worker that died, the others after one that failed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from light_training import failing, finish, on_bench

from lexarbor.errors import TrainingError
from lexarbor.experiments import job_trainer
from lexarbor.experiments.jobs import Job, data_manifest, failed_path, made_path, read_made
from lexarbor.experiments.running import told_failures
from lexarbor.experiments.workers import run_worker, train_all

GENERAL = Job("general", {"stage": "pretrain"}, texts="law")
DSR, OTHER = (Job(f"dsr-{seed}", {"stage": "text", "start": "@general"}) for seed in (0, 1))
G_DSR = Job("g-dsr-0", {"stage": "graph", "encoder": "@dsr-0"})
JOBS = [GENERAL, DSR, G_DSR, OTHER]


def test_each_job_is_trained_once_after_what_it_begins_from(trained: list[str], work: Path) -> None:
    steps: list[tuple[int, int]] = []
    backwards = JOBS[::-1]
    train_all(backwards, work, on_step=lambda done, total: steps.append((done, total)))
    assert trained == ["general", "dsr-1", "dsr-0", "g-dsr-0"]
    assert steps == [(done, 4) for done in range(5)]
    assert all(job.is_done(work) for job in JOBS)
    made = {job.key: set(read_made(work, job.key)["from"]) for job in JOBS}
    assert made == {"general": set(), "dsr-0": {"general"}, "dsr-1": {"general"}, "g-dsr-0": {"dsr-0"}}


def test_a_second_call_trains_what_is_left_alone(
    trained: list[str], work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train_all([GENERAL, DSR], work)
    train_all(JOBS, work)
    assert trained == ["general", "dsr-0", "g-dsr-0", "dsr-1"]
    monkeypatch.setattr(job_trainer, "JobTrainer", None)  # nothing is left: no trainer, and no process
    train_all(JOBS, work)
    monkeypatch.setattr(subprocess, "Popen", None)
    train_all(JOBS, work, workers=3)
    assert not (work / "plans").exists()


def test_what_was_trained_by_another_recipe_is_refused_before_anything_is_trained(
    trained: list[str], work: Path
) -> None:
    train_all(JOBS, work)
    other = Job("dsr-0", {**DSR.recipe, "optimisation": {"steps": 7}})
    with pytest.raises(TrainingError, match=r"'dsr-0' was trained with another optimisation\.steps than is asked"):
        train_all([Job("more", DSR.recipe), other], work)
    assert trained == ["general", "dsr-0", "g-dsr-0", "dsr-1"]


def test_a_recipe_that_cannot_be_read_is_refused_before_anything_is_trained(trained: list[str], work: Path) -> None:
    odd = Job("odd", {**DSR.recipe, "dropuot": 0.1})
    with pytest.raises(TrainingError, match="the recipe of 'odd': unknown key 'dropuot'"):
        train_all([*JOBS, odd], work)
    assert trained == []


def test_supervision_that_was_not_prepared_is_told_before_anything_is_trained(trained: list[str], work: Path) -> None:
    data_manifest(work, "train+dev").unlink()
    final = Job("dsr-0-final", DSR.recipe, "train+dev")
    with pytest.raises(
        TrainingError,
        match=r"data/train\+dev: nothing was prepared there; .*--only prepare --train-on train\+dev --work",
    ):
        train_all([*JOBS, final], work)
    assert trained == []
    assert train_all(JOBS, work) == {}  # who does not need it is trained


def test_what_was_made_from_is_written_before_training(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a worker that dies at the end of a job has not left one that is done and cannot be told of."""

    def trains(job: Job, work: Path) -> None:
        assert made_path(work, job.key).is_file()
        finish(job, work)

    on_bench(monkeypatch, trains)
    assert train_all(JOBS, work) == {}


def test_what_fails_is_told_with_what_begins_from_it_and_the_others_go_on(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    well = False

    def trains(job: Job, work: Path) -> None:
        if job is DSR and not well:
            raise TrainingError("no dev questions:\n  prepare some")
        finish(job, work)

    trained = on_bench(monkeypatch, trains)
    failed = train_all(JOBS, work)
    assert trained == ["general", "dsr-0", "dsr-1"]
    assert {job.key: job.failure(work) for job in JOBS} == {
        "general": "",
        "dsr-0": "no dev questions: prepare some",
        "g-dsr-0": "it begins from dsr-0, which could not be trained",
        "dsr-1": "",
    }
    assert failed == {key: JOBS[place].failure(work) for place, key in ((1, "dsr-0"), (2, "g-dsr-0"))}
    assert told_failures(failed, work) == (
        f"2 models could not be trained, 'dsr-0': no dev questions: prepare some ({work}/failed has all)"
    )
    assert told_failures(dict(reversed(failed.items())), work) == told_failures(failed, work)  # the cause, not its heir
    well = True
    assert train_all(JOBS, work) == {}  # tried again
    assert trained[3:] == ["dsr-0", "g-dsr-0"]
    assert [job.failure(work) for job in JOBS] == [""] * 4


def test_a_damaged_beginning_is_told_with_what_makes_it_again(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def trains(job: Job, work: Path) -> None:
        if job.needs:
            raise TrainingError(f"{GENERAL.folder(work) if job is DSR else work / 'elsewhere'}: half of a model")
        finish(job, work)

    on_bench(monkeypatch, trains)
    failed = train_all([GENERAL, DSR, OTHER], work)
    folder = work / "models" / "general"
    assert failed["dsr-0"] == f"{folder}: half of a model; 'general' is made again where {folder} is removed"
    assert failed["dsr-1"] == f"{work / 'elsewhere'}: half of a model"


def test_what_nobody_thought_of_fails_one_job_and_keeps_its_traceback(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = Job("alone", {"stage": "text", "start": "here"})
    on_bench(monkeypatch, failing("general", ZeroDivisionError("by nought")))
    train_all([*JOBS, alone], work)
    first, *rest = GENERAL.failure(work).splitlines()
    assert first == "ZeroDivisionError: by nought"
    assert any("in trains" in line for line in rest)
    assert alone.is_done(work)
    assert G_DSR.failure(work) == "it begins from dsr-0, which could not be trained"


def test_a_process_that_cannot_use_the_gpu_any_more_ends_and_the_next_call_begins_with_the_others(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = failing("dsr-0", RuntimeError("CUDA error: device-side assert triggered"))
    trained = on_bench(monkeypatch, broken, well=False)
    with pytest.raises(TrainingError, match="'dsr-0' broke off so that this process cannot use the GPU any more"):
        train_all(JOBS, work)
    assert trained == ["general", "dsr-0"]
    assert DSR.failure(work).startswith("RuntimeError: CUDA error")
    with pytest.raises(TrainingError, match="'dsr-0' broke off"):
        train_all(JOBS, work)
    assert trained[2:] == ["dsr-1", "dsr-0"]


def test_an_interrupted_worker_leaves_no_failure(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def trains(job: Job, work: Path) -> None:
        raise KeyboardInterrupt

    on_bench(monkeypatch, trains)
    with pytest.raises(KeyboardInterrupt):
        train_all([GENERAL], work)
    assert not failed_path(work, "general").exists()


DYING = """
import sys, time, types
from pathlib import Path

class JobTrainer:
    def __init__(self, work): self.work = work
    def run(self, job):
        half = job.folder(self.work)
        half.mkdir(parents=True)
        (half / "half-written").touch()
        time.sleep(600)

sys.modules["lexarbor.experiments.job_trainer"] = types.SimpleNamespace(JobTrainer=JobTrainer)
from lexarbor.experiments.jobs import Job
from lexarbor.experiments.workers import run_worker
run_worker([Job("dsr-0", {"stage": "text", "start": "here"})], Path(sys.argv[1]))
"""


def test_a_job_of_a_worker_that_died_is_taken_again_and_not_before(
    trained: list[str], work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dying = subprocess.Popen([sys.executable, "-c", DYING, str(work)])
    half = work / "models" / "dsr-0" / "half-written"
    while not half.exists():
        assert dying.poll() is None
        time.sleep(0.01)
    looks = 0

    def on_step(done: int, total: int) -> None:
        nonlocal looks
        looks += 1
        if looks == 3:  # it was looked at twice
            assert trained == [] and half.exists()
            os.kill(dying.pid, signal.SIGKILL)
            dying.wait()

    try:
        run_worker([Job("dsr-0", {"stage": "text", "start": "here"})], work, on_step=on_step)
    finally:
        dying.kill()
        dying.wait()
    assert trained == ["dsr-0"]
    assert not half.exists()  # what it left is gone, or `finish` could not have made the folder
    assert looks == 4
