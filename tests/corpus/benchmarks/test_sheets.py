from pathlib import Path

import pytest

from lexarbor.corpus.benchmarks.sheets import Chapter, Sheet, read_sheets
from lexarbor.errors import CorpusError
from npm_package import pack


def element(name: str, *children: object) -> dict[str, object]:
    nodes = [{"type": "text", "text": child} if isinstance(child, str) else child for child in children]
    return {"type": "element", "name": name, "children": nodes}


def reference(label: str) -> dict[str, object]:
    return element("Reference", element("Titre", label))


def sheet(id: str, title: str, *children: object, subject: str = "Vie au village", description: str = "") -> object:
    publication = element(
        "Publication",
        element("dc:title", title),
        element("dc:subject", subject),
        element("dc:description", description),
        *children,
    )
    return {"children": [publication | {"attributes": {"ID": id}}]}


def test_a_sheet_has_a_title_a_topic_a_description_and_labels(tmp_path: Path) -> None:
    tarball = pack(
        tmp_path / "package.tgz",
        {
            "data/particuliers/F2.json": sheet(
                "F2",
                "Garder\n  un âne",
                element("ListeSituations", element("Titre", "En ville")),
                element("dc:title", "Un second titre"),
                reference("Code des prés : article L1-1"),
                element("Reference", element("Titre", "Code des prés : ", element("Gras", "article R2-2"))),
                subject="Animaux, Voisinage",
                description="Ce qu'il faut savoir",
            )
        },
    )
    assert read_sheets(tarball) == [
        Sheet(
            "F2",
            "Garder un âne",
            "Animaux",
            "Ce qu'il faut savoir",
            ("Code des prés : article L1-1", "Code des prés : article R2-2"),
        )
    ]


def paragraph(text: str) -> dict[str, object]:
    return element("Paragraphe", text)


def chapters_of(tmp_path: Path, *children: object) -> tuple[Chapter, ...]:
    return read_sheets(pack(tmp_path / "package.tgz", {"data/particuliers/F1.json": sheet("F1", "Un âne", *children)}))[
        0
    ].chapters


def test_chapters_are_runs_of_paragraphs_under_their_titles(tmp_path: Path) -> None:
    found = chapters_of(
        tmp_path,
        element("Introduction", element("Texte", paragraph("Un âne"), paragraph("mange.\n  Beaucoup."))),
        element(
            "Texte",
            paragraph("D'abord."),
            element(
                "Chapitre",
                element("Titre", "Le", element("Gras", "foin")),
                paragraph("Du foin."),
                element("SousChapitre", element("Titre", "En hiver"), paragraph("Du foin sec.")),
                element("Liste", element("Item", paragraph("ou")), element("Item", paragraph("de la paille"))),
            ),
            element("Chapitre", paragraph("Sans titre.")),
        ),
    )
    assert found == (
        Chapter((), "Un âne\nmange. Beaucoup."),
        Chapter((), "D'abord."),
        Chapter(("Le foin",), "Du foin.\nou de la paille"),  # a chapter's own paragraphs stay together
        Chapter(("Le foin", "En hiver"), "Du foin sec."),
        Chapter((), "Sans titre."),
    )


def test_situations_and_cases_are_chapters_too(tmp_path: Path) -> None:
    cases = element(
        "BlocCas",
        element("Cas", element("Titre", "Jeune"), paragraph("Patience.")),
        element("Cas", element("Titre", "Vieux"), element("Texte", paragraph("Respect."))),
    )
    found = chapters_of(
        tmp_path,
        element(
            "ListeSituations",
            element("Titre", "Selon le lieu"),
            element("Situation", element("Titre", "En ville"), element("Texte", paragraph("Au pas."), cases)),
            element("Situation", element("Titre", "Aux champs")),
        ),
    )
    assert found == (
        Chapter(("Selon le lieu", "En ville"), "Au pas."),
        Chapter(("Selon le lieu", "En ville", "Jeune"), "Patience."),
        Chapter(("Selon le lieu", "En ville", "Vieux"), "Respect."),
    )


def test_an_introduction_comes_before_the_text_wherever_it_stands(tmp_path: Path) -> None:
    found = chapters_of(
        tmp_path, element("Texte", paragraph("Après.")), element("Introduction", element("Texte", paragraph("Avant.")))
    )
    assert [chapter.text for chapter in found] == ["Avant.", "Après."]


def test_menus_forms_and_sources_are_no_chapters(tmp_path: Path) -> None:
    others = ("OuSAdresser", "ServiceEnLigne", "QuestionReponse", "VoirAussi", "Definition", "Abreviation")
    assert not chapters_of(
        tmp_path, *(element(name, element("Titre", name), paragraph("…")) for name in others), reference("Code : L1-1")
    )


