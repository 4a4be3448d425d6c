from pathlib import Path

import pytest

from lexarbor.corpus import packages
from lexarbor.corpus.benchmarks import vosdroits
from lexarbor.corpus.benchmarks.outside import OutsideQuestion, outside_questions, read_outside_questions
from lexarbor.corpus.benchmarks.sheets import Sheet
from lexarbor.corpus.law import Article, Code
from lexarbor.corpus.packages import Package
from lexarbor.corpus.sources import read_tiny
from lexarbor.corpus.tree import LawTree
from npm_package import pack

TOWN = "Code communal de Valombre"


def sheet(id: str, title: str, *labels: str, year: int | None = None) -> Sheet:
    return Sheet(id, title, "Village", "À savoir", labels, year=year)


def codes(*labels: str) -> tuple[str, ...]:
    """Of one sheet with these labels."""
    return outside_questions([sheet("F1", "Se marier", *labels)], read_tiny())[0].codes


def ids(sheets: list[Sheet], law: LawTree | None = None) -> list[str]:
    return [question.id for question in outside_questions(sheets, law or read_tiny())]


# Which sheets


def test_a_sheet_that_cites_other_texts_alone_is_an_outside_question() -> None:
    found = outside_questions(
        [
            sheet("F4", "Se marier", "Code civil : articles 144 à 146", "Décret n° 2010-1 du 3 mai 2010", year=2020),
            sheet("F2", "Voter", "Loi du 29 juillet 1881 : article 5"),
        ],
        read_tiny(),
    )
    assert found == [
        OutsideQuestion("F4", "Se marier", ("Code civil",), 2020, "report"),
        OutsideQuestion("F2", "Voter", (), None, "choose"),
    ]


@pytest.mark.parametrize(
    "label",
    [
        f"{TOWN} : article L111-1",
        f"{TOWN} : article L999-9",  # not held, but of a code held
        f"{TOWN} : annexe II",
        f"Arrêté du 3 mai 2010 pris en application de l'article L. 111-1 du {TOWN.lower()}",
        f"Code civil : article 144 et article L111-1 du {TOWN}",
    ],
)
def test_a_sheet_that_names_a_code_held_is_not(label: str) -> None:
    assert not ids([sheet("F1", "Se marier", "Code civil : article 144", label)])


def test_an_abbreviated_code_held_is_seen_where_vosdroits_sees_it() -> None:
    label = "Code civil : article 144 et article L. 1 C. trav."
    held = LawTree([Code("C", "Code du travail"), Article("A1", "L1", "C", "…", ())])
    sheets = [sheet("F1", "Se marier", label)]
    assert list(vosdroits.label(sheets, held).questions) == ["F1"]
    assert not ids(sheets, held)
    assert ids(sheets) == ["F1"]


def test_a_code_whose_name_begins_like_that_of_a_code_held_is_another() -> None:
    held = LawTree([Code("C", "Code du travail"), Article("A1", "L1", "C", "…", ())])
    found = outside_questions([sheet("F1", "Naviguer", "Code du travail maritime : article 5")], held)
    assert [question.codes for question in found] == [("Code du travail maritime",)]


def test_a_sheet_without_sources_and_a_menu_are_no_outside_questions() -> None:
    assert not ids([sheet("F1", "Se marier"), sheet("N2", "Transports", "Code de la route : article R1")])


@pytest.mark.parametrize(
    ("title", "kept"),
    [
        ("L'âne de garde", False),
        ("Garder un âne", True),
    ],
)
def test_a_title_near_that_of_a_sheet_that_cites_a_code_held_is_left_out(title: str, kept: bool) -> None:
    menu = sheet("N1", "La garde de l'âne", f"{TOWN} : article L999-9")
    assert ids([menu, sheet("F1", title, "Code civil : article 144")]) == (["F1"] if kept else [])


# Halves


def test_the_half_is_told_by_the_id() -> None:
    topics = "âne bail chat dîme eau foin gué haie île".split()
    sheets = [sheet(f"F{number}", topic, "Code civil : article 1") for number, topic in enumerate(topics, start=1)]
    halves = {question.id: question.split for question in outside_questions(sheets, read_tiny())}
    # sha256sum of each id: the first byte is odd for those that report
    assert [id for id, half in halves.items() if half == "report"] == ["F4", "F7", "F8", "F9"]
    assert outside_questions(sheets[3:4], read_tiny())[0].split == "report"


def test_near_equal_titles_stay_in_the_half_of_the_first_id() -> None:
    near = [sheet(id, title, "Code civil : article 1") for id, title in (("F4", "Un mariage"), ("F1", "Le mariage"))]
    assert [question.split for question in outside_questions(near, read_tiny())] == ["choose", "choose"]


# Names of codes


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("Code civil : articles 144 à 146", "Code civil"),
        ("Code pénal articles 226-1 et 226-2", "Code pénal"),
        ("Code de l'artisanat : article 1", "Code de l'artisanat"),
        ("Code général des impôts, annexe 3 : article 41", "Code général des impôts"),
        ("Code général des impôts 2 : article 41", "Code général des impôts"),
        ("Code de procédure civile - Livre IV", "Code de procédure civile"),
        ("Code civil local d'Alsace-Moselle : article 21", "Code civil local d'Alsace-Moselle"),
        ("Livre des procédures fiscales : article L16", "Livre des procédures fiscales"),
        ("Code minier", "Code minier"),
    ],
)
def test_the_name_of_the_code_in_front_of_a_label(label: str, name: str) -> None:
    assert codes(label) == (name,)


def test_laws_decrees_and_what_they_apply_are_no_codes() -> None:
    assert codes("Loi n° 65-557 : article 9", "Arrêté pris en application de l'article R1 du code de la route") == ()


def test_codes_come_once_in_the_order_of_the_sheet() -> None:
    assert codes("Code pénal : article 2", "Code civil : article 3", "Code pénal : article 1") == (
        "Code pénal",
        "Code civil",
    )


def test_of_several_spellings_of_a_code_the_commonest_is_told() -> None:
    labels = (
        "Code du transport : article 2",
        "Code des transports : article 1",
        "Code des transports : article 3",
        "Code de procédure civile : article 1",
        "Code de procédure pénale : article 1",
    )
    assert codes(*labels) == ("Code des transports", "Code de procédure civile", "Code de procédure pénale")


# From the package


def test_the_sheets_are_those_of_vosdroits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def element(name: str, *children: object) -> dict[str, object]:
        return {"name": name, "children": list(children)}

    title = element("dc:title", {"type": "text", "text": "Se marier"})
    cited = element("Reference", element("Titre", {"type": "text", "text": "Code civil : article 144"}))
    publication = element("Publication", title, cited) | {"attributes": {"ID": "F1"}}
    tarball = pack(tmp_path / "package.tgz", {"data/particuliers/F1.json": {"children": [publication]}})

    def fetch(package: Package) -> Path:
        assert package.spec == vosdroits.SHEETS
        return tarball

    monkeypatch.setattr(packages, "fetch", fetch)
    assert read_outside_questions(read_tiny()) == [OutsideQuestion("F1", "Se marier", ("Code civil",), None, "choose")]
