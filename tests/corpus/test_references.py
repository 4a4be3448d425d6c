import re

import pytest

from lexarbor.corpus.references import Home, Reference, canonical, fold, number_key, parse, parse_label

CODES = ("code du travail", "code de la sécurité sociale", "code rural et de la pêche maritime", "code civil")


def numbers(text: str) -> list[str]:
    return [number(reference) for reference in parse(text)]


def number(reference: Reference) -> str:
    return f"{reference.first} à {reference.last}" if reference.is_range else reference.first


def homes(references: list[Reference]) -> list[tuple[str, str]]:
    """Each number with the name of its code, without the words that follow the name."""
    return [(number(reference), home(reference.code)) for reference in references]


def home(code: str | Home) -> str:
    if isinstance(code, Home):
        return code.value
    return next((known for known in CODES if code.lower().startswith(known)), code)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("l'article L. 1234-9", ["L1234-9"]),
        ("L1234-9", ["L1234-9"]),
        ("article L 1234-9", ["L1234-9"]),
        ("ARTICLE L.1234-9.", ["L1234-9"]),
        ("(L. 1234-9)", ["L1234-9"]),
        ("art. L. 1234-9", ["L1234-9"]),
        ("arts. L. 1-1 et L. 1-2", ["L1-1", "L1-2"]),
        ("R*421-2", ["R421-2"]),
        ("R.* 421-2", ["R421-2"]),
        ("l'article R. ** 421-2", ["R421-2"]),
        ("LO 111-3", ["LO111-3"]),
        ("L.O. 111-3", ["LO111-3"]),
        ("L. O. 111-3", ["LO111-3"]),
        ("D. 6352-16", ["D6352-16"]),
        ("l'article A. 444-1", ["A444-1"]),
        ("l'article D 3", ["D3"]),
        ("l'article L. 1er", ["L1"]),
        ("l'article 1er", ["1"]),
        ("ARTICLE 12", ["12"]),
        ("art. 1382", ["1382"]),
        ("l'article 131-13", ["131-13"]),
        ("l'article 2.3", ["2.3"]),
    ],
)
def test_one_number_however_it_is_written(text: str, expected: list[str]) -> None:
    assert numbers(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("l'article L. 351-7-1 A", "L351-7-1 A"),
        ("l'article R. 142-1-A", "R142-1 A"),
        ("l'article R. 142-1-A du présent code", "R142-1 A"),
        ("l'article 5 bis", "5 bis"),
        ("l'article 5bis", "5 bis"),
        ("l'article 5 BIS", "5 bis"),
        ("l'article 44 octies A", "44 octies A"),
        ("l'article 199 undecies B", "199 undecies B"),
        ("l'article 1609 quinvicies", "1609 quinvicies"),
        ("l'article L. 4 ter B C", "L4 ter B C"),
        ("l'article L. 1234-9\nA défaut", "L1234-9"),
        ("l'article L. 1234-9. A défaut", "L1234-9"),
        ("l'article L. 1234-9 C. trav.", "L1234-9"),
        ("l'article L. 1234-9 II", "L1234-9"),
        ("l'article L. 6313-1-2°", "L6313-1"),
    ],
)
def test_a_suffix_belongs_to_the_number_and_what_only_looks_like_one_does_not(text: str, expected: str) -> None:
    assert numbers(text) == [expected]


