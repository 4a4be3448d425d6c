"""A whole law to vectors: the longest articles first, equal ones once, going on where an earlier run stopped."""

import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from lexarbor.corpus.law import Article
from lexarbor.corpus.packages import cache_folder
from lexarbor.corpus.tree import LawTree
from lexarbor.text.inputs import article_input
from lexarbor.text.settings import EncoderSettings
from lexarbor.text.vector_cache import VectorCache

if TYPE_CHECKING:
    from lexarbor.text.known_vectors import KnownVectors

logger = logging.getLogger(__name__)

BLOCK = 64
"""How many articles are encoded between two steps: under a second of work, all that a kill can lose."""

Vectors = NDArray[np.float32]
OnStep = Callable[[int, int], None]


class ArticleEncoder(Protocol):
    """What is asked of an encoder here; `lexarbor.text.encoder.TextEncoder` is one."""

    @property
    def settings(self) -> EncoderSettings: ...
    @property
    def dimension(self) -> int: ...
    @property
    def checksum(self) -> str: ...
    def encode_articles(self, inputs: Iterable[str]) -> Vectors: ...


class LawVectors(NamedTuple):
    """The articles of a law, each as one vector."""

    ids: tuple[str, ...]
    """In order: row i is the article ids[i]."""
    vectors: Vectors
    """(n, d)"""


def encode_law(
    encoder: ArticleEncoder,
    law: LawTree,
    cache: Path | None = None,
    on_step: OnStep = lambda done, total: None,
    known: "KnownVectors | None" = None,
) -> LawVectors:
    """Every article of a law, sorted by id, as the rows of an index are.

    `cache` is a folder where finished vectors are kept: a run that was killed goes on from there, and a later law
    pays only for what it changed. `on_step` hears how many articles are done, of how many; `known` is as in
    `encode_inputs`.
    """
    ids = tuple(sorted(law.articles))
    articles = (law.articles[id] for id in ids)
    inputs = [article_input(law.headings(article), article.text, encoder.settings) for article in articles]
    return LawVectors(ids, encode_inputs(encoder, inputs, cache, on_step, known))


def kept_vectors(encoder: ArticleEncoder, law: LawTree, articles: Sequence[Article]) -> Vectors:
    """Some articles of a law, in the order given; what is encoded is kept in Lexarbor's own cache."""
    logger.warning("encoding %d articles, where the cache does not have them: some minutes", len(articles))
    inputs = [article_input(law.headings(article), article.text, encoder.settings) for article in articles]
    return encode_inputs(encoder, inputs, cache_folder() / "vectors")


def encode_inputs(
    encoder: ArticleEncoder,
    inputs: Sequence[str],
    cache: Path | None = None,
    on_step: OnStep = lambda done, total: None,
    known: "KnownVectors | None" = None,
) -> Vectors:
    """Articles as `article_input` writes them to vectors (n, d), in the order given. Those that are `known` are taken
    before the cache is asked: what is found does not depend on what was encoded here before.
    """
    rows: dict[str, list[int]] = {}
    for row, text in enumerate(inputs):
        rows.setdefault(text, []).append(row)
    found = np.empty((len(inputs), encoder.dimension), dtype=np.float32)
    kept = None if cache is None else VectorCache(cache, encoder.checksum, encoder.dimension)
    for held in (known if known is not None and known.encoder == encoder.checksum else None, kept):
        if held is not None:
            for text, vector in held.read(rows).items():
                found[rows.pop(text)] = vector
    done = len(inputs) - sum(map(len, rows.values()))
    on_step(done, len(inputs))
    # the longest first: what needs most memory and time shows itself at once
    waiting = sorted(rows, key=len, reverse=True)
    with kept.adding() if kept is not None and waiting else nullcontext() as addition:
        for start in range(0, len(waiting), BLOCK):
            block = waiting[start : start + BLOCK]
            vectors = dict(zip(block, encoder.encode_articles(block), strict=True))
            if addition is not None:
                addition.write(vectors)
            for text, vector in vectors.items():
                found[rows[text]] = vector
                done += len(rows[text])
            on_step(done, len(inputs))
    return found
