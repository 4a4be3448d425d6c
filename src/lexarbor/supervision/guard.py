"""The leakage guard: nothing of a dev or test sheet is learned from, nor of a sheet, chapter or agreement
under a near-equal title; nor does a pair ask for one. The law itself is read whole."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from lexarbor.corpus.benchmarks.splits import NEAR, TitleWords, near_equal, title_words


class LeakageGuard:
    """Knows the titles of what is held out, and tells which others come near one of them."""

    def __init__(self, titles: Iterable[str], sheets: Iterable[str] = ()) -> None:
        self.sheets = frozenset(sheets)
        """Ids of the sheets that are held out."""
        self.kept_out: Counter[str] = Counter()
        """How often something was refused, by kind."""
        self._holding: defaultdict[str, set[TitleWords]] = defaultdict(set)
        """By word, the titles held out that hold it."""
        self._known: dict[str, bool] = {}
        for words in map(title_words, titles):
            for word in words.all:
                self._holding[word].add(words)

    def admits(self, title: str, kind: str) -> bool:
        """Whether a text so titled may be learned from; the refusal is counted under its kind."""
        return self.admits_under((title,), kind)

    def admits_under(self, headings: Sequence[str], kind: str) -> bool:
        """Whether a text under such headings may be learned from: each is looked at by itself, and those that stand
        one below the other as one ("Rupture conventionnelle", "Collective").
        """
        ends = range(1, len(headings) + 1)
        runs = (" : ".join(headings[first:end]) for end in ends for first in range(end))
        admitted = not any(map(self.is_near, runs))
        if not admitted:
            self.kept_out[kind] += 1
        return admitted

    def is_near(self, title: str) -> bool:
        """Whether a title is near-equal to one that is held out; one without words is near none."""
        if title not in self._known:
            words = title_words(title)
            self._known[title] = any(near_equal(words, other) for other in self._candidates(words))
        return self._known[title]

    def _candidates(self, title: TitleWords) -> set[TitleWords]:
        """All that can be near, and few others. By either rule, near-equal titles share at least NEAR of the words of
        each: of any more than the rest of them, one is shared. The rarest lead to the fewest titles.
        """
        found: set[TitleWords] = set()
        for words in title:
            rarest_first = sorted(words, key=lambda word: len(self._holding.get(word, ())))
            missing = len(words) - math.ceil(NEAR * len(words))
            for word in rarest_first[: missing + 1]:
                found |= self._holding.get(word, set())
        return found
