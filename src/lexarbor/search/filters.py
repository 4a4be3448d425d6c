"""Parts of the law to look in: codes, and what stands under some headings."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lexarbor.corpus.references import fold
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import SearchError

_BELOW = re.compile(r"[>›]")


@dataclass(frozen=True, slots=True)
class Filters:
    """Where to look. Of several codes or parts any one will do; an article must be in one of the codes and under one
    of the parts.
    """

    codes: tuple[str, ...] = ()
    """By title, short name ("CSS") or id; all where none is named."""
    under: tuple[str, ...] = ()
    """By a section's id, or by words of its heading: "congés payés". Words of headings above it come first, behind
    each a ">": "durée du travail > repos".
    """

    def __post_init__(self) -> None:
        for name in ("codes", "under"):  # one word, or a list, is meant well
            given = getattr(self, name)
            object.__setattr__(self, name, (given,) if isinstance(given, str) else tuple(given))

    def __bool__(self) -> bool:
        return bool(self.codes or self.under)


def allowed(filters: Filters, law: LawTree, article_ids: Sequence[str]) -> NDArray[np.bool_]:
    """(articles) which of them may be found. What names nothing is refused."""
    found = np.ones(len(article_ids), dtype=bool)
    if filters.codes:
        codes = {_code(named, law) for named in filters.codes}
        found &= np.fromiter((law.articles[id].code in codes for id in article_ids), bool, len(article_ids))
    if filters.under:
        below = {id for named in filters.under for part in _parts(named, law) for id in law.walk(part)}
        found &= np.fromiter((id in below for id in article_ids), bool, len(article_ids))
    return found


def resolved(filters: Filters, law: LawTree) -> Filters:
    """The same by ids alone. What names nothing is refused."""
    parts = (part for named in filters.under for part in _parts(named, law))
    return Filters(tuple(_code(named, law) for named in filters.codes), tuple(dict.fromkeys(parts)))


def _code(named: str, law: LawTree) -> str:
    found = named if named in law.codes else law.resolver.code(named)
    if found is None:
        held = ", ".join(code.title for code in law.codes.values())
        raise SearchError(f"the code '{named}' is not held; held are {held}")
    return found


def _parts(named: str, law: LawTree) -> list[str]:
    if named in law.sections or named in law.codes:
        return [named]
    wanted = [fold(words) for words in _BELOW.split(named)]
    if not all(wanted):
        raise SearchError(f"'{named}' names no heading: give words of one, e.g. 'congés payés', or its id")
    found = [id for id in law.sections if _has_words(law.folded_titles[id], wanted[-1])]
    found = [id for id in found if _in_order(wanted[:-1], _titles_above(id, law))]
    if not found:
        raise SearchError(
            f"no heading of this law has the words '{named}': `lexarbor corpus show` an article to see those above it"
        )
    return found


def _titles_above(id: str, law: LawTree) -> Iterator[str]:
    return (law.folded_titles[above] for above in law.ancestors(id))


def _in_order(wanted: Sequence[str], titles: Iterator[str]) -> bool:
    """Whether each has the words of a title of its own, in the order of the tree."""
    return all(any(_has_words(title, words) for title in titles) for words in wanted)


def _has_words(title: str, words: str) -> bool:
    """Whole words, one behind the other: "repos" is not in "reposant"."""
    return f" {words} " in title
