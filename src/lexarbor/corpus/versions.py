"""The law through time: several snapshots read together, and the tree in force on one day.

A snapshot is one published state of the law. An article's end is taken from the newest snapshot that knows the version;
an article or a version that a later snapshot no longer tells of ended at the latest on that snapshot's day.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from typing import NamedTuple

from lexarbor.corpus.law import Article, Code, Section, Version, age
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import CorpusError


def join(snapshots: Iterable[LawTree]) -> LawTree:
    """The newest of several snapshots, with the others behind it to answer `as_of`."""
    ordered = sorted((one for tree in snapshots for one in (*tree.earlier, tree)), key=_snapshot_day)
    if not ordered:
        raise CorpusError("no snapshot to join: give at least one law tree")
    days = [tree.date for tree in ordered]
    if len(set(days)) < len(days):
        raise CorpusError(f"two snapshots carry the same date among {', '.join(map(str, days))}: give each once")
    newest = ordered[-1]
    joined = LawTree(newest.nodes(), date=newest.date, history=newest.history, name=newest.name)
    joined.earlier = tuple(ordered[:-1])
    return joined


def _snapshot_day(tree: LawTree) -> date:
    if tree.date is None:
        raise CorpusError(f"the law '{tree.name}' carries no date: only dated snapshots can be joined")
    return tree.date


def as_of(tree: LawTree, day: date) -> LawTree:
    """The tree in force on a day: texts and places as near to that day as the snapshots allow."""
    snapshots = (*tree.earlier, tree)
    before = [snapshot for snapshot in snapshots if snapshot.date and snapshot.date <= day]
    base = before[-1] if before else snapshots[0]
    texts = _held_texts(snapshots, base)
    history = _known_versions(snapshots)
    in_force: dict[str, _Held] = {}
    not_held: list[str] = []
    for cid, versions in history.items():
        candidates = [version for version in versions if version.in_force(day)]
        held = [version for version in candidates if version.id in texts]
        if held:
            version = max(held, key=age)
            article, snapshot = texts[version.id]
            in_force[cid] = _Held(replace(article, start=version.start, end=version.end), snapshot)
        elif candidates:
            not_held.append(cid)
    return LawTree(
        _Places(base).nodes(in_force),
        date=day,
        history=history,
        name=tree.name,
        not_held=not_held,
    )


def _known_versions(snapshots: Sequence[LawTree]) -> dict[str, list[Version]]:
    """By `cid`, every version any snapshot tells of; the newest snapshot's dates win."""
    known: dict[str, dict[str, Version]] = {}
    for snapshot in snapshots:
        if snapshot.date:
            for cid, versions in known.items():
                _end_untold(versions, snapshot.history.get(cid, ()), snapshot.date)
        for cid, told in snapshot.history.items():
            known.setdefault(cid, {}).update((version.id, version) for version in told)
    return {cid: list(versions.values()) for cid, versions in known.items()}


def _end_untold(versions: dict[str, Version], told: Sequence[Version], day: date) -> None:
    """What a snapshot of that day no longer tells of ends by then, or was called off if it had not begun."""
    for id in versions.keys() - {version.id for version in told}:
        version = versions[id]
        if version.in_force(day):
            versions[id] = version._replace(end=day)
        elif told and version.start and version.start > day:
            del versions[id]


class _Held(NamedTuple):
    """The text of a version, and the snapshot it was read from."""

    article: Article
    snapshot: LawTree


def _held_texts(snapshots: Sequence[LawTree], base: LawTree) -> dict[str, _Held]:
    """Each held version once: as in the base, else in the nearest later snapshot, else in the nearest earlier one."""
    at = snapshots.index(base)
    texts: dict[str, _Held] = {}
    for snapshot in (base, *snapshots[at + 1 :], *reversed(snapshots[:at])):
        for article in snapshot.articles.values():
            texts.setdefault(article.id, _Held(article, snapshot))
    return texts


