"""Bringing the law up to date: the newest version that is published, the one that is current here, what changed.

A small file in the cache remembers the versions that were taken beyond the pinned ones, and which of them is current.
A version is noted once its package was fetched and read, and made current by a step of its own: whatever is
interrupted, the law of before stays current.
"""

import json
import logging
import re
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from lexarbor.corpus import packages
from lexarbor.corpus.law import Article
from lexarbor.corpus.legi import read_legi
from lexarbor.corpus.packages import Package
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import CorpusError, FetchError
from lexarbor.files import folder_at, write_json

logger = logging.getLogger(__name__)

FILE = "updates.json"
FORMAT = "lexarbor-updates/1"
KINDS = ("new", "amended", "repealed")
"""What can have become of an article from one law to the next."""

_BY_PATH = "`lexarbor index --law FILE.tgz`"
_VERSION = re.compile(r"\d{1,9}\.\d{1,9}\.\d{1,9}", re.ASCII)


class Published(Package):
    """A version that the registry tells of. It is not known yet: a tarball of it is a law by path."""

    __slots__ = ()

    @property
    def by_path(self) -> str:
        return _BY_PATH


class Taken(NamedTuple):
    """A version beyond the pinned ones that was fetched and read, and the day of its law."""

    package: Package
    date: date


class Updates(NamedTuple):
    """What the cache remembers: the versions taken, by "name@version", and the one that is current, if any."""

    taken: Mapping[str, Taken]
    current: str | None


def read_updates() -> Updates:
    """What is remembered: nothing where there is no file, or none that can be read; the latter with a warning."""
    try:
        path = packages.cache_folder() / FILE
    except FetchError:  # no home folder: nothing can have been remembered
        return Updates({}, None)
    try:
        return _parsed(json.loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, NotADirectoryError):
        return Updates({}, None)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError, FetchError) as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())[:200]
        told = "the law is the pinned one; `lexarbor corpus update --pinned` writes it anew"
        logger.warning("%s cannot be read (%s): %s", path, reason, told)
        return Updates({}, None)


def _parsed(content: Any) -> Updates:
    if content["format"] != FORMAT:
        raise ValueError(f"its format is {content['format']!r}, this version reads {FORMAT!r}")
    taken = {}
    for entry in content["taken"]:
        package = Package(entry["name"], entry["version"], entry["integrity"])
        newness(package.spec)
        taken[package.spec] = Taken(package, date.fromisoformat(entry["law_as_of"]))
    current = content["current"]
    if current is not None and current not in taken:
        raise ValueError(f"{current!r} is current, but was never taken")
    return Updates(taken, current)


def _write(updates: Updates) -> None:
    entries = [
        {
            "name": package.name,
            "version": package.version,
            "integrity": package.integrity,
            "law_as_of": day.isoformat(),
        }
        for package, day in sorted(updates.taken.values(), key=lambda one: newness(one.package.spec))
    ]
    folder = folder_at(packages.cache_folder())
    write_json(folder / FILE, {"format": FORMAT, "current": updates.current, "taken": entries})


def known_package(spec: str) -> Package:
    """The package called "name@version": a pinned one, or one that an update took."""
    if spec not in packages.PACKAGES and (taken := read_updates().taken.get(spec)):
        return taken.package
    return packages.package(spec)


def newness(spec: str) -> tuple[int, ...]:
    """Sorts the versions of a package from the oldest to the newest."""
    version = spec.rpartition("@")[2]
    if not _VERSION.fullmatch(version):
        raise FetchError(f"'{spec}': '{version}' is no version of the law: expected one like 2.513.0")
    return tuple(map(int, version.split(".")))


def is_newer(spec: str, than: str) -> bool:
    """Whether one version of a package is newer than another; never where they are not of one package."""
    return spec.rpartition("@")[0] == than.rpartition("@")[0] and newness(spec) > newness(than)


