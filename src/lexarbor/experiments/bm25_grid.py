"""BM25's two parameters, tried over the paper's grid (appendix "BM25 Hyperparameter Tuning").

Scoring all articles anew for each of 187 settings would take bm25s minutes; only the questions' own terms matter,
so their counts are gathered once and each setting is a few array operations. The scores are bm25s's (a test
compares them).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexarbor.corpus.benchmarks.catalogue import Benchmark
from lexarbor.errors import EvaluationError
from lexarbor.evaluation import MEASURES
from lexarbor.experiments.expansion import field_of
from lexarbor.experiments.systems import DEPTH, in_order
from lexarbor.search.analysis import analyser
from lexarbor.search.lexical import BM25Settings, top

K1 = tuple(step / 2 for step in range(17))
"""0 to 8 by 0.5."""
B = tuple(step / 10 for step in range(11))
"""0 to 1 by 0.1."""


class Grid(NamedTuple):
    """One figure for each setting: rows by k1, columns by b."""

    values: NDArray[np.float64]
    measure: str
    k1: tuple[float, ...] = K1
    b: tuple[float, ...] = B
    analyser: str = "stems"

    def best(self) -> BM25Settings:
        """The highest figure; of equals, the setting with the smallest k1, then b."""
        row, column = np.unravel_index(int(np.argmax(self.values)), self.values.shape)
        return BM25Settings(k1=self.k1[int(row)], b=self.b[int(column)], analyser=self.analyser)


class _Postings(NamedTuple):
    rows: NDArray[np.intp]
    counts: NDArray[np.float64]


class TermCounts:
    """How often each term that some question uses stands in each text."""

    def __init__(self, texts: Iterable[Sequence[str]], wanted: frozenset[str]) -> None:
        found: dict[str, list[tuple[int, int]]] = {term: [] for term in wanted}
        lengths: list[int] = []
        for row, terms in enumerate(texts):
            lengths.append(len(terms))
            for term, count in Counter(terms).items():
                if term in found:
                    found[term].append((row, count))
        self.lengths = np.array(lengths, dtype=np.float64)
        self._postings = {
            term: _Postings(
                np.array([row for row, _ in places], dtype=np.intp),
                np.array([count for _, count in places], dtype=np.float64),
            )
            for term, places in found.items()
            if places
        }

    def scores(self, terms: Iterable[str], k1: float, b: float) -> NDArray[np.float32]:
        """BM25 with Lucene's idf, as bm25s computes it: see `BM25Settings`."""
        total = len(self.lengths)
        damping = k1 * (1 - b + b * self.lengths / self.lengths.mean())
        scores = np.zeros(total)
        for term in terms:
            if term in self._postings:
                rows, counts = self._postings[term]
                idf = np.log(1 + (total - len(rows) + 0.5) / (len(rows) + 0.5))
                scores[rows] += idf * counts / (counts + damping[rows])
        return scores.astype(np.float32)


def tune_bm25(
    benchmark: Benchmark,
    field: str,
    *,
    split: str = "dev",
    measure: str = "recall@200",
    analysis: str = "stems",
    k1: Sequence[float] = K1,
    b: Sequence[float] = B,
    questions: Path | None = None,
    on_step: Callable[[int, int], None] = lambda done, total: None,
) -> Grid:
    """A figure for every pair of k1 and b; the paper chose by R@200. `split` may join several: "train+dev". `questions`
    names the file that an expanded field takes its questions from, unless it is the shipped one.
    """
    if measure not in MEASURES:
        raise EvaluationError(f"unknown measure '{measure}': choose one of {', '.join(MEASURES)}")
    analyse = analyser(analysis)
    gold = benchmark.questions.gold(split.split("+"))
    articles = in_order(benchmark.law)
    rows = {article.id: row for row, article in enumerate(articles)}
    asked = [
        (analyse(benchmark.questions.questions[id].text), np.array([rows[article] for article in relevant]))
        for id, relevant in gold.items()
    ]
    words = field_of(field, benchmark.law, questions)
    counts = TermCounts(
        (analyse(words(benchmark.law, article)) for article in articles),
        frozenset(term for terms, _ in asked for term in terms),
    )
    values = np.zeros((len(k1), len(b)))
    for step, (row, column) in enumerate(np.ndindex(*values.shape), start=1):
        for terms, relevant in asked:
            ranking = top(counts.scores(terms, k1[row], b[column]), DEPTH)
            ranks = (np.flatnonzero(np.isin(ranking, relevant)) + 1).tolist()
            values[row, column] += MEASURES[measure].score(ranks, len(relevant)) / len(asked)
        on_step(step, values.size)
    return Grid(values, measure, tuple(k1), tuple(b), analysis)
