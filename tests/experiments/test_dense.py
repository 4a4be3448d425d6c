"""The shipped retriever as a system: what it ranks, and what it may not be asked."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lexarbor.corpus.benchmarks.catalogue import build_benchmark, written_split
from lexarbor.corpus.questions import Question, QuestionSet
from lexarbor.errors import BenchmarkError
from lexarbor.experiments.evaluation import evaluate_systems
from lexarbor.experiments.systems import DEPTH, build_system, in_order
from lexarbor.text.inputs import article_input
from lexarbor.text.shipped import open_shipped

TINY = build_benchmark("tiny")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEXARBOR_CACHE", str(tmp_path))


def test_it_ranks_every_article_by_the_cosine_of_its_vector() -> None:
    question = "Mon voisin fait du bruit la nuit"
    encoder, articles = open_shipped(), in_order(TINY.law)
    texts = [article_input(TINY.law.headings(article), article.text, encoder.settings) for article in articles]
    cosines = encoder.encode_articles(texts) @ encoder.encode_questions([question])[0]
    found = list(build_system("dsr", TINY)(question))
    assert len(found) == min(DEPTH, len(articles))
    assert [id for id, _ in found] == [articles[row].id for row in np.argsort(-cosines, kind="stable")]
    assert np.allclose([score for _, score in found], sorted(cosines, reverse=True), atol=1e-6)


def test_a_second_ranker_reads_the_vectors_that_the_first_one_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_system("dsr", TINY)
    assert list((tmp_path / "vectors").iterdir())
    monkeypatch.setattr("lexarbor.text.encoder.TextEncoder.encode_articles", None)
    build_system("dsr", TINY)


def test_questions_that_it_learned_from_are_refused() -> None:
    known = written_split("vosdroits")["train"][0]
    questions = QuestionSet({known: Question(known, "?!")}, {known: frozenset({"VALARTI0005"})}, {"test": (known,)})
    with pytest.raises(BenchmarkError, match="'dsr' learns from questions of the split 'test'"):
        evaluate_systems(replace(TINY, questions=questions), "test", ["dsr"])
