"""Invented laws, sheets and agreements: in memory, or in the shape of the packages that supervision is made of."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from lexarbor.corpus.benchmarks.sheets import Chapter, Sheet
from lexarbor.corpus.law import Article, Code, Section
from lexarbor.corpus.tree import LawTree


def bridges(*texts: str) -> LawTree:
    """The Code des ponts: articles L1-1, L1-2… under its one section, or under a second one inside it for the even."""
    articles = (
        Article(f"A{number:02}", f"L1-{number}", "C", text, ("S1",) if number % 2 else ("S1", "S2"))
        for number, text in enumerate(texts, start=1)
    )
    sections = (Section("S1", "Titre Ier : Les piles", 1, "C"), Section("S2", "Section 2 : Les arches.", 2, "S1"))
    return LawTree([Code("C", "Code des ponts"), *sections, *articles], name="bridges")


def sheet(id: str, title: str, *chapters: tuple[tuple[str, ...], str], description: str = "") -> Sheet:
    return Sheet(id, title, "", description, (), tuple(Chapter(*chapter) for chapter in chapters))


def node(name: str, *children: object) -> dict[str, Any]:
    """An element of a sheet's file; words are its text."""
    held = [{"type": "text", "text": child} if isinstance(child, str) else child for child in children]
    return {"type": "element", "name": name, "children": held}


def sheet_file(sheet: Sheet) -> dict[str, Any]:
    chapters = (
        node("Chapitre", *(node("Titre", title) for title in chapter.titles), node("Paragraphe", chapter.text))
        for chapter in sheet.chapters
    )
    publication = node(
        "Publication",
        node("dc:title", sheet.title),
        node("dc:description", sheet.description),
        node("Texte", *chapters),
        *(node("Reference", node("Titre", label)) for label in sheet.labels),
    )
    return {"children": [publication | {"attributes": {"ID": sheet.id}}]}


def asked_file(sections: Iterable[tuple[str, str, str]]) -> list[dict[str, Any]]:
    """Of the Ministry's sheets: title, title of a section, `cid` of the article it cites."""
    return [
        {
            "pubId": f"travail{number}",
            "title": title,
            "sections": [{"title": asked, "references": {"LEGITEXT": {"articles": [{"text": "…", "cid": cid}]}}}],
        }
        for number, (title, asked, cid) in enumerate(sections)
    ]


def agreement_file(title: str, articles: Iterable[tuple[str, tuple[str, ...], str]]) -> dict[str, Any]:
    """An agreement's tree: each article by its id, the titles above it and its text."""
    children = []
    for id, titles, text in articles:
        child: dict[str, Any] = {"type": "article", "data": {"id": id, "etat": "VIGUEUR", "content": f"<p>{text}</p>"}}
        for above in reversed(titles):
            child = {"type": "section", "data": {"title": above, "etat": "VIGUEUR"}, "children": [child]}
        children.append(child)
    return {"type": "agreement", "data": {"title": title}, "children": children}


TOWN = "Code communal de Valombre"
STABLE = "Un âne dispose d'une étable close, d'eau fraîche et de deux repas par jour au moins, hiver comme été."
SHEETS = (
    replace(
        sheet(
            "F1", "Garder un âne", ((), STABLE), (("En ville",), "Au plus un âne."), description="Un animal à garder"
        ),
        labels=(f"{TOWN} : article L113-1",),
    ),
    replace(
        sheet("F2", "Vendre au marché", ((), "Secret de dev."), (("Les prix",), STABLE), description="Les étals"),
        labels=(f"{TOWN} : article L122-2",),
    ),
    replace(
        sheet("F3", "Tondre sa pelouse le dimanche", (("Le matin",), "Secret de test."), description="Le gazon"),
        labels=(f"{TOWN} : article L111-2",),
    ),
    sheet("F4", "Se marier", ((), "Devant le maire."), (("Le fourrage",), "Trop près de Travail.")),
    sheet("F5", "Le marché : vendre", ((), "Trop près de dev.")),
    sheet("F6", "Le jardin", (("Le dimanche, tondre sa pelouse",), "Trop près de test."), (("Semer",), "En mars.")),
)
AGREEMENT = (
    ("KALIARTI1", ("Titre Ier : Salaires", "Primes"), "Une prime est due la nuit."),
    ("KALIARTI2", ("Titre II : Vendre au marché",), "Trop près de dev, sans son numéro."),
    ("KALIARTI3", ("Titre III : Congés",), "Une prime est due la nuit."),  # said before
)
SPLITS = {
    "vosdroits": {"train": ("F1",), "dev": ("F2",), "test": ("F3",)},
    "travail": {"test": ("travail0-0",)},
}
REFUSED = {"held-out sheets": 2, "sheets near one": 1, "chapters near one": 2, "agreements near one": 1}
"""What the guard says of these sheets and agreements."""
