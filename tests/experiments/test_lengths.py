"""Lengths of articles and questions: in words, and in the shipped encoder's tokens where it is there."""

from pathlib import Path
from statistics import quantiles

import numpy as np
import pytest

from lexarbor.corpus.benchmarks.catalogue import Benchmark
from lexarbor.corpus.questions import Question, QuestionSet
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import ModelError
from lexarbor.experiments import lengths as module
from lexarbor.experiments.lab import Lab
from lexarbor.experiments.lengths import BLOCK, LIMITS, Spread, lengths, measured, panels, token_counter
from lexarbor.text.inputs import article_input
from lexarbor.text.shipped import open_shipped


@pytest.fixture
def unshipped(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> Path:
        raise ModelError("no encoder was shipped")

    monkeypatch.setattr(module, "shipped_model", missing)


def test_a_row_has_the_quantiles_of_the_standard_library_and_shares_above_limits() -> None:
    numbers = [3, 1000, 129, 128, 512, 513, 7, 2048, 90, 11, 300]
    first, middle, third = quantiles(numbers, n=4, method="inclusive")
    late = quantiles(numbers, n=20, method="inclusive")[-1]
    texts, unit, count, *rest = Spread("questions", "tokens", np.array(numbers)).row()
    assert (texts, unit, count) == ("questions", "tokens", 11)
    assert rest[:5] == [round(first), round(middle), round(third), round(late), 2048]
    assert rest[5:] == [f"{100 * sum(number > limit for number in numbers) / 11:.1f}" for limit in LIMITS]
    assert Spread("questions", "words", np.array(numbers)).row()[-4:] == [None] * 4


def test_every_text_of_the_tiny_benchmark_is_measured(tmp_path: Path) -> None:
    lab = Lab("tiny", tmp_path)
    law, questions = lab.benchmark.law, lab.benchmark.questions
    articles = law.current()
    gold = {id for ids in questions.qrels.values() for id in ids}
    found = {(held.texts, held.unit): held.lengths.tolist() for held in measured(lab)}
    assert list(found) == [
        ("all articles", "words"),
        ("all articles", "tokens"),
        ("all articles", "tokens with headings"),
        ("gold articles", "words"),
        ("gold articles", "tokens"),
        ("gold articles", "tokens with headings"),
        ("questions", "words"),
        ("questions", "tokens"),
    ]
    assert found["all articles", "words"] == [len(article.text.split()) for article in articles]
    assert found["gold articles", "words"] == [len(held.text.split()) for held in articles if held.id in gold]
    encoder = open_shipped()
    read = [article_input(law.headings(held), held.text, encoder.settings) for held in articles]
    assert found["all articles", "tokens with headings"] == [len(encoder._ids(text)) for text in read]
    assert found["questions", "tokens"] == [len(encoder._ids(held.text)) for held in questions.questions.values()]


def test_the_report_has_a_table_and_a_figure(tmp_path: Path) -> None:
    report = lengths(Lab("tiny", tmp_path))
    (table,) = report.tables
    assert table.columns[-1] == "Above 1024 (%)"
    assert [row[:3] for row in table.rows][-1] == ["questions", "tokens", 24]
    assert report.data["longest"]["questions, words"] == 25
    assert "1.6% above 128, 0.0% above 256" in report.told[0]
    report.figures[""](tmp_path / "x.png")
    assert (tmp_path / "x.png").stat().st_size > 0


def test_articles_have_a_log_axis_and_gold_beside_all() -> None:
    ones = np.ones(2, dtype=np.int64)
    places = [("all articles", "tokens"), ("gold articles", "tokens"), ("questions", "tokens"), ("questions", "words")]
    articles, *of_questions = panels([Spread(*place, ones) for place in places])
    assert (list(articles.series), articles.log, articles.marks) == (["all articles", "gold articles"], True, LIMITS)
    assert [(held.below, held.log, held.marks) for held in of_questions] == [
        ("words", False, ()),
        ("tokens", False, ()),
    ]


def test_long_lists_are_counted_block_by_block() -> None:
    count = token_counter()
    assert count is not None
    found = count(["chien"] * BLOCK + ["chien chat chien"])
    assert (len(found), set(found[:-1])) == (BLOCK + 1, {found[0]})
    assert found[-1] > found[0]
    assert count([]).size == 0


@pytest.mark.usefixtures("unshipped")
def test_without_an_encoder_words_are_counted_alone(tmp_path: Path) -> None:
    found = measured(Lab("tiny", tmp_path))
    assert [(held.texts, held.unit) for held in found] == [
        ("all articles", "words"),
        ("gold articles", "words"),
        ("questions", "words"),
    ]
    assert len(panels(found)) == 2


def test_without_a_law_questions_are_measured_alone(tmp_path: Path) -> None:
    held = QuestionSet({"q": Question("q", "Un chien ?")}, {"q": frozenset({"a"})}, {"test": ("q",)})
    lab = Lab("own", tmp_path)
    lab.__dict__["benchmark"] = Benchmark("own", LawTree(()), held, held)
    assert {found.texts for found in measured(lab)} == {"questions"}
