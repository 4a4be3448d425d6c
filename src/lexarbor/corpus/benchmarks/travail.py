"""Travail, a transfer test: questions that head sections of the Ministry of Labour's sheets. Never trained on.

Sheets of 2026 (`@socialgouv/fiches-travail-data` 4.1174.0); their articles are found in VosDroits' law by `cid`.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from lexarbor.corpus.benchmarks.splits import near_equal, title_words
from lexarbor.corpus.benchmarks.vosdroits import Labelled, Unresolved
from lexarbor.corpus.citations import LONGEST_RANGE
from lexarbor.corpus.questions import Question
from lexarbor.corpus.tarballs import read_members
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import CorpusError

SHEETS = "@socialgouv/fiches-travail-data@4.1174.0"
_MEMBER = "data/fiches-travail.json"


class AskedSection(NamedTuple):
    """A section whose title is a question, with the `cid`s of the articles it cites."""

    id: str
    sheet_title: str
    title: str
    cids: frozenset[str]


def read_sections(tarball: Path) -> list[AskedSection]:
    """Every section titled by a question that cites an article, in the order of the package."""
    members = dict(read_members(tarball, lambda name: name == _MEMBER))
    try:
        return [section for sheet in json.loads(members[_MEMBER]) for section in _asked(sheet)]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CorpusError(
            f"{tarball}, {_MEMBER}: not the Ministry's sheets ({type(error).__name__}: {error}); fetch it again"
        ) from error


def _asked(sheet: dict[str, Any]) -> Iterator[AskedSection]:
    for number, section in enumerate(sheet["sections"]):
        title = " ".join(section["title"].split())
        cids = frozenset(_cited(section["references"]))
        if "?" in title and cids:
            yield AskedSection(f"{sheet['pubId']}-{number}", " ".join(sheet["title"].split()), title, cids)


def _cited(references: Mapping[str, Any]) -> Iterator[str]:
    """The package writes a range out: its ends carry a text, what lies between does not; an end that was cited
    before is not repeated. Of a range that is too long only the ends are kept, as articles cited by themselves.
    """
    for code, cited in references.items():
        if not code.startswith("LEGITEXT"):  # the package could not tell the code
            continue
        known = [article for article in cited["articles"] if "cid" in article]
        for is_end, run in groupby(known, key=lambda article: "text" in article):
            cids = [article["cid"] for article in run]
            if is_end or len(cids) + 2 <= LONGEST_RANGE:
                yield from cids


def label(sections: Iterable[AskedSection], law: LawTree, known_titles: Collection[str]) -> Labelled:
    """Sections as questions with gold articles; those near a known title, by section or by sheet, are left out.

    A section's title often needs its sheet's ("Le travail de nuit : qui est concerné ?"), so both make the question.
    """
    by_cid = {article.cid: article.id for article in law.articles.values() if law.is_current(article)}
    known = [title_words(title) for title in known_titles]
    questions: dict[str, Question] = {}
    qrels: dict[str, frozenset[str]] = {}
    references = 0
    unresolved: list[Unresolved] = []
    for section in sections:
        text = f"{section.sheet_title} : {section.title}"
        gold = frozenset(by_cid[cid] for cid in section.cids if cid in by_cid)
        titles = [title_words(title) for title in (section.title, section.sheet_title, text)]
        if gold and not any(near_equal(title, other) for title in titles for other in known):
            questions[section.id] = Question(section.id, text, section.sheet_title)
            qrels[section.id] = gold
            references += len(section.cids)
            unresolved += (Unresolved(section.id, cid) for cid in sorted(section.cids) if cid not in by_cid)
    return Labelled(questions, qrels, references, tuple(unresolved))