@pytest.mark.parametrize("space", ["\u00a0", "\u202f"])
@pytest.mark.parametrize("dash", ["\u2010", "\u2011", "\u2013"])
def test_spaces_and_dashes_that_do_not_break(space: str, dash: str) -> None:
    text = "articles L. 1234-9 à L. 1234-11, 5 bis et L. 351-7 A du code du travail".replace(" ", space)
    found = parse(text.replace("-", dash))
    assert [number(reference) for reference in found] == ["L1234-9 à L1234-11", "5 bis", "L351-7 A"]
    assert {fold(str(reference.code)) for reference in found} == {"code du travail"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("articles L. 1-1, L. 1-2 et L. 1-3", ["L1-1", "L1-2", "L1-3"]),
        ("articles L. 1-1 ; L. 1-2 ; L. 1-3", ["L1-1", "L1-2", "L1-3"]),
        ("articles L1-1,L1-2", ["L1-1", "L1-2"]),
        ("articles L 1-1, D 2-2 et R 3", ["L1-1", "D2-2", "R3"]),
        ("L. 1-1 ou L. 1-2 ainsi que R. 5-1", ["L1-1", "L1-2", "R5-1"]),
        ("articles L. 1-1 et/ou L. 1-2", ["L1-1", "L1-2"]),
        ("articles L. 1-1, 1-2 et 1-3", ["L1-1", "L1-2", "L1-3"]),
        ("articles 5, 6 et 7 bis", ["5", "6", "7 bis"]),
        ("articles 225-4-1,225-14-1 et 39", ["225-4-1", "225-14-1", "39"]),
        ("articles L. 1-1et L. 1-2", ["L1-1", "L1-2"]),
        ("article L. 1-1, au 2° de l'article L. 1-2 et au I de l'article 4", ["L1-1", "L1-2", "4"]),
    ],
)
def test_lists(text: str, expected: list[str]) -> None:
    assert numbers(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("articles L. 1234-9 à L. 1234-11", ["L1234-9 à L1234-11"]),
        ("L1234-9 à L1234-11", ["L1234-9 à L1234-11"]),
        ("articles L. 1-1 à 1-5", ["L1-1 à L1-5"]),
        ("articles 1er à 3", ["1 à 3"]),
        ("articles 298 septies à 298 terdecies", ["298 septies à 298 terdecies"]),
        ("articles L. 1-1 à L. 1-3, L. 2-1 et R. 3-1 à R. 3-2", ["L1-1 à L1-3", "L2-1", "R3-1 à R3-2"]),
        ("articles R. 361-3à R. 362-1", ["R361-3 à R362-1"]),
        ("l'article L. 1234-9 à la date", ["L1234-9"]),
        ("l'article L. 5 à 3 heures", ["L5"]),
        ("l'article 5 à compter du 3 mai", ["5"]),
        ("l'article 5 à 10 heures", ["5"]),
    ],
)
def test_ranges(text: str, expected: list[str]) -> None:
    assert numbers(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "vitamine D 3",
        "vitamine D3 et A 2",
        "57 %",
        "article 57 %",
        "un article à 12,50 €",
        "article 12,50",
        "article 3 000 euros",
        "le 12 mars 2020",
        "1382",
        "les 1382 salariés",
        "XL1234-9",
        "COVIDL. 1-1",
        "L-1234-9",
        "2020-L. 1-1",
        "article12",
        "particle 12",
        "article 5°",
        "article 12ab",
        "articles 5/6",
        "L. 12° et R. 3°",
        "le code postal 75001",
        "l'article précédent",
    ],
)
def test_what_is_no_reference(text: str) -> None:
    assert parse(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("article 11382", ["11382"]),
        ("article 1382-11", ["1382-11"]),
        ("article L. 11382-1", ["L11382-1"]),
        ("articles 5 et 12 mars 2020", ["5"]),
        ("articles 5 et 1er janvier 2021", ["5"]),
        ("article 5 et 10 euros", ["5"]),
        ("article 5, 30 jours après", ["5"]),
        ("articles 5 et 12,5", ["5"]),
        ("article L. 1-1 ; A 15 000 euros", ["L1-1"]),
        ("article 5 ; 6 salariés", ["5"]),
        ("article 5 et aux 6 salariés", ["5"]),
        ("selon L. 1-1, D 3 fois", ["L1-1"]),
        ("à l'article L. 1-1 :\na) A 5,40 %", ["L1-1"]),
    ],
)
def test_a_number_is_never_a_part_of_another_or_an_amount(text: str, expected: list[str]) -> None:
    assert numbers(text) == expected


