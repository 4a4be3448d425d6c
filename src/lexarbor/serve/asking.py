"""Questions on their way to the engine: checked, in turn, within a time."""

import asyncio
import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from typing import TypeVar

from lexarbor.corpus.questions import fault
from lexarbor.errors import SearchError
from lexarbor.search import Answer, Engine, Filters
from lexarbor.search.filters import resolved
from lexarbor.serve import metrics
from lexarbor.serve.failures import Refusal
from lexarbor.serve.laws import Laws
from lexarbor.serve.settings import ServeSettings

T = TypeVar("T")


_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


def a_day(text: str) -> date:
    """A day as people write it to us, and in no other of the ways that ISO knows."""
    if not _DAY.fullmatch(text):
        raise ValueError("write a day as YYYY-MM-DD")
    return date.fromisoformat(text)


@dataclass(frozen=True, slots=True)
class Asked:
    """One question and how it is to be answered."""

    question: str
    k: int = 10
    codes: tuple[str, ...] = ()
    under: tuple[str, ...] = ()
    as_of: date | None = None
    explain: bool = False


class Desk:
    """Where questions are taken: few at once, the others in turn, too many refused."""

    def __init__(self, laws: Laws, settings: ServeSettings) -> None:
        self.laws, self.settings = laws, settings
        self._turns = ThreadPoolExecutor(settings.threads, thread_name_prefix="desk")
        self._waiting = 0

    async def answer(self, asked: Asked, tell: Callable[[Answer], T]) -> T:
        """What `tell` makes of the answer, in the same turn."""
        self.check(asked)
        return await self.do(lambda: tell(self._search(asked)))

    def check(self, asked: Asked) -> None:
        """Refuse what can be refused at once."""
        settings = self.settings
        if not asked.question.strip():
            raise Refusal("question_empty")
        if len(asked.question) > settings.longest_question:
            raise Refusal("question_long", most=settings.longest_question)
        if fault(asked.question):
            raise Refusal("question_unreadable")
        if not 1 <= asked.k <= settings.most_articles:
            raise Refusal("k", most=settings.most_articles)

    async def do(self, work: Callable[[], T]) -> T:
        """Do something in a thread when its turn comes. Where that takes too long it is given up; what has begun keeps
        its thread until it ends, so that there are never more of them.
        """
        if self._waiting >= self.settings.waiting:
            raise Refusal("busy")
        self._waiting += 1
        metrics.waiting.inc()
        try:
            async with asyncio.timeout(self.settings.search_seconds):
                return await asyncio.get_running_loop().run_in_executor(self._turns, work)
        except TimeoutError:
            raise Refusal("timeout") from None
        finally:
            self._waiting -= 1
            metrics.waiting.dec()

    def _search(self, asked: Asked) -> Answer:
        began = time.perf_counter()
        engine = self.laws.of(asked.as_of)
        answer = engine.search(asked.question, asked.k, _by_ids(engine, asked), explain=asked.explain)
        metrics.search_seconds.observe(time.perf_counter() - began)
        return answer


def _by_ids(engine: Engine, asked: Asked) -> Filters:
    """Where to look, without the asker's words: an engine keeps filters in mind."""
    law = engine.index.law
    try:
        codes = resolved(Filters(asked.codes), law).codes
    except SearchError:
        raise Refusal("code", held=", ".join(code.title for code in law.codes.values())) from None
    try:
        return Filters(codes, resolved(Filters(under=asked.under), law).under)
    except SearchError:
        raise Refusal("heading") from None
