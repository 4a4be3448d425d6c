"""`Engine`: a question in, an answer out."""

from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexarbor.corpus.questions import fault
from lexarbor.errors import SearchError
from lexarbor.search.filters import Filters, allowed
from lexarbor.search.hits import Answer, Around, Hit, Reason
from lexarbor.search.lexical import top
from lexarbor.search.named_articles import NamedArticles, ReferenceReader
from lexarbor.search.passages import best_passage, marks
from lexarbor.search.store import Index, open_index

KEPT_FILTERS = 64
"""Of how many filters an engine keeps in mind which articles they allow."""
EVERYWHERE = Filters()


class _Found(NamedTuple):
    """An article by its row."""

    row: int
    score: float
    reasons: dict[str, Reason]


class Engine:
    """Searches an index. Threads may share it."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self._allowed = lru_cache(KEPT_FILTERS)(lambda filters: allowed(filters, index.law, index.article_ids))

    @classmethod
    def open(cls, path: str | Path) -> "Engine":
        """An engine over the index in a folder, as `lexarbor index` builds it."""
        return cls(open_index(Path(path)))

    def search(self, question: str, k: int = 10, filters: Filters = EVERYWHERE, *, explain: bool = False) -> Answer:
        """The k articles nearest to a question, fewer if fewer share a word with it. Those that it names by their
        numbers come first; a question that is a reference and nothing else finds these alone.

        `explain`: with what stands around each and is linked with it.
        """
        check_question(question, k)
        named = self._references.read(question)
        terms = self.index.lexical.terms(question)
        hits = []
        for rank, (row, score, reasons) in enumerate(self._found(named, terms, k, filters), start=1):
            article = self.index.law.articles[self.index.article_ids[row]]
            passage = best_passage(article.text, terms, self.index.lexical.analyse)
            shared = marks(passage, terms, self.index.lexical.analyse)
            hits.append(Hit(article, score, rank, passage, reasons, shared, self._around(row) if explain else None))
        return Answer(question, tuple(hits), self.index.law, named.not_held)

    def rank(self, question: str, k: int, filters: Filters = EVERYWHERE) -> list[tuple[str, float]]:
        """Ids and scores alone, best first: for runs of many questions."""
        check_question(question, k)
        found = self._found(self._references.read(question), self.index.lexical.terms(question), k, filters)
        return [(self.index.article_ids[row], score) for row, score, _ in found]

    def _found(self, named: NamedArticles, terms: list[str], k: int, filters: Filters) -> list[_Found]:
        """Scores fall from one to the next."""
        scores = self._scores(terms, filters)
        first = [row for row in map(self._rows.__getitem__, named.ids) if not filters or self._allowed(filters)[row]]
        above = float(scores.max(initial=0)) + len(first)
        found = [_Found(row, above - place, {"reference": Reason(1.0, place + 1)}) for place, row in enumerate(first)]
        if not named.alone:
            for rank, row in enumerate(top(scores, k + len(first)).tolist(), start=1):
                if row not in first:
                    score = float(scores[row])
                    found.append(_Found(row, score, {"bm25": Reason(score, rank)}))
        return found[:k]

    def _scores(self, terms: list[str], filters: Filters) -> NDArray[np.float32]:
        scores = self.index.lexical.scores_of(terms)
        return np.where(self._allowed(filters), scores, np.float32(0)) if filters else scores

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
