"""What the templates are given: plain values in the reader's language, nothing left to look up.

Every string is text, to be escaped by the template; `Markup` alone is HTML that we made.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from markupsafe import Markup


class Link(NamedTuple):
    """A place one can go to."""

    title: str
    url: str


class ArticleLink(NamedTuple):
    """Another article, as it is named on this page."""

    number: str
    """"L1234-9"."""
    code: str
    """The title of its code."""
    url: str
    elsewhere: bool
    """Whether its code is another one than that of the article read."""


class Piece(NamedTuple):
    """A part of a passage."""

    text: str
    marked: bool
    """Whether the question shares its words."""


class CodeChoice(NamedTuple):
    """A code held, to be chosen as a filter."""

    id: str
    title: str
    articles: int
    chosen: bool


@dataclass(frozen=True, slots=True)
class LawNote:
    """The law that a page speaks of."""

    day: date | None
    """The day that it is of."""
    newest: date | None
    """The day of the law as it stands, where `day` is another one; else None."""
    age: int
    """Days since `newest` or `day`."""
    old: bool
    """Whether that is long enough for a warning."""
    invented: bool
    """Whether it is the tiny law of an invented commune, and no real law."""
    not_held: int
    """How many articles had a version in force on that day whose text is not held."""
    codes: Sequence[CodeChoice]
    days: tuple[date, date] | None
    """From which to which day the law can be asked for; None where there is but one."""


@dataclass(frozen=True, slots=True)
class Why:
    """One reason for an article's place."""

    text: str
    link: Link | None = None


@dataclass(frozen=True, slots=True)
class HitView:
    """One article found."""

    rank: int
    id: str
    title: str
    """"Article L1234-9"."""
    url: str
    code: str
    crumbs: Sequence[Link]
    """From the code down to the section."""
    passage: Sequence[Piece]
    since: str
    """The day since which it is in force, in words; empty where the source does not say."""
    until: str
    """The first day when it is no longer in force, where that is known already; else empty."""
    why: Sequence[Why]
    official: str | None
    """Its page on Légifrance."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A code or section in the tree beside the results."""

    title: str
    url: str
    hits: int
    """How many of the articles found stand in it or below."""
    ranks: Sequence[int]
    """The ranks of those that stand directly in it."""
    open: bool
    """Whether its children are to be shown at first."""
    children: Sequence["Branch"]
    hidden: int
    """How many further sections directly in it hold no hit and are not shown."""


@dataclass(frozen=True, slots=True)
class OutsideView:
    """That the answer is probably in other law."""

    percent: int
    codes: Sequence[str]


@dataclass(frozen=True, slots=True)
class ResultsView:
    """An answer."""

    question: str
    read_as: str
    """What was understood, where that is not what was typed; else empty."""
    added: str
    """The law's words for everyday ones, where some were added."""
    hits: Sequence[HitView]
    outside: OutsideView | None
    not_held: Sequence[str]
    """References in the question to articles that are not in force in these codes."""
    tree: Sequence[Branch]
    as_of: str
    """YYYY-MM-DD, where a day was chosen; else empty."""
    k: int
    more: int | None
    """How many articles to ask for to see more; None at the end."""
    share: str
    """The address that has the question in it, for those who want to share it."""


@dataclass(frozen=True, slots=True)
class SectionRow:
    title: str
    url: str
    articles: int
    """In force in it and below."""


@dataclass(frozen=True, slots=True)
class ArticleRow:
    title: str
    url: str
    opening: str
    """Its first words."""
    since: str


@dataclass(frozen=True, slots=True)
class SectionView:
    """A code or section, opened; all codes where `title` is empty."""

    title: str
    crumbs: Sequence[Link]
    """Above it."""
    sections: Sequence[SectionRow]
    articles: Sequence[ArticleRow]
    total: int
    """Articles in force in it and below."""


@dataclass(frozen=True, slots=True)
class VersionRow:
    since: str
    until: str
    shown: bool
    """Whether it is the one that this page shows."""
    official: str | None


class Block(NamedTuple):
    """A piece of an article's text: a paragraph, a list or a table."""

    kind: str
    """"paragraph", "list" or "table"."""
    rows: Sequence[Sequence[str]]
    """A paragraph has one row of one cell, a list a row of one cell for each item."""


@dataclass(frozen=True, slots=True)
class ArticleView:
    """One article, whole."""

    id: str
    title: str
    code: str
    crumbs: Sequence[Link]
    other_places: Sequence[Sequence[Link]]
    """Further places of the same article, each with what stands above it."""
    since: str
    until: str
    blocks: Sequence[Block]
    note: Sequence[Block]
    """The editor's note."""
    official: str | None
    before: ArticleLink | None
    after: ArticleLink | None
    cites: Sequence[ArticleLink]
    cited_by: Sequence[ArticleLink]
    graph: Markup | None
    """The citations drawn (SVG); None where there are none."""
    versions: Sequence[VersionRow]