def test_of_a_sheet_for_several_audiences_the_first_one_has_the_chapters(tmp_path: Path) -> None:
    tarball = pack(
        tmp_path / "package.tgz",
        {
            f"data/{audience}/F1.json": sheet("F1", "Un âne", element("Texte", paragraph(f"Pour les {audience}.")))
            for audience in ("associations", "professionnels", "particuliers")
        },
    )
    assert read_sheets(tarball)[0].chapters == (Chapter((), "Pour les particuliers."),)


@pytest.mark.parametrize(
    ("date", "year"), [("modified 2020-01-31", 2020), ("created 2016-11-02", 2016), ("modified", None), ("", None)]
)
def test_a_sheet_knows_the_year_of_its_last_change(tmp_path: Path, date: str, year: int | None) -> None:
    members = {"data/particuliers/F1.json": sheet("F1", "Un âne", element("dc:date", date))}
    assert read_sheets(pack(tmp_path / "package.tgz", members))[0].year == year


def test_what_a_definition_cites_is_no_label(tmp_path: Path) -> None:
    definition = element("Definition", element("Titre", "Âne"), reference("Code des prés : article L9-9"))
    tarball = pack(
        tmp_path / "package.tgz",
        {"data/particuliers/F1.json": sheet("F1", "Un âne", definition, reference("Code : L1-1"))},
    )
    assert read_sheets(tarball)[0].labels == ("Code : L1-1",)


def test_one_sheet_for_several_audiences_is_merged(tmp_path: Path) -> None:
    tarball = pack(
        tmp_path / "package.tgz",
        {
            "data/associations/F1.json": sheet("F1", "Titre des associations", reference("C"), reference("A")),
            "data/professionnels/F1.json": sheet("F1", "Titre des professionnels", reference("B"), reference("A")),
            "data/particuliers/F1.json": sheet("F1", "Titre des particuliers", reference("A")),
            "data/professionnels/F3.json": sheet("F3", "Pour eux seuls"),
        },
    )
    merged, alone = read_sheets(tarball)
    assert (merged.id, merged.title, merged.labels) == ("F1", "Titre des particuliers", ("A", "B", "C"))
    assert (alone.id, alone.title, alone.labels) == ("F3", "Pour eux seuls", ())


def test_sheets_come_in_the_order_of_their_ids_and_other_files_are_passed_over(tmp_path: Path) -> None:
    tarball = pack(
        tmp_path / "package.tgz",
        {
            "data/particuliers/F20.json": sheet("F20", "Vingt"),
            "data/particuliers/F10.json": sheet("F10", "Dix"),
            "data/particuliers/index.json": [{"id": "F10"}],
            "data/particuliers/R1.json": {"children": [element("ServiceComplementaire")]},
            "data/index.json": b"not read at all",
            "data/voisins/F1.json": b"not read at all",
            "package.json": b"not read at all",
        },
    )
    assert [found.id for found in read_sheets(tarball)] == ["F10", "F20"]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b'{"children": [', "JSONDecodeError"),
        (b"\xff\xfe\xfa", "UnicodeDecodeError"),
        (b"3", "TypeError"),
        ({"titre": "Autre chose"}, "KeyError: 'children'"),
        ({"children": ["Publication"]}, "AttributeError"),
        ({"children": [element("Publication") | {"attributes": {"ID": "F1"}}]}, "KeyError: 'dc:title'"),
        ({"children": [element("Publication", element("dc:title", "Sans numéro"))]}, "KeyError: 'attributes'"),
        (b"[" * 100_000, "RecursionError"),
    ],
)
def test_a_file_that_is_no_sheet_is_named(tmp_path: Path, content: object, complaint: str) -> None:
    tarball = pack(
        tmp_path / "package.tgz", {"data/particuliers/F1.json": sheet("F1", "Un"), "data/particuliers/F2.json": content}
    )
    with pytest.raises(CorpusError, match=r"data/particuliers/F2\.json: not a practical sheet") as raised:
        read_sheets(tarball)
    assert complaint in str(raised.value)
    assert str(raised.value).endswith("fetch the package again")


def test_a_package_without_sheets_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="not a package of practical sheets"):
        read_sheets(pack(tmp_path / "package.tgz", {"data/particuliers/index.json": [], "README.md": b"Bonjour"}))


def test_a_file_that_is_no_package_is_refused(tmp_path: Path) -> None:
    (tmp_path / "package.tgz").write_bytes(b"not a tarball")
    with pytest.raises(CorpusError, match=r"not a whole \.tgz package"):
        read_sheets(tmp_path / "package.tgz")
