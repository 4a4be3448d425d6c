"""Whether a question's answer lies outside the law that is held: a chance, learned from real questions of both kinds.

Looked at are how near the question is to those that this law has answered and to those that it has not, how near its
best articles are and how far they stand out. `benchmarks/train_outside.py` learns the weights, and chooses the chance
from which it is said.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexarbor.errors import ModelError
from lexarbor.files import shipped_path
from lexarbor.search.lexical import below_best
from lexarbor.search.recollection import Floats, Recollection
from lexarbor.search.scoring import Scored

FORMAT = "lexarbor-outside/1"
SHIPPED = "outside.json"
FEATURES = (
    *(f"{how} {kind}" for kind in ("inside", "outside") for how in ("nearest", "few", "many")),
    *("dense best", "dense few", "dense many", "dense best apart", "dense many apart", "dense mean", "dense spread"),
    *("bm25 best", "bm25 best by word", "everyday best", "everyday best by word", "words"),
)
FEW, MANY, MANY_ARTICLES = 5, 20, 50
SAID_AT_MOST = 3
"""How many codes are named."""


@dataclass(frozen=True, slots=True)
class Outside:
    """That a question seems to be answered by other law than is held."""

    chance: float
    """That no article held answers it, 0 to 1."""
    codes: tuple[str, ...]
    """Codes not held that the nearest such questions are answered by, the likeliest first."""


@dataclass(frozen=True, slots=True)
class Judge:
    """A logistic regression over FEATURES."""

    weights: tuple[float, ...]
    bias: float
    threshold: float
    """The chance from which it is said."""

    def chance(self, features: Floats) -> float:
        return float(1 / (1 + np.exp(-(features @ np.array(self.weights, dtype=np.float32) + self.bias))))


def outside_features(scored: Scored, outside: NDArray[np.bool_]) -> Floats | None:
    """What is looked at; None where a leg that is needed was not asked. `outside` (m) marks the remembered questions
    whose answer is not in this law.
    """
    if scored.likeness is None or not {"dense", "bm25", "everyday"} <= scored.legs.keys():
        return None
    inside, beyond = scored.likeness[~outside], scored.likeness[outside]
    if len(inside) < MANY or len(beyond) < MANY:
        return None
    found: list[float] = []
    for near in (_best(inside, MANY), _best(beyond, MANY)):
        found += [near[0], near[:FEW].mean(), near.mean()]
    dense = scored.legs["dense"]
    best, mean, spread = _best(dense, MANY_ARTICLES), dense.mean(), max(float(dense.std()), 1e-6)
    found += [best[0], best[:FEW].mean(), best.mean(), (best[0] - mean) / spread, (best.mean() - mean) / spread]
    found += [mean, spread]
    words = len(scored.terms)
    for leg in ("bm25", "everyday"):
        most = float(scored.legs[leg].max(initial=0))
        found += [most, most / max(words, 1)]
    return np.array([*found, words], dtype=np.float32)


def _best(values: Floats, many: int) -> Floats:
    """The largest, from the first down."""
    found: Floats = np.sort(values[values >= below_best(values, many)])[::-1][:many]
    return found


def judged(scored: Scored, recollection: Recollection | None) -> Outside | None:
    """What is said of a question; None where it seems to be inside, or cannot be judged."""
    judge = shipped_judge()
    if judge is None or recollection is None:
        return None
    features = outside_features(scored, recollection.outside)
    if features is None or (chance := judge.chance(features)) < judge.threshold:
        return None
    assert scored.likeness is not None
    return Outside(chance, codes_of(recollection, scored.likeness))


def codes_of(recollection: Recollection, likeness: Floats) -> tuple[str, ...]:
    """The codes that the nearest outside questions name, by the sum of their sharpened likeness."""
    found: dict[str, float] = {}
    rows = np.flatnonzero(recollection.outside)
    for row in rows[np.argsort(-likeness[rows], kind="stable")][:FEW]:
        for code in recollection.questions[row].elsewhere or ():
            found[code] = found.get(code, 0.0) + max(float(likeness[row]), 0.0) ** 4
    return tuple(sorted(found, key=lambda code: -found[code])[:SAID_AT_MOST])


@cache
def shipped_judge() -> Judge | None:
    """The one that comes with Lexarbor; None where this copy has none."""
    path = shipped_path(SHIPPED)
    return read_judge(path) if path.is_file() else None


def read_judge(path: Path) -> Judge:
    try:
        told: Any = json.loads(path.read_text(encoding="utf-8"))
        if told["format"] != FORMAT:
            raise ModelError(f"{path}: its format is {told['format']!r}, this version reads {FORMAT!r}")
        weights = tuple(float(told["weights"][name]) for name in FEATURES)
        return Judge(weights, float(told["bias"]), float(told["threshold"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{path}: nothing that can be read ({error}); install Lexarbor again") from error
