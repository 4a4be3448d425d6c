"""The law through time: several snapshots read together, and the tree in force on one day.

A snapshot is one published state of the law. An article's end is taken from the newest snapshot that knows the version;
an article that a later snapshot no longer holds ended at the latest on that snapshot's day.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date

from lexarbor.corpus.law import Article, Code, Section, Version, age
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import CorpusError


def join(snapshots: Iterable[LawTree]) -> LawTree:
    """The newest of several snapshots, with the others behind it to answer `as_of`."""
    ordered = sorted(snapshots, key=_snapshot_day)
    if not ordered:
        raise CorpusError("no snapshot to join: give at least one law tree")
    days = [tree.date for tree in ordered]
    if len(set(days)) < len(days):
        raise CorpusError(f"two snapshots carry the same date among {', '.join(map(str, days))}: give each once")
    newest = ordered[-1]
    joined = LawTree(newest.nodes(), date=newest.date, history=newest.history, name=newest.name)
    joined.earlier = tuple(ordered[:-1])
    return joined


def as_of(tree: LawTree, day: date) -> LawTree:
    """The tree in force on a day: texts and places as near to that day as the snapshots allow."""
    snapshots = (*tree.earlier, tree)
    before = [snapshot for snapshot in snapshots if snapshot.date and snapshot.date <= day]
    base = before[-1] if before else snapshots[0]
    texts = _held_texts(snapshots, base)
    in_force: dict[str, Article] = {}
    not_held: list[str] = []
    for cid, versions in known_versions(snapshots).items():
        candidates = [version for version in versions if version.in_force(day)]
        held = [version for version in candidates if version.id in texts]
        if held:
            version = max(held, key=age)
            in_force[cid] = replace(texts[version.id], start=version.start, end=version.end)
        elif candidates:
            not_held.append(cid)
    return LawTree(
        _Places(base, snapshots).nodes(in_force),
        date=day,
        history=tree.history,
        name=tree.name,
        not_held=not_held,
    )


def known_versions(snapshots: Sequence[LawTree]) -> dict[str, list[Version]]:
    """By `cid`, every version any snapshot tells of; the newest snapshot's dates win."""
    known: dict[str, dict[str, Version]] = {}
    for snapshot in snapshots:
        for cid, versions in known.items():
            if snapshot.date and cid not in snapshot.history:
                _end_by(versions, snapshot.date)
        for cid, told in snapshot.history.items():
            known.setdefault(cid, {}).update((version.id, version) for version in told)
    return {cid: list(versions.values()) for cid, versions in known.items()}


def _end_by(versions: dict[str, Version], day: date) -> None:
    for version in versions.values():
        if version.in_force(day):
            versions[version.id] = version._replace(end=day)


def _snapshot_day(tree: LawTree) -> date:
    if tree.date is None:
        raise CorpusError(f"the law '{tree.name}' carries no date: only dated snapshots can be joined")
    return tree.date


def _held_texts(snapshots: Sequence[LawTree], base: LawTree) -> dict[str, Article]:
    """Each held version once: as in the base, else in the nearest later snapshot, else in the nearest earlier one."""
    at = snapshots.index(base)
    texts: dict[str, Article] = {}
    for snapshot in (base, *snapshots[at + 1 :], *reversed(snapshots[:at])):
        for article in snapshot.articles.values():
            texts.setdefault(article.id, article)
    return texts


class _Places:
    """The base snapshot's tree, into which articles from other snapshots are set.

    A new version takes the place of its article. An article that the base does not know comes with its own sections,
    each matched to the base's by id, or by `cid` where it was renamed.
    """

    def __init__(self, base: LawTree, snapshots: Sequence[LawTree]) -> None:
        self.base = base
        self.snapshots = snapshots
        self.codes = dict(base.codes)
        self.sections = dict(base.sections)
        self.children: dict[str, list[str]] = {id: list(base.children(id)) for id in (*base.codes, *base.sections)}
        self.by_cid = {section.cid: id for id, section in base.sections.items() if section.cid}

    def nodes(self, in_force: dict[str, Article]) -> Iterator[Code | Section | Article]:
        waiting = dict(in_force)
        settled: dict[str, Article] = {}
        for article in self.base.articles.values():
            newer = waiting.pop(article.cid, None)
            if newer is not None:
                settled[article.id] = replace(
                    newer, code=article.code, path=article.path, other_paths=article.other_paths
                )
        for article in waiting.values():
            settled[article.id] = self._settle(article)
        for code in self.codes.values():
            yield code
            yield from self._below(code.id, settled)

    def _below(self, id: str, settled: dict[str, Article]) -> Iterator[Section | Article]:
        for child in self.children.get(id, ()):
            if child in self.sections:
                yield self.sections[child]
                yield from self._below(child, settled)
            elif child in settled:
                article = settled[child]
                if article.parent == id:  # other places are told by the article itself
                    yield article

    def _settle(self, article: Article) -> Article:
        origin = next(snapshot for snapshot in self.snapshots if article.id in snapshot.articles)
        if article.code not in self.codes:
            self.codes[article.code] = origin.codes[article.code]
            self.children.setdefault(article.code, [])
        path: list[str] = []
        for id in article.path:
            path.append(self._section(origin.sections[id], path[-1] if path else article.code, origin))
        self._insert(path[-1] if path else article.code, article.id, article.parent, origin)
        return replace(article, path=tuple(path), other_paths=())

    def _section(self, section: Section, parent: str, origin: LawTree) -> str:
        known = section.id if section.id in self.sections else self.by_cid.get(section.cid, "")
        if known and self.sections[known].parent == parent:
            return known
        if known:  # the place was moved: keep it apart from the one that the base knows
            section = replace(section, id=f"{section.id}@{parent}")
            if section.id in self.sections:
                return section.id
        self.sections[section.id] = replace(section, parent=parent)
        self.children[section.id] = []
        self._insert(parent, section.id, section.parent, origin)
        return section.id

    def _insert(self, parent: str, id: str, origin_parent: str, origin: LawTree) -> None:
        """Set an id behind the neighbour it follows in its own snapshot, where that neighbour is here too."""
        here = self.children[parent]
        there = origin.children(origin_parent)
        before = there[: there.index(id)] if id in there else ()
        at = next((here.index(neighbour) + 1 for neighbour in reversed(before) if neighbour in here), len(here))
        here.insert(at, id)
