"""Questions on their way to the engine: checked, in turn, within a time."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TypeVar

import anyio
import anyio.to_thread

from lexarbor.corpus.questions import fault
from lexarbor.errors import SearchError
from lexarbor.search import Answer, Engine, Filters
from lexarbor.search.filters import allowed
from lexarbor.serve import metrics
from lexarbor.serve.failures import Refusal
from lexarbor.serve.laws import Laws
from lexarbor.serve.settings import ServeSettings

T = TypeVar("T")


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
        self._turns = anyio.CapacityLimiter(settings.threads)
        self._waiting = 0

    async def answer(self, asked: Asked) -> Answer:
        self.check(asked)
        return await self.do(lambda: self._search(asked))

    async def answers(self, asked: Sequence[Asked]) -> list[Answer]:
        """Each takes its turn among those of others."""
        for one in asked:
            self.check(one)
        return [await self.do(lambda one=one: self._search(one)) for one in asked]  # type: ignore[misc]

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
        """Do something in a thread when its turn comes. What has begun is waited for: a thread cannot be stopped, and
        a further one beside it would only make both slower.
        """
        if self._waiting >= self.settings.waiting:
            raise Refusal("busy")
        self._waiting += 1
        metrics.waiting.inc()
        try:
            async with asyncio.timeout(self.settings.search_seconds):
                return await anyio.to_thread.run_sync(work, limiter=self._turns)
        except TimeoutError:
            raise Refusal("timeout") from None
        finally:
            self._waiting -= 1
            metrics.waiting.dec()

    def _search(self, asked: Asked) -> Answer:
        began = time.perf_counter()
        engine = self.laws.of(asked.as_of)
        filters = Filters(_known_codes(engine, asked.codes), asked.under)
        try:
            answer = engine.search(asked.question, asked.k, filters, explain=asked.explain)
        except SearchError:  # of what was checked before, only a heading can still be wrong
            raise Refusal("heading") from None
        metrics.search_seconds.observe(time.perf_counter() - began)
        return answer


def _known_codes(engine: Engine, named: Sequence[str]) -> tuple[str, ...]:
    law = engine.index.law
    for code in named:
        try:
            allowed(Filters((code,)), law, ())
        except SearchError:
            held = ", ".join(code.title for code in law.codes.values())
            raise Refusal("code", held=held) from None
    return tuple(named)
