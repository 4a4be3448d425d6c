"""Weak pairs: what the law, the sheets and the agreements say about themselves, taken as questions and answers.

Each kind is a function from a `Sources` to pairs, by name in KINDS. Kinds that answer with articles of the law name
them by id; the others answer with passages of their own. Every question passes the leakage guard.
"""

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain

from lexarbor.corpus.agreements import AgreementArticle
from lexarbor.corpus.benchmarks.sheets import Chapter, Sheet
from lexarbor.corpus.citations import ReferenceResolver
from lexarbor.corpus.references import parse
from lexarbor.corpus.tree import LawTree
from lexarbor.search.passages import sentences
from lexarbor.supervision.folder import Pair, Passage
from lexarbor.supervision.guard import LeakageGuard

SHORTEST = 40
"""Characters: a sentence with fewer says too little to be a question."""
MOST_UNDER_HEADING = 60
"""A heading over more articles than this is too wide to be answered by any of them."""
MOST_CITING = 12
"""Pairs that one cited article gets: "déposé conformément à l'article L. 2231-6" stands in every agreement."""
SENTENCES = 2
"""Questions drawn from one article."""

_NUMBERING = re.compile(
    r"^(?:(?:sous-)?(?:section|paragraphe|chapitre|titre|livre|partie|annexe|article|texte de base)\b"
    r"[^:]{0,25}:\s*)",
    re.I,
)
_DIGIT = re.compile(r"\d")
"""No article is cited without one."""


@dataclass(frozen=True)
class Sources:
    """What weak pairs are made of. Sheets and agreements have passed the guard already."""

    law: LawTree
    guard: LeakageGuard
    sheets: tuple[Sheet, ...] = ()
    agreements: tuple[AgreementArticle, ...] = ()
    gold: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By id of a train sheet, its articles."""
    seed: int = 0


def headings(sources: Sources) -> Iterator[Pair]:
    """The headings over some articles → those articles, read without their headings.

    Each place is asked for by its last heading, its last two and its last three: thrice by the same where it has but
    one, so that no place counts less for standing high.
    """
    under: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for article in sources.law.current():
        path = sources.law.headings(article)
        for depth in (2, 3, 4, len(path)):
            if 1 < depth <= len(path):
                under[path[:depth]].append(article.id)
    for path, ids in sorted(under.items()):
        positives = tuple(dict.fromkeys(ids))
        if len(positives) <= MOST_UNDER_HEADING:
            for taken in (1, 2, 3):
                if question := plain_heading(path[1:][-taken:]):
                    yield Pair("headings", question, positives, bare=True)


def sentence(sources: Sources) -> Iterator[Pair]:
    """A sentence of an article → the rest of it."""
    for article in sources.law.current():
        drawn = random.Random(f"{sources.seed} {article.id}")
        held = [part for part in sentences(article.text) if len(part) >= SHORTEST]
        if len(held) > 1:
            for part in drawn.sample(held, min(SENTENCES, len(held) - 1)):
                yield Pair("sentence", part, (article.id,), left_out=part)


def citation(sources: Sources) -> Iterator[Pair]:
    """A sentence, of an article or of an agreement, that cites articles → those, the citation itself cut out."""
    resolver = ReferenceResolver(sources.law)
    found: dict[str, list[Pair]] = defaultdict(list)
    law = ((article.text, article.code) for article in sources.law.current())
    agreements = ((article.text, None) for article in sources.agreements)
    for text, here in chain(law, agreements):
        for part in filter(_DIGIT.search, sentences(text)):
            references = parse(part)
            cited = [id for reference in references for id in resolver.resolve(reference, here)]
            question = part
            for reference in reversed(references):
                question = question[: reference.start] + "…" + question[reference.end :]
            if cited and len(question) >= 2 * SHORTEST:
                pair = Pair("citation", question, tuple(sorted(set(cited))))
                for id in pair.positives:
                    found[id].append(pair)
    chosen: set[Pair] = set()
    for id in sorted(found):
        pairs = sorted(set(found[id]), key=lambda pair: (pair.question, pair.positives))
        chosen.update(random.Random(f"{sources.seed} {id}").sample(pairs, min(MOST_CITING, len(pairs))))
    yield from sorted(chosen, key=lambda pair: (pair.question, pair.positives))


def sheet(sources: Sources) -> Iterator[Pair]:
    """A sheet's title → its chapters."""
    for one in sources.sheets:
        chapters = tuple(id for id, _ in chapter_passages(one))
        if chapters:
            yield Pair("sheet", one.title, chapters, source=one.id)


