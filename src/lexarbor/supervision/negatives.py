"""Hard negatives: articles that BM25 finds for a question and that nobody labelled for it (paper, "Negatives")."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice

from lexarbor.corpus.law import Article
from lexarbor.corpus.tree import LawTree
from lexarbor.search.fields import FIELDS
from lexarbor.search.lexical import LexicalIndex, top, tuned
from lexarbor.supervision.answers import known_answers, same_words
from lexarbor.supervision.folder import Pair

FIELD = "headings+text"
"""What BM25 reads of an article."""
DEPTH = 50
"""Negatives kept for a question, best first; training draws from them. The authors' code keeps ten."""


def with_bm25_negatives(
    pairs: Sequence[Pair],
    law: LawTree,
    articles: Sequence[Article],
    *,
    kinds: Iterable[str],
    depth: int = DEPTH,
    on_step: Callable[[int, int], None] = lambda done, total: None,
) -> Iterator[Pair]:
    """The same pairs; those of the named kinds with the articles that BM25 ranks best and that are not positives."""
    wanted = frozenset(kinds)
    index = LexicalIndex.build((FIELDS[FIELD](law, article) for article in articles), tuned(FIELD))
    known = known_answers(pairs)

    @cache  # sheets repeat each other's sentences
    def negatives(question: str) -> tuple[str, ...]:
        positives = known[same_words(question)]
        ranking = top(index.scores(question), depth + len(positives))
        found = (articles[row].id for row in ranking if articles[row].id not in positives)
        return tuple(islice(found, depth))

    for done, pair in enumerate(pairs, start=1):
        yield replace(pair, negatives=negatives(pair.question)) if pair.kind in wanted else pair
        on_step(done, len(pairs))
