"""A map of article vectors before and after the legislative graph encoder, and who their nearest are."""

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexarbor.corpus.law import Article
from lexarbor.corpus.packages import cache_folder
from lexarbor.errors import BenchmarkError, MissingExtraError
from lexarbor.evaluation import Table
from lexarbor.evaluation.drawings import point_map
from lexarbor.evaluation.tables import percent
from lexarbor.experiments.lab import Lab
from lexarbor.experiments.reports import Report
from lexarbor.experiments.systems import in_order
from lexarbor.graph.enrichment import enrich_law
from lexarbor.graph.shipped import open_shipped_graph
from lexarbor.text.corpus_vectors import kept_vectors
from lexarbor.text.shipped import open_shipped

MOST = 3000
"""Articles on the map."""
SEED = 42
NEAREST = 10
PERPLEXITY = 30.0
FEWEST = 5
"""Articles that a map can be made of."""
BLOCK = 512
"""Rows compared at once with all others."""

BEFORE, AFTER = "before the graph encoder", "after the graph encoder"

Vectors = NDArray[np.float32]
Points = NDArray[np.float32]
Ids = NDArray[np.int64]


class Togetherness(NamedTuple):
    """Of each article's nearest, the mean share that stands with it; and how like articles are."""

    code: float
    """In the same code."""
    section: float
    """Directly under the same heading."""
    like: float | None = None
    """The mean cosine of two articles under one heading."""
    unlike: float | None = None
    """The mean cosine of any two articles."""


def vector_map(lab: Lab) -> Report:
    """Articles by the shipped encoder and by the shipped graph encoder, projected by t-SNE."""
    check_projection()  # before the long work
    law = lab.benchmark.law
    articles = in_order(law)
    if len(articles) < FEWEST:
        raise BenchmarkError(f"the law '{law.name}' holds {len(articles)} articles: a map needs {FEWEST} or more")
    codes = np.unique([article.code for article in articles], return_inverse=True)[1]
    sections = np.unique([article.parent for article in articles], return_inverse=True)[1]
    found = {name: of_length_one(held) for name, held in _vectors(lab, articles).items()}
    near = min(NEAREST, len(articles) - 1)
    together = {name: togetherness(held, near, codes, sections) for name, held in found.items()}
    together |= {
        "drawn by chance": Togetherness(_by_chance(codes), _by_chance(sections)),
        "the most there can be": Togetherness(_at_most(codes, near), _at_most(sections, near)),
    }
    size = min(MOST, len(articles))
    drawn = np.sort(np.random.default_rng(SEED).permutation(len(articles))[:size])
    points = {name: project(held[drawn]) for name, held in found.items()}
    table = Table(
        f"Share of an article's {near} nearest that stand with it (%), {lab.name}, {len(articles)} articles",
        ["Vectors", "In the same code", "Under the same heading", "Cosine under one heading", "Cosine of any two"],
        [
            [name, percent(held.code), percent(held.section), _cosine(held.like), _cosine(held.unlike)]
            for name, held in together.items()
        ],
        [
            "Nearest by the cosine, among all articles; few stand under one heading, which bounds the second share. "
            "Cosines are means over all pairs."
        ],
    )
    before, after = together[BEFORE], together[AFTER]
    return Report(
        "Article vectors before and after the legislative graph encoder",
        [table],
        [
            f"{size} of {len(articles)} articles, drawn with a fixed seed, by the shipped text encoder and after the "
            "shipped graph encoder; t-SNE on vectors of length 1, each panel on its own. Of an article's "
            f"{near} nearest, {percent(before.section)}% stand under the same heading before, "
            f"{percent(after.section)}% after; two articles under one heading have a mean cosine of "
            f"{_cosine(before.like)} before, {_cosine(after.like)} after. The text encoder reads headings too.",
        ],
        {
            "": partial(
                point_map,
                {f"{name[0].upper()}{name[1:]}": held for name, held in points.items()},
                [law.codes[articles[row].code].title for row in drawn],
            )
        },
        {
            "seed": SEED,
            "articles": len(articles),
            "drawn": size,
            "perplexity": perplexity(size),
            "nearest": near,
            "shares": {name: shares._asdict() for name, shares in together.items()},
        },
    )


def _vectors(lab: Lab, articles: list[Article]) -> dict[str, Vectors]:
    """A row for each article. What is encoded is kept in Lexarbor's own cache, as for the systems `dsr` and `g-dsr`."""
    law, encoder = lab.benchmark.law, open_shipped()
    after = enrich_law(open_shipped_graph(), encoder, law, cache_folder() / "vectors", lab.on_step)
    if after.ids != tuple(article.id for article in articles):
        raise BenchmarkError(f"the graph of the law '{law.name}' has other articles than are drawn: read the law whole")
    return {BEFORE: kept_vectors(encoder, law, articles), AFTER: after.vectors}


def of_length_one(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    found: Vectors = vectors / np.maximum(lengths, np.finfo(np.float32).tiny)
    return found


def nearest(vectors: Vectors, near: int) -> Ids:
    """For each row the `near` others with the largest products (n, near), in no order."""
    found = np.empty((len(vectors), near), dtype=np.int64)
    for start in range(0, len(vectors), BLOCK):
        products = vectors[start : start + BLOCK] @ vectors.T
        own = np.arange(len(products))
        products[own, start + own] = -np.inf
        found[start : start + BLOCK] = np.argpartition(products, -near, axis=1)[:, -near:]
    return found


def togetherness(vectors: Vectors, near: int, codes: Ids, sections: Ids) -> Togetherness:
    """Of vectors of length 1; `near`: how many are nearest. A code and a section for each row."""
    found = nearest(vectors, near)
    code, section = (float((groups[found] == groups[:, None]).mean()) for groups in (codes, sections))
    return Togetherness(code, section, mean_cosine(vectors, sections), mean_cosine(vectors, np.zeros_like(codes)))


def mean_cosine(vectors: Vectors, groups: Ids) -> float | None:
    """Over all pairs of rows of one group, by the square of a group's sum: no pair is looked at. None without pairs."""
    order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups)
    sizes = sizes[sizes > 0]
    sums = np.add.reduceat(vectors[order].astype(np.float64), np.cumsum(sizes) - sizes)
    pairs = int((sizes * (sizes - 1)).sum())
    squares = float((vectors.astype(np.float64) ** 2).sum())
    return (float((sums**2).sum()) - squares) / pairs if pairs else None


def _cosine(value: float | None) -> str | None:
    return None if value is None else f"{value:.3f}"


def _by_chance(groups: Ids) -> float:
    """The share that others drawn at random would have."""
    others = np.bincount(groups)[groups] - 1
    return float((others / (len(groups) - 1)).mean())


def _at_most(groups: Ids, near: int) -> float:
    """The share where every group's members were each other's nearest."""
    others = np.bincount(groups)[groups] - 1
    return float((np.minimum(others, near) / near).mean())


def check_projection() -> None:
    """Refuse before a long computation what could only be refused after it."""
    try:
        import sklearn.manifold  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("the map of vectors", "figures") from error


def perplexity(size: int) -> float:
    """t-SNE's usual one, or a third of the others where points are few."""
    return min(PERPLEXITY, (size - 1) / 3)


def project(vectors: Vectors) -> Points:
    """Vectors (n, d) in the plane (n, 2) by t-SNE, from their two main directions on. On one thread: several add in an
    order of their own each time, and wait for each other where the machine has other work.
    """
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    tsne = TSNE(2, perplexity=perplexity(len(vectors)), init="pca", random_state=SEED)
    with threadpool_limits(1):
        found: Points = tsne.fit_transform(vectors)
    return found
