"""The part of an article that is shown."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexarbor.search.analysis import stems
from lexarbor.search.passages import LONGEST, Passages, sentences, shorten

ANALYSE = stems()
PASSAGES = Passages(ANALYSE)


def wanted(question: str) -> frozenset[str]:
    return frozenset(ANALYSE(question))


SENTENCE_ENDS = re.compile(r"(?<=[.;:])(?<!\b[A-Z]\.)(?<!\bart\.)\s+(?=[A-ZÀ-Ü0-9«\"-])|\n+")
"""What lies between two sentences."""


ARTICLE = (
    "Le maire autorise l'abattage. Les frais d'abattage sont à la charge du voisin ; Il est averti selon l'article "
    "L. 123-2 du code.\n1° Le chien ;\n2° Le chat et le chien de l'art. 5."
)


@pytest.mark.parametrize(
    ("question", "passage"),
    [
        ("qui paie les frais d'abattage pour le voisin ?", "Les frais d'abattage sont à la charge du voisin ;"),
        ("abattage", "Le maire autorise l'abattage."),  # the first of two that share as much
        ("averti selon le code", "Il est averti selon l'article L. 123-2 du code."),
        ("mon chat et mon chien", "2° Le chat et le chien de l'art. 5."),
        ("éléphant", "Le maire autorise l'abattage."),
        ("", "Le maire autorise l'abattage."),
    ],
)
def test_the_sentence_or_line_that_shares_most_with_the_question(question: str, passage: str) -> None:
    assert PASSAGES.best(ARTICLE, wanted(question)) == passage


def test_a_term_counts_once_however_often_it_stands() -> None:
    text = "Chien, chien, chien. Chat et chien."
    assert PASSAGES.best(text, wanted("chien chat")) == "Chat et chien."


@pytest.mark.parametrize("text", ["", " \n\n "])
def test_an_article_without_text_has_no_passage(text: str) -> None:
    assert PASSAGES.best(text, wanted("chien")) == ""


def test_sentences_end_at_lines_and_before_capitals_and_numbers() -> None:
    assert sentences(ARTICLE) == [
        "Le maire autorise l'abattage.",
        "Les frais d'abattage sont à la charge du voisin ;",
        "Il est averti selon l'article L. 123-2 du code.",
        "1° Le chien ;",
        "2° Le chat et le chien de l'art. 5.",
    ]
    assert sentences("Un.\n\n \nDeux, puis trois. quatre") == ["Un.", "Deux, puis trois. quatre"]
    assert sentences(" \n\n ") == sentences("") == []


@given(st.text(alphabet="Ab .;\n1", max_size=40))
def test_sentences_are_parts_of_the_text_that_leave_out_spaces_alone(text: str) -> None:
    at = 0
    for sentence in sentences(text):
        found = text.index(sentence, at)
        assert not text[at:found].strip()
        at = found + len(sentence)
    assert not text[at:].strip()


def test_what_is_too_long_is_cut_at_a_word() -> None:
    text = "mot, " * 100
    cut = shorten(text)
    assert cut == "mot, " * 62 + "mot …"
    assert shorten("a" * LONGEST) == "a" * LONGEST


@given(st.text(alphabet="ab ,;:.é", max_size=2 * LONGEST))
def test_what_is_shown_opens_the_text_and_is_never_too_long(text: str) -> None:
    shown = shorten(text)
    assert len(shown) <= LONGEST
    assert text.startswith(shown.removesuffix(" …"))


def test_the_words_that_matched_are_marked() -> None:
    passage = "Le chien du voisin, ses chiens et l'ABATTAGE d'un arbre : art. L. 123-2."
    found = PASSAGES.marks(passage, wanted("abattages des chiens ?"))
    assert [passage[start:end] for start, end in found] == ["chien", "chiens", "ABATTAGE"]
    assert PASSAGES.marks(passage, wanted("")) == ()


@given(st.text(max_size=50), st.text(max_size=20))
def test_marks_are_words_of_the_passage_in_order(passage: str, question: str) -> None:
    found = PASSAGES.marks(passage, wanted(question))
    assert [end for mark in found for end in mark] == sorted(end for mark in found for end in mark)
    assert all(passage[start:end].isalnum() for start, end in found)


@given(st.text(st.sampled_from('aAÉart.;: \n\t1«"-L'), max_size=30))
def test_a_text_is_cut_between_its_sentences(text: str) -> None:
    assert sentences(text) == [part for part in SENTENCE_ENDS.split(text) if part.strip()]
