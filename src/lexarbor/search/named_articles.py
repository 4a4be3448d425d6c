"""Articles that a question names by their numbers: "L1234-9", "art. L. 1234-9 du code du travail", lists, ranges."""

from collections.abc import Iterable
from typing import NamedTuple

from lexarbor.corpus.citations import ABBREVIATIONS
from lexarbor.corpus.reference_patterns import CANONICAL
from lexarbor.corpus.references import Reference, fold, parse
from lexarbor.corpus.tree import LawTree

_BETWEEN = frozenset("art arts article articles et ou a au aux du de des la le les l d code".split())
"""Words that belong to a reference, as `fold` spells them."""


class NamedArticles(NamedTuple):
    """What a question names."""

    ids: tuple[str, ...] = ()
    """The articles, in the order in which they are named."""
    not_held: tuple[str, ...] = ()
    """The words of references that name no article in force of this law: unknown, repealed, or of another code."""
    alone: bool = False
    """Whether the question asks for nothing else."""


class ReferenceReader:
    """Reads which articles of a law a question names. A number is never a part of another: L1234 is not L1234-9."""

    def __init__(self, law: LawTree) -> None:
        self._law = law
        titles = (*ABBREVIATIONS, *(fold(code.title) for code in law.codes.values()))
        self._words = _BETWEEN | {word for title in titles for word in title.split()}

    def read(self, question: str) -> NamedArticles:
        if (words := question.strip()) in self._law.articles:
            return NamedArticles((words,), alone=True)
        if CANONICAL.fullmatch(" ".join(words.split())) and (ids := self._law.resolver.named(words)):
            return NamedArticles(ids, alone=True)  # "l1234-9", which running text would not take for an article
        references = parse(question)
        found: dict[str, None] = {}
        not_held: dict[str, None] = {}
        for reference in references:
            if ids := self._articles(reference):
                found.update(dict.fromkeys(ids))
            else:
                not_held[_words_of(reference, question)] = None
        return NamedArticles(
            tuple(found), tuple(not_held), bool(references) and self._nothing_else(question, references)
        )

    def _articles(self, reference: Reference) -> tuple[str, ...]:
        """Those of the code that is named, or of every code."""
        found = (id for code in self._law.codes for id in self._law.resolver.resolve(reference, here=code))
        return tuple(dict.fromkeys(found))

    def _nothing_else(self, question: str, references: Iterable[Reference]) -> bool:
        rest = question
        for reference in sorted(references, key=lambda one: -one.start):
            rest = f"{rest[: reference.start]} {rest[reference.end :]}"
        return self._words.issuperset(fold(rest).split())


def _words_of(reference: Reference, question: str) -> str:
    written = question[reference.start : reference.end].strip()
    return f"{written} ({reference.code.strip()})" if isinstance(reference.code, str) else written
