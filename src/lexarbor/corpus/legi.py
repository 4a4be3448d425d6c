"""Reader of LEGI packages: the npm package `@socialgouv/legi-data`, one JSON file per code.

A package is a snapshot of the law. Its date is the latest day on which one of its codes changed: the first day on which
everything it holds was in force together.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from lexarbor.corpus.html import text_of
from lexarbor.corpus.law import Article, Code, Section, Version
from lexarbor.corpus.tarballs import read_members
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import CorpusError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FOREVER = date(2999, 1, 1)
"""LEGI's way to write 'no end known'."""


def read_legi(tarball: Path) -> LawTree:
    """Every code of one package as a tree, with the dates of all the versions it knows of."""
    reader = _Reader(tarball)
    for name, content in read_members(tarball, _is_code):
        reader.read_code(name, content)
    if not reader.codes:
        raise CorpusError(
            f"{tarball}: no data/LEGITEXT….json inside, so this is not a LEGI package; "
            "fetch one with `lexarbor corpus fetch`"
        )
    name = tarball.name.removesuffix(".tgz")
    try:
        return LawTree(reader.nodes(), date=max(reader.days), history=reader.history, name=name)
    except CorpusError as error:
        raise CorpusError(f"{tarball}: {error}; use another version of the package") from error


def _is_code(member: str) -> bool:
    return member.startswith("data/LEGITEXT") and member.endswith(".json")


class _Reader:
    def __init__(self, tarball: Path) -> None:
        self.tarball = tarball
        self.codes: list[list[Code | Section | Article]] = []
        self.days: list[date] = []
        self.history: dict[str, tuple[Version, ...]] = {}
        self.places: dict[str, list[Article]] = {}
        """Every article by id, once per place."""
        self.last = ""
        """Id of the last node read, to say how far the reader came."""

    def nodes(self) -> Iterator[Code | Section | Article]:
        for code in self.codes:
            for node in code:
                if not isinstance(node, Article):
                    yield node
                elif self.places[node.id][0] is node:
                    _, *others = dict.fromkeys(place.path for place in self.places[node.id])
                    yield replace(node, other_paths=tuple(others)) if others else node

    def read_code(self, member: str, content: bytes) -> None:
        where = f"{self.tarball}, {member}"
        try:
            root = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise CorpusError(
                f"{where}: not valid JSON ({error}); the file is truncated or foreign, fetch the package again"
            ) from error
        try:
            data = root["data"]
            code = Code(_id(data), _title(data))
            self.days.append(date.fromisoformat(data["dateDebutVersion"]))
            nodes: list[Code | Section | Article] = [code]
            for child in root["children"]:
                self._read_node(child, code.id, (), nodes)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
            place = f"{where}, after {self.last}" if self.last else where
            raise CorpusError(
                f"{place}: not the shape of a LEGI code ({type(error).__name__}: {error}); "
                "expected nested {type, data, children} with ids, titles and dates"
            ) from error
        self.codes.append(nodes)

    def _read_node(
        self, node: dict[str, Any], code: str, path: tuple[str, ...], nodes: list[Code | Section | Article]
    ) -> None:
        data = node["data"]
        if node["type"] == "article":
            article = self._article(data, code, path)
            nodes.append(article)
            self.last = article.id
        elif node["type"] == "section":
            parent = path[-1] if path else code
            section = Section(_id(data), _title(data), len(path) + 1, parent, _id(data, "cid"))
            nodes.append(section)
            self.last = section.id
            for child in node["children"]:
                self._read_node(child, code, (*path, section.id), nodes)
        else:
            raise ValueError(f"unknown node type {node['type']!r}")

    def _article(self, data: dict[str, Any], code: str, path: tuple[str, ...]) -> Article:
        versions = [
            Version(_id(told), _day(told["dateDebut"]), _day(told["dateFin"])) for told in data["articleVersions"]
        ]
        article = Article(
            id=_id(data),
            number=" ".join((data["num"] or "").split()),
            code=code,
            text=text_of(data["texteHtml"] or data["texte"] or ""),
            path=path,
            start=_day(data["dateDebut"]),
            end=_day(data["dateFin"]),
            status=data["etat"] or "",
            cid=_id(data, "cid"),
            note=text_of(data["notaHtml"] or data["nota"] or ""),
        )
        first, *_ = self.places.setdefault(article.id, [article])
        if first is not article:
            if first.text != article.text:
                raise CorpusError(
                    f"{self.tarball}: article {article.id} ({article.number}) stands at two places with two texts; "
                    "one id must have one text: report it to the package's authors or use another version"
                )
            self.places[article.id].append(article)
        # an article's own dates and its list of versions come from the same package; the list is kept whole
        self.history[article.cid] = tuple(versions)
        return article


def _id(data: dict[str, Any], field: str = "id") -> str:
    id = data[field]
    if not isinstance(id, str) or not id:
        raise ValueError(f"the {field} must be a word, found {id!r}")
    return id


def _title(data: dict[str, Any]) -> str:
    return " ".join(data["title"].split())


def _day(milliseconds: int) -> date | None:
    day = (_EPOCH + timedelta(milliseconds=milliseconds)).date()
    return None if day >= _FOREVER else day
