"""Neighbouring articles: TF-IDF against scikit-learn's, mean cosines against every pair counted one by one."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from lexarbor.corpus.benchmarks.catalogue import Benchmark
from lexarbor.corpus.law import Article, Code
from lexarbor.corpus.questions import Question, QuestionSet
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import BenchmarkError
from lexarbor.experiments import neighbours as module
from lexarbor.experiments.lab import Lab
from lexarbor.experiments.neighbours import TermVectors, borders, most_cited, neighbours

TEXTS = st.lists(st.lists(st.sampled_from("bail loyer chien maire fête".split()), max_size=8), min_size=2, max_size=9)
COMMUNAL = "Code communal de Valombre"


@pytest.fixture(autouse=True)
def stems(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same terms wherever the tests run: with spaCy's model and without."""
    monkeypatch.setattr(module, "find_spec", lambda name: None)


def by_scikit_learn(texts: list[list[str]]) -> np.ndarray:
    matrix = TfidfVectorizer(analyzer=lambda text: text).fit_transform(texts)
    return (matrix @ matrix.T).toarray()


@given(TEXTS.filter(any))
def test_cosines_are_those_of_scikit_learn(texts: list[list[str]]) -> None:
    assert np.allclose(TermVectors.of(texts).cosines(), by_scikit_learn(texts))


@given(TEXTS.filter(any), st.data())
def test_means_are_those_of_every_pair(texts: list[list[str]], data: st.DataObject) -> None:
    expected, vectors = by_scikit_learn(texts), TermVectors.of(texts)
    for distance in (1, 2, len(texts) - 1, len(texts), len(texts) + 3):
        wanted = np.diag(expected, distance) if distance < len(texts) else []
        assert np.allclose(vectors.apart(distance), wanted)
    groups = data.draw(st.lists(st.integers(0, 2), min_size=len(texts), max_size=len(texts)))
    pairs = [(i, j) for i, j in combinations(range(len(texts)), 2) if groups[i] == groups[j]]
    total, count = vectors.within(np.array(groups))
    assert count == len(pairs)
    assert total == pytest.approx(sum(expected[pair] for pair in pairs))


def test_a_part_keeps_the_weights_of_the_whole() -> None:
    texts = [["bail", "loyer"], ["bail"], ["chien", "bail"], ["chien"]]
    assert np.allclose(TermVectors.of(texts).part(1, 4).cosines(), by_scikit_learn(texts)[1:, 1:])


def test_the_report_on_the_tiny_law(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SIZE", 20)
    steps: list[tuple[int, int]] = []
    lab = Lab("tiny", tmp_path, on_step=lambda done, total: steps.append((done, total)))
    report = neighbours(lab)
    law = lab.benchmark.law
    articles = [
        law.articles[id] for id in law.positions if law.is_current(law.articles[id])
        and law.codes[law.articles[id].code].title == COMMUNAL
    ]  # fmt: skip
    ids = [article.id for article in articles]
    start = ids.index(report.data["first"])
    assert ids.index(report.data["last"]) - start == 19
    assert steps[-1] == (len(ids), len(ids))
    cosines = by_scikit_learn(list(module._terms(articles, "stems", Lab("tiny", tmp_path))))
    means = report.data["mean_cosines"]
    same = np.array([[one.parent == other.parent for other in articles] for one in articles])
    upper = np.triu(np.ones_like(same), 1)
    assert means["code"]["1 apart"] == pytest.approx(np.diag(cosines, 1).mean())
    assert means["code"]["1 apart, across a border"] == pytest.approx(np.diag(cosines, 1)[~np.diag(same, 1)].mean())
    assert means["code"]["in the same section"] == pytest.approx(cosines[upper & same].mean())
    assert means["code"]["in different sections"] == pytest.approx(cosines[upper & ~same].mean())
    assert means["code"]["any two"] == pytest.approx(cosines[upper].mean())
    shown = cosines[start : start + 20, start : start + 20]
    assert means["drawn"]["5 apart"] == pytest.approx(np.diag(shown, 5).mean())
    assert means["code"]["1 apart"] > means["code"]["any two"]
    (table,) = report.tables
    assert table.columns == ["Articles", "20 in the figure", f"All {len(ids)}"]
    assert table.rows[0] == ["1 apart", f"{np.diag(shown, 1).mean():.3f}", f"{np.diag(cosines, 1).mean():.3f}"]
    assert next(row for row in table.rows if row[0] == "50 apart")[1:] == [None, None]
    report.figures[""](tmp_path / "x.png")
    assert (tmp_path / "x.png").stat().st_size > 0


def test_the_same_articles_are_drawn_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SIZE", 20)
    one, other = (neighbours(Lab("tiny", tmp_path)) for _ in range(2))
    assert one.data == other.data


def test_terms_have_neither_numbers_nor_function_words_and_each_word_counts_once(tmp_path: Path) -> None:
    article = Article("a", "L1", "c", "Les BAUX de l'article 12, à 2e étage : un BAIL !", ())
    assert list(module._terms([article], "stems", Lab("tiny", tmp_path))) == [["baux", "articl", "etag", "bail"]]


def benchmark(gold: dict[str, list[str]], codes: str = "cd") -> Benchmark:
    nodes = [node for code in codes for node in (Code(code, code), Article(f"{code}1", "1", code, "texte", ()))]
    questions = {id: Question(id, "Quoi ?") for id in gold}
    held = QuestionSet(questions, {id: frozenset(ids) for id, ids in gold.items()}, {"test": tuple(gold)})
    return Benchmark("own", LawTree(nodes), held, held)


def test_the_code_most_cited_is_counted_by_labels() -> None:
    assert most_cited(benchmark({"q1": ["c1"], "q2": ["d1"], "q3": ["d1", "elsewhere"]})) == "d"
    assert most_cited(benchmark({"q1": ["c1"], "q2": ["d1"]})) == "c"
    with pytest.raises(BenchmarkError, match="no gold article of own is in its law"):
        most_cited(benchmark({"q1": ["elsewhere"]}))


def test_a_code_of_one_article_has_no_neighbours(tmp_path: Path) -> None:
    lab = Lab("own", tmp_path)
    lab.__dict__["benchmark"] = benchmark({"q1": ["c1"]})
    with pytest.raises(BenchmarkError, match="'c' holds 1 article"):
        neighbours(lab)


def test_borders_are_those_of_the_deepest_level_that_is_legible(monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [("A", "x"), ("A", "x"), ("A", "y"), ("B", "z"), ("B", "w"), ()]
    articles = [Article(str(number), "1", "c", "", path) for number, path in enumerate(paths)]
    assert borders(articles) == [2, 3, 4, 5]
    monkeypatch.setattr(module, "MOST_LINES", 3)
    assert borders(articles) == [3, 5]
    monkeypatch.setattr(module, "MOST_LINES", 1)
    assert borders(articles) == []
    assert borders([Article("a", "1", "c", "", ())]) == []
