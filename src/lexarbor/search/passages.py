"""The part of an article that is nearest to a question."""

import re
from collections.abc import Collection

from lexarbor.search.analysis import WORD, Analyser

LONGEST = 320
"""Characters shown at the most."""

_SENTENCE = re.compile(r"(?<=[.;:])(?<!\b[A-Z]\.)(?<!\bart\.)\s+(?=[A-ZÀ-Ü0-9«\"-])|\n+")
"""A sentence ends before a capital or a number, unless the full stop is that of "L. 1234-9" or "art. 5"."""


def best_passage(text: str, terms: Collection[str], analyse: Analyser) -> str:
    """The first sentence or line that shares the most terms with a question; the opening where none does."""
    parts = sentences(text)
    if not parts:
        return ""
    wanted = set(terms)
    best = max(parts, key=lambda sentence: len(wanted.intersection(analyse(sentence))))
    return shorten(best.strip())


def marks(passage: str, terms: Collection[str], analyse: Analyser) -> tuple[tuple[int, int], ...]:
    """Where the words of a passage stand that share a term with a question: start and end of each."""
    wanted = set(terms)
    found = (word.span() for word in WORD.finditer(passage) if wanted.intersection(analyse(word[0])))
    return tuple(found)


def sentences(text: str) -> list[str]:
    """A text's sentences and lines, those without words left out."""
    return [part for part in _SENTENCE.split(text) if part.strip()]


def shorten(text: str) -> str:
    """Cut at a word, with an ellipsis, where a text is longer than can be shown."""
    if len(text) <= LONGEST:
        return text
    return text[: LONGEST - 2].rsplit(" ", 1)[0].rstrip(" ,;:") + " …"
