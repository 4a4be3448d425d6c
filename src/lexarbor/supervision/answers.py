"""What is known to answer a question, whichever pairs say so: never a negative of it."""

from collections import defaultdict
from collections.abc import Iterable

from lexarbor.supervision.folder import Pair


def same_words(question: str) -> str:
    """The same for questions that differ in case and spaces alone."""
    return " ".join(question.casefold().split())


def known_answers(pairs: Iterable[Pair]) -> dict[str, set[str]]:
    """By a question's words, the ids of all passages that some pair knows to answer it."""
    known: dict[str, set[str]] = defaultdict(set)
    for pair in pairs:
        known[same_words(pair.question)].update(pair.positives)
    return known
