"""`ServeSettings`: how a server is to behave. Workers of one server read the same settings from their environment."""

import hashlib
import json
import math
import os
import re
import secrets
from dataclasses import asdict, dataclass, field
from pathlib import Path

from lexarbor.errors import ServeError

VARIABLE = "LEXARBOR_SERVE"
"""Where the settings of a server are handed to its workers."""
LONGEST_QUESTION, MOST_ARTICLES, MOST_QUESTIONS = 2_000, 100, 32
"""Characters of a question, articles of an answer, questions of a batch: as the API's description tells them."""


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """Checked when they are made."""

    index: Path
    """The folder of the index of the law as it stands. A new generation there is taken up while the server runs."""
    keys: tuple[str, ...] = ()
    """The API is open to all where there are none; else to those who send one of these keys (as `digest` has them)."""
    days: int = 0
    """Of how many other days the law may be prepared, at most, when somebody asks for it."""
    rate: float = 10.0
    """Requests a second that one client may go on making; 0: as many as it likes."""
    burst: int = 60
    """Requests that one client may make at once, before the rate holds it back."""
    longest_question: int = LONGEST_QUESTION
    """Characters."""
    most_articles: int = MOST_ARTICLES
    """Of one answer."""
    largest_body: int = 512 * 1024
    """Bytes of a request."""
    body_seconds: float = 10.0
    """A client may take this long to send a request."""
    search_seconds: float = 10.0
    """A question may take this long, waiting for its turn included."""
    waiting: int = 256
    """Questions that may wait for their turn; the next one is asked to come back later."""
    threads: int = 2
    """Questions that one worker answers at once: more would only wait for each other."""
    watch_seconds: float = 5.0
    """How often a worker looks whether there is a new index."""
    workers: int = 1
    """Processes. The rate of a client is shared out among them."""
    root_path: str = ""
    """Where a reverse proxy shows the server, if not at the root: "/droit"."""
    seal: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    """What questions are encrypted with in the addresses of the page: made anew with each start."""

    def __post_init__(self) -> None:
        for name in ("days", "rate"):
            _refuse_unless(0 <= getattr(self, name) < math.inf, name, getattr(self, name), "0 or more")
        for name in (
            *("burst", "longest_question", "most_articles", "largest_body", "body_seconds"),
            *("search_seconds", "waiting", "threads", "watch_seconds", "workers"),
        ):
            _refuse_unless(0 < getattr(self, name) < math.inf, name, getattr(self, name), "more than 0")
        plain = re.fullmatch(r"(/[\w.~-]+)*", self.root_path, re.ASCII)
        _refuse_unless(plain is not None, "root_path", self.root_path, "a path like /droit, or nothing")

    def hand_on(self) -> None:
        """Let processes that are started from now on find these settings."""
        os.environ[VARIABLE] = json.dumps(asdict(self) | {"index": str(self.index)})

    @classmethod
    def handed_on(cls) -> "ServeSettings":
        told = json.loads(os.environ.pop(VARIABLE))  # no process that a worker starts has to know
        return cls(**told | {"index": Path(told["index"]), "keys": tuple(told["keys"])})


def digest(key: str) -> str:
    """A key as it is kept: whoever reads the settings cannot use it."""
    return hashlib.sha256(key.encode()).hexdigest()


def _refuse_unless(fine: bool, name: str, found: object, expected: str) -> None:
    if not fine:
        raise ServeError(f"{name.replace('_', ' ')} is {found!r}: expected {expected}")
