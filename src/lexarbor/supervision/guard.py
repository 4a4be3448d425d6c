"""The leakage guard: nothing of a dev or test sheet, nor of a text with a near-equal title, is learned from."""

from collections import Counter
from collections.abc import Iterable

from lexarbor.corpus.benchmarks.splits import TitleWords, near_equal, title_words


class LeakageGuard:
    """Knows the titles of what is held out, and tells which others come near one of them."""

    def __init__(self, titles: Iterable[str], sheets: Iterable[str] = ()) -> None:
        self.sheets = frozenset(sheets)
        """Ids of the sheets that are held out."""
        self._held_out: list[TitleWords] = sorted({title_words(title) for title in titles}, key=repr)
        self._by_word: dict[str, list[int]] = {}
        for number, title in enumerate(self._held_out):
            for word in title.all:
                self._by_word.setdefault(word, []).append(number)
        self._known: dict[str, bool] = {}
        self.kept_out: Counter[str] = Counter()
        """How often something was refused, by kind."""

    def admits(self, title: str, kind: str) -> bool:
        """Whether a text so titled may be learned from; the refusal is counted under its kind."""
        admitted = not self.is_near(title)
        if not admitted:
            self.kept_out[kind] += 1
        return admitted

    def is_near(self, title: str) -> bool:
        """Whether a title is near-equal to one that is held out."""
        if title not in self._known:
            words = title_words(title)
            # near-equal titles share words: only those that do are compared
            candidates = {number for word in words.all for number in self._by_word.get(word, ())}
            self._known[title] = any(near_equal(words, self._held_out[number]) for number in candidates)
        return self._known[title]
