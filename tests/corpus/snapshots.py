"""Snapshots of a small law made by hand, dated by years."""

from datetime import date
from typing import Any

from lexarbor.corpus.law import Article, Code, Section, Version
from lexarbor.corpus.tree import LawTree

CODE = Code("code", "Code de la mer")


def year(number: int | None) -> date | None:
    return date(number, 1, 1) if number else None


def new_year(number: int) -> date:
    return date(number, 1, 1)


def article(id: str, *path: str, since: int | None = 2000, until: int | None = None, **fields: Any) -> Article:
    """`id` is "cid.version"."""
    cid = id.partition(".")[0]
    return Article(id, cid, "code", f"Texte {id}.", path, year(since), year(until), cid=cid, **fields)


def section(id: str, parent: str = "code", level: int = 1, *, cid: str = "") -> Section:
    return Section(id, f"Titre {id}", level, parent, cid)


def versions(*told: tuple[str, int | None, int | None]) -> list[Version]:
    return [Version(id, year(since), year(until)) for id, since, until in told]


def snapshot(
    day: date | int | None, *nodes: Section | Article, history: dict[str, list[Version]] | None = None
) -> LawTree:
    return LawTree([CODE, *nodes], date=new_year(day) if isinstance(day, int) else day, history=history)


def ids(tree: LawTree) -> list[str]:
    return [node.id for node in tree.nodes()][1:]
