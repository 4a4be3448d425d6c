"""Strata: questions told apart by how much of their gold the system had already met as a positive.

A system that remembers shines on `seen` questions and is blind on `unseen` ones; one mean over both hides it.
`supervised` holds every article that was a positive in any supervision the system used (train, dev if a
ranker learned on it, question memory). So strata belong to a system as much as to a benchmark.
"""

from collections.abc import Iterable, Mapping, Set
from typing import Literal, TypeAlias

from lexarbor.errors import EvaluationError
from lexarbor.evaluation.rankings import Judgements, check_judgements
from lexarbor.evaluation.scores import Scores

Stratum: TypeAlias = Literal["all", "seen", "unseen", "partial"]

STRATA: tuple[Stratum, ...] = ("all", "seen", "unseen", "partial")
"""In the order of tables. `all` is the three others together."""


def stratum(gold: Set[str], supervised: Set[str]) -> Literal["seen", "unseen", "partial"]:
    """Return "seen" if all of the gold is supervised, "unseen" if none is, "partial" otherwise."""
    if not gold:
        raise EvaluationError("a question without a relevant article belongs to no stratum")
    if gold <= supervised:
        return "seen"
    return "unseen" if gold.isdisjoint(supervised) else "partial"


def strata(judgements: Judgements, supervised: Set[str]) -> dict[Stratum, list[str]]:
    """Return the question ids of each stratum, in the order of the judgements; a stratum may be empty."""
    check_judgements(judgements)
    groups: dict[Stratum, list[str]] = {name: [] for name in STRATA}
    for question, gold in judgements.items():
        groups["all"].append(question)
        groups[stratum(gold, supervised)].append(question)
    return groups


def means_by_stratum(scores: Scores, groups: Mapping[Stratum, Iterable[str]]) -> dict[Stratum, dict[str, float]]:
    """Return {stratum: {measure: mean}}; a stratum without questions has no means: {}."""
    selected = {name: scores.select(questions) for name, questions in groups.items()}
    return {name: part.means() if part.questions else {} for name, part in selected.items()}
