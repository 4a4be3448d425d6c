"""The dense statute retriever as a system: the shipped encoder, articles by the cosine of their vectors."""

from collections.abc import Iterable

import numpy as np

from lexarbor.corpus.law import Article
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import SearchError
from lexarbor.evaluation import ScoredArticle
from lexarbor.text.corpus_vectors import kept_vectors
from lexarbor.text.encoder import TextEncoder


class DenseRanker:
    """Ranks the articles of a law for a question. Vectors are kept in the cache: a law is encoded once."""

    def __init__(self, encoder: TextEncoder, law: LawTree, articles: list[Article], depth: int) -> None:
        """`articles` in the order of their ids: equal scores are ranked by it."""
        if encoder.settings.similarity == "euclidean":
            raise SearchError("articles are ranked here by the product of vectors: give an encoder of cosine or dot")
        self._vectors = kept_vectors(encoder, law, articles)
        self._encoder = encoder
        self._articles, self._depth = articles, depth

    def __call__(self, question: str) -> Iterable[ScoredArticle]:
        scores = self._vectors @ self._encoder.encode_questions([question])[0]
        best = np.argsort(-scores, kind="stable")[: self._depth]
        return [ScoredArticle(self._articles[row].id, float(scores[row])) for row in best]
