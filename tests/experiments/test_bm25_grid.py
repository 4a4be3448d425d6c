"""BM25's grid, on the tiny corpus."""

from dataclasses import replace

import numpy as np
import pytest

from lexarbor.corpus.benchmarks.catalogue import build_benchmark
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import BenchmarkError, EvaluationError, SearchError
from lexarbor.evaluation import evaluate
from lexarbor.experiments.bm25_grid import K1, B, Grid, TermCounts, tune_bm25
from lexarbor.experiments.systems import bm25, in_order, run
from lexarbor.search import analysis
from lexarbor.search.analysis import stems
from lexarbor.search.fields import FIELDS
from lexarbor.search.lexical import BM25Settings, LexicalIndex

TINY = build_benchmark("tiny")


def test_the_grid_is_the_papers() -> None:
    assert K1 == (0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8)
    assert B == (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1)


@pytest.mark.parametrize(("k1", "b"), [(0, 0), (0.5, 0.8), (1.5, 0.7), (2.5, 0.2), (8, 1)])
@pytest.mark.parametrize("field", FIELDS)
def test_scores_are_those_of_the_index(field: str, k1: float, b: float) -> None:
    analyse = stems()
    texts = [FIELDS[field](TINY.law, article) for article in in_order(TINY.law)]
    asked = [analyse(question.text) for question in TINY.questions.questions.values()]
    counts = TermCounts(map(analyse, texts), frozenset(term for terms in asked for term in terms))
    index = LexicalIndex.build(texts, BM25Settings(k1, b))
    for question, terms in zip(TINY.questions.questions.values(), asked, strict=True):
        np.testing.assert_allclose(counts.scores(terms, k1, b), index.scores(question.text), rtol=1e-5, atol=1e-6)


def test_terms_that_no_question_was_announced_with_count_nothing() -> None:
    counts = TermCounts([["chien", "chat"], ["chat"]], frozenset({"chien"}))
    assert counts.scores(["chien"], 1.5, 0.75).tolist()[1] == 0
    assert counts.scores(["chat", "loup"], 1.5, 0.75).tolist() == [0, 0]


def test_each_cell_is_what_the_system_with_these_settings_scores() -> None:
    steps: list[tuple[int, int]] = []
    grid = tune_bm25(
        TINY,
        "headings+text",
        measure="map",
        k1=(0.5, 2.0),
        b=(0.0, 0.4, 0.8),
        on_step=lambda done, total: steps.append((done, total)),
    )
    gold = TINY.questions.gold(["dev"])
    expected = [
        [
            evaluate(run(bm25(TINY, "headings+text", BM25Settings(k1, b)), TINY.questions.split("dev")), gold).mean(
                "map"
            )
            for b in grid.b
        ]
        for k1 in grid.k1
    ]
    assert grid.values.tolist() == expected
    assert len(np.unique(grid.values)) > 1
    assert steps == [(done, 6) for done in range(1, 7)]


def test_the_whole_grid_has_a_figure_for_each_setting() -> None:
    grid = tune_bm25(TINY, "text", split="train")
    assert grid.values.shape == (17, 11)
    assert grid.measure == "recall@200"
    assert ((grid.values >= 0) & (grid.values <= 1)).all()


def test_the_best_is_the_highest_and_of_equals_the_smallest_k1_then_b() -> None:
    values = np.array([[0.1, 0.3, 0.2], [0.2, 0.4, 0.4], [0.4, 0.1, 0.2]])
    grid = Grid(values, "map", (0.5, 1.0, 1.5), (0.1, 0.2, 0.3))
    assert grid.best() == BM25Settings(1.0, 0.2, "stems")


def test_the_best_has_the_analyser_it_was_tuned_with(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(analysis.ANALYSERS, "lemmas", lambda remember: str.split)
    assert tune_bm25(TINY, "text", analysis="lemmas", k1=(0.5,), b=(0.8,)).best() == BM25Settings(0.5, 0.8, "lemmas")


def test_what_is_unknown_is_named() -> None:
    with pytest.raises(EvaluationError, match="unknown measure 'map@7'"):
        tune_bm25(TINY, "text", measure="map@7")
    with pytest.raises(BenchmarkError, match="tiny has no split 'final'"):
        tune_bm25(TINY, "text", split="final")
    with pytest.raises(SearchError, match="unknown analyser 'soundex'"):
        tune_bm25(TINY, "text", analysis="soundex")
    with pytest.raises(BenchmarkError, match="holds no article to rank"):
        tune_bm25(replace(TINY, law=LawTree(())), "text")