class _Places:
    """The base snapshot's tree, into which articles from other snapshots are set.

    A new version takes the place of its article. An article that the base does not know comes with its own sections,
    each matched to the base's by id, or by `cid` where it was renamed.
    """

    def __init__(self, base: LawTree) -> None:
        self.base = base
        self.codes = dict(base.codes)
        self.sections = dict(base.sections)
        self.children: dict[str, list[str]] = {id: list(base.children(id)) for id in (*base.codes, *base.sections)}
        self.by_cid = {section.cid: id for id, section in base.sections.items() if section.cid}
        self.marks = {node.id: _mark(node) for node in base.nodes()}

    def nodes(self, in_force: dict[str, _Held]) -> Iterator[Code | Section | Article]:
        waiting = dict(in_force)
        settled: dict[str, Article] = {}
        for article in self.base.articles.values():
            newer = waiting.pop(article.cid, None)
            if newer is not None:
                settled[article.id] = replace(
                    newer.article, code=article.code, path=article.path, other_paths=article.other_paths
                )
        for held in waiting.values():
            settled[held.article.id] = self._settle(*held)
        return self._in_order(settled)

    def _in_order(self, settled: dict[str, Article]) -> Iterator[Code | Section | Article]:
        waiting: list[Code | Section | Article] = list(reversed(self.codes.values()))
        while waiting:
            node = waiting.pop()
            yield node
            for child in reversed(self.children.get(node.id, ())):
                if child in self.sections:
                    waiting.append(self.sections[child])
                elif child in settled and settled[child].parent == node.id:  # an article tells its other places itself
                    waiting.append(settled[child])

    def _settle(self, article: Article, origin: LawTree) -> Article:
        if article.code not in self.codes:
            self.codes[article.code] = origin.codes[article.code]
            self.children[article.code] = []
        ways = (article.path, *article.other_paths)
        path, *others = dict.fromkeys(self._path(way, article.code, origin) for way in ways)
        placed = replace(article, path=path, other_paths=tuple(others))
        self._insert(placed, placed.parent, article, origin)
        return placed

    def _path(self, way: tuple[str, ...], code: str, origin: LawTree) -> tuple[str, ...]:
        """A path of another snapshot, by the ids of its sections here."""
        path: list[str] = []
        for id in way:
            path.append(self._section(origin.sections[id], path[-1] if path else code, origin))
        return tuple(path)

    def _section(self, section: Section, parent: str, origin: LawTree) -> str:
        """The id here of another snapshot's section, under a parent already found here."""
        known = section.id if section.id in self.sections else self.by_cid.get(section.cid, "")
        if known and self.sections[known].parent == parent:
            return known
        # where the base knows it under another parent, the place was moved: the two are kept apart
        placed = replace(section, id=f"{section.id}@{parent}" if known else section.id, parent=parent)
        if placed.id not in self.sections:
            self.sections[placed.id] = placed
            self.children[placed.id] = []
            if section.cid:
                self.by_cid.setdefault(section.cid, placed.id)
            self._insert(placed, parent, section, origin)
        return placed.id

    def _insert(self, node: Section | Article, parent: str, original: Section | Article, origin: LawTree) -> None:
        """Set a node behind the neighbour it follows in its own snapshot, else before the one it precedes there."""
        self.marks[node.id] = _mark(node)
        here = [self.marks[id] for id in self.children[parent]]
        there = [_mark(origin.node(id)) for id in origin.children(original.parent)]
        own = there.index(_mark(original))
        behind = (here.index(mark) + 1 for mark in reversed(there[:own]) if mark in here)
        before = (here.index(mark) for mark in there[own + 1 :] if mark in here)
        self.children[parent].insert(next(behind, next(before, len(here))), node.id)


def _mark(node: Code | Section | Article) -> str:
    """What stays of a node from one snapshot to the next."""
    return node.id if isinstance(node, Code) else node.cid or node.id
