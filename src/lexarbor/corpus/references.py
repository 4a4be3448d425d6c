"""The one grammar of references to articles: "articles L. 1234-9 à L. 1234-11 du code du travail".

It reads the labels of practical sheets, the citations inside articles and what a user types. It knows how
references are written, not what exists: `lexarbor.corpus.citations` looks the articles up in a tree.

    reference  = [keyword] item (connector item)* [qualifier]
    item       = number | number "à" number
    number     = letters, dashed digits, suffix: L. 1234-9, R*421-2, LO 111-3, L. 351-7-1 A, R. 142-1-A, 1382, 5 bis
    qualifier  = "du présent code" | "du même code" | "du code de la sécurité sociale" | "de la loi n° …"

A qualifier governs the items it closes, back to the keyword or to the qualifier before. A sheet's label has its code in
front: "Code du travail : articles L1234-9 à L1234-11". The patterns are in `lexarbor.corpus.reference_patterns`.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum

from lexarbor.corpus import reference_patterns as patterns


class Home(Enum):
    """Where a reference points when it names no code."""

    HERE = "here"
    """The code that the sentence stands in."""
    ELSEWHERE = "elsewhere"
    """A law, decree, regulation or treaty: no code."""


@dataclass(frozen=True, slots=True)
class Reference:
    """One article, or a range of them, as cited at `start:end` of a text."""

    first: str
    """Canonical number, see `canonical`."""
    last: str
    """The same as `first` unless a range is cited."""
    code: str | Home
    """The words that name the code (more may follow them), or where else to look."""
    start: int
    end: int

    @property
    def is_range(self) -> bool:
        return self.first != self.last


def canonical(number: str) -> str:
    """One spelling per number: 'L. 1234-9' and 'L1234-9' agree; 'R*421-2' loses its star, 'L351-7-1 A' keeps its A.

    What is no number of that kind ("Annexe à l'article R211-4") comes back with its spaces folded.
    """
    folded = " ".join(number.split())
    match = patterns.CANONICAL.fullmatch(folded)
    if not match:
        return folded
    letters = re.sub(r"[ .]", "", match["letters"] or "").upper()
    digits = re.sub("[‐‑–]", "-", match["digits"])
    suffix = (word.lower() if len(word) > 1 else word.upper() for word in re.findall(r"\w+", match["suffix"]))
    return " ".join([letters + digits, *suffix])


NumberKey = tuple[str, int, tuple[int, ...], str]


def number_key(number: str) -> NumberKey:
    """Sorts canonical numbers as the law counts: L1234-9 before L1234-10, L1234-9-1 between them."""
    match = re.fullmatch(r"([A-Z]*)(\d{1,9})((?:[-.]\d{1,9})*+)(\D.*)?", number, re.DOTALL)
    if not match:
        return (number, -1, (), "")
    return (match[1], int(match[2]), tuple(int(part) for part in re.findall(r"\d+", match[3])), match[4] or "")


def fold(text: str) -> str:
    """Lower case without accents, punctuation to single spaces: for comparing names and titles."""
    plain = unicodedata.normalize("NFD", text.replace("œ", "oe").replace("Œ", "oe").lower())
    return " ".join(re.findall(r"[a-z0-9]+", "".join(c for c in plain if not unicodedata.combining(c))))


def parse(text: str) -> list[Reference]:
    """Every reference to articles in a text, in order."""
    return list(_Scanner(text).references())


def parse_label(label: str) -> list[Reference]:
    """A sheet's label, code first: "Code du travail : articles L1234-9 à L1234-11"; empty if no code leads it."""
    lead = patterns.LEADING_CODE.match(label)
    if not lead:
        return []
    code = lead["code"].strip()
    return [
        replace(reference, code=code) if reference.code is Home.HERE else reference
        for reference in _Scanner(label).references(lead.end())
    ]


class _Scanner:
    """Reads references from left to right and keeps in mind which code was named last, for 'du même code'."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.named: str | Home = Home.HERE

    def references(self, at: int = 0) -> Iterator[Reference]:
        while opening := patterns.OPENING.search(self.text, at):
            if opening["code"]:
                self._remember(opening.start())
                at = opening.end()
                continue
            found, at = self._list(opening.end(), after_keyword=opening["keyword"] is not None)
            yield from found

    def _remember(self, at: int) -> None:
        """The word "code" in running text, with a name behind it or 'présent' before it."""
        if before := patterns.NOT_NAMED.search(self.text, max(0, at - 12), at):
            if before["present"]:
                self.named = Home.HERE
        elif name := patterns.CODE.match(self.text, at):
            self.named = name[0]

    def _list(self, at: int, *, after_keyword: bool) -> tuple[list[Reference], int]:
        """The items from `at` on, each with the code that the qualifiers among them give it, and where they end."""
        found: list[Reference] = []
        pending: list[Reference] = []
        item = self._item(at, patterns.ANY_NUMBER if after_keyword else patterns.ALONE)
        while item:
            pending.append(item)
            at = item.end
            aside = patterns.ASIDE.match(self.text, at)
            behind = aside.end() if aside else at
            if qualifier := patterns.QUALIFIER.match(self.text, behind):
                found += _close(pending, self._home(qualifier))
                pending = []
                at = qualifier.start("title") if qualifier["title"] else qualifier.end()
                behind = self._end_of_code(qualifier)
            connector = patterns.LIST.match(self.text, behind)
            if not connector:
                break
            number = patterns.ALONE
            if after_keyword:
                number = patterns.ANY_NUMBER if patterns.PLAIN.fullmatch(connector[0]) else patterns.LETTERED
            item = self._item(connector.end(), number, _letters(item.last) if pending else "")
        return found + pending, at

    def _item(self, at: int, pattern: re.Pattern[str], letters: str = "") -> Reference | None:
        """The number or range at `at`; a dashed number without letters takes those of the item before it."""
        number = pattern.match(self.text, at)
        if not number:
            return None
        first = canonical(number[0])
        if number["letters"] is None and "-" in first:
            first = letters + first
        last, end = first, number.end()
        if to := patterns.RANGE.match(self.text, end):
            upper = patterns.ANY_NUMBER.match(self.text, to.end())
            if upper and (upper["letters"] or not _letters(first) or "-" in upper[0]):
                last, end = canonical(upper[0]), upper.end()
                if upper["letters"] is None:
                    last = _letters(first) + last
        return Reference(first, last, Home.HERE, number.start(), end)

    def _home(self, qualifier: re.Match[str]) -> str | Home:
        if qualifier["law"]:
            return Home.ELSEWHERE
        if qualifier["here"]:
            self.named = Home.HERE
        elif qualifier["code"]:
            self.named = qualifier["code"]
        return self.named

    def _end_of_code(self, qualifier: re.Match[str]) -> int:
        """Where a list may go on behind a qualifier: behind a code's name, at the first connector before a number."""
        if not qualifier["title"]:
            return qualifier.end()
        following = patterns.NEXT_IN_LIST.search(self.text, qualifier.start("title"), qualifier.end() + 8)
        return following.start() if following else qualifier.end()


def _close(items: Iterable[Reference], home: str | Home) -> list[Reference]:
    """Items with the code of their qualifier. A law or decree numbers its articles without letters: lettered items
    before it belong to the code at hand.
    """
    return [item if home is Home.ELSEWHERE and _letters(item.first) else replace(item, code=home) for item in items]


def _letters(number: str) -> str:
    """The LO of LO111-3; empty for a number without letters."""
    return number[: len(number) - len(number.lstrip("LORDA"))]
