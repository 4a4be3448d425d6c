"""`Engine`: a question in, an answer out."""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lexarbor.corpus.questions import fault
from lexarbor.errors import SearchError
from lexarbor.search.dense import THREADS
from lexarbor.search.filters import Filters, allowed
from lexarbor.search.hits import Answer, Around, Hit, Reason
from lexarbor.search.lexical import best_rows
from lexarbor.search.named_articles import NamedArticles, ReferenceReader
from lexarbor.search.outside import judged
from lexarbor.search.passages import Passages
from lexarbor.search.ranking import check_legs
from lexarbor.search.recollection import Recalled
from lexarbor.search.scoring import Scored, Scorer
from lexarbor.search.store import Index, open_index
from lexarbor.text.encoder import TextEncoder

KEPT_FILTERS = 64
"""Of how many filters an engine keeps in mind which articles they allow."""
EVERYWHERE = Filters()


class _Found(NamedTuple):
    """An article by its row."""

    row: int
    score: float
    named: int | None = None
    """Its place among the articles that the question names."""


class Engine:
    """Searches an index. Threads may share it."""

    def __init__(self, index: Index, *, encoder: TextEncoder | None = None) -> None:
        """`encoder` is the one that the index was built with, where it is at hand; else it is opened."""
        self.index = index
        self._scorer = Scorer(index, encoder)
        self._passages = Passages(index.lexical.analyse)
        self._allowed = lru_cache(KEPT_FILTERS)(lambda filters: allowed(filters, index.law, index.article_ids))

    @classmethod
    def open(cls, path: str | Path, threads: int = THREADS) -> "Engine":
        """An engine over the index in a folder, as `lexarbor index` builds it. `threads`: those that one question may
        use; 1 where many are asked at once.
        """
        return cls(open_index(Path(path), threads))

    def search(
        self,
        question: str,
        k: int = 10,
        filters: Filters = EVERYWHERE,
        *,
        explain: bool = False,
        legs: Sequence[str] | None = None,
    ) -> Answer:
        """The k articles nearest to a question. Those that it names by their numbers come first; a question that is a
        reference and nothing else finds these alone.

        `explain`: with what stands around each and is linked with it. `legs`: those to search with (`dense`, `bm25`,
        `memory`, `everyday`), all that the index has unless some are named.
        """
        check_question(question, k)
        named = self._references.read(question)
        scored = self._scored(question, legs)
        wanted = frozenset(scored.terms)
        asked = self.index.everyday.terms(scored.read_as) if self.index.everyday else frozenset()
        hits = []
        for rank, found in enumerate(self._found(named, scored, k, filters), start=1):
            article = self.index.law.articles[self.index.article_ids[found.row]]
            passage = self._passages.best(article.text, wanted)
            hits.append(
                Hit(
                    article,
                    found.score,
                    rank,
                    passage,
                    self._reasons(found, scored),
                    self._passages.marks(passage, wanted),
                    self._around(found.row) if explain else None,
                    self._remembered(found.row, scored),
                    self._everyday(found.row, scored, asked),
                )
            )
        outside = None if named.ids or named.alone or filters else judged(scored, self.index.recollection)
        read_as = scored.read_as if scored.read_as != question else None
        return Answer(question, tuple(hits), self.index.law, named.not_held, read_as, outside)

    def search_all(
        self, questions: Sequence[str], k: int = 10, filters: Filters = EVERYWHERE, *, legs: Sequence[str] | None = None
    ) -> list[Answer]:
        """As `search`, for many questions at once: an answer each, in their order."""
        return [self.search(question, k, filters, legs=legs) for question in questions]

    def rank(
        self, question: str, k: int, filters: Filters = EVERYWHERE, *, legs: Sequence[str] | None = None
    ) -> list[tuple[str, float]]:
        """Ids and scores alone, best first: for runs of many questions."""
        check_question(question, k)
        found = self._found(self._references.read(question), self._scored(question, legs), k, filters)
        return [(self.index.article_ids[row], score) for row, score, _ in found]

    def read(self, id: str) -> Hit:
        """One article by its id, with what stands around it and is linked with it."""
        row = self._rows.get(id)
        if row is None:
            raise SearchError(f"no article in force of the law '{self.index.law.name}' has the id '{id}'")
        return Hit(self.index.law.articles[id], 0.0, 1, "", around=self._around(row))

    def _scored(self, question: str, legs: Sequence[str] | None) -> Scored:
        held = self.index.legs
        asked = held if legs is None else tuple(legs)
        check_legs(asked, held)
        return self._scorer.score(question, tuple(leg for leg in held if leg in asked))

    def _found(self, named: NamedArticles, scored: Scored, k: int, filters: Filters) -> list[_Found]:
        """Scores fall from one to the next."""
        may = self._allowed(filters) if filters else None
        first = [row for row in map(self._rows.__getitem__, named.ids) if may is None or may[row]]
        held = [mask for mask in (scored.possible, may) if mask is not None]
        best = best_rows(scored.total, k + len(first), np.all(held, axis=0) if held else None)
        above = float(scored.total[best[:1]].max(initial=0)) + len(first)
        found = [_Found(row, above - place, place + 1) for place, row in enumerate(first)]
        if not named.alone:
            found += [_Found(row, float(scored.total[row])) for row in best.tolist() if row not in first]
        return found[:k]

    def _reasons(self, found: _Found, scored: Scored) -> dict[str, Reason]:
        reasons = {} if found.named is None else {"reference": Reason(1.0, found.named)}
        for leg, scores in scored.legs.items():
            if leg == "dense" or scores[found.row] > 0:
                score = scores[found.row]
                reasons[leg] = Reason(float(score), int(np.count_nonzero(scores > score)) + 1)
        return reasons

    def _remembered(self, row: int, scored: Scored) -> Recalled | None:
        if scored.likeness is None or self.index.recollection is None:
            return None
        return self.index.recollection.nearest(row, scored.likeness)

    def _everyday(self, row: int, scored: Scored, asked: frozenset[str]) -> str | None:
        if self.index.everyday is None or "everyday" not in scored.legs or not scored.legs["everyday"][row] > 0:
            return None
        return self.index.everyday.nearest(row, asked)

    def _around(self, row: int) -> Around:
        law, ids, links = self.index.law, self.index.article_ids, self.index.links
        beside = [id for id in law.children(law.articles[ids[row]].parent) if id in law.articles]
        at = beside.index(ids[row])
        found = (beside[max(at - 1, 0) : at], beside[at + 1 : at + 2])
        linked = ([ids[other] for other in rows] for rows in (links.cites(row), links.cited_by(row)))
        return Around(*(tuple(law.articles[id] for id in some) for some in (*found, *linked)))

    @cached_property
    def _references(self) -> ReferenceReader:
        return ReferenceReader(self.index.law)

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {id: row for row, id in enumerate(self.index.article_ids)}


def check_question(question: str, k: int) -> None:
    if wrong := fault(question):
        raise SearchError(f"the question {wrong}")
    if k < 1:
        raise SearchError(f"k is {k}: ask for at least one article")
