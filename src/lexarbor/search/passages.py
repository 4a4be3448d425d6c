"""The part of an article that is nearest to a question."""

import re
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from lexarbor.search.analysis import WORD, Analyser

LONGEST = 320
"""Characters shown at the most."""
KEPT = 2000
"""Texts that stay taken apart: many questions are answered by the same few articles."""

_END = re.compile(r"[.;:\n](?:(?<=\n)\n*|(?<!\n)(?<!\b[A-Z]\.)(?<!\bart\.)\s+(?=[A-ZÀ-Ü0-9«\"-]))")
"""A sentence ends with its line, or before a capital or a number, unless the full stop is that of "L. 1234-9" or
"art. 5". One set of characters comes first: `re` looks for these several times as fast as for one pattern or another.
"""

Terms = tuple[str, ...]


class _Part(NamedTuple):
    """A sentence or a line."""

    text: str
    terms: tuple[Terms, ...]
    """Those of its pieces, each a tuple that all texts share."""


class Passages:
    """Finds in texts what they share with questions. Threads may share it."""

    def __init__(self, analyse: Analyser) -> None:
        self._terms = _TermsOfPieces(analyse)
        self._taken_apart = lru_cache(KEPT)(self._take_apart)

    def best(self, text: str, wanted: frozenset[str]) -> str:
        """The first sentence or line that shares the most terms with a question; the opening where none does."""

        def shared_by(part: _Part) -> int:
            return len(wanted.intersection(chain.from_iterable(part.terms)))

        parts = self._taken_apart(text)
        return shorten(max(parts, key=shared_by).text.strip()) if parts else ""

    def marks(self, passage: str, wanted: frozenset[str]) -> tuple[tuple[int, int], ...]:
        """Where the words of a passage stand that share a term with a question: start and end of each."""
        return tuple(word.span() for word in WORD.finditer(passage) if not wanted.isdisjoint(self._terms[word[0]]))

    def _take_apart(self, text: str) -> tuple[_Part, ...]:
        terms_of = self._terms.__getitem__
        return tuple(_Part(one, tuple(filter(None, map(terms_of, one.split())))) for one in sentences(text))


class _TermsOfPieces(dict[str, Terms]):
    """The terms of what stands between two spaces, such as "l'employeur,". To cut at spaces takes half as long as
    to look for words, and a law says the same pieces over and over: the default one has 80,000.
    """

    def __init__(self, analyse: Analyser) -> None:
        super().__init__()
        self._analyse = analyse

    def __missing__(self, piece: str) -> Terms:
        words = WORD.findall(piece.lower())
        self[piece] = found = tuple(chain.from_iterable(map(self._analyse, words)))
        return found


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
