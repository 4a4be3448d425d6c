"""References looked up in a tree: which articles a label, a sentence or a user's words point to."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from lexarbor.corpus.law import Code
from lexarbor.corpus.references import Home, NumberKey, Reference, canonical, fold, number_key, parse
from lexarbor.corpus.tree import LawTree

LONGEST_RANGE = 100
"""A range of more articles than this points at a whole part of the law, not at articles: it stays unresolved."""

ABBREVIATIONS = {
    "c trav": "code du travail",
    "css": "code de la securite sociale",
    "c secu soc": "code de la securite sociale",
    "c sec soc": "code de la securite sociale",
    "c rur": "code rural et de la peche maritime",
    "crpm": "code rural et de la peche maritime",
    "code rural": "code rural et de la peche maritime",
    "code de securite sociale": "code de la securite sociale",
    "crpa": "code des relations entre le public et l administration",
}
"""Short and former names of French codes, as `fold` spells them."""

RARE_TWINS = 0.01
"""A code in which at most this part of the numbers exists as both R. and D. counts the two in one row."""

HOMONYMS = ("code du travail maritime", "code du travail applicable a mayotte", "code rural ancien")
"""Codes of their own whose names begin like those of others."""


class ReferenceResolver:
    """Finds the articles of a tree that references name. Of several versions, the one in force on the tree's date."""

    def __init__(self, tree: LawTree) -> None:
        self._tree = tree
        self._names = _names(tree.codes.values())
        self._numbers: dict[tuple[str, str], str] = {}
        self._order: dict[str, list[str]] = {code: [] for code in tree.codes}
        self._rank: dict[str, int] = {}
        for id in tree.positions:
            article = tree.articles[id]
            if not tree.is_current(article):
                continue
            self._numbers.setdefault((article.code, canonical(article.number)), id)
            self._rank[id] = len(self._order[article.code])
            self._order[article.code].append(id)
        self._let_either_decree_find()

    def _let_either_decree_find(self) -> None:
        """Where a code counts R. and D. articles in one row, R. 3121-14 can only be what was D. 3121-14 before its
        decree changed rank: either letter finds it. The Code de la sécurité sociale counts them apart.
        """
        decrees: dict[str, dict[str, str]] = {}
        for (code, number), id in self._numbers.items():
            if number.startswith(("R", "D")):
                decrees.setdefault(code, {})[number] = id
        for code, held in decrees.items():
            others = {("D" if number[0] == "R" else "R") + number[1:]: id for number, id in held.items()}
            if len(others.keys() & held.keys()) <= RARE_TWINS * len(held):
                for number, id in others.items():
                    self._numbers.setdefault((code, number), id)

    def code(self, words: str) -> str | None:
        """The held code whose title, short or former name stands at the head of some words; None for any other."""
        folded = f"{fold(words)} "
        return next((id for name, id in self._names if folded.startswith(name + " ")), None)

    def code_of(self, reference: Reference, here: str | None = None) -> str | None:
        """The held code that a reference points into; `here` is the one that the text stands in."""
        if isinstance(reference.code, str):
            return self.code(reference.code)
        return here if reference.code is Home.HERE else None

    def resolve(self, reference: Reference, here: str | None = None) -> tuple[str, ...]:
        """Ids of the articles a reference names, in the order of the code; empty if they are not held.

        `here` is the code that the text stands in, for a reference without a code of its own. A range follows the
        order of the code; where an end of it is no longer held it reaches as far as the numbers do. One of more
        than LONGEST_RANGE articles is empty. Where a code counts R. and D. in one row, either letter finds a number.
        """
        code = self.code_of(reference, here)
        if code is None:
            return ()
        first, last = self._find(code, reference.first), self._find(code, reference.last)
        if reference.is_range:
            first = first or self._nearest(code, reference.first, upwards=True)
            last = last or self._nearest(code, reference.last, upwards=False)
        if first is None or last is None:
            return ()
        low, high = self._rank[first], self._rank[last]
        if not low <= high < low + LONGEST_RANGE:
            return ()
        return tuple(self._order[code][low : high + 1])

    def named(self, words: str) -> tuple[str, ...]:
        """What a person means by words that are a reference and nothing else, in every code if they name none.

        An id, an annex by all its words, or a number, even one that running text would not take for one: "L1",
        "l. 1234-9".
        """
        if words in self._tree.articles:
            return (words,)
        if " " in words and (annexes := [id for id in self._rank if self._tree.articles[id].number == words]):
            return tuple(annexes)
        for spelt in (words, f"article {words}", f"article {words.upper()}"):
            found = (id for cited in parse(spelt) for code in self._order for id in self.resolve(cited, here=code))
            if ids := tuple(dict.fromkeys(found)):
                return ids
        return ()

    def _find(self, code: str, number: str) -> str | None:
        found = self._numbers.get((code, number))
        if found is None:  # "L. 351-7 A" may be L. 351-7 and a sentence that begins with A
            found = self._numbers.get((code, re.sub("( [A-Z])+$", "", number)))
        return found

    def _nearest(self, code: str, number: str, *, upwards: bool) -> str | None:
        """The held article next to a number that is not: the law may have repealed the end of a range, not the
        range.
        """
        wanted = number_key(number)
        series = self._series.get((code, *wanted[:2]), [])
        at = bisect_left(series, (wanted, ""))
        if upwards:
            return series[at][1] if at < len(series) else None
        return series[at - 1][1] if at else None

    @cached_property
    def _series(self) -> dict[tuple[str, str, int], list[tuple[NumberKey, str]]]:
        """By code, letters and first number (L 1234): the numbers held, in order."""
        series: dict[tuple[str, str, int], list[tuple[NumberKey, str]]] = {}
        for (code, number), id in self._numbers.items():
            key = number_key(number)
            series.setdefault((code, *key[:2]), []).append((key, id))
        return {start: sorted(held) for start, held in series.items()}


