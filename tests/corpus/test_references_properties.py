import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexarbor.corpus.references import Home, Reference, canonical, number_key, parse, parse_label

_PIECES = [
    *("article ", "articles ", "art. ", "code ", "code du travail", "du ", "de la loi", "du même code", "présent "),
    *("L. ", "L", "R*", "LO ", "D ", "A ", "1", "12", "1-1", "-", "‑", ".", "*", "°", "er", " bis", " A", "x", "é"),
    *(" ", "  ", "\n", "\u00a0", ", ", ",", " et ", " ou ", " à ", "à ", "2° ", "I ", "a) ", "premier alinéa ", "("),
    *(")", ";", ":", " %", " €", " 000", " mars", "l'", "et suivants", "titre II ", "C. civ.", "CSS", "ancien "),
]
_soup = st.lists(st.sampled_from(_PIECES), max_size=40).map("".join)
_texts = st.one_of(st.text(max_size=200), _soup)


@given(_texts)
def test_references_lie_inside_the_text_in_order_and_apart(text: str) -> None:
    for found in (parse(text), parse_label(text)):
        ends = [0, *itertools.chain.from_iterable((reference.start, reference.end) for reference in found), len(text)]
        assert ends == sorted(ends)
        assert all(reference.start < reference.end for reference in found)


@given(_soup)
def test_a_reference_never_begins_or_ends_inside_a_number(text: str) -> None:
    for found in parse(text):
        assert not text[: found.start][-1:].isalnum()
        assert not text[found.end :][:1].isdecimal()


@given(_soup)
def test_a_found_number_is_canonical(text: str) -> None:
    for found in parse(text):
        assert canonical(found.first) == found.first
        assert canonical(found.last) == found.last
        assert number_key(found.first)[1] >= 0


@given(st.one_of(st.text(max_size=30), _soup))
def test_canonical_changes_nothing_the_second_time(number: str) -> None:
    assert canonical(canonical(number)) == canonical(number)


_groups = st.lists(st.integers(1, 9999).map(str), min_size=1, max_size=4).map("-".join)
_suffixes = st.sampled_from(["", "", "", " A", " B", " bis", " ter C", " undecies"])
_spellings = {
    "L": ["L. ", "L.", "L ", "L", "L.\u00a0"],
    "R": ["R. ", "R*", "R.* ", "R. ** "],
    "D": ["D. ", "D"],
    "A": ["A. ", "A"],
    "LO": ["LO ", "L.O. ", "L. O. ", "LO"],
    "": [""],
}


@st.composite
def _written_number(draw: st.DrawFn, lettered: bool) -> tuple[str, str]:
    """A number as canonical and as some hand would write it."""
    letters = draw(st.sampled_from([letters for letters in _spellings if bool(letters) == lettered]))
    digits, suffix = draw(_groups), draw(_suffixes)
    written = draw(st.sampled_from(_spellings[letters])) + digits.replace("-", draw(st.sampled_from("-‑"))) + suffix
    return letters + digits + suffix, written


@st.composite
def _written_list(draw: st.DrawFn) -> tuple[list[tuple[str, str]], str]:
    """Items (first and last) and the French list that cites them."""
    number = _written_number(draw(st.booleans()))
    expected: list[tuple[str, str]] = []
    items: list[str] = []
    for ends in draw(st.lists(st.lists(number, min_size=1, max_size=2), min_size=1, max_size=8)):
        expected.append((ends[0][0], ends[-1][0]))
        items.append(" à ".join(written for _, written in ends))
    listed = ", ".join(items[:-1]) + draw(st.sampled_from([" et ", " ou ", ", "])) if len(items) > 1 else ""
    return expected, f"Vu les articles {listed}{items[-1]}"


@given(_written_list())
def test_a_written_list_is_read_back(listed: tuple[list[tuple[str, str]], str]) -> None:
    expected, text = listed
    assert [(found.first, found.last) for found in parse(text)] == expected
    qualified = parse(f"{text} du code du travail.")
    assert [(found.first, found.last, found.code) for found in qualified] == [
        (first, last, "code du travail") for first, last in expected
    ]


@given(st.lists(_written_number(lettered=True), min_size=2, max_size=12, unique=True))
def test_number_keys_tell_canonical_numbers_apart(numbers: list[tuple[str, str]]) -> None:
    canonicals = {canonical(written) for _, written in numbers}
    assert len({number_key(number) for number in canonicals}) == len(canonicals)


@pytest.mark.parametrize("lead", ["", "article 1", "L. 1-1 du code"])
@pytest.mark.parametrize(
    "piece",
    ["article ", "L. 1-1, ", "code ", " ", "\n", "1-", "article 1 à ", "article L. 1-1 du code ", "I et ", "1 A "],
)
def test_a_very_long_text_is_read_to_its_end(lead: str, piece: str) -> None:
    text = lead + piece * (100_000 // len(piece)) + ". Voir l'article L. 9-9"
    assert parse(text)[-1] == Reference("L9-9", "L9-9", Home.HERE, len(text) - 6, len(text))


@pytest.mark.parametrize("piece", [" ", "code ", "L1-1, ", "1 A ", "1-"])
def test_a_very_long_label_or_number_is_read_to_its_end(piece: str) -> None:
    long = piece * (100_000 // len(piece))
    assert parse_label(f"Code {long}: article L9-9")[-1].first == "L9-9"
    assert canonical(f"L1{long}!") == " ".join(f"L1{long}!".split())
