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
from lexarbor.graph.features import node_inputs
from lexarbor.graph.legislation import legislative_graph
from lexarbor.graph.shipped import open_shipped_graph
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


def test_with_the_graph_it_ranks_by_vectors_that_have_heard_their_neighbourhood() -> None:
    question = "Mon voisin fait du bruit la nuit"
    encoder, law, articles = open_shipped(), TINY.law, in_order(TINY.law)
    graph = legislative_graph(law)
    features = encoder.encode_articles(node_inputs(law, graph, encoder.settings))
    heard = open_shipped_graph().enrich(features, graph, encoder=encoder.checksum)[graph.article_rows]
    cosines = heard @ encoder.encode_questions([question])[0] / np.linalg.norm(heard, axis=1)
    found = list(build_system("g-dsr", TINY)(question))
    assert [id for id, _ in found] == [articles[row].id for row in np.argsort(-cosines, kind="stable")]
    assert np.allclose([score for _, score in found], sorted(cosines, reverse=True), atol=1e-6)
    assert [id for id, _ in found] != [id for id, _ in build_system("dsr", TINY)(question)]


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
    for system in ("dsr", "g-dsr"):
        with pytest.raises(BenchmarkError, match=f"'{system}' learns from questions of the split 'test'"):
            evaluate_systems(replace(TINY, questions=questions), "test", [system])
