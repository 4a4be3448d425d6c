"""`Laws`: the law as it stands, taken up anew when its index changes, and the law of other days."""

import logging
import math
import subprocess
import sys
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from pathlib import Path
from threading import Lock, Thread
from typing import IO

from lexarbor.corpus.packages import cache_folder
from lexarbor.corpus.sources import TINY, snapshots
from lexarbor.errors import LexarborError, place_of
from lexarbor.search import Engine
from lexarbor.search.store import is_readable
from lexarbor.serve import metrics
from lexarbor.serve.failures import Refusal

KEPT_DAYS = 2
"""Of how many other days the law stays open: each takes as much memory as the law as it stands."""
FAILED_SECONDS = 600
"""For how long a day that could not be prepared is not tried again."""
AGAIN_SECONDS = 60
"""Until a new index that could not be opened is tried again."""
WARMING = "Puis-je être licencié pendant un arrêt maladie ?"
"""Asked of a new engine before people ask it: the first question is slower than all others."""

_log = logging.getLogger(__name__)


class Laws:
    """Threads may share it. An engine that is replaced goes on answering those who have it."""

    def __init__(self, index: Path, days: int = 0, prepare: Callable[[date], None] | None = None) -> None:
        """`days`: of how many other days the law may be prepared. `prepare` builds the index of a day; by itself it is
        `lexarbor index --as-of`, in a process of its own, so that nobody who asks meanwhile has to wait.
        """
        self._index = index
        self._most_days = days
        self._prepare = prepare or _prepare
        self._seen = self._stamp()
        self.present = _opened(index)
        self._open: OrderedDict[date, Engine] = OrderedDict()
        self._opening = Lock()
        self._failed: dict[date, float] = {}
        self._refused: tuple[int, int] | None = None
        self._again_at = 0.0
        """A new index that could not be opened, and when it is tried again."""
        self._note()

    def refresh(self) -> bool:
        """Take up a new index, if there is one; where it cannot be opened, the one before stays."""
        stamp = self._stamp()
        if stamp in (self._seen, None):
            return False
        if stamp == self._refused and time.monotonic() < self._again_at:
            return False
        try:
            self.present = _opened(self._index)
        except Exception as error:  # whatever it is, the server goes on
            told = error if isinstance(error, (LexarborError, OSError)) else place_of(error)
            _log.error("the index has changed and cannot be opened, the one before stays: %s", told)
            metrics.swaps.labels("failed").inc()
            self._refused, self._again_at = stamp, time.monotonic() + AGAIN_SECONDS
            return False
        self._seen = stamp
        _log.warning("a new index was taken up: law as of %s", self.present.index.law.date)
        metrics.swaps.labels("done").inc()
        self._note()
        return True

    def held_days(self) -> list[date]:
        """The other days whose law lies ready, oldest first."""
        found = []
        for folder in cache_folder().glob("index-*"):
            with suppress(ValueError):
                found.append(date.fromisoformat(folder.name.removeprefix("index-")))
        return sorted(found)

    def of(self, day: date | None) -> Engine:
        """The engine over the law of a day: that of the law as it stands for None. Of another day it is prepared where
        that is allowed; until it is ready, and where it is not allowed, that is refused.
        """
        present = self.present
        if day is None or day == present.index.law.date:
            return present
        bounds = self.days
        if bounds is None:
            raise Refusal("one_day", only=present.index.law.date)
        if not bounds[0] <= day <= bounds[1]:
            raise Refusal("day_not_held", first=bounds[0], last=bounds[1])
        if (engine := self._open.get(day)) is not None:  # without waiting for another that is being opened
            with suppress(KeyError):
                self._open.move_to_end(day)
            return engine
        with self._opening:
            if day in self._open:
                self._open.move_to_end(day)
                return self._open[day]
            if time.monotonic() - self._failed.get(day, -math.inf) < FAILED_SECONDS:
                raise Refusal("day_failed")
            folder = _folder_of(day)
            try:
                if not is_readable(folder):
                    self._have_prepared(day)
                    raise Refusal("preparing")
                self._open[day] = _opened(folder)
            except (LexarborError, OSError) as error:
                self._fail(day, error)
                raise Refusal("day_failed") from None
            while len(self._open) > KEPT_DAYS:
                self._open.popitem(last=False)
            return self._open[day]

    def _have_prepared(self, day: date) -> None:
        """Have one day prepared at a time, by one worker."""
        held = self.held_days()
        if day not in held and len(held) >= self._most_days:
            raise Refusal("day_not_prepared", held=", ".join(map(str, held)))
        lock = _sole(cache_folder() / "preparing.lock")
        if lock is not None:
            Thread(target=self._run, args=(day, lock), daemon=True, name=f"preparing {day}").start()

    def _run(self, day: date, lock: IO[bytes]) -> None:
        with lock:
            try:
                self._prepare(day)
            except (LexarborError, OSError) as error:
                self._fail(day, error)

    def _fail(self, day: date, error: Exception) -> None:
        _log.error("the law of %s could not be prepared: %s", day, error)
        self._failed[day] = time.monotonic()

    def _stamp(self) -> tuple[int, int] | None:
        """What changes when the manifest is replaced."""
        with suppress(OSError):
            found = (self._index / "manifest.json").stat()
            return found.st_mtime_ns, found.st_ino
        return None

    def _note(self) -> None:
        """What is told of the law as it stands."""
        law = self.present.index.law
        held = snapshots().values() if self._most_days and self.present.index.source != TINY else ()
        self.days = (min(held), max(held)) if held else None
        """From which to which day the law can be asked for; None where there is but one."""
        metrics.articles.set(len(law))
        if law.date:
            metrics.law_day.set(time.mktime(law.date.timetuple()))


def _opened(folder: Path) -> Engine:
    engine = Engine.open(folder, threads=1)
    engine.search(WARMING, 1)
    law = engine.index.law
    _ = law.sizes, law.roots, law.folded_titles, law.resolver, law.in_place_of("")  # each takes a moment, once
    return engine


def _sole(path: Path) -> IO[bytes] | None:
    """A file that one worker at a time can hold, until it is closed or its holder ends; None where another has it."""
    file = path.open("wb")
    if sys.platform == "win32":
        return file
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


def _folder_of(day: date) -> Path:
    return cache_folder() / f"index-{day}"


def _prepare(day: date) -> None:
    gently = "import os; getattr(os, 'nice', int)(10)"  # those who ask meanwhile come first
    done = subprocess.run(
        [sys.executable, "-c", f"{gently}; from lexarbor.cli import main; main()", "index", "--as-of", str(day)],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise LexarborError(next(reversed(done.stderr.strip().splitlines()), f"exit code {done.returncode}"))
