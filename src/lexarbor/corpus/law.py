"""The nouns of the law: codes, sections, articles and the versions an article has had."""

from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

OLD_LAW_DAYS = 90
"""Statutes change every month: law older than this is shown with a warning."""


class Version(NamedTuple):
    """One dated wording of an article. Its text may or may not be held; `end` is the first day it no longer binds."""

    id: str
    start: date | None
    end: date | None

    def in_force(self, day: date) -> bool:
        return covers(self.start, self.end, day)


@dataclass(frozen=True, slots=True)
class Code:
    """A code of law: the root of one tree."""

    id: str
    title: str


@dataclass(frozen=True, slots=True)
class Section:
    """A titled division (book, title, chapter…). One node per place: equal headings elsewhere are other nodes."""

    id: str
    title: str
    level: int
    """Depth below the code: 1 for the divisions that stand directly under it."""
    parent: str
    """Id of the section or code above."""
    cid: str = ""
    """The same place through its renamings, where the source knows it; else empty."""


@dataclass(frozen=True, slots=True)
class Article:
    """One version of a statutory article at its place in the tree."""

    id: str
    """Stable for one version."""
    number: str
    code: str
    """Id of its code."""
    text: str
    path: tuple[str, ...]
    """Ids of the sections above it, from the code downwards."""
    start: date | None = None
    """First day in force; None where the source does not say."""
    end: date | None = None
    """First day no longer in force; None while no end is known."""
    status: str = ""
    """The source's own word (VIGUEUR, ABROGE_DIFF…): shown, never used to decide what is in force."""
    cid: str = ""
    """Stable across the versions of one article; the id itself where the source has none."""
    note: str = ""
    """The editor's note under the article (dates of application, transitional rules)."""
    other_paths: tuple[tuple[str, ...], ...] = ()
    """Further places of the same article."""

    def __post_init__(self) -> None:
        if not self.cid:
            object.__setattr__(self, "cid", self.id)

    @property
    def parent(self) -> str:
        return self.path[-1] if self.path else self.code

    @property
    def other_parents(self) -> list[str]:
        """What stands right above it at its further places."""
        return [path[-1] if path else self.code for path in self.other_paths]

    def in_force(self, day: date) -> bool:
        return covers(self.start, self.end, day)


def iso(day: date | None) -> str | None:
    """A day as files and answers write it."""
    return day.isoformat() if day else None


def covers(start: date | None, end: date | None, day: date) -> bool:
    """In force is a matter of dates alone: from `start` on, until the day before `end`."""
    return (start is None or start <= day) and (end is None or day < end)


def age(version: Version) -> tuple[date, str]:
    """Sorts versions from the oldest to the newest: where two claim the same day, the later one is the law."""
    return (version.start or date.min, version.id)
