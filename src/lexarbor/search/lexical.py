"""BM25 over articles or questions, by bm25s: scores are computed when the index is built, a question only adds
them up.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import bm25s
import numpy as np
from bm25s.tokenization import Tokenized
from numpy.typing import NDArray

from lexarbor.errors import SearchError
from lexarbor.search.analysis import analyser


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


TUNED = {"text": BM25Settings(k1=0.5, b=0.8), "headings+text": BM25Settings(k1=1.0, b=0.8)}
"""The best of the paper's grid on VosDroits dev by R@200 (`lexarbor tune bm25`, results/bm25-grid.md), by field."""


class LexicalIndex:
    """Texts by row, scored against a question."""

    def __init__(self, engine: bm25s.BM25, settings: BM25Settings, rows: int) -> None:
        self.settings = settings
        self.rows = rows
        self._engine = engine
        self._analyse = analyser(settings.analyser)

    @classmethod
    def build(cls, texts: Iterable[str], settings: BM25Settings = BM25Settings()) -> "LexicalIndex":
        vocabulary: dict[str, int] = {}
        analyse = analyser(settings.analyser)
        ids = [[vocabulary.setdefault(term, len(vocabulary)) for term in analyse(text)] for text in texts]
        if not vocabulary:
            raise SearchError(f"no word to index in {len(ids)} texts: is the corpus empty?")
        engine = bm25s.BM25(method="lucene", k1=settings.k1, b=settings.b)
        engine.index(Tokenized(ids=ids, vocab=vocabulary), show_progress=False, create_empty_token=False)
        return cls(engine, settings, len(ids))

    def terms(self, question: str) -> list[str]:
        """The question's terms that some text holds."""
        return [term for term in self._analyse(question) if term in self._engine.vocab_dict]

    def scores(self, question: str) -> NDArray[np.float32]:
        """One score a row: 0 where no term of the question occurs."""
        terms = self.terms(question)
        if not terms:
            return np.zeros(self.rows, dtype=np.float32)
        scores: NDArray[np.float32] = self._engine.get_scores(terms)
        return scores

    def save(self, folder: Path) -> None:
        self._engine.save(folder, show_progress=False)

    @classmethod
    def load(cls, folder: Path, settings: BM25Settings, rows: int) -> "LexicalIndex":
        return cls(bm25s.BM25.load(folder), settings, rows)


def top(scores: NDArray[np.float32], k: int) -> NDArray[np.intp]:
    """The rows of the k best positive scores, best first; rows with equal scores in the order of the rows."""
    found = np.flatnonzero(scores > 0)
    if len(found) > k:
        threshold = np.partition(scores[found], len(found) - k)[len(found) - k]
        found = found[scores[found] >= threshold]
    best: NDArray[np.intp] = found[np.argsort(-scores[found], kind="stable")][:k]
    return best
