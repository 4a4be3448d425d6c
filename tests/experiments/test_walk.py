"""The walk down the headings: what is opened next, what is met, and what ends it."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from lexarbor.corpus.benchmarks.catalogue import build_benchmark
from lexarbor.corpus.law import Article, Code, Section
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import SearchError
from lexarbor.evaluation import ScoredArticle, order
from lexarbor.experiments.systems import DEPTH, LEARNED_FROM, build_system, in_order
from lexarbor.experiments.walk import Scores, Walk, walk, walk_words
from lexarbor.graph.features import node_inputs
from lexarbor.graph.legislation import legislative_graph, section_headings
from lexarbor.text.inputs import article_input
from lexarbor.text.settings import EncoderSettings
from lexarbor.text.shipped import open_shipped
from toy_encoder import Toy

TINY = build_benchmark("tiny")
LAW = LawTree(
    [
        Code("civil", "Code civil"),
        Section("persons", "Des personnes", 1, "civil"),
        Section("marriage", "Du mariage", 2, "persons"),
        Article("a1", "1", "civil", "Les époux.", ("persons", "marriage")),
        Article("a2", "2", "civil", "La dot.", ("persons", "marriage")),
        Section("goods", "Des biens", 1, "civil"),
        Article("a3", "3", "civil", "Les arbres.", ("goods",)),
        Code("rural", "Code rural"),
        Article("a4", "4", "rural", "Le présent code.", ()),
        Section("hedges", "Des haies", 1, "rural"),
        Article("a6", "6", "rural", "La haie.", ("hedges",)),
        Article("a5", "5", "rural", "La hauteur.", ("hedges",), other_paths=(("trees",),)),
        Section("trees", "Des arbres", 1, "rural"),
        Article("a7", "7", "rural", "L'abattage.", ("trees",)),
    ]
)
ARTICLES = [LAW.articles[f"a{number}"] for number in range(1, 8)]
HEADINGS = {
    "civil": 0.5, "persons": 0.1, "marriage": 0.9, "goods": 0.6, "rural": 0.7, "hedges": 0.4, "trees": 0.55,
}  # fmt: skip
TEXTS = {"a1": 0.3, "a2": 0.3, "a3": 0.1, "a4": 0.0, "a5": 0.2, "a6": 0.9, "a7": 0.8}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEXARBOR_CACHE", str(tmp_path))


def told(question: str) -> tuple[Scores, Scores]:
    return (
        np.array([HEADINGS[id] for id in section_headings(LAW)], dtype=np.float32),
        np.array([TEXTS[article.id] for article in ARTICLES], dtype=np.float32),
    )


def ids(ranking: Iterable[ScoredArticle]) -> list[str]:
    return [article for article, _ in ranking]


def test_the_best_division_in_sight_is_opened_next_at_whatever_level() -> None:
    """rural 0.7 (a4), trees 0.55 (a7, a5), back up to civil 0.5, goods 0.6 (a3), back to hedges 0.4 (a6: a5 was met),
    and last persons 0.1: marriage, the best heading of all, stays out of sight until then.
    """
    found = list(Walk(LAW, ARTICLES, told, DEPTH)("?"))
    assert ids(found) == ["a4", "a7", "a5", "a3", "a6", "a1", "a2"]  # a1 and a2 read alike: by id
    assert order(found) == found


@pytest.mark.parametrize("depth", [1, 2, 6])
def test_the_walk_ends_when_enough_was_met(depth: int) -> None:
    whole = ids(Walk(LAW, ARTICLES, told, DEPTH)("?"))
    assert ids(Walk(LAW, ARTICLES, told, depth)("?")) == whole[:depth]


def test_of_equal_headings_the_first_in_the_law_is_opened_first() -> None:
    alike = np.zeros(len(HEADINGS), dtype=np.float32), np.zeros(len(TEXTS), dtype=np.float32)
    assert ids(Walk(LAW, ARTICLES, lambda question: alike, DEPTH)("?")) == ["a1", "a2", "a3", "a4", "a5", "a6", "a7"]


def test_what_is_no_longer_in_force_is_not_met() -> None:
    def some(question: str) -> tuple[Scores, Scores]:
        return told(question)[0], told(question)[1][:3]

    assert ids(Walk(LAW, ARTICLES[:3], some, DEPTH)("?")) == ["a3", "a1", "a2"]


@dataclass
class Letters(Toy):
    """A vector of two numbers: how often an a, and an h, stands in a text."""

    dimension: int = 2

    def encode_articles(self, inputs: Iterable[str]) -> NDArray[np.float32]:
        texts = list(inputs)
        self.asked += texts
        return np.array([[text.count("a"), text.count("h")] for text in texts], dtype=np.float32)

    def encode_questions(self, texts: Iterable[str]) -> NDArray[np.float32]:
        return np.array([[text.count("a"), text.count("h")] for text in texts], dtype=np.float32)


def test_an_encoder_reads_a_heading_below_those_above_it() -> None:
    """The question has one a. Rural 1 (a4); hedges 2 (a5 and a6, 4 each); trees 2 (a7); civil 0; persons 0; marriage 2
    (a2 has 3, a1 has 2); goods 0 (a3).
    """
    encoder = Letters(EncoderSettings(similarity="dot"))
    found = walk(LAW, ARTICLES, DEPTH, encoder)  # type: ignore[arg-type]
    assert ids(found("a")) == ["a4", "a5", "a6", "a7", "a2", "a1", "a3"]
    texts = [article_input(LAW.headings(article), article.text, encoder.settings) for article in ARTICLES]
    assert sorted(set(encoder.asked) - set(texts)) == [
        "Code civil",
        "Code civil\nDes biens",
        "Code civil\nDes personnes",
        "Code civil > Des personnes\nDu mariage",
        "Code rural",
        "Code rural\nDes arbres",
        "Code rural\nDes haies",
    ]


def test_headings_are_kept_as_other_vectors_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = list(build_system("walk", TINY)("Mon voisin fait du bruit la nuit"))
    assert list((tmp_path / "vectors").iterdir())
    monkeypatch.setattr("lexarbor.text.encoder.TextEncoder.encode_articles", None)
    assert list(build_system("walk", TINY)("Mon voisin fait du bruit la nuit")) == first


def opened_one_by_one(law: LawTree, headings: dict[str, float], articles: dict[str, float]) -> list[str]:
    """The same walk, told plainly: look at every division of the law again before each step."""
    opened: list[str] = []
    met: list[str] = []
    while left := [id for id in headings if id not in opened and law.parent(id) in (None, *opened)]:
        opened.append(max(left, key=headings.__getitem__))  # the first of the largest
        here = [id for id in law.children(opened[-1]) if id in articles and id not in met]
        met += sorted(here, key=lambda id: (-articles[id], id))
    return met


def test_over_a_whole_corpus_it_is_the_walk_told_plainly() -> None:
    encoder, law, articles = open_shipped(), TINY.law, in_order(TINY.law)
    graph = legislative_graph(law, merge_headings=False)
    vectors = encoder.encode_articles(node_inputs(law, graph, encoder.settings))
    system = build_system("walk", TINY)
    for question in ("Mon voisin fait du bruit la nuit", "Combien coûte une place au marché ?"):
        scores = (vectors @ encoder.encode_questions([question])[0]).tolist()
        by_id = dict(zip((*graph.sections, *graph.articles), scores, strict=True))
        headings = {id: by_id[id] for id in section_headings(law)}
        expected = opened_one_by_one(law, headings, {article.id: by_id[article.id] for article in articles})
        assert sorted(expected) == [article.id for article in articles]
        assert ids(system(question)) == expected


def test_by_words_the_headings_that_share_some_are_followed() -> None:
    """All words stand above the hedges, where a6 has one more; of what is left trees have two; that civil is a code
    too counts least, and less the longer the heading: goods come before marriage.
    """
    found = ids(walk_words(LAW, ARTICLES, DEPTH)("les haies du code rural"))
    assert found == ["a4", "a6", "a5", "a7", "a3", "a1", "a2"]


def test_an_encoder_of_distances_is_refused() -> None:
    with pytest.raises(SearchError, match="give an encoder of cosine or dot"):
        walk(LAW, ARTICLES, DEPTH, Toy(EncoderSettings(similarity="euclidean")))  # type: ignore[arg-type]


def test_it_has_learned_what_its_encoder_has() -> None:
    assert LEARNED_FROM["walk"] == LEARNED_FROM["dsr"]
    assert "walk-words" not in LEARNED_FROM
