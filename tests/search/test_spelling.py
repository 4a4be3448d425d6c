"""A question's words as the law spells them: what is mended, and what is left as it was typed."""

import unicodedata
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexarbor.corpus.sources import read_tiny
from lexarbor.errors import SearchError
from lexarbor.search import Engine
from lexarbor.search.fields import FIELDS
from lexarbor.search.spelling import WORD, Spelling, known_words

COUNTS = {
    "congé": 40,
    "licenciement": 20,
    "marche": 10,
    "marché": 30,
    "paye": 2,
    "payé": 30,
    "préavis": 8,
    "salarié": 50,
    "été": 90,
}
LAW = Spelling(COUNTS, ["boulot", "mémé"])
SETTLED = ("congé", "licenciement", "marche", "marché", "payé", "préavis", "salarié", "boulot", "mémé", "un", "été")
"""Words that the law or people know, and that no other spelling is far better known than."""
TYPED = st.one_of(
    st.sampled_from((*SETTLED, "paye", "conge", "Salarie", "LICENCEMENT", "preavsi", "prémavis", "marhce", "SMIC")),
    st.text(alphabet="aeéèrstlcongp'-ﬁœİ\u0301", max_size=9),
)
QUESTIONS = st.one_of(st.text(), st.lists(TYPED, max_size=8).map(" ".join))
MISTYPED = "Quelle autorisaton pour des travux et des constrctions ?"
RIGHT = "Quelle autorisation pour des travaux et des constructions ?"


def test_accents_come_back_in_a_question_without_any() -> None:
    assert LAW.mended("Mon conge paye, a quel preavis ?") == "Mon congé payé, a quel préavis ?"


@pytest.mark.parametrize("question", ["l’ami du conge paye", "« conge paye » : 500 €", "conge\xa0paye…"])
def test_signs_that_a_telephone_writes_are_no_accents(question: str) -> None:
    assert LAW.mended(question) == question.replace("conge", "congé").replace("paye", "payé")


def test_a_known_word_stays_in_a_question_that_has_accents() -> None:
    assert LAW.mended("Le congé que l'on me paye") == "Le congé que l'on me paye"
    assert LAW.mended("Le congé du salarie") == "Le congé du salarié"  # which is no word without


@pytest.mark.parametrize(("accented", "mended"), [(30, "marche"), (31, "marché")])
def test_of_two_words_the_law_must_know_the_accented_one_far_better(accented: int, mended: str) -> None:
    assert Spelling({"marche": 10, "marché": accented}).mended("la marche") == f"la {mended}"


def test_accents_that_the_law_has_not_are_taken_off_or_put_right() -> None:
    assert LAW.mended("licénciement du sâlarie") == "licenciement du salarié"


def test_a_word_that_people_use_stays() -> None:
    law = {"boulon": 20, "payé": 30}
    assert Spelling(law).mended("un boulot paye") == "un boulon payé"
    assert Spelling(law, ["boulot", "paye"]).mended("un boulot paye") == "un boulot paye"


@pytest.mark.parametrize("question", ["SMIC et CONGE", "l'ete, le prê", "ete", "smig", "Le R*421-2 ?", "", "?", "42"])
def test_abbreviations_and_short_words_stay(question: str) -> None:
    law = Spelling(COUNTS | {"smics": 50, "prés": 50, "smicq": 50})
    assert law.mended(question) is question


def test_four_letters_are_enough_for_an_accent_but_not_for_a_slip() -> None:
    law = Spelling({"cône": 20})
    assert (law.mended("un cone"), law.mended("un cine")) == ("un cône", "un cine")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("licencement", "licenciement"),  # a letter left out
        ("icenciement", "licenciement"),
        ("licenciemen", "licenciement"),
        ("licencciement", "licenciement"),  # one too many
        ("licenciements", "licenciement"),
        ("licencimeent", "licenciement"),  # two swapped
        ("ilcenciement", "licenciement"),
        ("licenciemant", "licenciement"),  # another one
        ("kicenciement", "licenciement"),
        ("slarie", "salarié"),  # and its accent left out
        ("preavsi", "préavis"),
        ("préavsi", "préavis"),
    ],
)
def test_one_slip_is_mended(typed: str, meant: str) -> None:
    assert LAW.mended(f"Le {typed} ?") == f"Le {meant} ?"


def test_two_slips_are_another_word() -> None:
    assert LAW.mended("Un licencment du slarei") == "Un licencment du slarei"


def test_a_slip_is_taken_for_the_most_frequent_word() -> None:
    assert Spelling({"rente": 7, "vante": 9, "ranté": 8}).mended("une xante") == "une vante"
    assert Spelling({"rente": 9, "vante": 7, "tante": 8}).mended("une vente") == "une rente"


@pytest.mark.parametrize(("seen", "mended"), [(4, "rante"), (5, "rente")])
def test_a_slip_is_not_taken_for_a_rare_word(seen: int, mended: str) -> None:
    assert Spelling({"rente": seen}).mended("rante") == mended


@pytest.mark.parametrize("order", [("rente", "tante", "vante"), ("vante", "tante", "rente")])
def test_ties_are_stable(order: Iterable[str]) -> None:
    assert Spelling(dict.fromkeys(order, 9)).mended("une xante, une rinte") == "une tante, une rente"


