"""`Engine`: a question in, an answer out."""

from collections.abc import Sequence
from pathlib import Path

from lexarbor.corpus.questions import fault
from lexarbor.errors import SearchError
from lexarbor.search.hits import Answer, Hit, Reason
from lexarbor.search.lexical import top
from lexarbor.search.passages import best_passage
from lexarbor.search.store import Index, open_index


class Engine:
    """Searches an index. Holds no state between questions, so threads may share it."""

    def __init__(self, index: Index) -> None:
        self.index = index

    @classmethod
    def open(cls, path: str | Path) -> "Engine":
        """An engine over the index in a folder, as `lexarbor index` builds it."""
        return cls(open_index(Path(path)))

    def search(self, question: str, k: int = 10) -> Answer:
        """The k articles nearest to a question, fewer if fewer share a word with it."""
        check_question(question, k)
        terms = self.index.lexical.terms(question)
        return Answer(question, tuple(self._hits(terms, k)), self.index.law)

    def rank(self, question: str, k: int) -> list[tuple[str, float]]:
        """Ids and scores alone, best first: for runs of many questions."""
        check_question(question, k)
        return self._ranking(self.index.lexical.terms(question), k)

    def _ranking(self, terms: Sequence[str], k: int) -> list[tuple[str, float]]:
        scores = self.index.lexical.scores_of(terms)
        return [(self.index.article_ids[row], float(scores[row])) for row in top(scores, k)]

    def _hits(self, terms: Sequence[str], k: int) -> list[Hit]:
        hits: list[Hit] = []
        for rank, (id, score) in enumerate(self._ranking(terms, k), start=1):
            article = self.index.law.articles[id]
            passage = best_passage(article.text, terms, self.index.lexical.analyse)
            hits.append(Hit(article, score, rank, passage, {"bm25": Reason(score, rank)}))
        return hits


def check_question(question: str, k: int) -> None:
    if wrong := fault(question):
        raise SearchError(f"the question {wrong}")
    if k < 1:
        raise SearchError(f"k is {k}: ask for at least one article")
