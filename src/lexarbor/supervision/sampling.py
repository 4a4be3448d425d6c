"""How questions are asked of a generator: what it reads of an article, and how its words are drawn. No torch here."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy as np

from lexarbor.errors import TrainingError
from lexarbor.supervision.folder import Passage
from lexarbor.text.inputs import with_headings


@dataclass(frozen=True, slots=True)
class GeneratorSettings:
    """What a generator reads and how much it writes; by default as the paper's authors asked theirs."""

    prefix: str = ""
    """Words before each article that say what is wanted, where the model was trained with such."""
    headings: bool = False
    """Whether an article's headings stand above its text."""
    input_tokens: int = 512
    question_tokens: int = 60

    def __post_init__(self) -> None:
        for name in ("input_tokens", "question_tokens"):
            found = getattr(self, name)
            if not isinstance(found, int) or found < 3:
                raise TrainingError(f"{name} is {found!r}: a generator needs 3 tokens or more")
        if not isinstance(self.prefix, str) or not isinstance(self.headings, bool):
            raise TrainingError(
                f"prefix is {self.prefix!r}, headings {self.headings!r}: expected words, and true or false"
            )

    def read(self, article: Passage) -> str:
        """An article as the generator reads it."""
        return self.prefix + with_headings(article.headings if self.headings else (), article.text)


@dataclass(frozen=True, slots=True)
class Sampling:
    """How words are drawn: the paper's "Data augmentation", with the values of its authors' code."""

    questions: int = 5
    """Of each article."""
    top_k: int = 50
    """Only the likeliest so many tokens may come next; 0 lets all."""
    top_p: float = 0.95
    """Of those, only the likeliest that together have this probability."""
    temperature: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.questions < 1:
            raise TrainingError(f"questions is {self.questions}: ask for one or more of each article")
        if self.top_k < 0 or not 0 < self.top_p <= 1 or not 0 < self.temperature < inf or self.seed < 0:
            raise TrainingError(
                f"top_k is {self.top_k}, top_p {self.top_p}, temperature {self.temperature}, seed {self.seed}: "
                "expected top_k ≥ 0, 0 < top_p ≤ 1, temperature above 0 and finite, seed ≥ 0"
            )


class Sampled(NamedTuple):
    """A question that a generator wrote."""

    question: str
    score: float
    """Mean log-probability of a token under the generator, its end counted; nothing left out by top-k or top-p."""


def seed_of(numbers: Sequence[int]) -> int:
    """One number for a random generator from several: neighbouring ones do not give neighbouring seeds."""
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> np.uint64(1))
