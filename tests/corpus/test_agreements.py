"""Collective agreements, from packages made by hand."""

import gzip
from pathlib import Path
from typing import Any

import pytest

from lexarbor.corpus.agreements import AGREEMENTS, AgreementArticle, read_agreements
from lexarbor.corpus.packages import PACKAGES
from lexarbor.errors import CorpusError
from npm_package import pack

Node = dict[str, Any]


def article(id: str, html: str | None, **data: object) -> Node:
    return {"type": "article", "data": {"id": id, "num": "1", "content": html, "etat": "VIGUEUR_ETEN", **data}}


def section(title: str, *children: Node, **data: object) -> Node:
    return {"type": "section", "data": {"etat": "VIGUEUR", "title": title, **data}, "children": list(children)}


def agreement(*children: Node, **data: object) -> Node:
    named = {"title": "Convention collective nationale des bateliers", "shortTitle": "Bateliers"}
    return {"type": "agreement", "data": named | data, "children": list(children)}


@pytest.fixture
def tarball(tmp_path: Path) -> Path:
    return tmp_path / "agreements.tgz"


def read(tarball: Path, *children: Node, **data: object) -> list[AgreementArticle]:
    return list(read_agreements(pack(tarball, {"data/KALICONT1.json": agreement(*children, **data)})))


def test_articles_stand_under_the_titles_above_them(tarball: Path) -> None:
    found = read(
        tarball,
        section(
            "Texte  de base :\nConvention",
            article("K1", "<p>Le batelier<br/>rame.</p>"),
            section("Titre Ier : Salaires", article("K2", "<p>Il est payé.</p>")),
            article("K3", "Il dort."),
        ),
        article("K4", "Il signe."),
    )
    assert found == [
        AgreementArticle("K1", ("Bateliers", "Texte de base : Convention"), "Le batelier\nrame."),
        AgreementArticle("K2", ("Bateliers", "Texte de base : Convention", "Titre Ier : Salaires"), "Il est payé."),
        AgreementArticle("K3", ("Bateliers", "Texte de base : Convention"), "Il dort."),
        AgreementArticle("K4", ("Bateliers",), "Il signe."),
    ]


@pytest.mark.parametrize("data", [{}, {"title": None}, {"title": ""}, {"title": " \n "}])
def test_a_section_without_a_title_adds_none(tarball: Path, data: dict[str, object]) -> None:
    untitled = {"type": "section", "data": data, "children": [article("K1", "Il rame.")]}
    assert read(tarball, untitled) == [AgreementArticle("K1", ("Bateliers",), "Il rame.")]


def test_what_is_not_in_force_is_skipped_with_all_below_it(tarball: Path) -> None:
    states = ("ABROGE", "PERIME", "REMPLACE", "DENONCE", "MODIFIE", "ANNULE")
    repealed = (section("Avant", article(f"S{state}", "Il ramait."), etat=state) for state in states)
    old = (article(f"A{state}", "Il ramait.", etat=state) for state in states)
    kept = section(
        "Maintenant",
        *old,
        article("K1", "Il rame.", etat="VIGUEUR"),
        article("K2", "Il pagaie.", etat="VIGUEUR_NON_ETEN"),
        {"type": "article", "data": {"id": "K3", "content": "Il nage."}},  # of which nothing else is told
    )
    assert [found.id for found in read(tarball, *repealed, kept)] == ["K1", "K2", "K3"]


@pytest.mark.parametrize("html", [None, "", "<p> </p><br/>"])
def test_an_article_without_text_is_skipped(tarball: Path, html: str | None) -> None:
    assert [found.id for found in read(tarball, article("K1", html), article("K2", "Il rame."))] == ["K2"]


@pytest.mark.parametrize("short", [None, ""])
def test_an_agreement_without_a_short_title_has_its_long_one(tarball: Path, short: str | None) -> None:
    (found,) = read(tarball, article("K1", "Il rame."), shortTitle=short)
    assert found.headings == ("Convention collective nationale des bateliers",)


def test_agreements_come_in_the_order_of_the_package_and_other_files_are_passed_over(tarball: Path) -> None:
    members = {
        "data/index.json": b"not read at all",
        "data/KALICONT2.json": agreement(article("K2", "Deux.")),
        "data/KALICONT1.json": agreement(article("K1", "Un."), shortTitle="Passeurs\n "),
        "data/KALICONT1.txt": b"not read at all",
        "data/KALICONT3.json": agreement(),
        "package.json": b"not read at all",
    }
    assert list(read_agreements(pack(tarball, members))) == [
        AgreementArticle("K2", ("Bateliers",), "Deux."),
        AgreementArticle("K1", ("Passeurs",), "Un."),
    ]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b'{"data": {', "JSONDecodeError"),
        (b"\xff\xfe\xfa", "UnicodeDecodeError"),
        (b"3", "TypeError"),
        (b"[" * 100_000, "RecursionError"),
        ({"titre": "Autre chose"}, "KeyError: 'data'"),
        ({"data": {}}, "KeyError: 'title'"),
        ({"data": {"title": 3}}, "AttributeError"),
        (agreement({"type": "article"}), "KeyError: 'data'"),
        (agreement({"data": {"id": "K1", "content": "…"}}), "KeyError: 'type'"),
        (agreement({"type": "article", "data": {"content": "Sans numéro."}}), "KeyError: 'id'"),
        (agreement({"type": "section", "data": {"title": 3}}), "AttributeError"),
        (agreement("KALIARTI1"), "TypeError"),  # type: ignore[arg-type]
    ],
)
def test_a_file_that_is_no_agreement_is_named(tarball: Path, content: object, complaint: str) -> None:
    members = {"data/KALICONT1.json": agreement(article("K1", "Un.")), "data/KALICONT2.json": content}
    with pytest.raises(CorpusError, match=r"data/KALICONT2\.json: not a collective agreement") as raised:
        list(read_agreements(pack(tarball, members)))
    assert complaint in str(raised.value)
    assert str(raised.value).endswith("fetch the package again")


def test_a_package_without_agreements_is_refused(tarball: Path) -> None:
    with pytest.raises(CorpusError, match="not a package of agreements"):
        list(read_agreements(pack(tarball, {"data/index.json": [], "README.md": b"Bonjour"})))


def test_a_file_that_is_no_package_is_refused(tarball: Path) -> None:
    for content in (b"not a tarball", gzip.compress(b"not a tarball")):
        tarball.write_bytes(content)
        with pytest.raises(CorpusError, match=r"not a whole \.tgz package"):
            list(read_agreements(tarball))


def test_the_package_is_pinned() -> None:
    assert AGREEMENTS in PACKAGES
