"""Train sheets cut into parts: what a retriever that leaves one part out must not see, as if it were held out.

A retriever that has learned from a question ranks its articles far better than those of a question it meets for the
first time. Whatever learns from its vectors, as the graph encoder does, must learn from questions of the second sort:
from each part with a retriever that has left this part out.
"""

import hashlib
from collections.abc import Iterable, Sequence

from lexarbor.errors import TrainingError
from lexarbor.supervision.answers import same_words
from lexarbor.supervision.folder import Pair, Supervised
from lexarbor.supervision.guard import LeakageGuard


def parts_of(pairs: Iterable[Pair], folds: int) -> dict[str, int]:
    """By the source of a gold pair, the part it is in, from 1. The parts are of one size, and for the same sources the
    same in every run; other sources are cut otherwise.
    """
    sources = {pair.source for pair in pairs if pair.kind == "gold" and pair.source}
    if len(sources) < folds:
        raise TrainingError(
            f"the supervision folder names the sources of {len(sources)} gold pairs: too few to be cut into {folds} "
            "parts; ask for fewer, or write it again with `lexarbor train prepare`"
        )
    ordered = sorted(sources, key=lambda source: hashlib.sha256(source.encode()).digest())
    return {source: place % folds + 1 for place, source in enumerate(ordered)}


def left_out(folder: Supervised, fold: int, folds: int) -> frozenset[int]:
    """Numbers of the pairs that a run without this part must not learn from: those of its sheets, those that ask with
    the same words, wherever they come from (sheets repeat each other's sentences, and what is known to answer one
    answers the other), and those whose question or answer stands under a title near one of theirs.
    """
    if not fold:
        return frozenset()
    part = sources_of(folder.pairs, fold, folds)
    titles = [pair.question for pair in folder.pairs if pair.kind == "gold" and pair.source in part]
    guard = LeakageGuard(titles)
    words = {same_words(pair.question) for pair in folder.pairs if pair.source in part}
    near = {passage.id for passage in folder.passages if not guard.admits_under(passage.headings, "passages")}
    return frozenset(
        number
        for number, pair in enumerate(folder.pairs)
        if pair.source in part
        or same_words(pair.question) in words
        or guard.is_near(pair.question)
        or not near.isdisjoint(pair.positives)
    )


def sources_of(pairs: Sequence[Pair], fold: int, folds: int) -> frozenset[str]:
    """The sheets of one part."""
    return frozenset(source for source, part in parts_of(pairs, folds).items() if part == fold)
