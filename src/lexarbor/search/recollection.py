"""Question memory by vectors: what was cited for questions asked before that are near, in meaning, to one asked now.

It holds no text of the questions that ship, only their ids: a person can look the sheet up. Questions whose answer is
in codes that are not held stand beside the others; they answer nothing, and tell what lies outside.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lexarbor.errors import SearchError

Floats = NDArray[np.float32]

SHARPNESS = 20
"""The power that likeness is raised to before it is added up: the higher, the more the nearest few decide."""
QUESTIONS, VECTORS, LABELS = "questions.jsonl", "vectors.npy", "labels.npy"


@dataclass(frozen=True, slots=True)
class Remembered:
    """A question asked before."""

    id: str
    year: int | None = None
    """Of the sheet that it is the title of."""
    text: str = ""
    """Of one's own questions; those that ship have none."""
    elsewhere: tuple[str, ...] | None = None
    """Where its answer is not in this law: the codes that it is in, as far as they are named."""


class Recalled(NamedTuple):
    """A remembered question that an article answers."""

    question: Remembered
    likeness: float
    """To the question asked."""
    changed: bool
    """Whether the article's text is another now."""


class Recollection:
    """Questions by row, their vectors, and the articles that answer them."""

    def __init__(self, questions: Sequence[Remembered], vectors: Floats, labels: NDArray[np.int32], size: int) -> None:
        """`vectors` (m, d); `labels` (k, 3): a question, the row of an article, of `size`, that answers it, and 1 if
        the article's text has changed since.
        """
        if vectors.ndim != 2 or len(vectors) != len(questions) or labels.shape[1:] != (3,):
            raise SearchError(f"{len(questions)} remembered questions, vectors {vectors.shape}, labels {labels.shape}")
        for numbers, end in ((labels[:, 0], len(questions)), (labels[:, 1], size)):
            if len(numbers) and not 0 <= numbers.min() <= numbers.max() < end:
                raise SearchError(f"labels of remembered questions name rows that are not below {end}")
        self.questions = tuple(questions)
        self.vectors = vectors.astype(np.float16).astype(np.float32)  # as they are saved: an answer stays the same
        self.labels = labels
        self._labels_by_article = labels[np.argsort(labels[:, 1], kind="stable")]
        self._labels_from = np.searchsorted(self._labels_by_article[:, 1], np.arange(size + 1))
        """Where those of each article begin; one more at the end."""
        self._size = size
        self.outside = np.array([one.elsewhere is not None for one in questions], dtype=bool)

    @property
    def popularity(self) -> Floats:
        """(n) how many questions each article answers."""
        return np.bincount(self.labels[:, 1], minlength=self._size).astype(np.float32)

    def likeness(self, vector: Floats) -> Floats:
        """(m) of each question to one that is asked, 1 at the most."""
        vector = vector / max(float(np.linalg.norm(vector)), 1e-9)
        found: Floats = np.einsum("md,d->m", self.vectors, vector)  # too small for the threads of a matrix product
        return found

    def scores(self, likeness: Floats) -> Floats:
        """(n) for each article, the likeness of the questions that it answers, sharpened and added up."""
        weights = np.maximum(likeness, 0) ** SHARPNESS
        found = np.bincount(self.labels[:, 1], weights[self.labels[:, 0]], minlength=self._size)
        return found.astype(np.float32)

    def nearest(self, row: int, likeness: Floats) -> Recalled | None:
        """Of the questions that an article answers, the one nearest to what is asked."""
        begin, end = self._labels_from[row : row + 2]
        if begin == end:
            return None
        labels = self._labels_by_article[begin:end]
        question, _, changed = labels[np.argmax(likeness[labels[:, 0]])].tolist()
        return Recalled(self.questions[question], float(likeness[question]), bool(changed))

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        lines = (json.dumps(asdict(question)) for question in self.questions)
        (folder / QUESTIONS).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        np.save(folder / VECTORS, self.vectors.astype(np.float16))
        np.save(folder / LABELS, self.labels)

    @classmethod
    def load(cls, folder: Path, size: int) -> Self:
        lines = (folder / QUESTIONS).read_text(encoding="utf-8").splitlines()
        questions = [_remembered(**json.loads(line)) for line in lines]
        vectors = np.load(folder / VECTORS, allow_pickle=False).astype(np.float32)
        return cls(questions, vectors, np.load(folder / LABELS, allow_pickle=False), size)


def _remembered(id: str, year: int | None, text: str, elsewhere: list[str] | None) -> Remembered:
    return Remembered(id, year, text, None if elsewhere is None else tuple(elsewhere))
