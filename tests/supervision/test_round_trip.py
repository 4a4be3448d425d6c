"""The round-trip filter: exact ranks, against a full sort."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from invented import bridges

from bm25_formula import lucene_bm25
from lexarbor.corpus.law import Article
from lexarbor.corpus.sources import read_tiny, read_tiny_questions
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import TrainingError
from lexarbor.search.lexical import tuned
from lexarbor.supervision import round_trip as module
from lexarbor.supervision.round_trip import LEGS, rank_of, round_trip
from lexarbor.supervision.synthetic import SyntheticQuestion
from lexarbor.text.inputs import article_input
from lexarbor.text.shipped import open_shipped

BRIDGES = bridges("Le bac passe la rivière.", "Le bac attend.", "Le pont tient.", "Le pont tient.", "Le gué, lui, non.")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEXARBOR_CACHE", str(tmp_path))


def ask(article: str, question: str) -> SyntheticQuestion:
    return SyntheticQuestion(article, question, "tiny-mt5", -1.5)


def asked_of(law: LawTree) -> list[SyntheticQuestion]:
    """People's questions, each of its articles and of one more, and sentences of the law itself."""
    questions = read_tiny_questions()
    people = [(id, one.text) for one in questions.questions.values() for id in sorted(questions.qrels[one.id])]
    other = [("VALARTI0005", one.text) for one in questions.questions.values()]
    own = [(article.id, article.text[:80]) for article in law.current()]
    return [ask(id, text) for id, text in [*people, *other, *own] if law.is_current(law.articles[id])]


def sorted_rank(scores: list[float], row: int) -> int:
    return sorted(range(len(scores)), key=lambda one: (-scores[one], one)).index(row) + 1