def test_offsets_are_those_of_the_text() -> None:
    text = "Vu les articles L. 1-1 à L. 1-3, R. * 2-1 et 5 bis du code civil"
    assert [text[found.start : found.end] for found in parse(text)] == ["L. 1-1 à L. 1-3", "R. * 2-1", "5 bis"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("l'article L. 1-1", [("L1-1", "here")]),
        ("l'article L. 1-1 du présent code", [("L1-1", "here")]),
        ("l'article L. 1-1 du code du travail", [("L1-1", "code du travail")]),
        ("l'article L. 1-1, premier alinéa, du code du travail", [("L1-1", "code du travail")]),
        ("l'article L. 1-1 (2°) du code du travail", [("L1-1", "code du travail")]),
        ("l'article L. 1-1 et suivants du code du travail", [("L1-1", "code du travail")]),
        ("l'article L. 1-1 du titre II du code du travail", [("L1-1", "code du travail")]),
        ("ARTICLES L. 1-1 ET 2-2 DU CODE DU TRAVAIL", [("L1-1", "code du travail"), ("L2-2", "code du travail")]),
        ("art. L. 1-1, code du travail", [("L1-1", "code du travail")]),
        ("art. L. 1234-9 C. trav.", [("L1234-9", "C. trav.")]),
        ("art. 1382 C. civ.", [("1382", "C. civ.")]),
        ("art. R. 1-1 du C. sec. soc.", [("R1-1", "C. sec. soc.")]),
        ("art. L. 1-1 du CSS", [("L1-1", "CSS")]),
        ("l'article 5 de la loi n° 2010-1 du 5 mai 2010", [("5", "elsewhere")]),
        ("l'article 5 du décret du 5 mai 2010", [("5", "elsewhere")]),
        ("l'article 2.3 de ce règlement", [("2.3", "elsewhere")]),
        ("les articles 1er à 3 de l'ordonnance", [("1 à 3", "elsewhere")]),
        ("l'article L. 1-1 et l'article 5 de la loi", [("L1-1", "here"), ("5", "elsewhere")]),
        ("l'article L. 5-1 de l'ancien code du travail", [("L5-1", "ancien code du travail")]),
        ("l'article 5 du nouveau code de procédure civile", [("5", "nouveau code de procédure civile")]),
    ],
)
def test_a_qualifier_gives_its_items_their_code(text: str, expected: list[tuple[str, str]]) -> None:
    assert homes(parse(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "articles L. 1-1 et L. 1-2 du code du travail et L. 2-2 du code de la sécurité sociale",
            [("L1-1", "code du travail"), ("L1-2", "code du travail"), ("L2-2", "code de la sécurité sociale")],
        ),
        (
            "articles L1 du code du travail, L2 du code rural et de la pêche maritime et L3 du présent code",
            [("L1", "code du travail"), ("L2", "code rural et de la pêche maritime"), ("L3", "here")],
        ),
        (
            "l'article L. 1-1 du présent code et l'article 433-17 du code civil",
            [("L1-1", "here"), ("433-17", "code civil")],
        ),
        (
            "l'article L. 1-1 du code du travail. L'article L. 2-2 vise l'article L. 3-3 du même code.",
            [("L1-1", "code du travail"), ("L2-2", "here"), ("L3-3", "code du travail")],
        ),
        (
            "Le code du travail s'applique. Voir l'article L. 1-1 dudit code et l'article L. 2-2 du présent code, "
            "puis l'article L. 3-3 du même code.",
            [("L1-1", "code du travail"), ("L2-2", "here"), ("L3-3", "here")],
        ),
        (
            "Le code du travail s'applique. Le présent code aussi : l'article L. 1-1 du même code.",
            [("L1-1", "here")],
        ),
        (
            "Le code du travail s'applique. Le code précité renvoie à l'article L. 1-1 du même code.",
            [("L1-1", "code du travail")],
        ),
        (
            "Le code du travail, dans ce code précis, à l'article L. 1-1 de ce même code",
            [("L1-1", "code du travail")],
        ),
        (
            "l'article L. 1-1 de l'ancien code du travail et l'article L. 2-2 du même code",
            [("L1-1", "ancien code du travail et l'article L"), ("L2-2", "ancien code du travail et l'article L")],
        ),
    ],
)
def test_several_codes_in_one_text(text: str, expected: list[tuple[str, str]]) -> None:
    assert homes(parse(text)) == expected


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("Code du travail : articles L1234-9 à L1234-11", [("L1234-9 à L1234-11", "code du travail")]),
        ("Code du travail: L1234-9", [("L1234-9", "code du travail")]),
        ("  code du travail articles L1-1 et R*2-1", [("L1-1", "code du travail"), ("R2-1", "code du travail")]),
        ("Code du travail : article L1-1 du même code", [("L1-1", "code du travail")]),
        (
            "Code du travail : article L1-1 du présent code et article L2-2 du code civil",
            [("L1-1", "code du travail"), ("L2-2", "code civil")],
        ),
        (
            "Code du travail : article L1-1 et article 5 de la loi du 3 mai 2010",
            [("L1-1", "code du travail"), ("5", "elsewhere")],
        ),
        ("Code de la sécurité sociale : annexe", []),
        ("Loi n° 2010-1 du 5 mai 2010 : article 5", []),
        ("Arrêté pris pour l'application de l'article L1-1 du code du travail", []),
        ("Code du travail", []),
        ("", []),
    ],
)
def test_a_label_has_its_code_in_front(label: str, expected: list[tuple[str, str]]) -> None:
    assert homes(parse_label(label)) == expected


def test_the_code_of_a_label_is_its_words_alone() -> None:
    assert [found.code for found in parse_label("Code du travail  : article L1-1")] == ["Code du travail"]


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        ("L. 1234-9", "L1234-9"),
        ("l1234‑9", "L1234-9"),
        ("R**421-2", "R421-2"),
        ("L. O. 111-3", "LO111-3"),
        ("1er", "1"),
        ("L1er", "L1"),
        ("5BIS", "5 bis"),
        ("R142-1-a", "R142-1 A"),
        ("L351-7-1  A", "L351-7-1 A"),
        ("L351-7-1\u00a0A", "L351-7-1 A"),
        ("  2.3 ", "2.3"),
        ("Annexe à\n l'article  R211-4", "Annexe à l'article R211-4"),
        ("Préambule", "Préambule"),
        ("", ""),
    ],
)
def test_canonical_numbers(number: str, expected: str) -> None:
    assert canonical(number) == expected


def test_numbers_sort_as_the_law_counts() -> None:
    in_order = "1 2 2-1 2-1-1 2-2 2-10 10 D1 L9-1 L10 L10 A L10 bis L10-1 L1234-9 L1234-9-1 L1234-10 LO5 R1"
    expected = re.split(r" (?=[LRD\d])", in_order)
    assert sorted(sorted(expected, reverse=True), key=number_key) == expected


def test_a_number_too_long_to_be_one_still_sorts() -> None:
    long = "L" + "1" * 5_000
    assert sorted(["L2", long], key=number_key) == ["L2", long]


def test_folding_keeps_letters_and_digits() -> None:
    assert fold("  L'Œuvre d’ÉTÉ,\u00a0n° 2 ") == "l oeuvre d ete n 2"
