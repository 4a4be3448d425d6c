"""Question memory: what was cited for the nearest questions asked before. It never reads an article."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lexarbor.corpus.questions import Question
from lexarbor.errors import SearchError
from lexarbor.search.lexical import BM25Settings, LexicalIndex, top


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """Chosen by cross-validation over train + dev of VosDroits and of BSARD: a middle that serves both, on a flat hill
    (results/memory-grid.md).
    """

    neighbours: int = 100
    """How many of the nearest questions lend their labels."""
    sharpness: float = 3.0
    """The power that likeness is raised to before it is added up: the higher, the more the nearest few decide."""
    descriptions: bool = True
    """Whether a remembered question is known by its description too, not by its text alone."""
    bm25: BM25Settings = BM25Settings()

    def __post_init__(self) -> None:
        if self.neighbours < 1 or not self.sharpness > 0:
            raise SearchError(
                f"a memory needs one neighbour or more and a sharpness above 0, found {self.neighbours} and "
                f"{self.sharpness}"
            )


class QuestionMemory:
    """Remembers questions and their gold articles; scores an article by the likeness of the questions that cite it."""

    def __init__(
        self,
        questions: Sequence[Question],
        gold: Mapping[str, frozenset[str]],
        settings: MemorySettings = MemorySettings(),
    ) -> None:
        self.settings = settings
        self._gold = [gold[question.id] for question in questions]
        self._index = LexicalIndex.build(
            (
                f"{question.text} {question.description}" if settings.descriptions else question.text
                for question in questions
            ),
            settings.bm25,
        )

    def scores(self, question: str) -> dict[str, float]:
        """By article id, the likeness of the nearest questions that cite it, sharpened and added up."""
        likeness = self._index.scores(question)
        found: dict[str, float] = {}
        for row in top(likeness, self.settings.neighbours):
            weight = float(likeness[row]) ** self.settings.sharpness
            for article in self._gold[row]:
                found[article] = found.get(article, 0.0) + weight
        return found
