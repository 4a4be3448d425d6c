"""The map of vectors: nearest against every pair sorted, shares against counting by hand."""

import sys
from pathlib import Path

import numpy as np
import pytest

from lexarbor.corpus.benchmarks.catalogue import Benchmark, build_benchmark
from lexarbor.corpus.law import Article, Code
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import BenchmarkError, MissingExtraError
from lexarbor.experiments import vector_map as module
from lexarbor.experiments.lab import Lab
from lexarbor.experiments.vector_map import (
    AFTER,
    BEFORE,
    mean_cosine,
    nearest,
    of_length_one,
    perplexity,
    project,
    togetherness,
    vector_map,
)
from lexarbor.graph.features import node_inputs
from lexarbor.graph.legislation import legislative_graph
from lexarbor.graph.shipped import open_shipped_graph
from lexarbor.text.shipped import open_shipped


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEXARBOR_CACHE", str(tmp_path))


def random_vectors(size: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(size, 8)).astype(np.float32)


@pytest.mark.parametrize("block", [1, 4, 512])
def test_the_nearest_are_the_first_of_all_others_sorted(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(module, "BLOCK", block)
    vectors = of_length_one(random_vectors(13))
    products = vectors @ vectors.T
    for row, found in enumerate(nearest(vectors, 3)):
        expected = [other for other in np.argsort(-products[row]) if other != row][:3]
        assert set(found) == set(expected)


def test_vectors_are_brought_to_length_one_and_zeros_stay() -> None:
    found = of_length_one(np.array([[3, 4], [0, 0]], dtype=np.float32))
    assert np.allclose(found, [[0.6, 0.8], [0, 0]])


def test_shares_are_counted_over_the_nearest() -> None:
    vectors = of_length_one(np.array([[1, 0], [1, 0.1], [1, 0.5], [0.2, 1]], dtype=np.float32))
    codes, sections = np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1])
    found = togetherness(vectors, 1, codes, sections)
    # the nearest of 0, 1, 2, 3 are 1, 0, 1, 2
    assert (found.code, found.section) == (3 / 4, 3 / 4)
    cosines = vectors @ vectors.T
    assert found.like == pytest.approx((cosines[0, 1] + cosines[2, 3]) / 2)
    assert found.unlike == pytest.approx(cosines[np.triu_indices(4, 1)].mean())
    assert module._by_chance(codes) == pytest.approx((2 / 3 * 3 + 0) / 4)
    assert module._at_most(codes, 2) == pytest.approx(3 / 4)
    assert module._at_most(sections, 2) == pytest.approx(1 / 2)


def test_the_mean_cosine_is_that_of_every_pair() -> None:
    vectors = of_length_one(random_vectors(9))
    groups = np.array([5, 0, 5, 2, 0, 5, 7, 0, 0])  # numbers that no row has; one group of one
    cosines = vectors @ vectors.T
    expected = [cosines[i, j] for i in range(9) for j in range(i) if groups[i] == groups[j]]
    assert mean_cosine(vectors, groups) == pytest.approx(np.mean(expected), rel=1e-5)
    assert mean_cosine(vectors, np.arange(9)) is None


@pytest.mark.parametrize("size", [5, 40])
def test_few_points_are_projected_and_the_same_each_time(size: int) -> None:
    assert perplexity(size) < size
    one, other = (project(of_length_one(random_vectors(size))) for _ in range(2))
    assert one.shape == (size, 2)
    assert np.isfinite(one).all()
    assert np.array_equal(one, other)


def test_perplexity_is_the_usual_one_where_there_are_points_enough() -> None:
    assert (perplexity(5), perplexity(3000)) == (4 / 3, 30)


def test_the_report_on_the_tiny_law(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 20)
    report = vector_map(Lab("tiny", tmp_path))
    law, encoder = build_benchmark("tiny").law, open_shipped()
    graph = legislative_graph(law)
    features = encoder.encode_articles(node_inputs(law, graph, encoder.settings))
    heard = open_shipped_graph().enrich(features, graph, encoder=encoder.checksum)
    articles = [law.articles[id] for id in graph.articles]
    for name, vectors in ((BEFORE, features), (AFTER, heard)):
        held = vectors[graph.article_rows]
        cosines = held @ held.T / np.outer(*[np.linalg.norm(held, axis=1)] * 2)
        best = [[at for at in np.argsort(-cosines[row]) if at != row][:10] for row in range(len(articles))]
        same = [articles[at].parent == articles[row].parent for row, found in enumerate(best) for at in found]
        assert report.data["shares"][name]["section"] == pytest.approx(np.mean(same))
        same = [articles[at].code == articles[row].code for row, found in enumerate(best) for at in found]
        assert report.data["shares"][name]["code"] == pytest.approx(np.mean(same))
    assert (report.data["articles"], report.data["drawn"]) == (len(articles), 20)
    (table,) = report.tables
    assert [row[0] for row in table.rows] == [BEFORE, AFTER, "drawn by chance", "the most there can be"]
    draw = report.figures[""]
    panels, codes = draw.args
    assert list(panels) == ["Before the graph encoder", "After the graph encoder"]
    assert len(codes) == 20
    assert set(codes) <= {code.title for code in law.codes.values()}
    draw(tmp_path / "x.png")
    assert (tmp_path / "x.png").stat().st_size > 0


def test_without_scikit_learn_the_message_comes_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.manifold", None)
    monkeypatch.setattr(module, "open_shipped", None)
    with pytest.raises(MissingExtraError, match=r"the map of vectors needs .* pip install 'lexarbor\[figures\]'"):
        vector_map(Lab("tiny", tmp_path))


def test_a_law_of_too_few_articles_has_no_map(tmp_path: Path) -> None:
    tiny = build_benchmark("tiny")
    lab = Lab("own", tmp_path)
    law = LawTree([Code("c", "c"), *(Article(id, id, "c", "texte", ()) for id in "1234")], name="small")
    lab.__dict__["benchmark"] = Benchmark("own", law, tiny.questions, tiny.questions)
    with pytest.raises(BenchmarkError, match="'small' holds 4 articles: a map needs 5"):
        vector_map(lab)
