"""The dense statute retriever as a system: the shipped encoder, articles by the cosine of their vectors."""

import logging
from collections.abc import Iterable

import numpy as np

from lexarbor.corpus.law import Article
from lexarbor.corpus.packages import cache_folder
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import SearchError
from lexarbor.evaluation import ScoredArticle
from lexarbor.text.corpus_vectors import encode_inputs
from lexarbor.text.encoder import TextEncoder
from lexarbor.text.inputs import article_input

logger = logging.getLogger(__name__)


class DenseRanker:
    """Ranks the articles of a law for a question. Vectors are kept in the cache: a law is encoded once."""

    def __init__(self, encoder: TextEncoder, law: LawTree, articles: list[Article], depth: int) -> None:
        """`articles` in the order of their ids: equal scores are ranked by it."""
        if encoder.settings.similarity == "euclidean":
            raise SearchError("articles are ranked here by the product of vectors: give an encoder of cosine or dot")
        logger.warning("encoding %d articles, where the cache does not have them: some minutes", len(articles))
        inputs = [article_input(law.headings(article), article.text, encoder.settings) for article in articles]
        self._vectors = encode_inputs(encoder, inputs, cache_folder() / "vectors")
        self._encoder = encoder
        self._articles, self._depth = articles, depth

    def __call__(self, question: str) -> Iterable[ScoredArticle]:
        scores = self._vectors @ self._encoder.encode_questions([question])[0]
        best = np.argsort(-scores, kind="stable")[: self._depth]
        return [ScoredArticle(self._articles[row].id, float(scores[row])) for row in best]
