"""Dense systems: articles ranked by the cosine of their vectors with the question's, by the shipped models; and the
whole engine, which has them as one leg.
"""

import logging
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from lexarbor.corpus.law import Article
from lexarbor.corpus.packages import cache_folder
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import SearchError
from lexarbor.evaluation import ScoredArticle
from lexarbor.graph.enrichment import enrich_law
from lexarbor.graph.shipped import open_shipped_graph
from lexarbor.search.building import make_index, shipped_models
from lexarbor.search.engine import Engine
from lexarbor.search.lexical import tuned
from lexarbor.search.store import Index
from lexarbor.text.corpus_vectors import kept_vectors
from lexarbor.text.encoder import TextEncoder
from lexarbor.text.shipped import open_shipped

logger = logging.getLogger(__name__)

Vectors = NDArray[np.float32]


class DenseRanker:
    """Ranks articles for a question by the product of their vectors."""

    def __init__(self, encoder: TextEncoder, vectors: Vectors, articles: list[Article], depth: int) -> None:
        """`articles` in the order of their ids, a row of `vectors` each: equal scores are ranked by it."""
        if encoder.settings.similarity == "euclidean":
            raise SearchError("articles are ranked here by the product of vectors: give an encoder of cosine or dot")
        self._encoder, self._vectors = encoder, vectors
        self._articles, self._depth = articles, depth

    def __call__(self, question: str) -> Iterable[ScoredArticle]:
        scores = self._vectors @ self._encoder.encode_questions([question])[0]
        best = np.argsort(-scores, kind="stable")[: self._depth]
        return [ScoredArticle(self._articles[row].id, float(scores[row])) for row in best]


def dsr(law: LawTree, articles: list[Article], depth: int) -> DenseRanker:
    """The shipped dense statute retriever. Vectors are kept in the cache: a law is encoded once."""
    encoder = open_shipped()
    return DenseRanker(encoder, kept_vectors(encoder, law, articles), articles, depth)


def g_dsr(law: LawTree, articles: list[Article], depth: int) -> DenseRanker:
    """The same retriever, its articles' vectors enriched by the shipped graph encoder."""
    encoder = open_shipped()
    logger.warning("encoding %d articles and their headings, where the cache does not have them", len(articles))
    found = enrich_law(open_shipped_graph(), encoder, law, cache_folder() / "vectors")
    if found.ids != tuple(article.id for article in articles):
        raise SearchError(f"the graph of the law '{law.name}' has other articles than are ranked: read the law whole")
    return DenseRanker(encoder, found.vectors, articles, depth)


def shipped_index(law: LawTree) -> tuple[Index, TextEncoder]:
    """What the engine that ships searches with: an index made of a law and not written, and its encoder."""
    models = shipped_models()
    logger.warning("indexing %d articles; those that the cache does not have are encoded", len(law))
    index = make_index(
        law, source=law.name, settings=tuned("headings+text"), models=models, cache=cache_folder() / "vectors"
    )
    return index, models.encoder


def hybrid(law: LawTree, depth: int, legs: tuple[str, ...] | None) -> Callable[[str], Iterable[ScoredArticle]]:
    """The engine, over an index that is not written."""
    index, encoder = shipped_index(law)
    engine = Engine(index, encoder=encoder)
    return lambda question: [ScoredArticle(*found) for found in engine.rank(question, depth, legs=legs)]
