"""What is scored: a run (for each question, articles with scores) and judgements (its relevant articles).

Everything here is ids and numbers: this room never sees a text.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from math import isnan
from operator import itemgetter
from typing import NamedTuple, TypeAlias

from lexarbor.errors import EvaluationError


class ScoredArticle(NamedTuple):
    """One article of a ranking: the higher the score, the better."""

    article: str
    score: float


Run: TypeAlias = dict[str, list[ScoredArticle]]
"""Question id to its articles, as this room makes and returns them: best first."""

Rankings: TypeAlias = Mapping[str, Sequence[tuple[str, float]]]
"""Anything that can be read as a run, in any order within a question."""

Judgements: TypeAlias = Mapping[str, Set[str]]
"""Question id to the ids of its relevant articles, at least one each (TREC calls them qrels)."""


def order(scored: Iterable[tuple[str, float]]) -> list[ScoredArticle]:
    """Rank by score descending, then by article id ascending, so that equal scores have one order everywhere.

    trec_eval breaks ties by id *descending*: its figures differ from ours on runs with ties.
    An article twice in one ranking, or a score that is not a number, raises `EvaluationError`.
    """
    ranking = [ScoredArticle(article, float(score)) for article, score in scored]
    seen: set[str] = set()
    for article, score in ranking:
        if isnan(score):
            raise EvaluationError(f"the score of article {article!r} is not a number (NaN)")
        if article in seen:
            raise EvaluationError(f"article {article!r} is ranked twice; expected each article once")
        seen.add(article)
    # Two stable sorts on one key each: half the time of one sort on a pair.
    ranking.sort(key=itemgetter(0))
    ranking.sort(key=itemgetter(1), reverse=True)
    return ranking


def ranking_of(question: str, run: Rankings) -> list[ScoredArticle]:
    """Return one question's articles in order, none where the run lacks it; an error names the question."""
    try:
        return order(run.get(question, ()))
    except EvaluationError as error:
        raise EvaluationError(f"question {question!r}: {error}") from error


def gold_ranks(ranking: Iterable[ScoredArticle], gold: Set[str]) -> list[int]:
    """Return the ranks, from 1 and ascending, at which the relevant articles stand in an ordered ranking.

    With the number of relevant articles, this is all that a binary measure needs to know of a ranking.
    """
    return [rank for rank, (article, _) in enumerate(ranking, start=1) if article in gold]


def check_judgements(judgements: Judgements) -> None:
    """Raise `EvaluationError` where there is nothing to divide by: no question, or one without gold."""
    if not judgements:
        raise EvaluationError("no question has judgements: expected at least one question to score")
    for question, gold in judgements.items():
        if not gold:
            raise EvaluationError(
                f"question {question!r} has no relevant article: give it at least one or leave it out"
            )


def ranks_by_question(run: Rankings, judgements: Judgements) -> dict[str, list[int]]:
    """Return `gold_ranks` of every judged question, in the order of the judgements.

    A question missing from the run has no rank, and so scores 0; one in the run alone is ignored.
    """
    check_judgements(judgements)
    return {question: gold_ranks(ranking_of(question, run), gold) for question, gold in judgements.items()}