def newest(name: str, timeout: float = 60.0) -> Package:
    """The version of a package that the registry gives as its latest, with its integrity."""
    otherwise = f"index a .tgz of the law by path with {_BY_PATH}"
    try:
        with tempfile.TemporaryDirectory(prefix="lexarbor-", ignore_cleanup_errors=True) as folder:
            said = packages.ask_npm("view", f"{name}@latest", folder=Path(folder), timeout=timeout, otherwise=otherwise)
    except OSError as error:
        raise FetchError(f"npm needs a folder for temporary files ({error.strerror or error}): set TMPDIR") from error
    try:
        told = json.loads(said)
        found = Published(name, str(told["version"]), str(told["dist"]["integrity"]))
        newness(found.spec)
    except (ValueError, LookupError, TypeError, FetchError):
        raise FetchError(
            f"{name}@latest: npm did not tell a version like 2.513.0 with its sha512 checksum: "
            f"check which registry it asks, or {otherwise}"
        ) from None
    return found


def take(package: Package, held: date | None = None) -> LawTree:
    """Fetch a version, read it and note it as known; refused where its law is older than the one held. What was
    current stays so.
    """
    updates = read_updates()
    noted = updates.taken.get(package.spec)
    known = packages.PACKAGES.get(package.spec) or (noted and noted.package)
    if known and known.integrity != package.integrity:
        raise FetchError(
            f"{package.spec} refused: the registry tells the checksum {package.integrity}, {known.integrity} is known; "
            "what is published never changes: check which registry npm asks"
        )
    law = read_legi(packages.fetch(package))
    if law.date is None:
        raise CorpusError(f"{package.spec}: the law carries no date; use another version of the package")
    if held and law.date < held:
        raise CorpusError(
            f"{package.spec} refused: its law is of {law.date}, older than the law of {held} that is held"
        )
    _write(Updates({**updates.taken, package.spec: Taken(package, law.date)}, updates.current))
    return law


def make_current(spec: str | None) -> None:
    """Make a version that was taken the default law from now on; None goes back to the pinned one."""
    updates = read_updates()
    if spec is not None and spec not in updates.taken:
        raise FetchError(f"{spec} was not taken yet: run `lexarbor corpus update`")
    if spec is not None or (packages.cache_folder() / FILE).exists():
        _write(Updates(updates.taken, spec))


class CodeChanges(NamedTuple):
    """How many articles of one code are new, amended and repealed."""

    id: str
    code: str
    new: int
    amended: int
    repealed: int


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed from one law to the next, among the articles in force on the day of each; in the order of the
    law. An article is the same as long as its `cid` is.
    """

    before: date | None
    after: date | None
    """The days of the two laws."""
    new: tuple[Article, ...]
    amended: tuple[Article, ...]
    """Where the words differ, an editor's correction among them; as they are now."""
    repealed: tuple[Article, ...]
    """As they were."""
    titles: Mapping[str, str]
    """Of the codes of both laws, by id."""
    lost: tuple[str, ...]
    """The ids of codes that the next law holds nothing of."""

    def by_code(self) -> list[CodeChanges]:
        counts = [Counter(article.code for article in getattr(self, kind)) for kind in KINDS]
        return [CodeChanges(id, title, *(count[id] for count in counts)) for id, title in self.titles.items()]

    def examples(self, kind: str, most: int) -> list[Article]:
        """The first articles of a kind of change, each code having its share; in the order of the law."""
        articles: Sequence[Article] = getattr(self, kind)
        met: Counter[str] = Counter()
        turns = []
        for at, article in enumerate(articles):
            turns.append((met[article.code], at))  # first come the first articles of all codes, then the second ones
            met[article.code] += 1
        return [articles[at] for at in sorted(at for _, at in sorted(turns)[:most])]


def compare(before: LawTree, after: LawTree) -> Changes:
    """What changed between two snapshots of one law."""
    then, now = (tree.as_of(tree.date) if tree.date else tree for tree in (before, after))
    old, new = ({article.cid: article for article in tree.articles.values()} for tree in (then, now))
    return Changes(
        before=before.date,
        after=after.date,
        new=tuple(article for cid, article in new.items() if cid not in old),
        amended=tuple(
            article for cid, article in new.items() if cid in old and old[cid].text.split() != article.text.split()
        ),
        # what is in force but not held in the new law is not repealed
        repealed=tuple(article for cid, article in old.items() if cid not in new and cid not in now.not_held),
        titles={code.id: code.title for tree in (before, after) for code in tree.codes.values()},
        lost=tuple(id for id in before.codes if id not in after.codes),
    )
