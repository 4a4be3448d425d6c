"""The part of an article that is nearest to a question."""

import re
from collections.abc import Callable, Collection
from functools import lru_cache
from sys import intern

from lexarbor.search.analysis import WORD

LONGEST = 320
"""Characters shown at the most."""
KEPT = 1000
"""Texts that stay taken apart: many questions are answered by the same few articles."""

_END = re.compile(r"[.;:](?<!\b[A-Z]\.)(?<!\bart\.)\s+(?=[A-ZÀ-Ü0-9«\"-])|\n+")
"""A sentence ends before a capital or a number, unless the full stop is that of "L. 1234-9" or "art. 5"."""


class WantedTerms(dict[str, frozenset[str]]):
    """The terms of a question that a word, in small letters, shares: looked for once, as a question's hits have most of
    their words in common.
    """

    def __init__(self, terms: Collection[str], terms_of: Callable[[str], frozenset[str]]) -> None:
        """`terms_of` gives all terms of a word."""
        super().__init__()
        self._wanted = frozenset(terms)
        self._terms_of = terms_of

    def __missing__(self, word: str) -> frozenset[str]:
        self[word] = self._wanted & self._terms_of(word)
        return self[word]


def best_passage(text: str, wanted: WantedTerms) -> str:
    """The first sentence or line that shares the most terms with a question; the opening where none does."""

    def shared_by(part: tuple[str, frozenset[str]]) -> int:
        return len(frozenset().union(*(terms for word in part[1] if (terms := wanted[word]))))

    parts = _taken_apart(text)
    return shorten(max(parts, key=shared_by)[0].strip()) if parts else ""


@lru_cache(KEPT)
def _taken_apart(text: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """A text's sentences, each with its words in small letters."""
    return tuple((part, frozenset(map(intern, WORD.findall(part.lower())))) for part in sentences(text))


def marks(passage: str, wanted: WantedTerms) -> tuple[tuple[int, int], ...]:
    """Where the words of a passage stand that share a term with a question: start and end of each."""
    return tuple(word.span() for word in WORD.finditer(passage) if wanted[word[0].lower()])


def sentences(text: str) -> list[str]:
    """A text's sentences and lines, those without words left out."""
    parts, begin = [], 0
    for end in _END.finditer(text):
        parts.append(text[begin : end.start() + (end[0][0] != "\n")])  # with its full stop
        begin = end.end()
    return [part for part in (*parts, text[begin:]) if part.strip()]


def shorten(text: str) -> str:
    """Cut at a word, with an ellipsis, where a text is longer than can be shown."""
    if len(text) <= LONGEST:
        return text
    return text[: LONGEST - 2].rsplit(" ", 1)[0].rstrip(" ,;:") + " …"
