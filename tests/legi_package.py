"""LEGI packages made by hand, in the shape of `@socialgouv/legi-data`: a .tgz with one JSON file per code."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from npm_package import pack

FOREVER = 32472144000000
"""LEGI's 2999-01-01: no end is known."""

Node = dict[str, Any]


def code(id: str, *children: Node, title: str = "Code de la mer", since: str = "2020-01-01") -> Node:
    data = {
        "cid": id,
        "etat": "VIGUEUR",
        "id": id,
        "intOrdre": 0,
        "title": title,
        "dateModif": since,
        "dateDebutVersion": since,
        "dateFinVersion": "2999-01-01",
    }
    return {"type": "code", "data": data, "children": list(children)}


def section(id: str, *children: Node, title: str = "Dispositions générales", cid: str | None = None) -> Node:
    data = {
        "cid": cid or id,
        "dateDebut": "2008-05-01",
        "dateFin": "2999-01-01",
        "etat": "VIGUEUR",
        "id": id,
        "intOrdre": 42949,
        "title": title,
    }
    return {"type": "section", "data": data, "children": list(children)}


def article(
    id: str,
    number: str | None = "L1",
    html: str | None = "<p>Texte.</p>",
    *,
    cid: str | None = None,
    start: str = "2008-05-01",
    end: str | None = None,
    versions: Sequence[tuple[str, str, str | None]] | None = None,
    status: str | None = "VIGUEUR",
    plain: str = "",
    note: str | None = "",
) -> Node:
    told = [(id, start, end)] if versions is None else versions
    data = {
        "articleVersions": [
            {
                "id": version,
                "etat": "VIGUEUR",
                "version": "1.0",
                "dateDebut": milliseconds(first),
                "dateFin": milliseconds(last),
                "numero": None,
                "ordre": None,
            }
            for version, first, last in told
        ],
        "cid": cid or id,
        "dateDebut": milliseconds(start),
        "dateDebutExtension": FOREVER,
        "dateFin": milliseconds(end),
        "dateFinExtension": FOREVER,
        "etat": status,
        "id": id,
        "intOrdre": 1073741823,
        "lienModifications": [],
        "nota": "",
        "notaHtml": note,
        "num": number,
        "texte": plain,
        "texteHtml": html,
    }
    return {"type": "article", "data": data}


def milliseconds(day: str | None) -> int:
    """Since 1970, as LEGI counts."""
    return FOREVER if day is None else int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()) * 1000


def write_package(path: Path, *codes: Node) -> Path:
    return pack(path, {**{f"data/{one['data']['id']}.json": one for one in codes}, "data/index.json": []})
