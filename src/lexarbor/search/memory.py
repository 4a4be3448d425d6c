"""Question memory: what was cited for the nearest questions asked before. It never reads an article."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lexarbor.corpus.questions import Question
from lexarbor.search.lexical import BM25Settings, LexicalIndex, top


@dataclass(frozen=True, slots=True)
class MemorySettings:
    neighbours: int = 10
    """How many of the nearest questions lend their labels."""
    descriptions: bool = True
    """Whether a remembered question is known by its description too, not by its text alone."""
    bm25: BM25Settings = BM25Settings()


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
        """By article id, the sum of the likeness of the nearest questions that cite it."""
        likeness = self._index.scores(question)
        found: dict[str, float] = {}
        for row in top(likeness, self.settings.neighbours):
            for article in self._gold[row]:
                found[article] = found.get(article, 0.0) + float(likeness[row])
        return found