@given(st.lists(st.sampled_from([-1.0, 0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=30), st.data())
def test_counting_ranks_as_sorting_does(scores: list[float], data: st.DataObject) -> None:
    row = data.draw(st.integers(0, len(scores) - 1))
    assert rank_of(np.array(scores, dtype=np.float32), row) == sorted_rank(scores, row)


def test_what_is_not_found_has_no_rank() -> None:
    scores = np.array([-np.inf, 2, -np.inf], dtype=np.float32)
    assert [rank_of(scores, row) for row in range(3)] == [0, 1, 0]


def test_bm25_ranks_are_those_of_the_formula() -> None:
    law = read_tiny()
    articles = law.current()
    texts = ["\n".join((*law.headings(article), article.text)) for article in articles]
    settings = tuned("headings+text")
    questions = asked_of(law)
    found = round_trip(questions, law, legs=["bm25"]).ranks["bm25"]
    for one, rank in zip(questions, found, strict=True):
        scores = lucene_bm25(texts, one.question, settings.k1, settings.b)
        own = scores[[article.id for article in articles].index(one.article)]
        # sums in another order: what is equal to the last digits may stand on either side
        first = 1 + sum(score > own + 1e-4 for score in scores)
        last = sum(score > own - 1e-4 for score in scores)
        assert (rank == 0) if own == 0 else (first <= rank <= last)
    assert (found == 0).any() and (found == 1).any() and (found > 10).any()


def test_dense_ranks_are_those_of_the_shipped_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK", 7)
    law = read_tiny()
    articles, encoder = law.current(), open_shipped()
    vectors = encoder.encode_articles(
        article_input(law.headings(article), article.text, encoder.settings) for article in articles
    ).astype(np.float64)
    questions = asked_of(law)[:40]
    found = round_trip(questions, law, legs=["dense"]).ranks["dense"]
    for one, rank in zip(questions, found, strict=True):
        scores = (vectors @ encoder.encode_questions([one.question])[0]).tolist()
        assert rank == sorted_rank(scores, [article.id for article in articles].index(one.article))
    assert len(set(found.tolist())) > 10


def test_one_leg_that_finds_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    def leg(*ranks_by_row: list[float]) -> Any:
        """Scores by the question's number."""
        return lambda law, articles: lambda texts: np.array([ranks_by_row[int(text)] for text in texts], np.float32)

    monkeypatch.setitem(LEGS, "bm25", leg([5, 4, 3, 2, 1], [5, 4, 3, 2, 1], [5, 4, 3, 2, 1], [5, 4, 3, 2, 1]))
    monkeypatch.setitem(LEGS, "dense", leg([5, 4, 3, 2, 1], [5, 4, 9, 2, 1], [5, 4, 3, 2, 1], [5, 4, 3, 9, 9]))
    questions = [ask("A01", "0"), ask("A03", "1"), ask("A05", "2"), ask("A05", "3"), ask("A02", "3"), ask("Z", "0")]
    steps: list[tuple[int, int]] = []
    found = round_trip(questions, BRIDGES, depth=2, on_step=lambda *step: steps.append(step))
    assert {leg: ranks.tolist() for leg, ranks in found.ranks.items()} == {
        "bm25": [1, 3, 5, 5, 2, 0],
        "dense": [1, 1, 5, 2, 4, 0],
    }
    assert found.kept == [questions[0], questions[1], questions[3], questions[4]]
    assert found.report == {
        "asked": 6,
        "distinct": 4,
        "of_unknown_articles": 1,
        "kept": 4,
        "share": 0.6667,
        "share_by": {"bm25": 0.3333, "dense": 0.5},
        "by_every_leg": 1,
        "by_one_alone": {"bm25": 1, "dense": 2},
    }
    assert steps == [(4, 8), (8, 8)]
    alone = round_trip(questions, BRIDGES, depth=2, legs=["bm25", "bm25"])
    assert alone.kept == [questions[0], questions[4]]
    assert alone.report["by_one_alone"] == {"bm25": 2}


def test_the_same_words_are_searched_once_for_all_their_articles(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[str] = []

    def leg(law: LawTree, articles: list[Article]) -> Any:
        return lambda texts: searched.extend(texts) or np.tile(np.arange(5, dtype=np.float32), (len(texts), 1))

    monkeypatch.setitem(LEGS, "bm25", leg)
    questions = [ask("A01", "Le bac ?"), ask("A05", "LE  bac ?"), ask("A02", "Et le pont ?"), ask("A04", "le bac ?")]
    found = round_trip(questions, BRIDGES, legs=["bm25"])
    assert searched == ["Le bac ?", "Et le pont ?"]
    assert found.ranks["bm25"].tolist() == [5, 1, 4, 2]
    assert found.report["distinct"] == 2


def test_equal_articles_are_ranked_by_id_and_depth_cuts_between_them() -> None:
    law = bridges("Un.", "Deux.", "Le pont tient.", "Autre.", "Le pont tient.")  # the odd ones have equal headings
    questions = [ask("A03", "Le pont tient-il ?"), ask("A05", "Le pont tient-il ?")]
    found = round_trip(questions, law, legs=["bm25"], depth=1)
    assert found.ranks["bm25"].tolist() == [1, 2]
    assert found.kept == questions[:1]


def test_an_article_that_shares_no_word_does_not_come_back() -> None:
    """Though fewer than ten stand before it."""
    found = round_trip([ask("A05", "Le bac ?"), ask("A01", "Éléphant ?")], BRIDGES, legs=["bm25"])
    assert found.ranks["bm25"].tolist() == [0, 0]
    assert found.kept == []
    assert found.report["share"] == 0


def test_a_repealed_article_is_unknown() -> None:
    law = read_tiny()
    repealed = next(article for article in law.articles.values() if not law.is_current(article))
    held = law.current()[0]
    found = round_trip([ask(repealed.id, repealed.text), ask(held.id, held.text)], law, legs=["bm25"])
    assert found.report["of_unknown_articles"] == 1
    assert [one.article for one in found.kept] == [held.id]


@pytest.mark.parametrize(
    ("questions", "options", "message"),
    [
        ([ask("Z", "Quoi ?")], {}, "none of the 1 questions is about an article in force of the law 'bridges': name"),
        ([], {}, "none of the 0 questions is about an article"),
        ([ask("A01", "Quoi ?")], {"legs": ["bm25", "sparse"]}, "unknown leg 'sparse': choose among bm25, dense"),
        ([ask("A01", "Quoi ?")], {"legs": []}, "no leg was named: choose among bm25, dense"),
        ([ask("A01", "Quoi ?")], {"depth": 0}, "depth is 0: an article comes back among the best 1 or more"),
    ],
)
def test_what_cannot_be_done_is_told(questions: list[SyntheticQuestion], options: dict[str, Any], message: str) -> None:
    with pytest.raises(TrainingError, match=message):
        round_trip(questions, BRIDGES, **options)
