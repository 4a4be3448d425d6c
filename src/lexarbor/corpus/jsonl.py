"""Lexarbor's own exchange format for law: one JSON object a line (docs/jsonl-format.md).

    {"kind": "law", "format": "lexarbor-law/1", "name": "tiny", "as_of": "2026-01-01"}
    {"kind": "code", "id": "C1", "title": "Code communal"}
    {"kind": "section", "id": "S1", "parent": "C1", "title": "Livre Ier"}
    {"kind": "article", "id": "A1", "parent": "S1", "number": "L111-1", "text": "…", "start": "2015-01-01"}

Lines come in the order of the law. What a source does not know is left out.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from lexarbor.corpus import tables
from lexarbor.corpus.law import Article, Code, Section, Version
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import CorpusError
from lexarbor.files import replacing

FORMAT = "lexarbor-law/1"


def read_jsonl(path: Path) -> LawTree:
    """The tree that a JSONL file describes."""
    return read_lines(tables.read_lines(path, "give the path of a JSONL law file"), str(path))


def read_lines(lines: Iterable[str], where: str) -> LawTree:
    """As `read_jsonl`, from lines already at hand; `where` names them in messages."""
    reader = _Reader(where)
    for at, line in enumerate(lines, start=1):
        if line.strip():
            try:
                reader.read(json.loads(line), at)
            except (KeyError, ValueError, RecursionError) as error:
                raise reader.fault(at, _complaint(error)) from error
    if reader.name is None:
        raise CorpusError(f'{where}: no first line {{"kind": "law", "format": "{FORMAT}", …}}; is this a law file?')
    return LawTree(reader.in_order(), date=reader.date, history=reader.history, name=reader.name)


def _complaint(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"not valid JSON ({error.msg} at column {error.colno}), the line may be cut off"
    if isinstance(error, KeyError):
        return f"the field {error} is missing"
    return str(error)


class _Reader:
    def __init__(self, where: str) -> None:
        self.where = where
        self.name: str | None = None
        self.date: date | None = None
        self.nodes: dict[str, Code | Section | Article] = {}
        self.lines: dict[str, int] = {}
        self.places: dict[str, list[str]] = {}
        """By article id, the id above it at each of its places."""
        self.levels: dict[str, int] = {}
        """By id of a section or code, the depth below the code, once it was climbed to."""
        self.versions: dict[str, dict[str, Version]] = {}

    def fault(self, line: int, complaint: str) -> CorpusError:
        return CorpusError(f"{self.where}, line {line}: {complaint}; see docs/jsonl-format.md")

    @property
    def history(self) -> dict[str, tuple[Version, ...]]:
        return {cid: tuple(versions.values()) for cid, versions in self.versions.items()}

    def read(self, record: Any, line: int) -> None:
        if not isinstance(record, dict):
            raise ValueError(f"expected a JSON object, found {type(record).__name__}")
        kind = record["kind"]
        if kind == "law":
            self._read_law(record)
        elif self.name is None:
            raise ValueError('the first line must be of kind "law"')
        elif kind == "code":
            self._add(Code(_id(record), _text(record, "title")), line)
        elif kind == "section":
            title, parent, cid = _text(record, "title"), _text(record, "parent"), _optional(record, "cid")
            self._add(Section(_id(record), title, 0, parent, cid), line)
        elif kind == "article":
            self._read_article(record, line)
        else:
            raise ValueError(f"unknown kind {kind!r}, expected law, code, section or article")

    def _read_law(self, record: dict[str, Any]) -> None:
        if record["format"] != FORMAT:
            raise ValueError(f"the format is {record['format']!r}, this reader knows {FORMAT!r}")
        if self.name is not None:
            raise ValueError('a second line of kind "law": a file holds one law')
        self.name = _text(record, "name")
        self.date = _day(record.get("as_of"))

    def _read_article(self, record: dict[str, Any], line: int) -> None:
        article = Article(
            id=_id(record),
            number=_text(record, "number"),
            code="",
            text=_text(record, "text"),
            path=(),
            start=_day(record.get("start")),
            end=_day(record.get("end")),
            status=_optional(record, "status"),
            cid=_optional(record, "cid"),
            note=_optional(record, "note"),
        )
        places = [_text(record, "parent"), *_list(record, "also")]
        told = [_version(version) for version in _list(record, "versions")]
        self._add(article, line)
        self.places[article.id] = places
        known = self.versions.setdefault(article.cid, {})
        for version in (*told, Version(article.id, article.start, article.end)):
            known.setdefault(version.id, version)

    def _add(self, node: Code | Section | Article, line: int) -> None:
        known = self.nodes.setdefault(node.id, node)
        if known is not node:
            two_texts = isinstance(known, Article) and isinstance(node, Article) and known.text != node.text
            detail = ", with two texts" if two_texts else ""
            raise ValueError(f"the id {node.id!r} is used twice{detail}: line {self.lines[node.id]} has it already")
        self.lines[node.id] = line

    def in_order(self) -> Iterator[Code | Section | Article]:
        """The nodes with their paths, which are only known when every line was read."""
        for node in self.nodes.values():
            if isinstance(node, Section):
                yield replace(node, level=self._level(node.id, node.parent) + 1)
            elif isinstance(node, Article):
                yield self._placed(node)
            else:
                yield node

    def _placed(self, article: Article) -> Article:
        line, places = self.lines[article.id], self.places[article.id]
        for place in places:
            if not isinstance(place, str) or places.count(place) > 1:
                raise self.fault(line, f"'also' must name other places by their ids, each once, found {place!r}")
        (code, *path), *others = (self._path(article.id, place) for place in places)
        for other, *_ in others:
            if other != code:
                raise self.fault(line, f"article '{article.id}' stands in two codes, '{code}' and '{other}'")
        return replace(article, code=code, path=tuple(path), other_paths=tuple(tuple(way[1:]) for way in others))

    def _path(self, below: str, id: str) -> list[str]:
        """Ids from the code down to `id`, which `below` names as its parent."""
        self._level(below, id)  # so that the climb below meets neither an orphan nor a circle
        path = [id]
        while isinstance(node := self.nodes[id], Section):
            id = node.parent
            path.append(id)
        return path[::-1]

    def _level(self, below: str, id: str) -> int:
        """The depth of `id`, which `below` names as its parent; each section is climbed once."""
        above, climbed = id, dict[str, int]()
        while above not in self.levels:
            node = self.nodes.get(above)
            if isinstance(node, Code):
                self.levels[above] = 0
                break
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
    yield {"kind": "law", "format": FORMAT, "name": tree.name} | _known(as_of=_iso(tree.date))
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
        start=_iso(article.start),
        end=_iso(article.end),
        status=article.status,
        note=article.note,
        also=[path[-1] if path else article.code for path in article.other_paths],
        versions=[[version.id, _iso(version.start), _iso(version.end)] for version in told],
    )


def _known(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value}


def _iso(day: date | None) -> str | None:
    return day.isoformat() if day else None


def _day(value: Any) -> date | None:
    if value is None:
        return None
    try:
        return date.fromisoformat(value)
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
    if tables.HALF_CHARACTER.search(value):
        raise ValueError(f"the field {field!r} holds half a character (\\ud800…): save it as UTF-8 again")
    return value


def _optional(record: dict[str, Any], field: str) -> str:
    return "" if record.get(field) is None else _text(record, field)


def _list(record: dict[str, Any], field: str) -> list[Any]:
    value = record.get(field)
    if value is not None and not isinstance(value, list):
        raise ValueError(f"the field {field!r} must be a list, found {type(value).__name__}")
    return value or []
