"""BM25 over articles or questions, by bm25s: scores are computed when the index is built, a question only adds
them up.
"""

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexarbor.errors import SearchError
from lexarbor.search.analysis import analyser
from lexarbor.search.fields import QUESTIONS

_STRIP = 64
"""Numbers of which only the largest is looked at first, where a few out of many are sought."""


@dataclass(frozen=True, slots=True)
class BM25Settings:
    """How BM25 counts. `idf · tf / (tf + k1 (1 - b + b · length / mean length))`, with Lucene's idf."""

    k1: float = 1.5
    """How slowly repeated words stop adding to the score; 0 counts a word once."""
    b: float = 0.75
    """How much long texts are held back: 0 not at all, 1 in full proportion."""
    analyser: str = "stems"
    """`stems` or `lemmas`, see `lexarbor.search.analysis`."""

    def __post_init__(self) -> None:
        if not (self.k1 >= 0 and 0 <= self.b <= 1):
            raise SearchError(f"BM25 needs k1 ≥ 0 and 0 ≤ b ≤ 1, found k1 = {self.k1} and b = {self.b}")


_TUNED = {
    ("text", "stems"): (1.0, 0.7),
    ("headings+text", "stems"): (1.5, 0.5),
    ("text", "lemmas"): (1.0, 0.9),
    ("headings+text", "lemmas"): (2.0, 0.6),
}
"""k1 and b by field and analyser."""


def tuned(field: str, analyser: str = "stems") -> BM25Settings:
    """The best of the paper's grid on VosDroits train + dev by R@200 (`lexarbor tune bm25`, results/bm25-grid.md).

    A field with questions for which none was tuned takes those of the field without.
    """
    for name in (field, field.removesuffix(QUESTIONS)):
        if (name, analyser) in _TUNED:
            k1, b = _TUNED[name, analyser]
            return BM25Settings(k1, b, analyser)
    known = ", ".join(" by ".join(pair) for pair in _TUNED)
    raise SearchError(f"BM25 was not tuned for {field} by {analyser}: choose one of {known}")


class LexicalIndex:
    """Texts by row, scored against a question."""

    def __init__(self, weights: "TermWeights", settings: BM25Settings, rows: int) -> None:
        self.settings = settings
        self.rows = rows
        self._weights = weights
        self.analyse = analyser(settings.analyser, remember=False)

    @classmethod
    def build(cls, texts: Iterable[str], settings: BM25Settings = BM25Settings()) -> "LexicalIndex":
        vocabulary: dict[str, int] = {}
        analyse = analyser(settings.analyser)
        ids = [[vocabulary.setdefault(term, len(vocabulary)) for term in analyse(text)] for text in texts]
        if not vocabulary:
            raise SearchError(f"no word to index in {len(ids)} texts: is the corpus empty?")
        return cls(TermWeights.computed(ids, vocabulary, settings), settings, len(ids))

    def terms(self, question: str) -> list[str]:
        """The question's terms that some text holds."""
        return [term for term in self.analyse(question) if term in self._weights.columns]

    def scores(self, question: str) -> NDArray[np.float32]:
        """One score a row: 0 where no term of the question occurs."""
        return self.scores_of(self.terms(question))

    def scores_of(self, terms: Sequence[str]) -> NDArray[np.float32]:
        """As `scores`, for a question whose `terms` are known."""
        scores = np.zeros(self.rows, dtype=np.float32)
        for term in terms:
            np.add.at(scores, *self._weights.of(term))  # takes half as long as `scores[rows] += weights`
        return scores

    def save(self, folder: Path) -> None:
        self._weights.save(folder)

    @classmethod
    def load(cls, folder: Path, settings: BM25Settings, rows: int) -> "LexicalIndex":
        return cls(TermWeights.load(folder), settings, rows)


@dataclass(frozen=True, slots=True)
class TermWeights:
    """What each term adds to the score of each text that holds it: a sparse matrix, one column a term."""

    columns: Mapping[str, int]
    starts: NDArray[np.int64]
    """Where each column begins in the two that follow; one more at the end."""
    rows: NDArray[np.int32]
    weights: NDArray[np.float32]

    @classmethod
    def computed(cls, ids: list[list[int]], vocabulary: dict[str, int], settings: BM25Settings) -> "TermWeights":
        """By bm25s, imported only here: with scipy that takes a seventh of a second, which asking need not wait for."""
        import bm25s
        from bm25s.tokenization import Tokenized

        logging.getLogger("bm25s").setLevel(logging.WARNING)  # it sets itself to DEBUG, and tells of each step
        engine = bm25s.BM25(method="lucene", k1=settings.k1, b=settings.b)
        engine.index(Tokenized(ids=ids, vocab=vocabulary), show_progress=False, create_empty_token=False)
        made = engine.scores
        return cls(vocabulary, made["indptr"], made["indices"], made["data"])

    def of(self, term: str) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """The rows that hold a term, and its weight in each."""
        column = self.columns[term]
        here = slice(self.starts[column], self.starts[column + 1])
        return self.rows[here], self.weights[here]

    def save(self, folder: Path) -> None:
        folder.mkdir()
        (folder / "terms.json").write_text(json.dumps(list(self.columns), ensure_ascii=False), encoding="utf-8")
        for name in ("starts", "rows", "weights"):
            np.save(folder / f"{name}.npy", getattr(self, name), allow_pickle=False)

    @classmethod
    def load(cls, folder: Path) -> "TermWeights":
        terms = json.loads((folder / "terms.json").read_text(encoding="utf-8"))
        starts, rows, weights = (
            np.load(folder / f"{name}.npy", allow_pickle=False) for name in ("starts", "rows", "weights")
        )
        return cls({term: column for column, term in enumerate(terms)}, starts, rows, weights)


def top(scores: NDArray[np.float32], k: int) -> NDArray[np.intp]:
    """The rows of the k best positive scores, best first; rows with equal scores in the order of the rows."""
    return best_rows(scores, k, scores > 0)


def best_rows(scores: NDArray[np.float32], k: int, among: NDArray[np.bool_] | None = None) -> NDArray[np.intp]:
    """The rows of the k best scores, best first, equal ones in their order; `among` those that are marked alone."""
    rows = None if among is None else np.flatnonzero(among)
    held = scores if rows is None else scores[rows]
    places = np.flatnonzero(held >= below_best(held, k))
    best: NDArray[np.intp] = places[np.argsort(-held[places], kind="stable")][:k]
    return best if rows is None else rows[best]


def below_best(values: NDArray[np.float32], k: int) -> np.float32:
    """A number that the k largest reach, and few others: of the largest in each strip, the k-th. That takes a tenth of
    the time that to find the k-th of all would take.
    """
    strips = values[: len(values) // _STRIP * _STRIP].reshape(_STRIP, -1).max(axis=0)
    few = strips if len(strips) >= k else values
    return np.partition(few, len(few) - k)[len(few) - k] if len(few) >= k else np.float32(-np.inf)
