"""The one grammar of references to articles: "articles L. 1234-9 à L. 1234-11 du code du travail".

It reads the labels of practical sheets, the citations inside articles and what a user types. It knows how
references are written, not what exists: `lexarbor.corpus.citations` looks the articles up in a tree.

    reference  = [keyword] item (connector item)* [qualifier]
    item       = number | number "à" number
    number     = letters, dashed digits, suffix: L. 1234-9, R*421-2, LO 111-3, L. 351-7-1 A, R. 142-1-A, 1382, 5 bis
    qualifier  = "du présent code" | "du même code" | "du code de la sécurité sociale" | "de la loi n° …"

A qualifier governs the items it closes, back to the keyword or to the qualifier before. A sheet's label has its code in
front: "Code du travail : articles L1234-9 à L1234-11".
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum


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
    """The words that name the code, or where else to look."""
    start: int
    end: int

    @property
    def is_range(self) -> bool:
        return self.first != self.last


_DASH = "[‐‑–-]"
_ORDINAL = r"(?:\ ?(?:bis|ter|quater|quinquies|sexies|septies|octies|nonies|decies)\b)?"
_CAPITAL = rf"(?:(?:\ |{_DASH})[A-Z](?![\w'’°]|\.\s?[a-z]))*"
"""The A of "L. 351-7-1 A" and "R. 142-1-A"; not the C of "L. 1234-9 C. trav."."""
_DIGITS = rf"\d+(?:\.\d+)*(?:{_DASH}\d+)*"
_LETTERS = r"L\.?\s?O|[LRDA]"
_LETTERED = rf"(?P<letters>{_LETTERS})\s?\.?\s?(?:\*\s?){{0,2}}\.?\s?(?P<digits>{_DIGITS}{_ORDINAL}{_CAPITAL})(?![\d°])"
_BARE = rf"(?P<bare>\d+(?:{_DASH}\d+)*(?:er\b)?{_ORDINAL}{_CAPITAL})(?![\w°/]|,\d|\s?[%€])"

_NUMBER = re.compile(_LETTERED)
_ANY_NUMBER = re.compile(rf"{_LETTERED}|{_BARE}")
_CANONICAL = re.compile(
    rf"\s*(?P<letters>{_LETTERS})?[\s.*]*(?P<digits>{_DIGITS}(?:er\b)?)(?P<suffix>{_ORDINAL}{_CAPITAL})\s*", re.I
)

_OPENING = re.compile(
    rf"""(?P<keyword>\b[Aa]rt(?:icles?\b|s?\.))\s*
    | (?<![\w‐‑–-])(?={_LETTERED})
    | (?P<naming>\b[Cc]ode\b)""",
    re.X,
)
_PART = r"(?:[IVX]+\b|\d+°|[a-z]\)?\s|(?:\w+\s+)?(?:alinéas?|phrases?)\b)"
"""A part of an article: I, 2°, a), premier alinéa."""
_RANGE = re.compile(r"\s+à\s+(?:l['’]\s?)?", re.I)
_LIST = re.compile(
    rf"""\s*(?:[,;]\s*(?:et|ou|ainsi\s+que)?|(?:et|ou)(?:\s*/\s*ou)?|ainsi\s+que)\s+
    (?:(?:à|de|au|aux|du|des|le|la|les|celles?\s+de|ceux\s+de)\s+)?(?:[dl]['’]\s?)?
    (?:{_PART}(?:\s*(?:,|et|à)\s*{_PART})*\s+)?(?:(?:du|de)\s+(?:même\s+)?{_PART}\s+)*
    (?:(?:de\s+l['’]|des\s+|aux\s+|à\s+l['’]|les\s+)?\s*articles?\s+)?""",
    re.X | re.I,
)
_PLAIN = re.compile(r"\s*(?:,|et|ou)\s+|.*articles?\s+", re.I | re.DOTALL)
"""The connectors behind which a number without letters goes on with the list: "articles 5, 6 et 7"."""
_ASIDE = re.compile(
    rf"\s+et\s+suivants\b|\s*\([^()]{{0,80}}\)|\s*,\s*(?:au\s+)?{_PART}(?:\s+et\s+{_PART})*(?=\s*(?:,|et\b|du\b))",
    re.I,
)
_CODE_NAME = r"(?:nouveau\s+|ancien\s+)?\bcode\s+(?!pour\b|et\b|à\b)[\w'’ ,-]{3,110}"
"""A code's name and what follows it: only a known title can tell where the name ends."""
_CODE_SHORT = r"\bC\.\s?[a-z]{2,5}\.(?:\s?[a-z]{1,4}\.)*|\b(?:CSS|CRPA|CRPM)\b"
_QUALIFIER = re.compile(
    rf"""\s*,?\s*(?:précité[es]*\s+)?
    (?:(?:du|de\s+la)\s+(?:partie|livre|titre|chapitre|section|sous-section|paragraphe)\s+\w+\s+)*
    (?:
        (?P<here>du\s+présent\s+code)
      | (?P<same>du\s+même\s+code|dudit\s+code|de\s+ce\s+(?:même\s+)?code|du\s+code\s+précité)
      | (?:du\s+|de\s+l['’]ancien\s+)?(?P<code>{_CODE_NAME}|{_CODE_SHORT})
      | (?P<law>
            (?:de\s+(?:la|cette|ce|ladite)|du|de\s+l['’]|des|dudit)\s*(?:même\s+|présente?\s+)?
            (?:lois?|décrets?|ordonnances?|règlements?|directives?|conventions?|traités?|arrêtés?|constitution
              |protocole|charte|accords?|décisions?|livre\s+des\s+procédures|statuts?|annexe\s+[IVX\d]|avenant)\b
        )
    )""",
    re.X | re.I,
)
_SHEET = re.compile(r"\s*(?P<code>code\b[^:]*?)\s*(?::|(?=\bart(?:icles?|\.)))\s*", re.I)
_PRESENT = re.compile(r"(?P<here>présent)\s*$|(?:même|dit)\s*$", re.I)
_NAMED = re.compile(_CODE_NAME, re.I)
_NEXT_IN_LIST = re.compile(rf"\s*(?:,|\bet\b|\bou\b)\s+(?=(?:{_LETTERS})\s?\.\s?\*?\s?\d)")


def canonical(number: str) -> str:
    """One spelling per number: 'L. 1234-9' and 'L1234-9' agree; 'R*421-2' loses its star, 'L351-7-1 A' keeps its A.

    What is no number of that kind ("Annexe à l'article R211-4") comes back with its spaces folded.
    """
    match = _CANONICAL.fullmatch(number)
    if not match:
        return " ".join(number.split())
    digits = re.sub(_DASH, "-", match["digits"]).lower().removesuffix("er")
    suffix = re.sub(_DASH, " ", match["suffix"] or "").split()
    words = [word.lower() if len(word) > 1 else word.upper() for word in suffix]
    return " ".join([re.sub(r"[\s.]", "", match["letters"] or "").upper() + digits, *words])


NumberKey = tuple[str, int, tuple[int, ...], str]


def number_key(number: str) -> NumberKey:
    """Sorts canonical numbers as the law counts: L1234-9 before L1234-10, L1234-9-1 between them."""
    match = re.match(r"([A-Z]*)(\d*)((?:[-.]\d+)*)(.*)", number, re.DOTALL)
    if not match or not match[2]:
        return (number, -1, (), "")
    return (match[1], int(match[2]), tuple(int(part) for part in re.findall(r"\d+", match[3])), match[4])


def fold(text: str) -> str:
    """Lower case without accents, punctuation to single spaces: for comparing names and titles."""
    plain = unicodedata.normalize("NFD", text.replace("œ", "oe").replace("Œ", "oe").lower())
    return " ".join(re.findall(r"[a-z0-9]+", "".join(c for c in plain if not unicodedata.combining(c))))


def parse_label(label: str) -> list[Reference]:
    """A sheet's label, code first: "Code du travail : articles L1234-9 à L1234-11"; empty if no code leads it."""
    lead = _SHEET.match(label)
    if not lead:
        return []
    found = []
    for reference in _references(label, lead.end()):
        code = reference.code if isinstance(reference.code, str) else lead["code"]
        found.append(Reference(reference.first, reference.last, code, reference.start, reference.end))
    return found


def parse(text: str) -> list[Reference]:
    """Every reference to articles in a text, in order."""
    return list(_references(text, 0))


def _references(text: str, at: int) -> Iterator[Reference]:
    scanner = _Scanner(text)
    while opening := _OPENING.search(text, at):
        if opening["naming"]:
            scanner.remember(opening.start())
            at = opening.end()
            continue
        found, at = scanner.read_list(opening.end(), after_keyword=opening["keyword"] is not None)
        yield from found
        at = max(at, opening.end(), opening.start() + 1)


@dataclass(slots=True)
class _Item:
    first: str
    last: str
    start: int
    end: int


class _Scanner:
    """Reads lists of items and keeps in mind which code the text named last, for 'du même code'."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.named: str | Home = Home.HERE

    def remember(self, at: int) -> None:
        """A code named in running text, or 'le présent code'."""
        if before := _PRESENT.search(self.text, max(0, at - 12), at):
            if before["here"]:
                self.named = Home.HERE
        elif name := _NAMED.match(self.text, at):
            self.named = name[0]

    def read_list(self, at: int, *, after_keyword: bool) -> tuple[list[Reference], int]:
        """The items from `at` on, each with the code that the qualifiers among them give it."""
        found: list[Reference] = []
        pending: list[_Item] = []
        any_number = after_keyword
        while item := self._item(at, pending[-1] if pending else None, any_number=any_number):
            pending.append(item)
            at = item.end
            aside = _ASIDE.match(self.text, at)
            after = aside.end() if aside else at
            if qualifier := _QUALIFIER.match(self.text, after):
                found += self._close(pending, self._home(qualifier))
                pending = []
                at = qualifier.start("code") + 4 if qualifier["code"] else qualifier.end()
                after = self._end_of_code(qualifier)
            connector = _LIST.match(self.text, after)
            if not connector:
                break
            if not _NUMBER.match(self.text, connector.end()) and not (any_number and _PLAIN.fullmatch(connector[0])):
                break
            at = connector.end()
        return found + self._close(pending, Home.HERE), at

    def _item(self, at: int, before: _Item | None, *, any_number: bool) -> _Item | None:
        number = (_ANY_NUMBER if any_number else _NUMBER).match(self.text, at)
        if not number:
            return None
        first = canonical(number[0])
        if not any_number and "-" not in first and "." not in number[0]:
            return None  # "D 3" alone may be a vitamin; an article is dashed, dotted or introduced by its keyword
        if number["letters"] is None and before is not None and before.last[:1].isalpha() and "-" in first:
            first = _letters(before.last) + first
        last, end = first, number.end()
        if to := _RANGE.match(self.text, end):
            upper = _ANY_NUMBER.match(self.text, to.end())
            if upper and (upper["letters"] or first[0].isdigit() or "-" in upper[0]):
                last, end = canonical(upper[0]), upper.end()
                if upper["letters"] is None and first[0].isalpha():
                    last = _letters(first) + last
        return _Item(first, last, number.start(), end)

    def _home(self, qualifier: re.Match[str]) -> str | Home:
        if qualifier["here"]:
            self.named = Home.HERE
        elif qualifier["code"]:
            self.named = qualifier["code"]
        elif qualifier["law"]:
            return Home.ELSEWHERE
        return self.named

    def _end_of_code(self, qualifier: re.Match[str]) -> int:
        """Where a list may go on behind a qualifier: behind a code's name, at the first connector before a number."""
        if not qualifier["code"]:
            return qualifier.end()
        following = _NEXT_IN_LIST.search(self.text, qualifier.start("code"), qualifier.end() + 8)
        return following.start() if following else qualifier.end()

    @staticmethod
    def _close(pending: list[_Item], home: str | Home) -> list[Reference]:
        """A law or decree numbers its articles without letters: lettered items before it belong to the code at hand."""
        return [
            Reference(
                item.first,
                item.last,
                Home.HERE if home is Home.ELSEWHERE and item.first[0].isalpha() else home,
                item.start,
                item.end,
            )
            for item in pending
        ]


def _letters(number: str) -> str:
    match = re.match(r"[A-Z]+", number)
    return match[0] if match else ""
