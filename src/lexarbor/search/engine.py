"""`Engine`: a question in, an answer out."""

from pathlib import Path

from lexarbor.errors import SearchError
from lexarbor.search.analysis import analyser
from lexarbor.search.hits import Answer, Hit, Reason
from lexarbor.search.lexical import top
from lexarbor.search.passages import best_passage
from lexarbor.search.store import Index, open_index

LONGEST_QUESTION = 10_000
"""Characters. Longer texts are documents: nobody types them, and they match everything a little."""


class Engine:
    """Searches an index. Holds no state between questions, so threads may share it."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self._analyse = analyser(index.lexical.settings.analyser)

    @classmethod
    def open(cls, path: str | Path) -> "Engine":
        """An engine over the index in a folder, as `lexarbor index` builds it."""
        return cls(open_index(Path(path)))

    def search(self, question: str, k: int = 10) -> Answer:
        """The k articles nearest to a question, fewer if fewer share a word with it."""
        return Answer(question, tuple(self._hits(question, k)), self.index.law)

    def rank(self, question: str, k: int) -> list[tuple[str, float]]:
        """Ids and scores alone, best first: for runs of many questions."""
        check_question(question, k)
        scores = self.index.lexical.scores(question)
        return [(self.index.article_ids[row], float(scores[row])) for row in top(scores, k)]

    def _hits(self, question: str, k: int) -> list[Hit]:
        ranking = self.rank(question, k)
        terms = frozenset(self.index.lexical.terms(question))
        hits: list[Hit] = []
        for rank, (id, score) in enumerate(ranking, start=1):
            article = self.index.law.articles[id]
            passage = best_passage(article.text, terms, self._analyse)
            hits.append(Hit(article, score, rank, passage, {"bm25": Reason(score, rank)}))
        return hits


def check_question(question: str, k: int) -> None:
    if not question.strip():
        raise SearchError(
            "the question is empty: ask something like 'Puis-je être licencié pendant un arrêt maladie ?'"
        )
    if len(question) > LONGEST_QUESTION:
        raise SearchError(
            f"the question has {len(question):,} characters, more than {LONGEST_QUESTION:,}: ask it in a few sentences"
        )
    if any("\ud800" <= character <= "\udfff" for character in question):
        raise SearchError("the question holds bytes that are no text: type it, or save it, as UTF-8")
    if k < 1:
        raise SearchError(f"k is {k}: ask for at least one article")