def test_capital_letters_are_kept() -> None:
    assert LAW.mended("Licencement : Conge, préavsi") == "Licenciement : Congé, préavis"
    assert LAW.mended("LICENCEMENT") == "Licenciement"  # too long for an abbreviation
    assert LAW.mended("Salarié et PRÉAVIS") == "Salarié et PRÉAVIS"


def test_accents_that_are_characters_of_their_own_are_read_as_others() -> None:
    apart = unicodedata.normalize("NFD", "Le congé payé du salarié")
    assert LAW.mended(apart) is apart
    assert LAW.mended(f"{apart} et le preavis") == "Le congé payé du salarié et le préavis"


def test_words_are_counted_and_those_seen_once_are_not_learned() -> None:
    law = Spelling.build(["Le congé, un CONGÉ.", "L'article L1234-9 : congés_payés 3e", "L'Article unique"])
    assert law.counts == {"article": 2, "congé": 2, "l": 3}
    assert list(law.counts) == sorted(law.counts)
    assert law.mended("un congés payes unique") == "un congés payes unique"


@given(QUESTIONS)
def test_only_words_change_whatever_is_asked(question: str) -> None:
    mended = LAW.mended(question)
    if mended is question:
        return
    composed = unicodedata.normalize("NFC", question)
    assert WORD.split(mended) == WORD.split(composed)
    for before, after in zip(WORD.findall(composed), WORD.findall(mended), strict=True):
        assert before == after or after.lower() in COUNTS
        assert abs(len(before) - len(after)) <= 2  # a letter, and a ligature
        assert before[0].isupper() == after[0].isupper()


@given(QUESTIONS)
def test_what_was_mended_is_soon_left_alone(question: str) -> None:
    once = LAW.mended(question)
    twice = LAW.mended(once)  # another where the only accent was one too many: then the rest is bare
    assert LAW.mended(twice) is twice


@given(st.lists(st.sampled_from(SETTLED), max_size=8), st.sampled_from([" ", ", ", "-", "'", " ? "]))
def test_a_question_of_known_words_is_the_same_string(words: list[str], between: str) -> None:
    for question in (between.join(words), between.join(words).capitalize()):
        assert LAW.mended(question) is question


@given(st.dictionaries(st.sampled_from(SETTLED), st.integers(2, 10**6)), st.sets(st.sampled_from(SETTLED)))
def test_words_are_the_same_once_saved_and_loaded(
    tmp_path_factory: pytest.TempPathFactory, counts: dict[str, int], everyday: set[str]
) -> None:
    path = tmp_path_factory.getbasetemp() / "words.tsv"
    before = Spelling(counts, everyday)
    before.save(path)
    after = Spelling.load(path, everyday)
    assert list(after.counts.items()) == list(counts.items())
    for word in SETTLED:
        for typed in (word, word.replace("é", "e"), f"{word}x"):
            assert after.mended(typed) == before.mended(typed)


@pytest.mark.parametrize(
    "content", [b"cong\xe9\t3\n", "congé\n".encode(), b"conge\tmany\n", b"conge\t3\t4\n", b"conge\t3\n\n", b"conge 3\n"]
)
def test_a_damaged_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "words.tsv").write_bytes(content)
    with pytest.raises(SearchError, match=r"words\.tsv: no words that can be read \("):
        Spelling.load(tmp_path / "words.tsv")


def test_the_words_that_ship_are_in_small_letters_and_in_order() -> None:
    words = known_words()
    assert len(words) > 4000
    assert words == sorted(set(words))
    assert all(WORD.fullmatch(word) and word == word.lower() for word in words)
    assert all(word == unicodedata.normalize("NFC", word) for word in words)


def test_an_index_knows_the_words_of_its_law_and_those_of_people(whole: Engine, engine: Engine) -> None:
    law = read_tiny()
    assert law.date is not None
    held = law.as_of(law.date)
    texts = [FIELDS["headings+text"](held, article) for article in held.articles.values()]
    assert whole.index.spelling is not None and engine.index.spelling is None
    assert whole.index.spelling.counts == Spelling.build(texts).counts
    assert whole.index.spelling.mended("Mon boulot, un conge") == "Mon boulot, un congé"


@pytest.mark.parametrize("legs", [None, ("dense",), ("bm25",), ("memory",)])
def test_a_mistyped_question_finds_what_the_right_one_finds(whole: Engine, legs: tuple[str, ...] | None) -> None:
    right, mistyped = (whole.search(question, 61, legs=legs) for question in (RIGHT, MISTYPED))
    assert mistyped.hits == right.hits and right.hits
    assert whole.rank(MISTYPED, 61, legs=legs) == whole.rank(RIGHT, 61, legs=legs)
    assert (mistyped.question, mistyped.read_as) == (MISTYPED, RIGHT)
    assert (right.question, right.read_as) == (RIGHT, None)
    assert (mistyped.as_dict()["read_as"], right.as_dict()["read_as"]) == (RIGHT, None)


def test_an_index_of_words_alone_reads_a_question_as_it_is(engine: Engine) -> None:
    assert engine.search(MISTYPED).read_as is None
