"""The benchmarks by name: fetched, labelled, and split as written down."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import files

from lexarbor.corpus import packages
from lexarbor.corpus.benchmarks import sheets, travail, vosdroits
from lexarbor.corpus.benchmarks.vosdroits import Labelled, Unresolved
from lexarbor.corpus.bsard import read_bsard, read_bsard_questions
from lexarbor.corpus.questions import QuestionSet
from lexarbor.corpus.sources import TINY, read_law, read_tiny, read_tiny_questions
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import BenchmarkError

HUB_BSARD = "maastrichtlawtech/bsard"


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Questions over a law, and the questions that systems may learn from."""

    name: str
    law: LawTree
    questions: QuestionSet
    training: QuestionSet
    """Where supervision comes from: the questions themselves, or for a transfer test another benchmark's."""
    references: int = 0
    unresolved: tuple[Unresolved, ...] = ()


def written_split(name: str) -> dict[str, tuple[str, ...]]:
    """A split as committed: lists of question ids."""
    text = (files("lexarbor.corpus.benchmarks") / "ids" / f"{name}.json").read_text(encoding="utf-8")
    return {part: tuple(ids) for part, ids in json.loads(text).items()}


def _vosdroits(source: str | None, *, split: str = "vosdroits") -> Benchmark:
    law = read_law(source or vosdroits.LAW)
    sheet_list = sheets.read_sheets(packages.fetch(packages.package(vosdroits.SHEETS)))
    labelled = vosdroits.label(sheet_list, law)
    questions = _split(split, labelled)
    return Benchmark(split, law, questions, questions, labelled.references, labelled.unresolved)


def _travail(source: str | None) -> Benchmark:
    base = _vosdroits(source)
    sections = travail.read_sections(packages.fetch(packages.package(travail.SHEETS)))
    titles = [question.text for question in base.questions.questions.values()]
    labelled = travail.label(sections, base.law, titles)
    return replace(
        base,
        name="travail",
        questions=_split("travail", labelled),
        references=labelled.references,
        unresolved=labelled.unresolved,
    )


def _split(name: str, labelled: Labelled) -> QuestionSet:
    """The questions of the written split; those in no part of it are left out."""
    parts = written_split(name)
    written = {id for ids in parts.values() for id in ids}
    if lost := sorted(written - set(labelled.questions)):
        raise BenchmarkError(
            f"{name}: {len(lost)} questions of the written split were not found ({', '.join(lost[:3])}…): "
            "the packages are not those that the split was drawn from"
        )
    questions = {id: question for id, question in labelled.questions.items() if id in written}
    return QuestionSet(questions, {id: labelled.qrels[id] for id in questions}, parts, name)


def _bsard(source: str | None) -> Benchmark:
    law, questions = read_bsard(source or HUB_BSARD)
    return Benchmark("bsard", law, questions, questions)


def _bsard_questions(source: str | None) -> Benchmark:
    """BSARD's questions without its law: enough for the systems that read no article."""
    questions = read_bsard_questions(source or HUB_BSARD)
    return Benchmark("bsard-questions", LawTree((), name="bsard"), questions, questions)


def _tiny(source: str | None) -> Benchmark:
    if source is not None:
        raise BenchmarkError(f"the benchmark '{TINY}' has its own law: leave '{source}' out")
    law, questions = read_tiny(), read_tiny_questions()
    return Benchmark(TINY, law, questions, questions)


BENCHMARKS: dict[str, Callable[[str | None], Benchmark]] = {
    "vosdroits": _vosdroits,
    "vosdroits-disjoint": partial(_vosdroits, split="vosdroits-disjoint"),
    "travail": _travail,
    "bsard": _bsard,
    "bsard-questions": _bsard_questions,
    TINY: _tiny,
}


def build_benchmark(name: str, source: str | None = None) -> Benchmark:
    """A benchmark from its packages; `source` replaces where the law (for BSARD: law and questions) is read from."""
    if name not in BENCHMARKS:
        raise BenchmarkError(f"unknown benchmark '{name}': choose one of {', '.join(BENCHMARKS)}")
    return BENCHMARKS[name](source)
