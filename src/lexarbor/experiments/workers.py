"""Jobs shared out among processes, on one machine or several that see one folder.

A worker takes the first job that is neither done nor taken and whose needs are met; it holds a lock on a file while it
trains, which falls with the process, so that a job of a worker that died is taken again.
"""

import fcntl
import json
import logging
import os
import shutil
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from lexarbor.errors import LexarborError, TrainingError
from lexarbor.experiments.jobs import Job, check_jobs, data_manifest, failed_path, to_remove
from lexarbor.experiments.lab import Step, silent
from lexarbor.experiments.processes import PAUSE, progress, run_together
from lexarbor.files import folder_at, write_json

if TYPE_CHECKING:
    from lexarbor.experiments.job_trainer import JobTrainer

BEGINS_FROM = "it begins from "
"""How the reason begins of a job that failed for another's sake."""
logger = logging.getLogger(__name__)


def train_all(jobs: Sequence[Job], work: Path, *, workers: int = 1, on_step: Step = silent) -> dict[str, str]:
    """Train every job that is not done yet. One that cannot be trained is told of in work/failed, and the others go on;
    what failed in an earlier call is tried again. Gives why each that failed did, by its key.
    """
    check_jobs(jobs, work)
    left = [job for job in jobs if not job.is_done(work)]
    for job in left:
        job.check_recipe()
        if not data_manifest(work, job.data).is_file():
            raise TrainingError(
                f"{work}/data/{job.data}: nothing was prepared there; `lexarbor experiment NAME --only prepare "
                f"--train-on {job.data} --work {work}` does, where the law can be fetched"
            )
    if left:
        _train(jobs, left, work, workers, on_step)
        check_jobs(left, work)  # another call may have trained them meanwhile, otherwise
    return {job.key: why for job in left if (why := job.failure(work))}


def _train(jobs: Sequence[Job], left: Sequence[Job], work: Path, workers: int, on_step: Step) -> None:
    jobs = sorted(jobs, key=lambda job: bool(job.failure(work)))  # one that ends its process again keeps none back
    for job in left:
        failed_path(work, job.key).unlink(missing_ok=True)
    if workers == 1:
        run_worker(jobs, work, on_step=on_step)
        return
    begun = f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"  # two calls may begin in one second
    plan = folder_at(work / "plans") / f"{begun}.json"
    write_json(plan, [asdict(job) for job in jobs])
    command = [sys.executable, "-m", "lexarbor.experiments", "--work", str(work), "--plan", str(plan)]
    logs = [folder_at(work / "logs") / f"{plan.stem}-{number}.log" for number in range(workers)]
    look = progress(lambda: sum(job.is_done(work) for job in jobs), len(jobs), "models are trained", on_step)
    failed = run_together([command] * workers, logs, look)
    look()
    if failed and not all(job.is_done(work) or job.failure(work) for job in jobs):
        raise LexarborError(f"a worker ended early: {', '.join(map(str, failed))} says why; run it again")


def run_worker(jobs: Sequence[Job], work: Path, *, call: str = "", on_step: Step = silent) -> None:
    """One process's part of the work: it ends when nothing is left that it or another could still do. `call` is what
    the workers of one call have in common.
    """
    from lexarbor.experiments.job_trainer import JobTrainer

    trainer = JobTrainer(work)
    while True:
        left = [job for job in jobs if not job.is_done(work) and not job.failure(work)]
        on_step(sum(job.is_done(work) for job in jobs), len(jobs))
        if not left:
            return
        if not any(_take(job, jobs, trainer, call) for job in left):
            time.sleep(PAUSE)


def _take(job: Job, jobs: Sequence[Job], trainer: "JobTrainer", call: str) -> bool:
    """Whether this worker could do something about a job: train it, or tell that it never can be."""
    work = trainer.work
    needed = [other for other in jobs if other.key in job.needs]
    with held_alone(work, job) as held:
        if not held or job.is_done(work) or job.failure(work):
            return False
        if lost := [other.key for other in needed if other.failure(work)]:
            _tell_failed(work, job, f"{BEGINS_FROM}{lost[0]}, which could not be trained")
            return True
        if not all(other.is_done(work) for other in needed):
            return False
        lock = _lock(work, job)
        if call and lock.read_text() == call:  # it would kill one worker after the other
            _tell_failed(work, job, "a process was killed while it trained it: lower its batch, or --workers")
            return True
        lock.write_text(call)
        if not job.goes_on(work):
            shutil.rmtree(job.folder(work), ignore_errors=True)  # what a worker that died left there
        logger.info("%s begins", job.key)
        try:
            check_jobs(needed, work)  # another call may have trained them meanwhile, otherwise
            job.begin(work)
            trainer.run(job)
        except LexarborError as error:
            why = " ".join(str(error).split()) or type(error).__name__
            amiss = next((other for other in needed if str(other.folder(work)) in why), None)
            if amiss is not None:
                why += f"; '{amiss.key}' is made again where {to_remove(work, amiss.key)} is removed"
            _tell_failed(work, job, why)
        except Exception as error:  # whatever one model does, the others are still wanted
            _tell_failed(work, job, f"{type(error).__name__}: {error}\n\n{traceback.format_exc()}")
            if not trainer.can_go_on():
                lock.write_text("")
                raise TrainingError(
                    f"'{job.key}' broke off so that this process cannot use the GPU any more ({work}/failed says how): "
                    "run the same command again, it goes on with the others"
                ) from error
        lock.write_text("")
        return True


def _tell_failed(work: Path, job: Job, why: str) -> None:
    path = failed_path(work, job.key)
    folder_at(path.parent)
    path.write_text(why + "\n", encoding="utf-8")
    logger.warning("%s failed: %s", job.key, why)


def _lock(work: Path, job: Job) -> Path:
    """Locked while the job is trained; names the call whose worker began it, unless that came to an end."""
    return folder_at(work / "locks") / f"{job.key}.lock"


@contextmanager
def held_alone(work: Path, job: Job) -> Iterator[bool]:
    """Whether the job is this process's while the block runs."""
    with _lock(work, job).open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        except OSError as error:
            raise LexarborError(
                f"{file.name}: cannot be locked ({error.strerror}), so that several processes would train the same: "
                "give a --work on a disk that knows locks"
            ) from error
        yield True


def read_plan(path: Path) -> list[Job]:
    """The jobs of a written plan."""
    try:
        written = json.loads(path.read_text(encoding="utf-8"))
        return [Job(**{**one, "asked": tuple(one["asked"])}) for one in written]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise TrainingError(f"{path}: no plan of jobs ({error})") from error
