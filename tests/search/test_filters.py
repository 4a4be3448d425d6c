"""Parts of the law to look in."""

import pytest

from lexarbor.corpus.sources import read_tiny
from lexarbor.errors import SearchError
from lexarbor.search.filters import Filters, allowed

LAW = read_tiny()
IDS = tuple(sorted(LAW.articles))
TOWN = "Code communal de Valombre"
NIGHT = "VALSCTA0105"


def found(*, codes: tuple[str, ...] = (), under: tuple[str, ...] = ()) -> set[str]:
    rows = allowed(Filters(codes, under), LAW, IDS)
    return {id for id, kept in zip(IDS, rows, strict=True) if kept}


def test_no_filter_keeps_all() -> None:
    assert found() == set(IDS)
    assert not Filters()


@pytest.mark.parametrize("named", [TOWN, "VALTEXT01", "CODE COMMUNAL DE VALOMBRE"])
def test_a_code_is_known_by_its_title_or_id(named: str) -> None:
    assert found(codes=(named,)) == {id for id in IDS if LAW.articles[id].code == "VALTEXT01"}


def test_one_word_or_a_list_is_meant_well() -> None:
    assert Filters(codes=TOWN, under=["a", "b"]) == Filters((TOWN,), ("a", "b"))  # type: ignore[arg-type]
    assert len({Filters(codes=[TOWN]), Filters(codes=(TOWN,))}) == 1  # type: ignore[arg-type]


def test_of_several_codes_any_one_will_do() -> None:
    assert found(codes=("VALTEXT01", "VALTEXT02")) == set(IDS)


@pytest.mark.parametrize(
    "named",
    [
        NIGHT,
        "nuisances sonores nocturnes",
        "NUISANCES sonores",
        "tranquillité publique > nuisances",
        "titre ier › nuisances",
    ],
)
def test_a_part_is_known_by_its_id_or_by_words_of_headings(named: str) -> None:
    assert found(under=(named,)) == {"VALARTI0005", "VALARTI0006", "VALARTI0007"}


def test_equal_headings_are_all_meant_unless_those_above_are_named() -> None:
    everywhere = found(under=("dispositions générales",))
    assert {"VALARTI0001", "VALARTI0012"} <= everywhere
    assert found(under=("salubrité et cadre de vie > dispositions générales",)) == {"VALARTI0012", "VALARTI0013"}


def test_code_and_part_must_both_hold() -> None:
    assert found(codes=("VALTEXT02",), under=(NIGHT,)) == set()


@pytest.mark.parametrize(
    ("filters", "told"),
    [
        (Filters(codes=("Code civil",)), "the code 'Code civil' is not held; held are Code communal de Valombre, "),
        (Filters(under=("xylophone",)), "no heading of this law has the words 'xylophone'"),
        (Filters(under=("nuis",)), "no heading of this law has the words 'nuis'"),
        (Filters(under=("nuisances > tranquillité publique",)), "no heading of this law has the words"),
        (Filters(under=("",)), "'' names no heading"),
        (Filters(under=(" > ",)), "names no heading"),
    ],
)
def test_what_names_nothing_is_refused(filters: Filters, told: str) -> None:
    with pytest.raises(SearchError, match=told):
        allowed(filters, LAW, IDS)
