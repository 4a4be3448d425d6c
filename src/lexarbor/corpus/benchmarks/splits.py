"""Which questions train, which choose, which test: drawn once, written down as ids.

Questions with near-equal titles stay in one split, so that a test question is never a train question in other words.
"""

import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from lexarbor.corpus.references import fold

SHARES = {"test": 0.20, "dev": 0.15}
"""What is left is train."""
SEED = 0
NEAR = 0.8
"""Token Jaccard from which two titles are near-equal."""
LARGEST_COMPONENT = 0.1
"""In the article-disjoint split, no knot of questions that share articles may hold more than this part of all."""

_FUNCTION_WORDS = frozenset(
    "a au aux avec ce d dans de des du en est et l la le les n ou par pour qu que s son un une".split()
)


class TitleWords(NamedTuple):
    """The words of a title without case and accents."""

    all: frozenset[str]
    content: frozenset[str]
    """Without function words; all words if nothing else remains."""


def title_words(title: str) -> TitleWords:
    words = frozenset(fold(title).split())
    return TitleWords(words, words - _FUNCTION_WORDS or words)


def near_equal(first: TitleWords, second: TitleWords) -> bool:
    """Near by all their words, or by those that carry content: "La période d'essai" is near "Période d'essai"."""
    return any(len(one & other) >= NEAR * len(one | other) for one, other in zip(first, second, strict=True))


def near_groups(titles: Mapping[str, str]) -> list[list[str]]:
    """Ids whose titles are near-equal, directly or through others, together; in the order of the ids."""
    words = {id: title_words(title) for id, title in titles.items()}
    near = (pair for pair in combinations(titles, 2) if near_equal(words[pair[0]], words[pair[1]]))
    return [sorted(knot) for knot in _components(titles, _ties(titles, near))]


def draw(titles: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The main split: 65 % train, 15 % dev, 20 % test, by group of near-equal titles."""
    return _deal(near_groups(titles), len(titles))


def draw_disjoint(titles: Mapping[str, str], gold: Mapping[str, Collection[str]]) -> dict[str, tuple[str, ...]]:
    """A second split in which no gold article of one part is gold in another.

    Questions are tied by shared gold articles. The question with the most ties is set aside until no knot is large;
    knots are dealt like groups; then each question set aside returns to the one part it touches, or stays out if it
    touches two.
    """
    groups = (*near_groups(titles), *_by_article(gold).values())
    ties = _ties(titles, (pair for group in groups for pair in combinations(group, 2)))
    aside: list[str] = []
    left = set(titles)
    while True:
        knots = _components(left, ties)
        largest = max(knots, key=len, default=[])
        if len(largest) <= max(1, LARGEST_COMPONENT * len(titles)):
            break
        most = max(largest, key=lambda id: (len(ties[id] & left), id))
        aside.append(most)
        left.remove(most)
    parts = {name: set(ids) for name, ids in _deal([sorted(knot) for knot in knots], len(left)).items()}
    for id in reversed(aside):
        touched = [name for name, ids in parts.items() if ties[id] & ids]
        if len(touched) <= 1:
            parts[touched[0] if touched else "train"].add(id)
    return {name: tuple(sorted(ids)) for name, ids in parts.items()}


def _deal(groups: Sequence[Sequence[str]], total: int) -> dict[str, tuple[str, ...]]:
    """Groups in random order to test and dev until each has its share; the rest to train."""
    shuffled = sorted(list(group) for group in groups)
    random.Random(SEED).shuffle(shuffled)
    parts: dict[str, list[str]] = {"train": [], "dev": [], "test": []}
    for group in shuffled:
        name = next(
            (name for name, share in SHARES.items() if len(parts[name]) + len(group) <= share * total),
            "train",
        )
        parts[name] += group
    return {name: tuple(sorted(ids)) for name, ids in parts.items()}


def _by_article(gold: Mapping[str, Collection[str]]) -> dict[str, list[str]]:
    questions: dict[str, list[str]] = {}
    for id in sorted(gold):
        for article in gold[id]:
            questions.setdefault(article, []).append(id)
    return questions


def _ties(ids: Iterable[str], pairs: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    """By id, those it is paired with."""
    ties: dict[str, set[str]] = {id: set() for id in ids}
    for first, second in pairs:
        ties[first].add(second)
        ties[second].add(first)
    return ties


def _components(ids: Iterable[str], ties: Mapping[str, set[str]]) -> list[list[str]]:
    left = set(ids)
    found: list[list[str]] = []
    for start in sorted(left):
        if start not in left:
            continue
        left.remove(start)
        knot, waiting = [], [start]
        while waiting:
            at = waiting.pop()
            knot.append(at)
            reached = ties[at] & left
            left -= reached
            waiting.extend(sorted(reached))
        found.append(knot)
    return found
