"""The part of an article that is nearest to a question."""

import re
from collections.abc import Callable, Collection
from functools import lru_cache

from lexarbor.search.analysis import WORD, Analyser

LONGEST = 320
"""Characters shown at the most."""

_SENTENCE = re.compile(r"(?<=[.;:])(?<!\b[A-Z]\.)(?<!\bart\.)\s+(?=[A-ZÀ-Ü0-9«\"-])|\n+")
"""A sentence ends before a capital or a number, unless the full stop is that of "L. 1234-9" or "art. 5"."""

Wanted = Callable[[str], frozenset[str]]
"""The terms of a question that a word, in small letters, shares."""


def wanted_words(terms: Collection[str], analyse: Analyser) -> Wanted:
    """What is looked for in the words of an article. A question's hits share most of their words: each is looked at
    once.
    """
    wanted = frozenset(terms)

    @lru_cache(None)
    def shared(word: str) -> frozenset[str]:
        return wanted.intersection(analyse(word))

    return shared


def best_passage(text: str, wanted: Wanted) -> str:
    """The first sentence or line that shares the most terms with a question; the opening where none does."""
    parts = sentences(text)
    if not parts:
        return ""
    best = max(parts, key=lambda sentence: _shared(sentence, wanted))
    return shorten(best.strip())


def _shared(sentence: str, wanted: Wanted) -> int:
    """How many terms a sentence shares."""
    return len(frozenset().union(*map(wanted, WORD.findall(sentence.lower()))))


def marks(passage: str, wanted: Wanted) -> tuple[tuple[int, int], ...]:
    """Where the words of a passage stand that share a term with a question: start and end of each."""
    return tuple(word.span() for word in WORD.finditer(passage) if wanted(word[0].lower()))


def sentences(text: str) -> list[str]:
    """A text's sentences and lines, those without words left out."""
    return [part for part in _SENTENCE.split(text) if part.strip()]


def shorten(text: str) -> str:
    """Cut at a word, with an ellipsis, where a text is longer than can be shown."""
    if len(text) <= LONGEST:
        return text
    return text[: LONGEST - 2].rsplit(" ", 1)[0].rstrip(" ,;:") + " …"
