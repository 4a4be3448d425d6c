"""What a search gives back: an answer with its hits, each with the reasons for its place."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lexarbor.corpus.law import Article, Version, iso
from lexarbor.corpus.tree import LawTree
from lexarbor.search.outside import Outside
from lexarbor.search.recollection import Recalled, Remembered


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
    recalled: Recalled | None = None
    """The nearest remembered question that it answers."""
    everyday: str | None = None
    """Of the everyday questions written for its section, the one nearest to what was asked."""


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


class Group(NamedTuple):
    """Hits that stand in one section."""

    headings: Sequence[str]
    """From the code down."""
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """The articles found for a question, and the law they were looked for in."""

    question: str
    hits: tuple[Hit, ...]
    law: LawTree
    not_held: tuple[str, ...] = ()
    """References in the question that name no article in force of this law, in its own words."""
    read_as: str | None = None
    """The question as it was read, where its spelling was mended or everyday words were explained."""
    outside: Outside | None = None
    """Said where the question seems to be answered by other law than is held."""

    def groups(self) -> list[Group]:
        """The hits of one section together, in the order of each section's best."""
        found: dict[tuple[str, ...], list[Hit]] = {}
        for hit in self.hits:
            found.setdefault((hit.article.code, *hit.article.path), []).append(hit)
        return [Group(self.law.headings(hits[0].article), tuple(hits)) for hits in found.values()]

    def as_dict(self, *, grouped: bool = False) -> dict[str, Any]:
        """As the command line and the API write it; `grouped` adds which hits stand together."""
        told: dict[str, Any] = {
            "question": self.question,
            "read_as": self.read_as,
            "law_as_of": iso(self.law.date),
            "codes": [code.title for code in self.law.codes.values()],
            "not_held": list(self.not_held),
            "outside": self.outside and {"chance": round(self.outside.chance, 3), "codes": list(self.outside.codes)},
            "hits": [self._hit(hit) for hit in self.hits],
        }
        if grouped:
            told["groups"] = [
                {"code": code, "path": path, "hits": [hit.article.id for hit in hits]}
                for (code, *path), hits in self.groups()
            ]
        return told

    def _hit(self, hit: Hit) -> dict[str, Any]:
        article = hit.article
        code, *path = self.law.headings(article)
        told: dict[str, Any] = {
            "rank": hit.rank,
            "id": article.id,
            "cid": article.cid,
            "number": article.number,
            "code": code,
            "path": path,
            "score": round(hit.score, 4),
            "start": iso(article.start),
            "end": iso(article.end),
            "status": article.status,
            "url": legifrance_url(article),
            "passage": hit.passage,
            "marks": [list(mark) for mark in hit.marks],
            "reasons": {
                leg: {"score": round(reason.score, 4), "rank": reason.rank} for leg, reason in hit.reasons.items()
            },
        }
        if hit.recalled and "memory" in hit.reasons:
            question = hit.recalled.question
            told["reasons"]["memory"]["question"] = {
                "id": question.id,
                "text": question.text or None,
                "year": question.year,
                "url": sheet_url(question),
                "likeness": round(hit.recalled.likeness, 4),
                "amended_since": hit.recalled.changed,
            }
        if hit.everyday and "everyday" in hit.reasons:
            told["reasons"]["everyday"]["question"] = {"text": hit.everyday}
        if hit.around:
            told["text"] = article.text
            for name in ("before", "after", "cites", "cited_by"):
                told[name] = [self._other(other) for other in getattr(hit.around, name)]
        return told

    def _other(self, article: Article) -> dict[str, str]:
        return {"id": article.id, "number": article.number, "code": self.law.codes[article.code].title}


def legifrance_url(article: Article | Version) -> str | None:
    """The article's page on Légifrance; None for law that is not published there."""
    if not article.id.startswith("LEGIARTI"):
        return None
    return f"https://www.legifrance.gouv.fr/codes/article_lc/{article.id}"


def sheet_url(question: Remembered) -> str | None:
    """The practical sheet that a remembered question is the title of; None for questions of one's own."""
    if question.text or not question.id.startswith(("F", "N")):
        return None
    return f"https://www.service-public.fr/particuliers/vosdroits/{question.id}"