def _names(codes: Iterable[Code]) -> list[tuple[str, str | None]]:
    """What codes are called, the longest name first, with the id of the code; None for one that is not held."""
    titles = {fold(code.title): code.id for code in codes}
    known = dict.fromkeys(HOMONYMS) | {short: titles.get(title) for short, title in ABBREVIATIONS.items()} | titles
    return sorted(((name, id) for name, id in known.items() if name), key=lambda named: -len(named[0]))


@dataclass(frozen=True, slots=True)
class Citation:
    """One mention in an article's text, and the articles it names."""

    reference: Reference
    articles: tuple[str, ...]


class Citations:
    """Which article cites which. Mentions of articles that are not held are left out, as is an article citing
    itself.
    """

    def __init__(self, found: dict[str, tuple[Citation, ...]]) -> None:
        self._found = found

    def mentions(self, article_id: str) -> Sequence[Citation]:
        return self._found.get(article_id, ())

    def cites(self, article_id: str) -> tuple[str, ...]:
        """Ids of the cited articles, each once, in the order of mention."""
        cited = (id for mention in self.mentions(article_id) for id in mention.articles)
        return tuple(dict.fromkeys(id for id in cited if id != article_id))

    def cited_by(self, article_id: str) -> tuple[str, ...]:
        """Ids of the articles that cite this one, in the order of the law."""
        return tuple(self._citing.get(article_id, ()))

    @cached_property
    def _citing(self) -> dict[str, list[str]]:
        citing: dict[str, list[str]] = {}
        for id in self._found:
            for cited in self.cites(id):
                citing.setdefault(cited, []).append(id)
        return citing

    def pairs(self) -> Iterable[tuple[str, str]]:
        """(citing, cited), in the order of the law."""
        return ((id, cited) for id in self._found for cited in self.cites(id))


def read_citations(tree: LawTree) -> Citations:
    """Every citation between the articles of a tree."""
    resolver = ReferenceResolver(tree)
    found: dict[str, tuple[Citation, ...]] = {}
    for id in tree.positions:
        article = tree.articles[id]
        mentions = (
            Citation(reference, resolver.resolve(reference, here=article.code)) for reference in parse(article.text)
        )
        if held := tuple(mention for mention in mentions if mention.articles):
            found[id] = held
    return Citations(found)