def chapter(sources: Sources) -> Iterator[Pair]:
    """A sheet's title and a chapter's → that chapter."""
    for one in sources.sheets:
        by_title: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for id, part in chapter_passages(one):
            by_title[part.titles].append(id)
        for titles, ids in by_title.items():
            if titles:
                yield Pair("chapter", ask_under(one.title, titles), tuple(ids), bare=True, source=one.id)


def agreement(sources: Sources) -> Iterator[Pair]:
    """The headings over articles of an agreement → those articles, read without their headings."""
    under: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for article in sources.agreements:
        under[article.headings].append(article.id)
    for path, ids in under.items():
        if len(ids) <= MOST_UNDER_HEADING and (question := plain_heading(path[1:][-2:])):
            yield Pair("agreement", question, tuple(dict.fromkeys(ids)), bare=True)


def description(sources: Sources) -> Iterator[Pair]:
    """What a train sheet says it is about → its gold articles."""
    for one, gold in _train(sources):
        if one.description:
            yield Pair("description", one.description, gold, source=one.id)


def train_chapter(sources: Sources) -> Iterator[Pair]:
    """The title of a train sheet with one of its chapters' → the sheet's gold articles."""
    for one, gold in _train(sources):
        for titles in dict.fromkeys(part.titles for part in one.chapters if part.titles):
            yield Pair("train_chapter", ask_under(one.title, titles), gold, source=one.id)


def train_text(sources: Sources) -> Iterator[Pair]:
    """What a chapter of a train sheet says → the sheet's gold articles."""
    for one, gold in _train(sources):
        for text in dict.fromkeys(part.text for part in one.chapters):
            for part in sentences(text):
                if len(part) >= 2 * SHORTEST:
                    yield Pair("train_text", part, gold, source=one.id)


KINDS: dict[str, Callable[[Sources], Iterable[Pair]]] = {
    "headings": headings,
    "sentence": sentence,
    "citation": citation,
    "sheet": sheet,
    "chapter": chapter,
    "agreement": agreement,
    "description": description,
    "train_chapter": train_chapter,
    "train_text": train_text,
}


def weak_pairs(sources: Sources, kinds: Iterable[str] = tuple(KINDS)) -> Iterator[Pair]:
    """The pairs of some kinds whose questions the guard admits."""
    for kind in kinds:
        for pair in KINDS[kind](sources):
            if pair.positives and sources.guard.admits(pair.question, kind):
                yield pair


def passages(sources: Sources) -> Iterator[Passage]:
    """The passages that are no articles of the law: chapters of sheets and articles of agreements."""
    for one in sources.sheets:
        for id, part in chapter_passages(one):
            yield Passage(id, part.text, (one.title, *part.titles))
    for article in sources.agreements:
        yield Passage(article.id, article.text, article.headings)


def chapter_passages(one: Sheet) -> Iterator[tuple[str, Chapter]]:
    """A sheet's chapters, each text once, with ids."""
    seen: set[str] = set()
    for number, part in enumerate(one.chapters):
        if part.text not in seen:
            seen.add(part.text)
            yield f"{one.id}-{number}", part


def plain_heading(titles: Iterable[str]) -> str:
    """Headings as words: without "Section 3 :" before them."""
    return " : ".join(filter(None, (_NUMBERING.sub("", title).strip(" .:") for title in titles)))


def ask_under(title: str, titles: Iterable[str]) -> str:
    return " : ".join((title.removesuffix("?").strip(), *titles))


def _train(sources: Sources) -> Iterator[tuple[Sheet, tuple[str, ...]]]:
    for one in sources.sheets:
        if one.id in sources.gold:
            yield one, tuple(sorted(sources.gold[one.id]))
