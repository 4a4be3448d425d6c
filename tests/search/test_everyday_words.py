"""Everyday words explained in the law's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexarbor.search.everyday import MOST, RARE, EverydayWords, shipped_lexicon

LEXICON = {
    "viré": "licenciement licencié",
    "mettre à la porte": "licenciement",
    "porte": "ouverture",
    "boîte": "entreprise employeur",
    "payé": "rémunération",
    "tout": "a b c d e f g h i j k",
}
COUNTS = {"payé": RARE, "porte": 3, "entreprise": 5000}


@pytest.fixture(scope="module")
def words() -> EverydayWords:
    return EverydayWords(LEXICON, COUNTS)


@pytest.mark.parametrize(
    ("question", "read"),
    [
        ("Ma boîte m'a viré", "Ma boîte m'a viré entreprise employeur licenciement licencié"),
        ("VIRÉ hier", "VIRÉ hier licenciement licencié"),
        (
            "On va me mettre à la porte",
            "On va me mettre à la porte licenciement",
        ),  # not "porte"
        ("Viré : quel licenciement ?", "Viré : quel licenciement ? licencié"),  # what is there is not said again
        ("Ma boîte m’a viré", "Ma boîte m’a viré entreprise employeur licenciement licencié"),
        ("Viré : deux licenciements", "Viré : deux licenciements licenciement licencié"),  # another word is there
        ("Suis-je payé ?", "Suis-je payé ?"),  # the law says it often enough
        ("Il a dévirégulé", "Il a dévirégulé"),  # never a part of a word
        ("tout", f"tout {' '.join('abcdefghijk'[:MOST])}"),
        ("", ""),
    ],
)
def test_the_laws_words_stand_behind_the_question(words: EverydayWords, question: str, read: str) -> None:
    assert words.explained(question) == read


@given(st.text())
def test_whatever_is_asked_stays_as_it_is_and_comes_first(question: str) -> None:
    found = EverydayWords(LEXICON, COUNTS).explained(question)
    assert found.startswith(question)
    assert len(found[len(question) :].split()) <= MOST


def test_without_a_lexicon_nothing_is_added() -> None:
    assert EverydayWords({}, COUNTS).explained("Ma boîte m'a viré") == "Ma boîte m'a viré"


def test_the_shipped_lexicon_is_in_small_letters_and_says_something_else() -> None:
    lexicon = shipped_lexicon()
    assert len(lexicon) == 1955
    for said, meant in lexicon.items():
        assert said == said.lower().strip() and meant == meant.strip() and meant and said != meant
        assert len(meant.split()) <= 6
