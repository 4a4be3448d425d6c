"""The part of an article that is nearest to a question."""

import re
from collections.abc import Callable, Collection

from lexarbor.search.analysis import WORD

LONGEST = 320
"""Characters shown at the most."""

_SENTENCE = re.compile(r"(?<=[.;:])(?<!\b[A-Z]\.)(?<!\bart\.)\s+(?=[A-ZÀ-Ü0-9«\"-])|\n+")
"""A sentence ends before a capital or a number, unless the full stop is that of "L. 1234-9" or "art. 5"."""

Wanted = Callable[[str], frozenset[str]]
"""The terms of a question that a word, in small letters, shares."""


def wanted_words(terms: Collection[str], terms_of: Callable[[str], frozenset[str]]) -> Wanted:
    """What is looked for in the words of an article; `terms_of` gives all terms of a word."""
    wanted = frozenset(terms)
    found: dict[str, frozenset[str]] = {}  # a question's hits share most of their words

    def shared(word: str) -> frozenset[str]:
        known = found.get(word)
        if known is None:
            known = found[word] = wanted & terms_of(word)
        return known

    return shared


def best_passage(text: str, wanted: Wanted) -> str:
    """The first sentence or line that shares the most terms with a question; the opening where none does."""
    parts = sentences(text)
    if not parts:
        return ""
    # each word of the text once; of a sentence then only those that share a term
    terms = {word: shared for word in set(WORD.findall(text.lower())) if (shared := wanted(word))}

    def shared_by(sentence: str) -> int:
        words = terms.keys() & WORD.findall(sentence.lower())
        return len(frozenset().union(*(terms[word] for word in words)))

    best = max(parts, key=shared_by) if terms else parts[0]
    return shorten(best.strip())


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
