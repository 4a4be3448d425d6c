"""A question's words as the law spells them: accents that were left out, one slip in a word.

The encoder reads letters: "conge" is not "congé" to it, and "licencement" nothing it knows. A word is mended only where
neither the law nor people's everyday words know it, or, in a question without any accent, where the law knows it far
better with its accents.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Self

from lexarbor.errors import SearchError
from lexarbor.files import shipped_path
from lexarbor.search.analysis import fold_accents

WORD = re.compile(r"[^\W\d_]+")
SHORTEST = 4
"""Letters of a word that may be mended."""
SHORTEST_SLIP, SEEN = 5, 5
"""Letters of a word that may hold a slip, and how often the law must have what it is taken for."""
LONGEST_SLIP = 30
"""Letters: no word of the law is longer, and to look for slips in longer ones takes long."""
FAR_BETTER = 3
"""How many times as often the law must know a word with accents, where both spellings are words."""


def known_words() -> list[str]:
    """Words that a question may have though the law does not: `benchmarks/ship_words.py`."""
    path = shipped_path("known-words.txt")
    return path.read_text(encoding="utf-8").split() if path.is_file() else []


class Spelling:
    """The words of a law and how often it has them."""

    def __init__(self, counts: Mapping[str, int], everyday: Iterable[str] = ()) -> None:
        """`everyday`: words that are right though the law does not use them."""
        self.counts = counts
        self._known = frozenset(everyday)

    @classmethod
    def build(cls, texts: Iterable[str], everyday: Iterable[str] = ()) -> Self:
        """Of a law's texts; a word that stands there once may be a slip itself."""
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update(WORD.findall(text.lower()))
        return cls({word: count for word, count in sorted(counts.items()) if count > 1}, everyday)

    def mended(self, question: str) -> str:
        """The question with its words mended; the same string where there is nothing to mend."""
        composed = unicodedata.normalize("NFC", question)  # some keyboards write "é" as two characters
        bare = fold_accents(composed) == composed  # not `isascii`: telephones write ’ and « by themselves
        found = WORD.sub(lambda word: self._word(word[0], bare), composed)
        return question if found == composed else found

    def _word(self, word: str, bare: bool) -> str:
        """`bare`: whether the whole question is without accents."""
        small = word.lower()
        if len(word) < SHORTEST or (word.isupper() and len(word) < 7):  # an abbreviation
            return word
        better = self._accented(small, bare) or self._slip(small) or small
        if better == small:
            return word
        return better.capitalize() if word[0].isupper() else better

    def _accented(self, word: str, bare: bool) -> str | None:
        """The word with the accents that the law has on it."""
        spelt = self._by_letters.get(fold_accents(word), ())
        best = max(spelt, key=lambda one: self.counts[one], default=None)
        if best is None or best == word:
            return best
        if not self._is_known(word):
            return best
        if bare and self.counts[best] > FAR_BETTER * self.counts.get(word, 0) and word not in self._known:
            return best
        return word

    def _slip(self, word: str) -> str | None:
        """What an unknown word is if one slip was made in it: the word that the law has most often."""
        if not SHORTEST_SLIP <= len(word) <= LONGEST_SLIP or self._is_known(word):
            return None
        found = {one for near in _one_slip_away(word) for one in self._by_letters.get(fold_accents(near), ())}
        best = max(sorted(found), key=lambda one: self.counts[one], default=None)
        return best if best is not None and self.counts[best] >= SEEN else None

    def _is_known(self, word: str) -> bool:
        return word in self.counts or word in self._known

    @cached_property
    def _by_letters(self) -> dict[str, list[str]]:
        """The law's words by their bare letters."""
        found: dict[str, list[str]] = {}
        for word in self.counts:
            found.setdefault(fold_accents(word), []).append(word)
        return found

    def save(self, path: Path) -> None:
        lines = (f"{word}\t{count}\n" for word, count in self.counts.items())
        path.write_text("".join(lines), encoding="utf-8")

    @classmethod
    def load(cls, path: Path, everyday: Iterable[str] = ()) -> Self:
        try:
            rows = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
            return cls({word: int(count) for word, count in rows}, everyday)
        except ValueError as error:
            raise SearchError(f"{path}: no words that can be read ({error})") from error


def _one_slip_away(word: str) -> Iterator[str]:
    """A letter dropped, two swapped, one replaced or one put in; bare letters are enough, the law has the accents."""
    for place in range(len(word) + 1):
        before, after = word[:place], word[place:]
        if after:
            yield before + after[1:]
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]
        for letter in "abcdefghijklmnopqrstuvwxyz":
            if after:
                yield before + letter + after[1:]
            yield before + letter + after
