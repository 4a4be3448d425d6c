"""BM25's scores against the formula, and the choice of the best."""

import logging
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bm25_formula import lucene_bm25
from lexarbor.errors import SearchError
from lexarbor.search.analysis import ANALYSERS
from lexarbor.search.fields import FIELDS
from lexarbor.search.lexical import BM25Settings, LexicalIndex, below_best, best_rows, top, tuned

TEXTS = (
    "Le chien aboie, le chien mord.",
    "Un chat dort.",
    "Le chien et le chat mangent la même gamelle que le maître du chien a remplie.",
    "",
    "Nul ne peut être puni deux fois.",
)
QUESTIONS = ("chien", "Le chat du maître", "chien chien chat", "puni", "gamelle inconnue", "gamelle éléphant")


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize(("k1", "b"), [(1.5, 0.75), (0.0, 0.5), (0.5, 0.0), (8.0, 1.0)])
def test_scores_are_those_of_the_formula(question: str, k1: float, b: float) -> None:
    index = LexicalIndex.build(TEXTS, BM25Settings(k1, b))
    assert index.scores(question).tolist() == pytest.approx(lucene_bm25(TEXTS, question, k1, b), rel=1e-5)


def test_a_question_without_a_known_word_finds_nothing() -> None:
    index = LexicalIndex.build(TEXTS)
    for question in ("éléphant", "le la les", "", "?"):
        assert index.terms(question) == []
        assert index.scores(question).tolist() == [0.0] * len(TEXTS)
    assert top(index.scores("éléphant"), 10).tolist() == []


def test_terms_are_those_that_some_text_holds() -> None:
    assert LexicalIndex.build(TEXTS).terms("le chat de l'éléphant") == ["chat", "_chat"]


def test_an_index_read_back_scores_the_same(tmp_path: Path) -> None:
    index = LexicalIndex.build(TEXTS, BM25Settings(0.5, 0.8))
    index.save(tmp_path / "bm25")
    back = LexicalIndex.load(tmp_path / "bm25", index.settings, index.rows)
    for question in (*QUESTIONS, "éléphant"):
        assert back.scores(question).tolist() == index.scores(question).tolist()


@pytest.mark.parametrize("texts", [[], ["", "le la"]])
def test_texts_without_a_word_are_refused(texts: list[str]) -> None:
    with pytest.raises(SearchError, match=f"no word to index in {len(texts)} texts"):
        LexicalIndex.build(texts)


@pytest.mark.parametrize(("k1", "b"), [(-0.1, 0.5), (1.5, -0.1), (1.5, 1.1), (float("nan"), 0.5)])
def test_settings_out_of_range_are_refused(k1: float, b: float) -> None:
    with pytest.raises(SearchError, match="BM25 needs k1 ≥ 0 and 0 ≤ b ≤ 1"):
        BM25Settings(k1, b)


@pytest.mark.parametrize("analyser", ANALYSERS)
@pytest.mark.parametrize("field", FIELDS)
def test_the_tuned_settings_are_on_the_papers_grid(field: str, analyser: str) -> None:
    settings = tuned(field, analyser)
    assert settings.k1 in [step / 2 for step in range(17)]
    assert settings.b in [step / 10 for step in range(11)]
    assert settings.analyser == analyser


def test_stems_are_tuned_unless_another_analyser_is_named() -> None:
    assert tuned("text") == tuned("text", "stems") != tuned("text", "lemmas")
    assert tuned("text", "lemmas").analyser == "lemmas"
    for field, analyser in (("title", "stems"), ("text", "soundex")):
        with pytest.raises(SearchError, match=f"not tuned for {field} by {analyser}: choose one of text by stems, "):
            tuned(field, analyser)


def test_the_steps_of_bm25s_are_not_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    index = LexicalIndex.build(TEXTS)
    index.save(tmp_path / "bm25")
    LexicalIndex.load(tmp_path / "bm25", index.settings, index.rows).scores("chien")
    assert caplog.records == []


@given(st.lists(st.sampled_from([-1.0, 0.0, 0.25, 0.5, 1.0, 1.5]), max_size=40), st.integers(1, 50))
def test_top_is_the_head_of_a_full_sort(scores: list[float], k: int) -> None:
    full = sorted((row for row, score in enumerate(scores) if score > 0), key=lambda row: (-scores[row], row))
    assert top(np.array(scores, dtype=np.float32), k).tolist() == full[:k]


@pytest.mark.parametrize("k", [1, 10, 50, 5000, 6000])
def test_the_few_best_of_many_are_the_head_of_a_full_sort(k: int) -> None:
    scores = np.random.default_rng(k).integers(-100, 400, 5000).astype(np.float32)  # many are equal
    full = np.lexsort((np.arange(5000), -scores))
    assert best_rows(scores, k).tolist() == full[:k].tolist()
    odd = np.arange(5000) % 2 == 1
    assert best_rows(scores, k, odd).tolist() == [row for row in full.tolist() if odd[row]][:k]
    assert k <= (scores >= below_best(scores, k)).sum() or k > 5000


def test_equal_scores_come_in_the_order_of_the_rows() -> None:
    scores = np.array([1, 2, 1, 2, 1], dtype=np.float32)
    assert top(scores, 3).tolist() == [1, 3, 0]
    assert top(scores, 4).tolist() == [1, 3, 0, 2]
    assert top(scores, 99).tolist() == [1, 3, 0, 2, 4]
