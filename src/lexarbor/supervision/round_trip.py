"""The round-trip filter: a synthetic question stays if a search for it brings back the article it was made from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexarbor.corpus.law import Article
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import TrainingError
from lexarbor.search.fields import FIELDS
from lexarbor.search.lexical import LexicalIndex, tuned
from lexarbor.supervision.answers import same_words
from lexarbor.supervision.negatives import FIELD
from lexarbor.supervision.synthetic import SyntheticQuestion

DEPTH = 10
BLOCK = 512
"""Questions scored at once: their scores of a law of 30,000 articles take 60 MB."""

Scores = NDArray[np.float32]
Scorer = Callable[[Sequence[str]], Scores]
"""Questions to their scores of all articles (questions, articles), higher for nearer; -inf where one is not found."""


@dataclass(frozen=True)
class RoundTrip:
    """What came back."""

    kept: list[SyntheticQuestion]
    ranks: dict[str, NDArray[np.intp]]
    """By leg, the rank of each question's article, from 1; 0 where it is not found or not in force."""
    report: dict[str, Any]


def bm25(law: LawTree, articles: Sequence[Article]) -> Scorer:
    """BM25 over headings and text, as negatives are found."""
    index = LexicalIndex.build((FIELDS[FIELD](law, article) for article in articles), tuned(FIELD))

    def score(questions: Sequence[str]) -> Scores:
        scores = np.stack([index.scores(question) for question in questions])
        scores[scores <= 0] = -np.inf  # an article that shares no word is not found, however few do
        return scores

    return score


def dense(law: LawTree, articles: Sequence[Article]) -> Scorer:
    """The shipped retriever; the law's vectors are kept in the cache."""
    from lexarbor.text.corpus_vectors import kept_vectors
    from lexarbor.text.shipped import open_shipped

    encoder = open_shipped()
    vectors = kept_vectors(encoder, law, articles)
    return lambda questions: encoder.encode_questions(questions) @ vectors.T


LEGS: dict[str, Callable[[LawTree, Sequence[Article]], Scorer]] = {"bm25": bm25, "dense": dense}


def round_trip(
    questions: Sequence[SyntheticQuestion],
    law: LawTree,
    *,
    depth: int = DEPTH,
    legs: Sequence[str] = tuple(LEGS),
    on_step: Callable[[int, int], None] = lambda done, total: None,
) -> RoundTrip:
    """The questions whose article is among the best `depth` of at least one leg; equal scores are ranked by id.

    `on_step` hears how many of the distinct questions are ranked, each leg counted.
    """
    chosen = check_legs(legs)
    if depth < 1:
        raise TrainingError(f"depth is {depth}: an article comes back among the best 1 or more")
    articles = law.current()
    row_of = {article.id: row for row, article in enumerate(articles)}
    asked: dict[str, list[int]] = {}
    for place, one in enumerate(questions):
        if one.article in row_of:
            asked.setdefault(same_words(one.question), []).append(place)
    if not asked:
        raise TrainingError(
            f"none of the {len(questions):,} questions is about an article in force of the law '{law.name}': "
            "name the law that they were made from"
        )
    ranks = {leg: np.zeros(len(questions), dtype=np.intp) for leg in chosen}
    alike = list(asked.values())
    for number, leg in enumerate(chosen):
        score = LEGS[leg](law, articles)
        for start in range(0, len(alike), BLOCK):
            block = alike[start : start + BLOCK]
            scores = score([questions[places[0]].question for places in block])
            for scored, places in zip(scores, block, strict=True):
                for place in places:
                    ranks[leg][place] = rank_of(scored, row_of[questions[place].article])
            on_step(number * len(alike) + start + len(block), len(chosen) * len(alike))
    found = {leg: (ranks[leg] >= 1) & (ranks[leg] <= depth) for leg in chosen}
    stays = np.logical_or.reduce(list(found.values()))
    report = {
        "asked": len(questions),
        "distinct": len(alike),
        "of_unknown_articles": len(questions) - sum(map(len, alike)),
        **_shares(found),
    }
    return RoundTrip([one for one, kept in zip(questions, stays, strict=True) if kept], ranks, report)


def check_legs(names: Sequence[str]) -> tuple[str, ...]:
    """The legs so named, each once; what is unknown is told."""
    if not names:
        raise TrainingError(f"no leg was named: choose among {', '.join(LEGS)}")
    for name in names:
        if name not in LEGS:
            raise TrainingError(f"unknown leg '{name}': choose among {', '.join(LEGS)}")
    return tuple(dict.fromkeys(names))


def rank_of(scores: Scores, row: int) -> int:
    """The place of one row among all, from 1, equal scores in the order of the rows; 0 for -inf. Nothing is sorted."""
    own = scores[row]
    if own == -np.inf:
        return 0
    return 1 + int(np.count_nonzero(scores > own)) + int(np.count_nonzero(scores[:row] == own))


def _shares(found: dict[str, NDArray[np.bool_]]) -> dict[str, Any]:
    """How many questions found their article, and by which legs."""
    legs = np.sum(list(found.values()), axis=0)
    return {
        "kept": int((legs > 0).sum()),
        "share": round(float((legs > 0).mean()), 4),
        "share_by": {leg: round(float(by.mean()), 4) for leg, by in found.items()},
        "by_every_leg": int((legs == len(found)).sum()),
        "by_one_alone": {leg: int((by & (legs == 1)).sum()) for leg, by in found.items()},
    }
