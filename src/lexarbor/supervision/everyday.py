"""Questions in everyday words, written for this project: of train sheets, of sections of the law; and pairs as
people would type their questions.

A file of them is JSONL, with lines of two kinds:

    {"id": "F1234", "questions": ["…", "…"]}              as the train sheet F1234 might be asked for
    {"section": "LEGISCTA…", "questions": ["…", "…"]}     answered by the articles that stand right below a heading
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lexarbor.corpus.tree import LawTree
from lexarbor.errors import TrainingError
from lexarbor.supervision.disturbing import with_typo, without_accents
from lexarbor.supervision.folder import Pair
from lexarbor.supervision.guard import LeakageGuard

EVERYDAY, SECTION, DISTURBED = "everyday", "everyday_section", "disturbed"
"""Kinds of pairs."""
TYPED = ("gold", "description", "train_chapter", "headings", "sheet", "chapter", EVERYDAY, SECTION)
"""Kinds whose questions are also learned from as people type them."""


@dataclass(frozen=True, slots=True)
class EverydayQuestions:
    """Several ways to ask for one thing: for what a sheet tells, or for what stands under a heading."""

    questions: tuple[str, ...]
    sheet: str = ""
    section: str = ""


def read_everyday(path: Path) -> list[EverydayQuestions]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise TrainingError(f"{path}: cannot be read ({error}); give a JSONL file of everyday questions") from error
    return [_read(line, f"{path}, line {number}") for number, line in enumerate(lines, start=1) if line.strip()]


def _read(line: str, place: str) -> EverydayQuestions:
    try:
        told: Any = json.loads(line)
        questions = tuple(told["questions"])
        sheet, section = told.get("id", ""), told.get("section", "")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise TrainingError(f'{place}: expected {{"id" or "section", "questions": […]}} ({error})') from error
    if (
        bool(sheet) == bool(section)
        or not isinstance(told["questions"], list)
        or not all(isinstance(one, str) and one.strip() for one in (*questions, sheet or section))
    ):
        raise TrainingError(f'{place}: expected one of "id" and "section", and questions that are text')
    return EverydayQuestions(questions, sheet, section)


def everyday_pairs(
    held: Iterable[EverydayQuestions], gold: Mapping[str, frozenset[str]], law: LawTree, guard: LeakageGuard
) -> Iterator[Pair]:
    """Those of train sheets, by `gold`, with the sheet's articles; those of sections with what stands right below.
    Sheets that are not of train, and questions near one that is held out, are passed over.
    """
    below: dict[str, list[str]] = {}
    for article in law.current():
        below.setdefault(article.parent, []).append(article.id)
    for one in held:
        kind, answers = (EVERYDAY, gold.get(one.sheet, ())) if one.sheet else (SECTION, below.get(one.section, ()))
        for question in one.questions if answers else ():
            if guard.admits(question, kind):
                yield Pair(kind, question, tuple(sorted(answers)), source=one.sheet)


def disturbed_pairs(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """One more pair for each of some kinds: its question without accents, with a typo, or with both, in turn."""
    for number, pair in enumerate(pair for pair in pairs if pair.kind in TYPED):
        typed = pair.question if number % 3 == 0 else with_typo(pair.question, f"{number} {pair.question}")
        if number % 3 != 1:
            typed = without_accents(typed)
        if typed != pair.question:
            yield replace(pair, kind=DISTURBED, question=typed)
