"""BM25's negatives."""

from collections import Counter
from dataclasses import replace

import pytest
from invented import bridges

from bm25_formula import lucene_bm25
from lexarbor.corpus.sources import read_tiny, read_tiny_questions
from lexarbor.corpus.tree import LawTree
from lexarbor.search.lexical import tuned
from lexarbor.supervision.folder import Pair
from lexarbor.supervision.negatives import with_bm25_negatives


@pytest.fixture(scope="module")
def law() -> LawTree:
    return read_tiny()


def asked(law: LawTree) -> list[Pair]:
    """People's questions, which share few words with the law, and its own sentences, which share many."""
    questions = read_tiny_questions()
    gold = [Pair("gold", one.text, tuple(sorted(questions.qrels[one.id]))) for one in questions.questions.values()]
    return gold + [Pair("gold", article.text, (article.id,)) for article in law.current()]


def test_the_best_of_bm25_that_nobody_labelled_best_first(law: LawTree) -> None:
    articles = law.current()
    texts = ["\n".join((*law.headings(article), article.text)) for article in articles]
    settings = tuned("headings+text")
    pairs = list(with_bm25_negatives(asked(law), law, articles, kinds=["gold"], depth=12))
    assert [replace(pair, negatives=()) for pair in pairs] == asked(law)
    for pair in pairs:
        scores = lucene_bm25(texts, pair.question, settings.k1, settings.b)
        by_id = {article.id: score for article, score in zip(articles, scores, strict=True)}
        best = sorted((by_id[id] for id in by_id if id not in pair.positives and by_id[id] > 0), reverse=True)
        assert [by_id[id] for id in pair.negatives] == pytest.approx(best[:12], abs=1e-4)
        assert not set(pair.negatives) & set(pair.positives)
    assert Counter(len(pair.negatives) for pair in pairs)[12] > 40


def test_no_positive_of_the_same_question_is_a_negative(law: LawTree) -> None:
    """Whatever kind of pair tells of it, and in whatever case."""
    question = "Les nuisances sonores nocturnes"
    known = [Pair("gold", question, ("VALARTI0006",)), Pair("headings", question.upper(), ("VALARTI0005",), bare=True)]
    asked, heading = with_bm25_negatives(known, law, law.current(), kinds=["gold"])
    assert not {"VALARTI0005", "VALARTI0006"} & set(asked.negatives)
    assert asked.negatives
    assert heading == known[1]
    alone, _ = with_bm25_negatives(
        [known[0], Pair("headings", "Autre", ("VALARTI0005",))], law, law.current(), kinds=["gold"]
    )
    assert alone.negatives == ("VALARTI0005", *asked.negatives)[:50]


def test_only_the_kinds_asked_for_get_negatives(law: LawTree) -> None:
    pairs = [Pair("gold", "Le dépôt", ("VALARTI0005",)), Pair("sheet", "Le dépôt", ("F1-0",))]
    for kinds, given in ((["sheet"], [False, True]), (["gold", "sheet"], [True, True]), ([], [False, False])):
        found = with_bm25_negatives(pairs, law, law.current(), kinds=kinds)
        assert [bool(pair.negatives) for pair in found] == given


def test_fewer_where_bm25_finds_fewer() -> None:
    law = bridges("Le bac passe.", "Le bac attend.", "Le pont tient.")
    pairs = [Pair("gold", "bac", ("A02",)), Pair("gold", "éléphant", ("A01",)), Pair("gold", "… ?", ("A01",))]
    found = with_bm25_negatives(pairs, law, law.current(), kinds=["gold"])
    assert [pair.negatives for pair in found] == [("A01",), (), ()]


def test_it_tells_how_far_it_is(law: LawTree) -> None:
    steps: list[tuple[int, int]] = []
    pairs = [Pair(kind, "Le dépôt", ("VALARTI0005",)) for kind in ("gold", "sheet", "gold")]
    list(with_bm25_negatives(pairs, law, law.current(), kinds=["gold"], on_step=lambda *step: steps.append(step)))
    assert steps == [(1, 3), (2, 3), (3, 3)]
