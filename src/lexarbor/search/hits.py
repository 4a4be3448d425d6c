"""What a search gives back: an answer with its hits, each with the reasons for its place."""

from dataclasses import dataclass, field
from datetime import date
from typing import Any, NamedTuple

from lexarbor.corpus.law import Article
from lexarbor.corpus.tree import LawTree


class Reason(NamedTuple):
    """What one leg of the engine (BM25, dense…) says of a hit."""

    score: float
    rank: int


@dataclass(frozen=True, slots=True)
class Hit:
    """One article found."""

    article: Article
    score: float
    rank: int
    passage: str
    """The part of the article that is nearest to the question."""
    reasons: dict[str, Reason] = field(default_factory=dict)
    """By leg."""
    marks: tuple[tuple[int, int], ...] = ()
    """Where the words of the passage stand that the question shares: start and end of each."""
    around: "Around | None" = None
    """What stands around it and is linked with it, where that was asked for."""


@dataclass(frozen=True, slots=True)
class Around:
    """The articles that one is to be read with."""

    before: tuple[Article, ...]
    """The one before it under the same heading, if there is one."""
    after: tuple[Article, ...]
    """The one behind it."""
    cites: tuple[Article, ...]
    """Those that it cites, in the order of mention."""
    cited_by: tuple[Article, ...]
    """Those that cite it, in the order of the law."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The articles found for a question, and the law they were looked for in."""

    question: str
    hits: tuple[Hit, ...]
    law: LawTree
    not_held: tuple[str, ...] = ()
    """References in the question that name no article in force of this law, in its own words."""

    def as_dict(self) -> dict[str, Any]:
        """As the command line and the API write it."""
        return {
            "question": self.question,
            "law_as_of": _iso(self.law.date),
            "codes": [code.title for code in self.law.codes.values()],
            "not_held": list(self.not_held),
            "hits": [self._hit(hit) for hit in self.hits],
        }

    def _hit(self, hit: Hit) -> dict[str, Any]:
        article = hit.article
        code, *path = self.law.headings(article)
        told = {
            "rank": hit.rank,
            "id": article.id,
            "cid": article.cid,
            "number": article.number,
            "code": code,
            "path": path,
            "score": round(hit.score, 4),
            "start": _iso(article.start),
            "end": _iso(article.end),
            "status": article.status,
            "url": legifrance_url(article),
            "passage": hit.passage,
            "marks": [list(mark) for mark in hit.marks],
            "reasons": {
                leg: {"score": round(reason.score, 4), "rank": reason.rank} for leg, reason in hit.reasons.items()
            },
        }
        if hit.around:
            told["text"] = article.text
            for name in ("before", "after", "cites", "cited_by"):
                told[name] = [self._other(other) for other in getattr(hit.around, name)]
        return told

    def _other(self, article: Article) -> dict[str, str]:
        return {"id": article.id, "number": article.number, "code": self.law.codes[article.code].title}


def legifrance_url(article: Article) -> str | None:
    """The article's page on Légifrance; None for law that is not published there."""
    if not article.id.startswith("LEGIARTI"):
        return None
    return f"https://www.legifrance.gouv.fr/codes/article_lc/{article.id}"


def _iso(day: date | None) -> str | None:
    return day.isoformat() if day else None
