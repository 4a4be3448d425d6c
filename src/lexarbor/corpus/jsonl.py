"""Lexarbor's own exchange format for law: one JSON object a line (docs/jsonl-format.md).

    {"kind": "law", "format": "lexarbor-law/1", "name": "tiny", "as_of": "2026-01-01"}
    {"kind": "code", "id": "C1", "title": "Code communal"}
    {"kind": "section", "id": "S1", "parent": "C1", "title": "Livre Ier"}
    {"kind": "article", "id": "A1", "parent": "S1", "number": "L111-1", "text": "…", "start": "2015-01-01"}

Lines come in the order of the law. What a source does not know is left out.
"""

import gc
import json
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields as fields_of
from dataclasses import make_dataclass, replace
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from lexarbor.corpus import tables
from lexarbor.corpus.law import Article, Code, Section, Version, iso
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import CorpusError
from lexarbor.files import replacing

FORMAT = "lexarbor-law/1"


def read_jsonl(path: Path) -> LawTree:
    """The tree that a JSONL file describes."""
    return read_lines(tables.read_lines(path, "give the path of a JSONL law file"), str(path))


def read_lines(lines: Iterable[str], where: str) -> LawTree:
    """As `read_jsonl`, from lines already at hand; `where` names them in messages."""
    with collector_paused():
        return _tree(lines, where)


def _tree(lines: Iterable[str], where: str) -> LawTree:
    reader = _Reader(where)
    for at, line in enumerate(lines, start=1):
        if line and not line.isspace():
            try:
                reader.read(_parsed(line), at)
            except (KeyError, ValueError, RecursionError) as error:
                raise reader.fault(at, _complaint(error)) from error
    if reader.name is None:
        raise CorpusError(f'{where}: no first line {{"kind": "law", "format": "{FORMAT}", …}}; is this a law file?')
    return LawTree(reader.in_order(), date=reader.date, history=reader.history, name=reader.name)


_decode = json.JSONDecoder().raw_decode


def _parsed(line: str) -> Any:
    """As `json.loads`, which takes a third longer: it looks for spaces around the value, where one end of line is."""
    try:
        value, end = _decode(line)
        if line[end:] == "\n":
            return value
    except ValueError:
        pass  # json.loads may yet read it, else it tells why not
    return json.loads(line)


class _Pauses:
    """How many readers have paused the garbage collector, and whether it was on before the first of them."""

    lock = threading.Lock()
    count = 0
    was_on = False


@contextmanager
def collector_paused() -> Iterator[None]:
    """Read without garbage collection, which a law's many objects start again and again, and none of them is garbage.

    The collector is the whole process's: of several readers, nested or in threads, the last one puts it back.
    """
    with _Pauses.lock:
        if not _Pauses.count:
            _Pauses.was_on = gc.isenabled()
        _Pauses.count += 1
        gc.disable()
    try:
        yield
    finally:
        with _Pauses.lock:
            _Pauses.count -= 1
            if not _Pauses.count and _Pauses.was_on:
                if not gc.get_freeze_count():  # else somebody's frozen objects would thaw with ours
                    gc.freeze()  # and unfreeze: the law counts as old at once, instead of being looked through first
                    gc.unfreeze()
                gc.enable()


