"""Outside questions: practical sheets whose every cited text is one that the law does not hold.

The right answer to them is "not in these codes". Half of them are for choosing when to say so, half for reporting how
often that is right.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from lexarbor.corpus import packages
from lexarbor.corpus.benchmarks import vosdroits
from lexarbor.corpus.benchmarks.sheets import Sheet, read_sheets
from lexarbor.corpus.benchmarks.splits import TitleWords, near_equal, near_groups, title_words
from lexarbor.corpus.citations import ReferenceResolver
from lexarbor.corpus.references import parse_label
from lexarbor.corpus.tree import LawTree

Half: TypeAlias = Literal["choose", "report"]

_SHEET = "F"
"""How the id of a sheet begins; that of a menu, whose title is a theme ("Transports") and no question, with an N."""
_CODE = re.compile(r"\bcode\b", re.I)
_LEADING_NAME = re.compile(
    r"\s*+(?P<name>(?:code|livre des procédures fiscales)\b[^:]*?)\s*+(?::|,\s*+annexe|-\s|\d|\barticles?\b|$)", re.I
)
"""The name of a code in front of a label, without its annexes and books. One of them is not called a code."""


@dataclass(frozen=True, slots=True)
class OutsideQuestion:
    """A question that the law held does not answer."""

    id: str
    text: str
    """The sheet's title, as in VosDroits."""
    codes: tuple[str, ...]
    """Codes not held that the sheet cites, in its order; none where it cites but laws, decrees, orders or treaties."""
    year: int | None
    """Of the sheet's last change."""
    split: Half


def read_outside_questions(law: LawTree) -> list[OutsideQuestion]:
    """The outside questions of VosDroits' own sheets, fetched once, then kept."""
    return outside_questions(read_sheets(packages.fetch(packages.package(vosdroits.SHEETS))), law)


def outside_questions(sheets: Iterable[Sheet], law: LawTree) -> list[OutsideQuestion]:
    """Sheets that cite texts, none of which is a code held or is said to apply one, in the order given.

    So no question of VosDroits is among them, nor is one under a title near-equal to that of a sheet that cites a code
    held. Outside questions with near-equal titles stay in one half.
    """
    resolver = ReferenceResolver(law)
    inside: list[TitleWords] = []
    others: list[Sheet] = []
    for sheet in sheets:
        if any(_names_held(label, resolver) for label in sheet.labels):
            inside.append(title_words(sheet.title))
        elif sheet.labels and sheet.id.startswith(_SHEET):
            others.append(sheet)
    outside = [sheet for sheet in others if not _is_near(title_words(sheet.title), inside)]
    groups = near_groups({sheet.id: sheet.title for sheet in outside})
    halves = {id: _half(group[0]) for group in groups for id in group}
    spelt = _spellings(Counter(name for sheet in outside for name in _code_names(sheet)))
    return [
        OutsideQuestion(sheet.id, sheet.title, _codes(sheet, spelt), sheet.year, halves[sheet.id]) for sheet in outside
    ]


def _names_held(label: str, resolver: ReferenceResolver) -> bool:
    """Whether a label cites a code held, as VosDroits reads it, or names one anywhere ("Arrêté pris en application de
    l'article R. 111-3 du code de la sécurité sociale").
    """
    named = any(resolver.code(label[word.start() :]) for word in _CODE.finditer(label))
    return named or any(resolver.code_of(reference) for reference in parse_label(label))


def _is_near(title: TitleWords, others: Iterable[TitleWords]) -> bool:
    return any(near_equal(title, other) for other in others)


def _half(id: str) -> Half:
    return "report" if hashlib.sha256(id.encode()).digest()[0] % 2 else "choose"


def _code_names(sheet: Sheet) -> list[str]:
    """As written, one for each label that a code leads."""
    return [name["name"] for label in sheet.labels if (name := _LEADING_NAME.match(label))]


def _codes(sheet: Sheet, spelt: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(spelt[name] for name in _code_names(sheet)))


def _spellings(names: Counter[str]) -> dict[str, str]:
    """By name of a code as written, its commonest spelling: sheets also write "Code du commerce"."""
    chosen: dict[str, TitleWords] = {}
    spelt: dict[str, str] = {}
    for name, _ in names.most_common():
        words = title_words(re.sub(r"s\b", "", name))
        spelt[name] = next((other for other, known in chosen.items() if near_equal(words, known)), name)
        chosen.setdefault(spelt[name], words)
    return spelt
