"""Articles that a question names by their numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexarbor.corpus.sources import read_tiny
from lexarbor.search.named_articles import NamedArticles, ReferenceReader

READER = ReferenceReader(read_tiny())


def ids(*numbers: int) -> tuple[str, ...]:
    return tuple(f"VALARTI{number:04}" for number in numbers)


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("L112-1", ids(5, 48)),
        ("l112-1", ids(5, 48)),
        ("  L. 112-1 ", ids(5, 48)),
        ("art. L. 112-1 du code communal de Valombre", ids(5)),
        ("articles L. 112-1 et L. 112-3 du code communal de Valombre", ids(5, 7)),
        ("L. 112-1 à L. 112-3 du code communal de Valombre", ids(5, 6, 7)),
        ("L. 111-2 du code des fêtes, marchés et jardins de Valombre", ids(47)),
        ("L111-2", ids(2, 47)),
        ("VALARTI0005", ids(5)),
    ],
)
def test_a_reference_references_its_articles_and_nothing_else(question: str, found: tuple[str, ...]) -> None:
    assert READER.read(question) == NamedArticles(found, (), alone=True)


def test_a_question_may_name_an_article_and_ask_more() -> None:
    named = READER.read("Que risque-t-on selon l'article L. 112-2 du code communal de Valombre ?")
    assert named == NamedArticles(ids(6), (), alone=False)


@pytest.mark.parametrize("question", ["L112", "L12-1", "1112-1", "L112-11", "L. 112-1-1"])
def test_a_number_is_never_a_part_of_another(question: str) -> None:
    assert READER.read(question).ids == ()


def test_what_is_not_held_is_told_in_the_words_of_the_question() -> None:
    named = READER.read("Les articles L. 999-1 et L. 112-1 du code communal de Valombre")
    assert named.ids == ids(5)
    assert [words.split(" (")[0] for words in named.not_held] == ["L. 999-1"]
    elsewhere = READER.read("L'article 1240 du code civil s'applique-t-il ?")
    assert elsewhere.ids == () and elsewhere.not_held[0].startswith("1240 (code civil")
    assert not elsewhere.alone


@pytest.mark.parametrize("question", ["Mon voisin a 3 chiens", "Combien de jours de congés ?", "?", "🐶", "art.", "L"])
def test_a_question_without_a_reference_references_nothing(question: str) -> None:
    assert READER.read(question) == NamedArticles()


@given(st.text(max_size=60))
def test_any_text_can_be_read(text: str) -> None:
    named = READER.read(text)
    assert set(named.ids) <= set(read_tiny().articles)