def _complaint(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"not valid JSON ({error.msg} at column {error.colno}), the line may be cut off"
    if isinstance(error, KeyError):
        return f"the field {error} is missing"
    return str(error)


class _Way(NamedTuple):
    """The way down to a section or code: what an article that stands there has for `code` and `path`."""

    code: str
    path: tuple[str, ...]


_NOWHERE = _Way("", ())

_Node = TypeVar("_Node", Section, Article)


def _maker(kind: type[_Node]) -> Callable[..., _Node]:
    """What makes a node of all its fields in a third of the time: a twin that is not frozen, then of the node's class.

    A frozen dataclass sets each field through `object`, which is slow. `__post_init__` is not called.
    """
    twin: Any = make_dataclass("_Twin", [(field.name, field.type) for field in fields_of(kind)], slots=True)

    def make(*values: Any) -> _Node:
        node = twin(*values)
        node.__class__ = kind
        return node  # type: ignore[no-any-return]

    return make


make_section, make_article = _maker(Section), _maker(Article)


class _Reader:
    def __init__(self, where: str) -> None:
        self.where = where
        self.name: str | None = None
        self.date: date | None = None
        self.nodes: dict[str, Code | Section | Article] = {}
        """A section has level 0 and an article no code as long as lines that are still to come may say more."""
        self.lines: dict[str, int] = {}
        self.places: dict[str, list[str]] = {}
        """By id of an article without code, the id above it at each of its places."""
        self.levels: dict[str, int] = {}
        """By id of a section or code, the depth below the code, once it is known."""
        self.ways: dict[str, _Way] = {}
        """By id of a section or code, the way down to it, once an article stands there: all of them share it."""
        self.history: dict[str, tuple[Version, ...]] = {}

    def fault(self, line: int, complaint: str) -> CorpusError:
        return CorpusError(f"{self.where}, line {line}: {complaint}; see docs/jsonl-format.md")

    def read(self, record: Any, line: int) -> None:
        if not isinstance(record, dict):
            raise ValueError(f"expected a JSON object, found {type(record).__name__}")
        kind = record["kind"]
        if kind == "law":
            self._read_law(record)
        elif self.name is None:
            raise ValueError('the first line must be of kind "law"')
        elif kind == "article":
            self._read_article(record, line)
        elif kind == "section":
            self._read_section(record, line)
        elif kind == "code":
            code = Code(_id(record), _text(record, "title"))
            self._add(code, line)
            self.levels[code.id] = 0
        else:
            raise ValueError(f"unknown kind {kind!r}, expected law, code, section or article")

    def _read_law(self, record: dict[str, Any]) -> None:
        if record["format"] != FORMAT:
            raise ValueError(f"the format is {record['format']!r}, this reader knows {FORMAT!r}")
        if self.name is not None:
            raise ValueError('a second line of kind "law": a file holds one law')
        self.name = _text(record, "name")
        self.date = _day(record.get("as_of"))

    def _read_section(self, record: dict[str, Any], line: int) -> None:
        title, parent, cid = _text(record, "title"), _text(record, "parent"), _optional(record, "cid")
        level = self.levels.get(parent, -1) + 1
        section = make_section(_id(record), title, level, parent, cid)
        self._add(section, line)
        if level:
            self.levels[section.id] = level

    def _read_article(self, record: dict[str, Any], line: int) -> None:
        id, number, text = _id(record), _text(record, "number"), _text(record, "text")
        start, end = _day(record.get("start")), _day(record.get("end"))
        status, cid, note = _optional(record, "status"), _optional(record, "cid") or id, _optional(record, "note")
        parent, also = _text(record, "parent"), _list(record, "also")
        told = [_version(version) for version in _list(record, "versions")]
        code, path = _NOWHERE if also else self._way(parent)
        self._add(make_article(id, number, code, text, path, start, end, status, cid, note, ()), line)
        if not code:
            self.places[id] = [parent, *also]
        self._tell(cid, (*self.history.get(cid, ()), *told, Version(id, start, end)))

    def _tell(self, cid: str, told: tuple[Version, ...]) -> None:
        """Keep the versions of an article, each as it was told of first."""
        if len(told) > 1 and len({version.id for version in told}) < len(told):
            told = tuple({version.id: version for version in reversed(told)}.values())
        self.history[cid] = told

    def _add(self, node: Code | Section | Article, line: int) -> None:
        known = self.nodes.setdefault(node.id, node)
        if known is not node:
            two_texts = isinstance(known, Article) and isinstance(node, Article) and known.text != node.text
            detail = ", with two texts" if two_texts else ""
            raise ValueError(f"the id {node.id!r} is used twice{detail}: line {self.lines[node.id]} has it already")
        self.lines[node.id] = line

    def in_order(self) -> Iterator[Code | Section | Article]:
        """The nodes with their paths; where a line came before the one it stands under, they are known only now."""
        for node in self.nodes.values():
            if isinstance(node, Section) and not node.level:
                yield replace(node, level=self._level(node.id, node.parent) + 1)
            elif isinstance(node, Article) and not node.code:
                yield self._placed(node)
            else:
                yield node

    def _placed(self, article: Article) -> Article:
        line, places = self.lines[article.id], self.places[article.id]
        for place in places:
            if not isinstance(place, str) or places.count(place) > 1:
                raise self.fault(line, f"'also' must name other places by their ids, each once, found {place!r}")
        for place in places:
            self._level(article.id, place)  # so that the way down to it is known
        (code, path), *others = map(self._way, places)
        for other in others:
            if other.code != code:
                raise self.fault(line, f"article '{article.id}' stands in two codes, '{code}' and '{other.code}'")
        return replace(article, code=code, path=path, other_paths=tuple(other.path for other in others))

    def _way(self, id: str) -> _Way:
        """The way down to a section or code, or `_NOWHERE` as long as the lines above it were not read."""
        if id in self.ways:
            return self.ways[id]
        if id not in self.levels:
            return _NOWHERE
        path, above = [], id
        while isinstance(node := self.nodes[above], Section):
            path.append(above)
            above = node.parent
        return self.ways.setdefault(id, _Way(above, tuple(reversed(path))))

    def _level(self, below: str, id: str) -> int:
        """The depth of `id`, which `below` names as its parent; each section is climbed once."""
        above, climbed = id, dict[str, int]()
        while above not in self.levels:
            node = self.nodes.get(above)
            if not isinstance(node, Section):
                found = "an article" if node else "not in the file"
                raise self.fault(self.lines[below], f"'{below}' is an orphan: its parent '{above}' is {found}")
            if above in climbed:
                way = " → ".join([*list(climbed)[climbed[above] :], above])
                raise self.fault(self.lines[above], f"section '{above}' is its own ancestor: {way}")
            climbed[above] = len(climbed)
            below, above = above, node.parent
        for level, section in enumerate(reversed(climbed), start=self.levels[above] + 1):
            self.levels[section] = level
        return self.levels[id]


def write_jsonl(tree: LawTree, path: Path) -> None:
    """A tree as JSONL; the file appears whole or not at all."""
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        for record in _records(tree):
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


def _records(tree: LawTree) -> Iterator[dict[str, Any]]:
    yield {"kind": "law", "format": FORMAT, "name": tree.name} | _known(as_of=iso(tree.date))
    for node in tree.nodes():
        if isinstance(node, Code):
            yield {"kind": "code", "id": node.id, "title": node.title}
        elif isinstance(node, Section):
            section = {"kind": "section", "id": node.id, "parent": node.parent, "title": node.title}
            yield section | _known(cid=node.cid)
        else:
            yield _article_record(tree, node)


def _article_record(tree: LawTree, article: Article) -> dict[str, Any]:
    """One article as the format writes it."""
    own = Version(article.id, article.start, article.end)
    told = [version for version in tree.history[article.cid] if version != own]
    return {
        "kind": "article",
        "id": article.id,
        "parent": article.parent,
        "number": article.number,
        "text": article.text,
    } | _known(
        cid=article.cid if article.cid != article.id else "",
        start=iso(article.start),
        end=iso(article.end),
        status=article.status,
        note=article.note,
        also=article.other_parents,
        versions=[[version.id, iso(version.start), iso(version.end)] for version in told],
    )


def _known(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value}


_read_day = lru_cache(maxsize=10_000)(date.fromisoformat)
"""A law has few days and tells each many times: they are held once."""


def _day(value: Any) -> date | None:
    if value is None:
        return None
    try:
        return _read_day(value)
    except (TypeError, ValueError):
        raise ValueError(f"expected a date like '2026-01-31', found {value!r}") from None


def _version(told: Any) -> Version:
    if not isinstance(told, list) or len(told) != 3 or not isinstance(told[0], str):
        raise ValueError(f"a version must be [id, start, end], found {told!r}")
    return Version(told[0], _day(told[1]), _day(told[2]))


def _id(record: dict[str, Any]) -> str:
    id = _text(record, "id")
    if not id or id != id.strip():
        raise ValueError(f"an id must be a word without spaces around it, found {id!r}")
    return id


def _text(record: dict[str, Any], field: str) -> str:
    value = record[field]
    if not isinstance(value, str):
        raise ValueError(f"the field {field!r} must be text, found {type(value).__name__}")
    if not value.isascii() and _is_broken(value):
        raise ValueError(f"the field {field!r} holds half a character (\\ud800…): save it as UTF-8 again")
    return value


def _is_broken(text: str) -> bool:
    """Whether `tables.HALF_CHARACTER` finds something, many times faster: it is what no encoding takes."""
    for encoding in ("latin-1", "utf-8"):  # the first takes nearly every text, and merely copies it
        try:
            text.encode(encoding)
        except UnicodeEncodeError:
            continue
        return False
    return True


def _optional(record: dict[str, Any], field: str) -> str:
    return "" if record.get(field) is None else _text(record, field)


def _list(record: dict[str, Any], field: str) -> list[Any]:
    value = record.get(field)
    if value is not None and not isinstance(value, list):
        raise ValueError(f"the field {field!r} must be a list, found {type(value).__name__}")
    return value or []
