"""A law as one JSON document of columns: how an index holds it. It is read in half of the time that JSONL takes, since
no line is looked at by itself; only the tree checks it, as an index's files have checksums.
"""

import json
from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

from lexarbor.corpus.jsonl import collector_paused, make_article, make_section
from lexarbor.corpus.law import Article, Code, Section, Version, iso
from lexarbor.corpus.tree import LawTree
from lexarbor.files import replacing

Node = Code | Section | Article
_LETTERS: dict[type[Node], str] = {Code: "c", Section: "s", Article: "a"}


def write_columns(tree: LawTree, path: Path) -> None:
    """The file appears whole or not at all."""
    nodes = list(tree.nodes())
    articles = [node for node in nodes if isinstance(node, Article)]
    document = {
        "name": tree.name,
        "date": iso(tree.date),
        "order": "".join(_LETTERS[type(node)] for node in nodes),
        "codes": _columns((node for node in nodes if isinstance(node, Code)), "id", "title"),
        "sections": _columns(
            (node for node in nodes if isinstance(node, Section)), "id", "title", "level", "parent", "cid"
        ),
        "articles": _columns(articles, "id", "number", "text", "parent", "status", "cid", "note")
        | {"start": [iso(one.start) for one in articles], "end": [iso(one.end) for one in articles]},
        "also": {one.id: one.other_parents for one in articles if one.other_paths},
        "history": dict(_told(tree, articles)),
    }
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")


def _told(tree: LawTree, articles: Iterable[Article]) -> Iterator[tuple[str, list[tuple[str, str | None, str | None]]]]:
    """The versions of those that have others than the one held, which the tree knows by itself."""
    held = {article.cid: (Version(article.id, article.start, article.end),) for article in articles}
    for cid, told in tree.history.items():
        if told != held.get(cid):
            yield cid, [(id, iso(start), iso(end)) for id, start, end in told]


def read_columns(path: Path) -> LawTree:
    """What `write_columns` wrote."""
    with collector_paused():
        told = json.loads(path.read_bytes())
        days, versions = _Days(), told["history"]

        def history() -> dict[str, tuple[Version, ...]]:
            return {
                cid: tuple(Version(id, days[start], days[end]) for id, start, end in held)
                for cid, held in versions.items()
            }

        return LawTree(_nodes(told, days), date=days[told["date"]], history=history, name=told["name"])


class _Days(dict[str | None, date | None]):
    """Days by how they are written: a law has few and tells each many times."""

    def __missing__(self, written: str | None) -> date | None:
        self[written] = None if written is None else date.fromisoformat(written)
        return self[written]


def _columns(nodes: Iterable[Node], *names: str) -> dict[str, list[Any]]:
    held = list(nodes)
    return {name: [getattr(node, name) for node in held] for name in names}


def _nodes(told: dict[str, Any], days: _Days) -> Iterator[Node]:
    """In the order of the law, as a tree is made of them."""
    codes, sections, articles = (told[kind] for kind in ("codes", "sections", "articles"))
    ways: dict[str, tuple[str, tuple[str, ...]]] = {code: (code, ()) for code in codes["id"]}
    """By section or code, the code and the path of what stands under it."""
    for id, parent in zip(sections["id"], sections["parent"], strict=True):
        code, path = ways[parent]
        ways[id] = (code, (*path, id))
    places = [ways[parent] for parent in articles["parent"]]
    others = {id: tuple(ways[place][1] for place in places) for id, places in told["also"].items()}
    made: dict[str, Iterator[Node]] = {
        "c": map(Code, codes["id"], codes["title"]),
        "s": map(make_section, *(sections[name] for name in ("id", "title", "level", "parent", "cid"))),
        "a": map(
            make_article,
            articles["id"],
            articles["number"],
            (code for code, _ in places),
            articles["text"],
            (path for _, path in places),
            map(days.__getitem__, articles["start"]),
            map(days.__getitem__, articles["end"]),
            articles["status"],
            articles["cid"],
            articles["note"],
            (others.get(id, ()) for id in articles["id"]),
        ),
    }
    return (next(made[letter]) for letter in told["order"])
