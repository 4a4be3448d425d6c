"""Jobs shared out: in order, each once, again after a worker that died, the others after one that failed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lexarbor.errors import LexarborError, TrainingError
from lexarbor.experiments import job_trainer, workers
from lexarbor.experiments.__main__ import main
from lexarbor.experiments.jobs import Job, data_manifest, failed_path, made_path, read_made
from lexarbor.experiments.running import told_failures
from lexarbor.experiments.workers import read_plan, run_worker, train_all

GENERAL = Job("general", {"stage": "pretrain"}, texts="law")
DSR, OTHER = (Job(f"dsr-{seed}", {"stage": "text", "start": "@general"}) for seed in (0, 1))
G_DSR = Job("g-dsr-0", {"stage": "graph", "encoder": "@dsr-0"})
JOBS = [GENERAL, DSR, G_DSR, OTHER]


def finish(job: Job, work: Path) -> None:
    """What a job leaves, as far as it tells that it is done."""
    job.folder(work).mkdir(parents=True)
    (work / "rankings").mkdir(exist_ok=True)
    if job.ranks:
        (work / "rankings" / f"{job.key}.json").touch()
    (job.folder(work) / ("tokenizer.json" if job.stage == "vocabulary" else "log.json")).touch()
    assert job.is_done(work)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A work folder whose supervision is prepared."""
    for data in ("train", "train+dev"):
        manifest = data_manifest(tmp_path / "work", data)
        manifest.parent.mkdir(parents=True)
        manifest.touch()
    return tmp_path / "work"


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The jobs that a job_trainer without models was given, in order."""
    return on_bench(monkeypatch, finish)


def on_bench(monkeypatch: pytest.MonkeyPatch, trains: Callable[[Job, Path], None], *, well: bool = True) -> list[str]:
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
    def trains(job: Job, work: Path) -> None:
        if job is GENERAL:
            raise ZeroDivisionError("by nought")
        finish(job, work)

    alone = Job("alone", {"stage": "text", "start": "here"})
    on_bench(monkeypatch, trains)
    train_all([*JOBS, alone], work)
    first, *rest = GENERAL.failure(work).splitlines()
    assert first == "ZeroDivisionError: by nought"
    assert any("in trains" in line for line in rest)
    assert alone.is_done(work)
    assert G_DSR.failure(work) == "it begins from dsr-0, which could not be trained"


def test_a_process_that_cannot_use_the_gpu_any_more_ends_and_the_next_call_begins_with_the_others(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trains(job: Job, work: Path) -> None:
        if job is DSR:
            raise RuntimeError("CUDA error: device-side assert triggered")
        finish(job, work)

    trained = on_bench(monkeypatch, trains, well=False)
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


LIGHT = """
import sys, types
from lexarbor.errors import TrainingError

class JobTrainer:
    def __init__(self, work): self.work = work
    def run(self, job):
        if job.key == "broken":
            raise TrainingError("it is broken")
        job.folder(self.work).mkdir(parents=True)
        (job.folder(self.work) / "log.json").touch()

sys.modules["lexarbor.experiments.job_trainer"] = types.SimpleNamespace(JobTrainer=JobTrainer)
from lexarbor.experiments.__main__ import main
sys.exit(main(sys.argv[1:]))
"""
"""A worker whose job_trainer imports nothing: torch would take it longer than all the rest."""


def test_several_processes_train_together(tmp_path: Path, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    light = tmp_path / "light.py"
    light.write_text(LIGHT, encoding="utf-8")
    as_python(tmp_path / "python", f'shift 2; exec "{sys.executable}" "{light}" "$@"', monkeypatch)  # after -m NAME
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


def test_the_training_half_trains_what_is_named(trained: list[str], work: Path) -> None:
    """`python -m lexarbor.experiments`, with jobs and without."""
    asked = ["main", "gnns", "--benchmark", "tiny", "--work", str(work)]
    assert main([*asked, "--jobs", "law,dpr-start"]) == 0
    assert trained == ["vocabulary", "general", "dpr-start", "law"]
    assert main([*asked, "--seeds", "1", "--jobs", "g-dsr-0"]) == 0
    assert trained[4:] == ["dsr-law-0", "g-dsr-0"]
    assert main([*asked, "--seeds", "1"]) == 0
    assert trained[6:] == ["dpr-0", "dsr-0", "g-dsr-hearing-0", "gcn-0", "gat-0", "graphsage-0", "kgnn-0"]


def test_the_training_half_ends_with_two_where_a_job_failed(
    work: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def trains(job: Job, work: Path) -> None:
        if job.key == "law":
            raise TrainingError("no text of a law")
        finish(job, work)

    trained = on_bench(monkeypatch, trains)
    assert main(["gnns", "--benchmark", "tiny", "--work", str(work)]) == 2
    told = capsys.readouterr().err.splitlines()[-1]
    assert told.startswith("lexarbor: ")
    assert told.endswith(f" models could not be trained, 'law': no text of a law ({work}/failed has all)")
    assert trained == ["vocabulary", "general", "law"]


def test_the_training_half_knows_of_synthetic_questions(trained: list[str], work: Path) -> None:
    asked = ["main", "--benchmark", "tiny", "--work", str(work), "--jobs"]
    assert main([*asked, "dsr-both-0"]) == 2  # there are none of this law
    assert main([*asked, "dsr-both-0", "--questions", "written.jsonl"]) == 0
    assert trained == ["vocabulary", "general", "law", "dsr-both-0"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "no experiment is named"),
        (["main"], "nothing was prepared there"),
        (["maine"], "unknown experiment 'maine': did you mean 'main'?"),
        (["main", "--jobs", "dsr-9"], "no job is called 'dsr-9'"),
        (["main", "--scale", "huge"], "unknown scale 'huge'"),
        (["main", "--workers", "0"], "--workers is 0"),
        (["main", "--train-on", "dev"], "--train-on is 'dev'"),
        (["gnns", "--train-on", "train+dev"], "'gnns' has no final figures"),
    ],
)
def test_what_the_training_half_refuses(
    arguments: list[str], said: str, trained: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "--benchmark", "tiny", "--work", str(tmp_path)]) == 2
    assert said in capsys.readouterr().err
    assert trained == []
