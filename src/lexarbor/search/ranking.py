"""One score for each article from those of the legs: a weighted sum of features, learned from out-of-fold scores.

Each leg (dense, BM25, question memory, everyday questions) is brought to one scale and looked at from several sides:
the article itself, its section, what stands above, and for BM25 what cites it and what it cites. Beside them stand a
few facts of the article that no question changes. `benchmarks/train_ranker.py` learns the weights; where none were
learned for the legs at hand, ranks are fused.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexarbor.errors import ModelError, SearchError
from lexarbor.files import shipped_path
from lexarbor.search.surroundings import Group, Surroundings

Floats = NDArray[np.float32]

FORMAT = "lexarbor-ranker/1"
SHIPPED = "ranker.json"
LEGS = ("dense", "bm25", "memory", "everyday")
_LATE = 60
"""Reciprocal rank fusion: how little the first ranks differ."""
_FUSED = 1000
"""How far down the ranks of a leg are fused."""


class Facts(NamedTuple):
    """What is known of the rows before a question is asked."""

    around: Surroundings
    popularity: Floats | None = None
    """(n) how many remembered questions each article answers, where there is a memory."""


def scaled(leg: str, scores: Floats) -> Floats:
    """A leg's scores on a scale that is alike for all questions."""
    if leg == "dense":
        apart: Floats = scores - scores.mean()
        return apart / np.float32(max(float(scores.std()), 1e-6))
    return scores / np.float32(max(float(scores.max(initial=0)), 1e-9))


def features(legs: Mapping[str, Floats], facts: Facts) -> Iterator[tuple[str, Floats]]:
    """Name and values (n) of each feature that depends on the question."""
    for leg, scores in legs.items():
        values = scaled(leg, scores)
        for name, side in _sides(leg, values, facts.around):
            yield name, side()
        for how in _means(leg):
            yield f"{leg} {how}", _group(how, facts.around).mean(values)


def _sides(leg: str, values: Floats, around: Surroundings) -> Iterator[tuple[str, Callable[[], Floats]]]:
    """All of a leg's features that are no mean, to be looked at where they count."""
    yield leg, lambda: values
    if leg == "everyday":  # its scores are of sections
        yield f"{leg} above best", lambda: around.above.best(values)
        return
    yield f"{leg} section best", lambda: around.section.best(values)
    if leg == "bm25":  # the dense leg has heard citations already, and memory gains nothing by them
        yield f"{leg} citing", lambda: around.citing(values)
        yield f"{leg} cited", lambda: around.cited(values)
    if leg == "memory":
        yield f"{leg} root", lambda: np.sqrt(values)


def _means(leg: str) -> tuple[str, ...]:
    """The means of a leg that are features."""
    return ("above mean",) if leg == "everyday" else ("section mean", "above mean")


def _group(how: str, around: Surroundings) -> Group:
    """The rows that a mean is taken over."""
    return around.section if how == "section mean" else around.above


def standing_features(facts: Facts) -> Iterator[tuple[str, Floats]]:
    """Those that no question changes."""
    around = facts.around
    yield "section size", np.log(around.section.sizes)
    yield "length", np.log1p(around.lengths)
    if facts.popularity is not None:
        yield "popularity", np.log1p(facts.popularity)
        yield "popularity section mean", around.section.mean(facts.popularity)


class Ranker:
    """Weights of features, and what they make of an index's rows."""

    def __init__(self, weights: Mapping[str, float], facts: Facts) -> None:
        self._weights = {name: np.float32(weight) for name, weight in weights.items()}
        self._facts = facts

    def scores(self, legs: Mapping[str, Floats]) -> Floats:
        """(n)"""
        around = self._facts.around
        found = self._standing.copy()
        pooled: dict[str, Floats] = {}
        for leg, scores in legs.items():
            values = scaled(leg, scores)
            for name, side in _sides(leg, values, around):
                if weight := self._weights[name]:
                    found += weight * side()
            for how in _means(leg):
                pooled[how] = pooled.get(how, np.float32(0)) + self._weights[f"{leg} {how}"] * values
        for how, summed in pooled.items():  # the mean of a weighted sum is the weighted sum of means, and takes less
            found += _group(how, around).mean(summed)
        return found

    @cached_property
    def _standing(self) -> Floats:
        found = np.zeros_like(self._facts.around.lengths)
        for name, values in standing_features(self._facts):
            found += self._weights[name] * values
        return found


def fused(legs: Mapping[str, Floats]) -> Floats:
    """Reciprocal rank fusion (n): what needs no weights."""
    found: Floats = np.zeros(len(next(iter(legs.values()))), dtype=np.float32)
    for leg, scores in legs.items():
        few = min(_FUSED, len(scores))
        best = np.argpartition(-scores, few - 1)[:few]
        if leg != "dense":  # 0 is nothing found
            best = best[scores[best] > 0]
        best = best[np.lexsort((best, -scores[best]))]
        found[best] += 1 / (_LATE + 1 + np.arange(len(best), dtype=np.float32))
    return found


def read_weights(path: Path) -> dict[frozenset[str], dict[str, float]]:
    """Learned weights by the legs they are for."""
    try:
        told: Any = json.loads(path.read_text(encoding="utf-8"))
        if told["format"] != FORMAT:
            raise ModelError(f"{path}: its format is {told['format']!r}, this version reads {FORMAT!r}")
        found = {
            frozenset(one["legs"]): {str(k): float(v) for k, v in one["weights"].items()} for one in told["rankers"]
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{path}: no ranker that can be read ({error}); install Lexarbor again") from error
    return found


def shipped_weights() -> dict[frozenset[str], dict[str, float]]:
    """Those that come with Lexarbor; none where this copy has none."""
    path = shipped_path(SHIPPED)
    return read_weights(path) if path.is_file() else {}


def check_legs(asked: tuple[str, ...], held: tuple[str, ...]) -> None:
    """Refuse legs that an index does not have, or none at all."""
    for leg in asked:
        if leg not in LEGS:
            raise SearchError(f"unknown leg '{leg}': choose among {', '.join(LEGS)}")
        if leg not in held:
            raise SearchError(
                f"this index has no leg '{leg}', it has {', '.join(held)}: build it again with `lexarbor index`"
            )
    if not asked:
        raise SearchError(f"no leg was named: choose among {', '.join(held)}")
