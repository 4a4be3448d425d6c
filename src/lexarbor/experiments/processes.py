"""Several processes of one machine at work together, each with a log."""

import fcntl
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from lexarbor.experiments.lab import Step

logger = logging.getLogger(__name__)
TERMINATED = 128 + signal.SIGTERM
PAUSE = 0.5
"""Seconds between looks at them."""


def run_together(
    commands: Sequence[Sequence[str]], logs: Sequence[Path], on_look: Callable[[], None] = lambda: None
) -> list[Path]:
    """Run each command until it ends, a log for each; gives the logs of those that failed. They are ended with the call
    that began them.
    """
    threads = str(max(1, (os.cpu_count() or 1) // len(commands)))  # else each takes all cores for itself
    surroundings = {"OMP_NUM_THREADS": threads, "TOKENIZERS_PARALLELISM": "true", **os.environ}
    running: list[subprocess.Popen[bytes]] = []
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    try:
        for command, log in zip(commands, logs, strict=True):
            with log.open("ab") as told:
                running.append(subprocess.Popen(command, stdout=told, stderr=told, env=surroundings))
        while any(process.poll() is None for process in running):
            on_look()
            time.sleep(PAUSE)
    finally:
        signal.signal(signal.SIGTERM, before)
        for process in running:
            process.terminate()  # nothing to those that have ended
        for process in running:
            process.wait()
    return [log for log, process in zip(logs, running, strict=True) if process.returncode]


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """One process at a time is in the block; the others wait."""
    with path.open("a+") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        yield


def progress(count: Callable[[], int], total: int, what: str, on_step: Step) -> Callable[[], None]:
    """A look that tells how many of a total are done, and logs it whenever that has changed."""
    told = -1

    def look() -> None:
        nonlocal told
        done = count()
        on_step(done, total)
        if done != told:
            logger.info("%d of %d %s", done, total, what)
        told = done

    return look
