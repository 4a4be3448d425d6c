"""Reader of collective agreements: the npm package `@socialgouv/kali-data`, one JSON tree per agreement.

Agreements are no law of ours to be found; they say in the words of trades what the Code du travail says in its own,
under headings like its own, and they cite it: something to learn the language from.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from lexarbor.corpus.html import text_of
from lexarbor.corpus.tarballs import read_members
from lexarbor.errors import CorpusError

AGREEMENTS = "@socialgouv/kali-data@3.449.0"


class AgreementArticle(NamedTuple):
    """An article of a collective agreement that is in force."""

    id: str
    headings: tuple[str, ...]
    """From the agreement's short title down."""
    text: str


def read_agreements(tarball: Path) -> Iterator[AgreementArticle]:
    """The articles in force that have a text, agreement by agreement, in their order there."""
    found = False
    for name, content in read_members(tarball, _is_agreement):
        try:
            root = json.loads(content)
            title = root["data"].get("shortTitle") or root["data"]["title"]
            yield from _articles(root, (" ".join(title.split()),))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise CorpusError(
                f"{tarball}, {name}: not a collective agreement ({type(error).__name__}: {error}); "
                "fetch the package again"
            ) from error
        found = True
    if not found:
        raise CorpusError(f"{tarball}: no data/KALICONT….json inside, so this is not a package of agreements")


def _is_agreement(member: str) -> bool:
    return member.startswith("data/KALICONT") and member.endswith(".json")


def _articles(node: dict[str, Any], headings: tuple[str, ...]) -> Iterator[AgreementArticle]:
    for child in node.get("children", ()):
        data = child["data"]
        if not str(data.get("etat", "VIGUEUR")).startswith("VIGUEUR"):
            continue
        if child["type"] == "article":
            if text := text_of(data.get("content") or ""):
                yield AgreementArticle(data["id"], headings, text)
        else:
            title = " ".join((data.get("title") or "").split())  # a few sections have none
            yield from _articles(child, (*headings, title) if title else headings)
