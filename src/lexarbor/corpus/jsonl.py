"""Lexarbor's own exchange format for law: one JSON object a line (docs/jsonl-format.md).

    {"kind": "law", "format": "lexarbor-law/1", "name": "tiny", "as_of": "2026-01-01"}
    {"kind": "code", "id": "C1", "title": "Code communal"}
    {"kind": "section", "id": "S1", "parent": "C1", "title": "Livre Ier"}
    {"kind": "article", "id": "A1", "parent": "S1", "number": "L111-1", "text": "…", "start": "2015-01-01"}

Lines come in the order of the law. What a source does not know is left out.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from lexarbor.corpus.law import Article, Code, Section, Version
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import CorpusError
from lexarbor.files import replacing

FORMAT = "lexarbor-law/1"


def read_jsonl(path: Path) -> LawTree:
    """The tree that a JSONL file describes."""
    try:
        with path.open(encoding="utf-8") as lines:
            return read_lines(lines, str(path))
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read ({error.strerror}); give the path of a JSONL law file") from error
    except UnicodeDecodeError as error:
        raise CorpusError(f"{path}: not UTF-8 text ({error.reason}); save the file as UTF-8") from error


def read_lines(lines: Iterable[str], where: str) -> LawTree:
    """As `read_jsonl`, from lines already at hand; `where` names them in messages."""
    reader = _Reader()
    at = 0
    for at, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            reader.read(record)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise CorpusError(f"{where}, line {at}: {_complaint(error)}; see docs/jsonl-format.md") from error
    if reader.name is None:
        raise CorpusError(f'{where}: no first line {{"kind": "law", "format": "{FORMAT}", …}}; is this a law file?')
    try:
        return LawTree(reader.in_order(), date=reader.date, history=reader.history, name=reader.name)
    except CorpusError as error:
        raise CorpusError(f"{where}: {error}") from error


def _complaint(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"not valid JSON ({error.msg} at column {error.colno}), the line may be cut off"
    if isinstance(error, KeyError):
        return f"the field {error} is missing"
    return str(error)


class _Reader:
    def __init__(self) -> None:
        self.name: str | None = None
        self.date: date | None = None
        self.nodes: dict[str, Code | Section | Article] = {}
        self.parents: dict[str, str] = {}
        self.also: dict[str, Sequence[str]] = {}
        self.history: dict[str, list[Version]] = {}

    def read(self, record: Any) -> None:
        if not isinstance(record, dict):
            raise ValueError(f"expected a JSON object, found {type(record).__name__}")
        kind = record["kind"]
        if kind == "law":
            self._read_law(record)
        elif self.name is None:
            raise ValueError('the first line must be of kind "law"')
        elif kind == "code":
            self._add(Code(_id(record), _text(record, "title")))
        elif kind == "section":
            section = Section(_id(record), _text(record, "title"), 0, _text(record, "parent"), record.get("cid", ""))
            self.parents[section.id] = section.parent
            self._add(section)
        elif kind == "article":
            self._read_article(record)
        else:
            raise ValueError(f"unknown kind {kind!r}, expected law, code, section or article")

    def _read_law(self, record: dict[str, Any]) -> None:
        if record["format"] != FORMAT:
            raise ValueError(f"the format is {record['format']!r}, this reader knows {FORMAT!r}")
        self.name = _text(record, "name")
        self.date = _day(record.get("as_of"))

    def _read_article(self, record: dict[str, Any]) -> None:
        article = Article(
            id=_id(record),
            number=_text(record, "number"),
            code="",
            text=_text(record, "text"),
            path=(),
            start=_day(record.get("start")),
            end=_day(record.get("end")),
            status=record.get("status", ""),
            cid=record.get("cid", ""),
            note=record.get("note", ""),
        )
        self.parents[article.id] = _text(record, "parent")
        self.also[article.id] = record.get("also", ())
        told = (Version(id, _day(start), _day(end)) for id, start, end in record.get("versions", ()))
        own = Version(article.id, article.start, article.end)
        versions = self.history.setdefault(article.cid, [])
        versions += [version for version in (*told, own) if all(version.id != known.id for known in versions)]
        self._add(article)

    def _add(self, node: Code | Section | Article) -> None:
        known = self.nodes.setdefault(node.id, node)
        if known is not node:
            two_texts = isinstance(known, Article) and isinstance(node, Article) and known.text != node.text
            detail = ", with two texts" if two_texts else ""
            raise ValueError(f"the id {node.id!r} is used twice{detail}")

    def in_order(self) -> Iterator[Code | Section | Article]:
        """The nodes with their paths, which are only known when every line was read."""
        for node in self.nodes.values():
            if isinstance(node, Section):
                path = self._path(node.parent)
                yield Section(node.id, node.title, len(path), node.parent, node.cid)
            elif isinstance(node, Article):
                code, *path = self._path(self.parents[node.id])
                others = tuple(tuple(self._path(parent)[1:]) for parent in self.also[node.id])
                yield Article(
                    node.id, node.number, code, node.text, tuple(path), node.start, node.end, node.status,
                    node.cid, node.note, others,
                )  # fmt: skip
            else:
                yield node

    def _path(self, id: str) -> list[str]:
        """Code and section ids down to `id`."""
        path = [id]
        while path[-1] in self.parents:
            path.append(self.parents[path[-1]])
            if len(path) > len(self.parents) + 1 or path[-1] in path[:-1]:
                raise CorpusError(f"section '{id}' is its own ancestor: {' → '.join(path)}")
        if not isinstance(self.nodes.get(path[-1]), Code):
            below = f"'{path[-2]}' is an orphan: its" if len(path) > 1 else "an article's or section's"
            raise CorpusError(f"{below} parent '{path[-1]}' is not in the file")
        return path[::-1]


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
            yield article_record(tree, node)


def article_record(tree: LawTree, article: Article) -> dict[str, Any]:
    """One article as the format writes it."""
    told = [version for version in tree.history[article.cid] if version.id != article.id]
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
    if not isinstance(value, str):
        raise ValueError(f"expected a date like '2026-01-31', found {value!r}")
    return date.fromisoformat(value)


def _id(record: dict[str, Any]) -> str:
    id = _text(record, "id")
    if not id or id != id.strip():
        raise ValueError(f"an id must be a word without spaces around it, found {id!r}")
    return id


def _text(record: dict[str, Any], field: str) -> str:
    value = record[field]
    if not isinstance(value, str):
        raise ValueError(f"the field {field!r} must be text, found {type(value).__name__}")
    return value
