"""The benchmarks from their real packages."""

import runpy
from collections import Counter
from pathlib import Path

import pytest

from lexarbor.corpus.benchmarks.catalogue import Benchmark, build_benchmark, written_split
from lexarbor.corpus.benchmarks.outside import OutsideQuestion, read_outside_questions
from lexarbor.corpus.benchmarks.splits import near_equal, title_words

DRAW = Path(__file__).parents[3] / "benchmarks" / "draw_splits.py"

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def vosdroits() -> Benchmark:
    return build_benchmark("vosdroits")


@pytest.fixture(scope="module")
def outside(vosdroits: Benchmark) -> list[OutsideQuestion]:
    return read_outside_questions(vosdroits.law)


def test_vosdroits_is_large_enough(vosdroits: Benchmark) -> None:
    assert len(vosdroits.questions.questions) >= 810
    assert sum(len(gold) for gold in vosdroits.questions.qrels.values()) >= 11_200
    assert 0 < len(vosdroits.unresolved) < 0.015 * vosdroits.references


def test_every_question_of_vosdroits_is_in_a_split(vosdroits: Benchmark) -> None:
    placed = {id for ids in vosdroits.questions.splits.values() for id in ids}
    assert placed == set(vosdroits.questions.questions)


def test_the_splits_are_drawn_again_as_written() -> None:
    drawn = runpy.run_path(str(DRAW))["draw_all"]()
    assert drawn == {name: written_split(name) for name in ("vosdroits", "vosdroits-disjoint", "travail")}


def test_travail_asks_nothing_that_vosdroits_asks(vosdroits: Benchmark) -> None:
    travail = build_benchmark("travail")
    assert len(travail.questions.split("test")) == 314
    assert travail.training.qrels == vosdroits.questions.qrels
    known = [title_words(question.text) for question in vosdroits.questions.questions.values()]
    for question in travail.questions.split("test"):
        assert not any(near_equal(title_words(question.text), title) for title in known), question.text


def test_no_gold_article_is_in_two_parts_of_the_disjoint_split() -> None:
    asked = build_benchmark("vosdroits-disjoint").questions
    train, dev, test = (asked.positives([part]) for part in ("train", "dev", "test"))
    assert not (train & dev or train & test or dev & test)
    assert len(asked.split("test")) > 100


def test_outside_questions_ask_nothing_that_vosdroits_asks(
    vosdroits: Benchmark, outside: list[OutsideQuestion]
) -> None:
    assert Counter(question.split for question in outside) == {"choose": 1244, "report": 1200}
    assert not {question.id for question in outside} & set(vosdroits.questions.questions)
    known = [title_words(question.text) for question in vosdroits.questions.questions.values()]
    for question in outside:
        assert not any(near_equal(title_words(question.text), title) for title in known), question.text
    assert {question.year for question in outside} == {2017, 2018, 2019, 2020}


def test_outside_questions_name_the_codes_that_are_not_held(
    vosdroits: Benchmark, outside: list[OutsideQuestion]
) -> None:
    named = Counter(code for question in outside for code in question.codes)
    assert named.most_common(2) == [("Code général des impôts", 346), ("Code civil", 321)]
    assert not set(named) & {code.title for code in vosdroits.law.codes.values()}
    assert sum(not question.codes for question in outside) == 507
