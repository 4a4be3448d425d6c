"""`Lookup`: what an assistant asks, answered in plain values that it can cite from."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from functools import lru_cache
from threading import Lock
from typing import Any

from lexarbor.corpus.law import OLD_LAW_DAYS, Article
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import SearchError
from lexarbor.search import Engine, Filters
from lexarbor.search.engine import check_question
from lexarbor.search.hits import legifrance_url

MOST_HITS = 100
"""Of one search: an assistant reads each of them."""
KEPT_DAYS = 2
"""Of how many other days the law stays open: each takes as much memory as the law as it stands."""


class Lookup:
    """Searches and reads the law as it stands, or stood on another day. Threads may share it."""

    def __init__(self, open_engine: Callable[[date | None], Engine]) -> None:
        """`open_engine`: the engine over the law of a day; of the law as it stands, for None."""
        self._present = open_engine(None)
        self._of_day = lru_cache(KEPT_DAYS)(open_engine)
        self._opening = Lock()

    @property
    def law(self) -> LawTree:
        """The law as it stands."""
        return self._present.index.law

    def search_law(
        self,
        question: str,
        k: int = 10,
        codes: str | Sequence[str] | None = None,
        under: str | Sequence[str] | None = None,
        as_of: date | None = None,
    ) -> dict[str, Any]:
        """The articles that govern a question, best first, each with what a citation needs."""
        if not 1 <= k <= MOST_HITS:
            raise SearchError(f"k is {k}: ask for 1 to {MOST_HITS} articles")
        check_question(question, k)  # before an index is built for it
        engine = self._engine(as_of)
        answer = engine.search(question, k, Filters(_several(codes), _several(under))).as_dict()
        return {
            **self._dated(engine.index.law, as_of),
            "codes": answer["codes"],
            "not_held": answer["not_held"],
            "read_as": answer["read_as"],
            "outside": answer["outside"],
            "hits": [_cited(hit) for hit in answer["hits"]],
        }

    def read_article(self, id: str, as_of: date | None = None) -> dict[str, Any]:
        """One article whole, with the articles around it and those that citations link it with."""
        engine = self._engine(as_of)
        law = engine.index.law
        if id not in law.articles:
            raise SearchError(
                f"no article in force on {law.date} has the id '{id}': take one that search_law gave, with the same "
                "as_of; by its number ('L1234-9 du code du travail') an article is found with search_law"
            )
        hit = engine.read(id)
        article, around = hit.article, hit.around
        assert around is not None
        return {
            **self._dated(law, as_of),
            "id": id,
            "number": article.number,
            "code": law.codes[article.code].title,
            "place": _place(law.headings(article)),
            "url": legifrance_url(article),
            "in_force_since": _iso(article.start),
            "in_force_until": _iso(article.end),
            "text": article.text,
            "note": article.note,
            "before": _named(law, around.before),
            "after": _named(law, around.after),
            "cites": _named(law, around.cites),
            "cited_by": _named(law, around.cited_by),
        }

    def list_codes(self) -> dict[str, Any]:
        """The codes held, with the number of articles in force of each."""
        held = Counter(article.code for article in self.law.articles.values())
        codes = [{"id": code.id, "code": code.title, "articles": held[code.id]} for code in self.law.codes.values()]
        return {**self._dated(self.law), "codes": codes}

    def _engine(self, day: date | None) -> Engine:
        if day is None or day == self.law.date:
            return self._present
        with self._opening:  # an index that is not there yet is built once
            return self._of_day(day)

    def _dated(self, law: LawTree, asked: date | None = None) -> dict[str, Any]:
        """The day of a law, as every answer tells it, with a warning where what is held may not be what is in force."""
        told: dict[str, Any] = {"law_as_of": _iso(law.date)}
        newest = self.law.date
        if newest and asked and asked > newest:
            told["warning"] = f"the newest law held is of {newest}: what has changed since then is not known"
        elif newest and not asked and (age := (date.today() - newest).days) > OLD_LAW_DAYS:
            told["warning"] = f"this law is {age} days old: say so, and that the official site tells what changed since"
        return told


def _cited(hit: dict[str, Any]) -> dict[str, Any]:
    """A hit as `Answer.as_dict` tells it, less what only programs need."""
    return {
        "rank": hit["rank"],
        "id": hit["id"],
        "number": hit["number"],
        "code": hit["code"],
        "place": _place([hit["code"], *hit["path"]]),
        "url": hit["url"],
        "in_force_since": hit["start"],
        "in_force_until": hit["end"],
        "passage": hit["passage"],
        "reasons": hit["reasons"],
    }


def _named(law: LawTree, articles: Iterable[Article]) -> list[dict[str, Any]]:
    return [
        {"id": a.id, "number": a.number, "code": law.codes[a.code].title, "url": legifrance_url(a)} for a in articles
    ]


def _several(words: str | Sequence[str] | None) -> tuple[str, ...]:
    """One word, a list or nothing: assistants write any of them."""
    return (words,) if words and isinstance(words, str) else tuple(words or ())


def _place(headings: Sequence[str]) -> str:
    return " › ".join(headings)


def _iso(day: date | None) -> str | None:
    return day.isoformat() if day else None
