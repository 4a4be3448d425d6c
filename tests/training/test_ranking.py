"""Ranking with torch: the order, its ties, and vectors that do not depend on what they are computed with."""

from pathlib import Path

import numpy as np
import pytest
import torch
from tiny_supervision import retriever, tiny

from lexarbor.evaluation import MEASURES, evaluate
from lexarbor.text.inputs import article_input
from lexarbor.training.ranking import Dev, Vectors, article_vectors, question_vectors, rank


def test_the_best_come_first_and_equals_by_row() -> None:
    questions = Vectors(("q",), torch.tensor([[1.0, 0.0]]))
    values = [[0.0, 1.0], [2.0, 0.0], [1.0, 1.0], [1.0, 0.0], [2.0, 2.0]]
    articles = Vectors(tuple("abcde"), torch.tensor(values))
    ranked = rank(questions, articles, "cosine")
    assert ranked.ids() == [["b", "d", "c", "e", "a"]]
    assert ranked.scores[0] == pytest.approx([1, 1, 0.5**0.5, 0.5**0.5, 0], abs=1e-6)
    assert rank(questions, articles, "dot", depth=2).ids() == [["b", "e"]]
    assert rank(questions, articles, "euclidean", depth=1).run() == {"q": [("d", 1.0)]}


def test_many_questions_are_ranked_as_one() -> None:
    torch.manual_seed(0)
    questions = Vectors(tuple(map(str, range(600))), torch.randn(600, 4))
    articles = Vectors(tuple(map(str, range(50))), torch.randn(50, 4))
    ranked = rank(questions, articles, "cosine", depth=7)
    assert ranked.rows.shape == (600, 7)
    alone = rank(Vectors(("599",), questions.values[599:]), articles, "cosine", depth=7)
    assert np.array_equal(ranked.rows[599:], alone.rows)


def test_nothing_asked_is_nothing_ranked() -> None:
    articles = Vectors(("a",), torch.ones(1, 2))
    assert rank(Vectors((), torch.zeros(0, 2)), articles, "cosine").run() == {}


@pytest.mark.parametrize(
    "settings", [{}, {"article": "hierarchical", "max_tokens": 60, "chunk_tokens": 12, "shared": False}]
)
def test_vectors_are_those_of_each_text_alone(tmp_path: Path, settings: dict[str, object]) -> None:
    model = retriever(tmp_path / "bert", **settings)
    articles = tiny().articles[:40]
    found = article_vectors(model, articles)
    assert found.ids == tuple(article.id for article in articles)
    for place in (0, 13, 39):
        text = article_input(articles[place].headings, articles[place].text, model.settings)
        (chunks,) = model.article_ids([text])
        padded = model.padded(chunks)
        with torch.no_grad():
            alone = model.encode_article_ids(padded.ids, padded.mask, torch.tensor([len(chunks)]))
        assert torch.allclose(found.values[place], alone[0], atol=1e-5)
    texts = [one.text for one in tiny().asked]
    asked = question_vectors(model, [one.id for one in tiny().asked], texts)
    padded = model.padded(model.question_ids(texts[-1:]))
    with torch.no_grad():
        assert torch.allclose(asked.values[-1], model.encode_question_ids(padded.ids, padded.mask)[0], atol=1e-5)


def test_a_look_at_dev_leaves_the_model_training_and_scores_like_evaluation(tmp_path: Path) -> None:
    model = retriever(tmp_path / "bert")
    model.train()
    folder = tiny()
    figures = Dev(model, folder.articles, folder.asked).figures(model)
    assert model.training
    articles = article_vectors(model, folder.articles)
    questions = question_vectors(model, [one.id for one in folder.asked], [one.text for one in folder.asked])
    run = rank(questions, articles, "cosine").run()
    gold = {one.id: frozenset(one.gold) for one in folder.asked}
    assert figures == evaluate(run, gold, tuple(figures)).means()
    assert figures.keys() == MEASURES.keys()
