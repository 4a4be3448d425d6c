"""`LawTree`: articles, each at its place below its sections and its code."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING

from lexarbor.corpus.law import Article, Code, Section, Version, age
from lexarbor.errors import CorpusError

if TYPE_CHECKING:
    from lexarbor.corpus.citations import Citations, ReferenceResolver

History = Mapping[str, Sequence[Version]]
"""By `cid`, versions that a source tells of."""


class LawTree:
    """The law as held on one date, or on several when older snapshots are joined to it.

    `articles`, `sections` and `codes` are mappings by id in the order of the law. `history` tells, by `cid`, every
    version the source knows of, including those whose text is not held.
    """

    def __init__(
        self,
        nodes: Iterable[Code | Section | Article],
        *,
        date: date | None = None,
        history: History | Callable[[], History] | None = None,
        name: str = "law",
        not_held: Iterable[str] = (),
    ) -> None:
        """`nodes` come in the order of the law: what stands earlier under the same heading comes earlier. `history` may
        be given as what makes it: few who open a law ask for it.
        """
        self.name = name
        self.date = date
        self.codes: dict[str, Code] = {}
        self.sections: dict[str, Section] = {}
        self.articles: dict[str, Article] = {}
        self._told = history or {}
        self.not_held: frozenset[str] = frozenset(not_held)
        """After `as_of`: the `cid`s that had a version in force that day whose text is not held."""
        self.earlier: tuple[LawTree, ...] = ()
        """Older snapshots of the same law, oldest first (see `lexarbor.corpus.versions.join`)."""
        self._children: dict[str, list[str]] = {}
        """Sections and articles by the node above them, each once."""
        self._others: dict[str, list[str]] = {}
        """Articles by the further places where they stand."""
        self._plant(nodes)
        self._check_sections()
        self._check_articles()

    def _plant(self, nodes: Iterable[Code | Section | Article]) -> None:
        codes, sections, articles = self.codes, self.sections, self.articles
        for node in nodes:
            id = node.id
            if id in articles or id in sections or id in codes:
                raise CorpusError(f"the id '{id}' is used twice: give each code, section and article its own")
            if isinstance(node, Code):
                codes[id] = node
                continue
            if isinstance(node, Section):
                sections[id] = node
            else:
                articles[id] = node
            self._children.setdefault(node.parent, []).append(id)
        for article in articles.values():
            for above in article.other_parents:
                self._others.setdefault(above, []).append(article.id)

    def _check_sections(self) -> None:
        rooted: set[str] = set(self.codes)
        for section in self.sections.values():
            climbed: dict[str, None] = {}  # a set that keeps the order of the climb
            at = section.id
            while at not in rooted:
                if at not in self.sections:
                    below = next(reversed(climbed))
                    raise CorpusError(f"section '{below}' is an orphan: its parent '{at}' is not in the tree")
                if at in climbed:
                    raise CorpusError(f"section '{at}' is its own ancestor: {' → '.join([*climbed, at])}")
                climbed[at] = None
                at = self.sections[at].parent
            rooted.update(climbed)

    def _check_articles(self) -> None:
        sound: set[tuple[str, tuple[str, ...]]] = set()
        """Codes and paths that were looked at: a place is checked once for all its articles."""
        for article in self.articles.values():
            if not article.other_paths and (article.code, article.path) in sound:
                continue
            for path in (article.path, *article.other_paths):
                above = (article.code, *path)
                for id, child in itertools.pairwise(above):
                    if child not in self.sections or self.sections[child].parent != id:
                        raise CorpusError(f"article '{article.id}': there is no section '{child}' under '{id}'")
            if article.code not in self.codes:
                raise CorpusError(f"article '{article.id}' belongs to code '{article.code}', which is not in the tree")
            if len({article.path, *article.other_paths}) <= len(article.other_paths):
                raise CorpusError(f"article '{article.id}' stands twice at the same place: name each place once")
            sound.add((article.code, article.path))

    @cached_property
    def history(self) -> dict[str, tuple[Version, ...]]:
        """By `cid`, every version that is told of or held, from the oldest on."""
        given = self._told() if callable(self._told) else self._told
        found = {cid: tuple(versions) for cid, versions in given.items()}
        for article in self.articles.values():
            told = found.get(article.cid, ())
            if article.id not in [version.id for version in told]:
                told = (*told, Version(article.id, article.start, article.end))
            found[article.cid] = tuple(sorted(told, key=age)) if len(told) > 1 else told
        return found

    def nodes(self) -> Iterator[Code | Section | Article]:
        """Every node once, at its first place, in the order of the law: what the constructor takes."""
        waiting = list(reversed(self.codes))
        while waiting:
            at = waiting.pop()
            yield self.node(at)
            waiting.extend(reversed(self._children.get(at, ())))

    def node(self, id: str) -> Code | Section | Article:
        found = self.articles.get(id) or self.sections.get(id) or self.codes.get(id)
        if found is None:
            raise CorpusError(f"nothing in the law '{self.name}' has the id '{id}'")
        return found

    def __len__(self) -> int:
        return len(self.articles)

    def __repr__(self) -> str:
        held = f"{len(self.articles)} articles, {len(self.sections)} sections, {len(self.codes)} codes"
        return f"LawTree({self.name}, {self.date}: {held})"

    def title(self, id: str) -> str:
        """The title of a code or section."""
        found = self.codes.get(id) or self.sections.get(id)
        if found is None:
            raise CorpusError(f"no code or section of the law '{self.name}' has the id '{id}'")
        return found.title

    def parent(self, id: str) -> str | None:
        """The section or code directly above; None above a code."""
        node = self.node(id)
        return None if isinstance(node, Code) else node.parent

    def children(self, id: str) -> tuple[str, ...]:
        """Ids of the sections and articles directly below, in the order of the law, then of articles that stand here
        too but have their first place elsewhere.
        """
        self.node(id)
        return (*self._children.get(id, ()), *self._others.get(id, ()))

    def ancestors(self, id: str) -> tuple[str, ...]:
        """Ids above, from the code downwards."""
        above: list[str] = []
        at = self.parent(id)
        while at is not None:
            above.append(at)
            at = self.parent(at)
        return tuple(reversed(above))

    def siblings(self, article_id: str) -> tuple[str, ...]:
        """Ids of the other articles directly under the same heading, in the order of the law."""
        parent = self.parent(article_id)
        if parent is None:
            return ()
        return tuple(id for id in self.children(parent) if id in self.articles and id != article_id)

    def is_current(self, article: Article) -> bool:
        """Whether an article is in force on the tree's date; all are where the tree has none."""
        return self.date is None or article.in_force(self.date)

    def current(self) -> list[Article]:
        """The articles in force on the tree's date, by id: the rows of an index, and how equal scores are ranked."""
        return sorted(filter(self.is_current, self.articles.values()), key=lambda article: article.id)

    def headings(self, article: Article) -> tuple[str, ...]:
        """The titles above an article, from the code's downwards."""
        return (self.codes[article.code].title, *(self.sections[id].title for id in article.path))

    def walk(self, id: str | None = None) -> Iterator[str]:
        """Every id at or below `id` (all codes when None), depth first: an article once for each of its places."""
        waiting = [self.node(id).id] if id is not None else list(reversed(self.codes))
        while waiting:
            at = waiting.pop()
            yield at
            waiting.extend(reversed(self.children(at)))

    @cached_property
    def positions(self) -> dict[str, int]:
        """The rank of each article in the order of the law; of several places the first counts."""
        articles = (node for node in self.nodes() if isinstance(node, Article))
        return {article.id: rank for rank, article in enumerate(articles)}

    @cached_property
    def sizes(self) -> dict[str, int]:
        """How many articles stand in each code and section and below, each counted once."""
        found = dict.fromkeys((*self.codes, *self.sections), 0)
        for article in self.articles.values():
            for above in {id for path in (article.path, *article.other_paths) for id in (article.code, *path)}:
                found[above] += 1
        return found

    @cached_property
    def roots(self) -> dict[str, str]:
        """The code that each section stands in."""
        return {id: code for code in self.codes for id in self.walk(code) if id in self.sections}

    @cached_property
    def folded_titles(self) -> dict[str, str]:
        """Of codes and sections, as `references.fold` makes them, between spaces: to look for whole words in."""
        from lexarbor.corpus.references import fold

        return {id: f" {fold(self.title(id))} " for id in (*self.codes, *self.sections)}

    def in_place_of(self, id: str) -> Article | None:
        """The article held that a version, or a `cid`, has become; None where nothing is known of it."""
        return self.articles.get(self._became.get(id, ""))

    @cached_property
    def _became(self) -> dict[str, str]:
        """By `cid` and by the id of each version told of, the id of the article held."""
        found = {}
        for article in self.articles.values():
            for id in (article.cid, *(version.id for version in self.history[article.cid])):
                found[id] = article.id
        return found

    @cached_property
    def resolver(self) -> "ReferenceResolver":
        """Who knows the articles and codes that references name; made when first asked for, which takes a moment."""
        from lexarbor.corpus.citations import ReferenceResolver

        return ReferenceResolver(self)

    @cached_property
    def citations(self) -> "Citations":
        """Which article cites which, read from the texts (see `lexarbor.corpus.citations`)."""
        from lexarbor.corpus.citations import read_citations

        return read_citations(self)

    def as_of(self, day: date) -> "LawTree":
        """The law in force on a day. What was in force but is not held is named in `not_held`, never guessed."""
        from lexarbor.corpus.versions import as_of

        return as_of(self, day)
