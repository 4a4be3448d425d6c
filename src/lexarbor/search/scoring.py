"""Each leg's scores of all articles for a question, and one score of them together."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lexarbor.errors import SearchError
from lexarbor.search.ranking import Facts, Ranker, fused, shipped_weights
from lexarbor.search.reading import Reader
from lexarbor.search.store import Index
from lexarbor.text.encoder import TextEncoder

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Scored:
    """What is known of a question's articles."""

    legs: dict[str, Floats]
    """By leg, (n)."""
    total: Floats
    """(n)"""
    possible: NDArray[np.bool_] | None
    """(n) those that some leg has found; None where the dense leg, which knows a score for all, is among them."""
    likeness: Floats | None
    """(m) of the remembered questions."""
    terms: tuple[str, ...]
    """Those of the question that some article holds."""
    read_as: str
    """The question as it was read: its spelling mended, everyday words explained."""


class Scorer:
    """Scores the rows of an index."""

    def __init__(self, index: Index, encoder: TextEncoder | None = None) -> None:
        self._index = index
        self._given = encoder
        self._rankers: Mapping[frozenset[str], Ranker] = {}
        if index.around is not None:
            popularity = None if index.recollection is None else index.recollection.popularity
            facts = {True: Facts(index.around, popularity), False: Facts(index.around)}
            learned = shipped_weights().items()
            self._rankers = {legs: Ranker(weights, facts["memory" in legs]) for legs, weights in learned}

    @cached_property
    def encoder(self) -> TextEncoder:
        if self._given is not None:
            return self._given
        if self._index.encoder is None:
            raise SearchError(
                "the index does not name the encoder of its vectors; build it again with `lexarbor index`"
            )
        return self._index.encoder.open()

    @cached_property
    def _reader(self) -> Reader:
        return Reader(self._index.spelling)

    def score(self, question: str, legs: tuple[str, ...]) -> Scored:
        """By all of some legs that the index has. A question without a word, in whatever script, finds nothing."""
        index = self._index
        question = self._reader.read(question)
        terms = index.lexical.terms(question)
        found: dict[str, Floats] = {}
        likeness = None
        if {"dense", "memory"} & set(legs) and any(character.isalnum() for character in question):
            vector = self.encoder.encode_questions([question])
            if "dense" in legs and index.dense is not None:
                found["dense"] = index.dense.scores(vector)[0]
            if "memory" in legs and index.recollection is not None:
                likeness = index.recollection.likeness(vector[0])
        if "bm25" in legs:
            found["bm25"] = index.lexical.scores_of(terms)
        if likeness is not None and index.recollection is not None:
            found["memory"] = index.recollection.scores(likeness)
        if "everyday" in legs and index.everyday is not None:
            found["everyday"] = index.everyday.scores(question)
        if not found:
            nothing = np.zeros(len(index.article_ids), dtype=np.float32)
            return Scored(found, nothing, nothing > 0, None, tuple(terms), question)
        possible = None if "dense" in found else np.any([scores > 0 for scores in found.values()], axis=0)
        return Scored(found, self._total(found), possible, likeness, tuple(terms), question)

    def _total(self, legs: dict[str, Floats]) -> Floats:
        if len(legs) == 1:
            return next(iter(legs.values()))
        ranker = self._rankers.get(frozenset(legs))
        return fused(legs) if ranker is None else ranker.scores(legs)
