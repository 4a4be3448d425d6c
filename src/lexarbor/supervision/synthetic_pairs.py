"""Synthetic questions as supervision: each with every article that it was made from."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from lexarbor.corpus.tree import LawTree
from lexarbor.errors import TrainingError
from lexarbor.files import sha256
from lexarbor.supervision.answers import same_words
from lexarbor.supervision.folder import Pair
from lexarbor.supervision.guard import LeakageGuard
from lexarbor.supervision.synthetic import SyntheticQuestion, read_synthetic

SYNTHETIC = "synthetic"
"""The kind of these pairs, and what the guard counts them under."""


@dataclass(frozen=True)
class SyntheticFile:
    """A file of questions, and what tells it from others."""

    name: str
    checksum: str
    questions: list[SyntheticQuestion]

    @classmethod
    def read(cls, path: Path) -> Self:
        questions = read_synthetic(path)
        return cls(path.name, sha256(path), questions)

    def check(self, law: LawTree) -> None:
        """Refuse a file that was made from another law."""
        held = {article.id for article in law.current()}
        if not any(question.article in held for question in self.questions):
            raise TrainingError(
                f"{self.name}: none of the {len(self.questions):,} questions is about an article in force of the law "
                f"'{law.name}': name the benchmark over the law that they were made from, or leave the file out"
            )

    def facts(self, articles: Collection[str]) -> dict[str, Any]:
        unknown = sum(question.article not in articles for question in self.questions)
        return {
            "file": self.name,
            "checksum": self.checksum,
            "questions": len(self.questions),
            "of_unknown_articles": unknown,
        }


def synthetic_pairs(
    questions: Iterable[SyntheticQuestion], articles: Collection[str], guard: LeakageGuard
) -> Iterator[Pair]:
    """Questions of articles that are held, if the guard admits them; the same words are one pair with all articles."""
    spelt: dict[str, str] = {}
    asked_of: dict[str, set[str]] = {}
    for one in questions:
        if one.article in articles:
            words = same_words(one.question)
            spelt.setdefault(words, one.question)
            asked_of.setdefault(words, set()).add(one.article)
    for words, question in spelt.items():
        if guard.admits(question, SYNTHETIC):
            yield Pair(SYNTHETIC, question, tuple(sorted(asked_of[words])))
