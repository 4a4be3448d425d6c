"""A walk down the table of contents, from the codes' titles to sections and their articles: a stand-in for the legal
experts of the paper's appendix "How important is the structure of law for statutory article retrieval?".

The experts choose a code, then follow the headings that speak of the question, read the articles of the section they
come to, and return from a dead end to the next best direction. So does the walk: of all divisions in sight, that is
those below one that was opened, it opens the best next, at whatever level. A heading is seen only when what stands
above it was opened: where a code or a title does not sound like the question, nothing below it is found.

Chosen on VosDroits dev by R@100: a heading is read below those above it, and its own score decides (29.4 %). By its own
title alone it is 18.0, by means of such titles along the path 26.4 at best, by the least of them 15.2. Articles do not
compete with headings: that finds more the later they are listed, until the whole law is read, which is no walk.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from lexarbor.corpus.law import Article
from lexarbor.corpus.packages import cache_folder
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import SearchError
from lexarbor.evaluation import ScoredArticle
from lexarbor.graph.legislation import section_headings
from lexarbor.search.fields import FIELDS
from lexarbor.search.lexical import LexicalIndex, tuned
from lexarbor.text.corpus_vectors import encode_inputs, kept_vectors
from lexarbor.text.encoder import TextEncoder
from lexarbor.text.inputs import article_input, with_headings
from lexarbor.text.shipped import open_shipped

logger = logging.getLogger(__name__)

Scores = NDArray[np.float32]
Reading = Callable[[str], tuple[Scores, Scores]]
"""A question's text to how much each heading, and each article, speaks of it."""


class Walk:
    """Ranks articles for a question in the order in which a reader comes to them."""

    def __init__(self, law: LawTree, articles: Sequence[Article], read: Reading, depth: int) -> None:
        """`articles` in the order of their ids; `read` scores them in this order, and headings in that of
        `section_headings`.
        """
        self._read, self._articles, self._depth = read, articles, depth
        divisions = {id: row for row, id in enumerate(section_headings(law))}
        held = {article.id: row for row, article in enumerate(articles)}
        self._codes = [divisions[id] for id in law.codes]
        self._below = [[divisions[under] for under in law.children(id) if under in divisions] for id in divisions]
        self._held = [sorted(held[under] for under in law.children(id) if under in held) for id in divisions]

    def __call__(self, question: str) -> Iterable[ScoredArticle]:
        met = self._walked(*self._read(question))
        return [ScoredArticle(self._articles[row].id, 1 / rank) for rank, row in enumerate(met, start=1)]

    def _walked(self, headings: Scores, articles: Scores) -> list[int]:
        """The rows of the articles that are met first; of equal headings the first in the law is opened first."""
        in_sight = [(-float(headings[row]), row) for row in self._codes]
        heapify(in_sight)
        met: dict[int, None] = {}  # a set that keeps the order: an article may stand in several places
        while in_sight and len(met) < self._depth:
            _, opened = heappop(in_sight)
            met |= dict.fromkeys(sorted(self._held[opened], key=lambda row: -articles[row]))
            for row in self._below[opened]:
                heappush(in_sight, (-float(headings[row]), row))
        return list(met)[: self._depth]


def walk(law: LawTree, articles: Sequence[Article], depth: int, encoder: TextEncoder | None = None) -> Walk:
    """By the cosine of the question with a heading, read below those above it, and with an article: by the shipped
    encoder unless another is given. Vectors are kept in the cache.
    """
    encoder = encoder or open_shipped()
    if encoder.settings.similarity == "euclidean":
        raise SearchError("headings are compared by the product of vectors: give an encoder of cosine or dot")
    inputs = [article_input(above, title, encoder.settings) for *above, title in section_headings(law).values()]
    logger.warning("encoding %d headings, where the cache does not have them", len(inputs))
    headings = encode_inputs(encoder, inputs, cache_folder() / "vectors")
    texts = kept_vectors(encoder, law, articles)

    def read(question: str) -> tuple[Scores, Scores]:
        vector = encoder.encode_questions([question])[0]
        return headings @ vector, texts @ vector

    return Walk(law, articles, read, depth)


def walk_words(law: LawTree, articles: Sequence[Article], depth: int) -> Walk:
    """By the words that the question shares with a heading and those above it, and with an article: BM25."""
    settings = tuned("headings+text")
    titles = (with_headings(above, title) for *above, title in section_headings(law).values())
    headings = LexicalIndex.build(titles, settings)
    texts = LexicalIndex.build((FIELDS["headings+text"](law, article) for article in articles), settings)
    return Walk(law, articles, lambda question: (headings.scores(question), texts.scores(question)), depth)
