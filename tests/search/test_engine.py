"""A question in, an answer out."""

from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import pytest

from lexarbor.corpus.law import Article, Code
from lexarbor.corpus.questions import LONGEST
from lexarbor.corpus.sources import read_tiny_questions
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import SearchError
from lexarbor.search import Engine
from lexarbor.search.building import build_index
from lexarbor.search.filters import Filters
from lexarbor.search.lexical import BM25Settings


def test_the_best_article_comes_first_with_its_passage_and_reasons(engine: Engine) -> None:
    answer = engine.search("Le voisin doit-il procéder à l'élagage de ses branchages ?", k=3)
    assert answer.question == "Le voisin doit-il procéder à l'élagage de ses branchages ?"
    assert answer.law.date == date(2026, 1, 1)
    best = answer.hits[0]
    assert best.article.number == "L123-2"
    assert best.passage == (
        "Le propriétaire du fonds sur lequel s'avancent des branchages peut exiger du voisin qu'il procède à leur "
        "élagage."
    )
    assert best.reasons == {"bm25": (best.score, 1)}
    assert [hit.rank for hit in answer.hits] == [1, 2, 3]
    assert answer.hits[0].score > answer.hits[1].score >= answer.hits[2].score > 0


def test_a_question_without_accents_or_capitals_finds_the_same_article(engine: Engine) -> None:
    for question in ("ELAGAGE DES BRANCHAGES", "elagage des branchages", "e\u0301lagage des branchages"):
        assert engine.search(question).hits[0].article.number == "L123-2"


def test_ranking_alone_gives_the_same_ids_and_scores(engine: Engine) -> None:
    question = "une amende pour nuisances sonores"
    hits = engine.search(question, k=20).hits
    assert engine.rank(question, 20) == [(hit.article.id, hit.score) for hit in hits]


def test_asking_for_fewer_gives_the_head_of_the_list(engine: Engine) -> None:
    question = "le maire de la commune"
    assert engine.rank(question, 3) == engine.rank(question, 1000)[:3]


def test_more_than_there_are_gives_all_that_share_a_word(engine: Engine) -> None:
    found = engine.search("récidive", k=10**9).hits
    assert [hit.article.number for hit in found] == ["L231-3"]
    assert len(engine.search("commune Valombre", k=10**9).hits) == len(engine.index.article_ids) == 61


@pytest.mark.parametrize("question", ["xylophone", "le la les", "?", "🐶"])
def test_a_question_without_a_known_word_has_an_answer_without_hits(engine: Engine, question: str) -> None:
    answer = engine.search(question)
    assert answer.hits == ()
    assert answer.as_dict()["hits"] == []


def test_threads_that_share_an_engine_get_the_answers_of_one(engine: Engine, folder: Path) -> None:
    questions = [question.text for question in read_tiny_questions().questions.values()] * 4
    alone = [engine.search(question).as_dict() for question in questions]
    shared = Engine.open(folder)  # with no stem remembered yet
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(lambda question: shared.search(question).as_dict(), questions)) == alone


def test_a_question_is_analysed_once(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    analysed: list[str] = []
    analyse = engine.index.lexical.analyse
    monkeypatch.setattr(engine.index.lexical, "analyse", lambda text: analysed.append(text) or analyse(text))
    assert engine.search("des canidés").hits
    assert analysed.count("des canidés") == 1


def test_equal_scores_are_ranked_by_id(tmp_path: Path) -> None:
    articles = [Article(id, id, "C1", "Le chien aboie.", ()) for id in ("B", "C", "A")]
    build_index(LawTree([Code("C1", "Code"), *articles]), tmp_path / "i", source="", settings=BM25Settings())
    ranking = Engine.open(tmp_path / "i").rank("chien", 3)
    assert [id for id, _ in ranking] == ["A", "B", "C"]
    assert len({score for _, score in ranking}) == 1
    assert Engine.open(tmp_path / "i").rank("chien", 2) == ranking[:2]


@pytest.mark.parametrize("question", ["", " ", "\n\t\u00a0"])
def test_an_empty_question_is_refused_with_an_example(engine: Engine, question: str) -> None:
    for ask in (engine.search, lambda text: engine.rank(text, 10)):
        with pytest.raises(SearchError, match="the question is empty: ask something like"):
            ask(question)


def test_a_million_characters_are_refused_and_ten_thousand_are_not(engine: Engine) -> None:
    with pytest.raises(SearchError, match="the question has 1,000,000 characters, more than 10,000: ask it in a few"):
        engine.search("chien " * 166_666 + "chat")
    longest = ("canidés " * LONGEST)[:LONGEST]
    assert engine.search(longest).hits[0].article.number == "L113-1"


@pytest.mark.parametrize("k", [0, -1])
def test_less_than_one_article_is_refused(engine: Engine, k: int) -> None:
    with pytest.raises(SearchError, match=f"k is {k}: ask for at least one article"):
        engine.search("chien", k)


def test_bytes_that_are_no_text_are_refused(engine: Engine) -> None:
    with pytest.raises(SearchError, match="as UTF-8"):
        engine.search("chien \udcff")


def test_articles_that_a_question_names_come_first_and_the_others_behind(engine: Engine) -> None:
    question = "Quelles nuisances sonores vise l'article L. 123-2 du code communal de Valombre ?"
    answer = engine.search(question, k=4)
    assert [hit.article.number for hit in answer.hits[:1]] == ["L123-2"]
    assert list(answer.hits[0].reasons) == ["reference", "bm25"]
    assert answer.hits[0].reasons["reference"] == (1.0, 1)
    assert answer.hits[0].reasons["bm25"].rank > 1
    assert [list(hit.reasons) for hit in answer.hits[1:]] == [["bm25"]] * 3
    assert "VALARTI0018" not in {hit.article.id for hit in answer.hits[1:]}
    scores = [hit.score for hit in answer.hits]
    assert scores == sorted(scores, reverse=True) and len(set(scores)) == 4
    assert engine.rank(question, 4) == [(hit.article.id, hit.score) for hit in answer.hits]


def test_a_reference_and_nothing_else_finds_what_it_names_alone(engine: Engine) -> None:
    found = engine.search("articles L. 112-1 à L. 112-3 du code communal de Valombre")
    assert [hit.article.id for hit in found.hits] == ["VALARTI0005", "VALARTI0006", "VALARTI0007"]
    assert [hit.article.id for hit in engine.search("L112-1 code communal de Valombre", k=1).hits] == ["VALARTI0005"]


def test_a_reference_that_is_not_held_is_told(engine: Engine) -> None:
    answer = engine.search("L. 999-1")
    assert (answer.hits, answer.not_held) == ((), ("L. 999-1",))
    asked = engine.search("Quel élagage selon l'article L. 999-1 ?")
    assert asked.not_held == ("L. 999-1",) and asked.hits


def test_a_filter_leaves_the_order_of_what_it_keeps(engine: Engine) -> None:
    question = "le maire de la commune"
    fairs = Filters(codes=("Code des fêtes, marchés et jardins de Valombre",))
    kept = [found for found in engine.rank(question, 100) if engine.index.law.articles[found[0]].code == "VALTEXT02"]
    assert engine.rank(question, 100, fairs) == kept
    assert 0 < len(kept) < len(engine.rank(question, 100))


def test_a_filter_holds_for_what_is_named_too(engine: Engine) -> None:
    fairs = Filters(codes=("VALTEXT02",))
    assert [hit.article.id for hit in engine.search("L112-1", filters=fairs).hits] == ["VALARTI0048"]


def test_a_filter_that_names_nothing_is_refused(engine: Engine) -> None:
    with pytest.raises(SearchError, match="the code 'Code civil' is not held"):
        engine.search("chien", filters=Filters(codes=("Code civil",)))


def test_an_explained_hit_tells_what_it_is_to_be_read_with(engine: Engine) -> None:
    hit = engine.search("L112-2 du code communal de Valombre", explain=True).hits[0]
    law, around = engine.index.law, hit.around
    assert around is not None
    assert [article.number for article in around.before + around.after] == ["L112-1", "L112-3"]
    assert tuple(article.id for article in around.cites) == law.citations.cites(hit.article.id)
    assert tuple(article.id for article in around.cited_by) == law.citations.cited_by(hit.article.id)
    first = engine.search("L112-1 du code communal de Valombre", explain=True).hits[0].around
    assert first is not None and first.before == ()
    assert engine.search("L112-2").hits[0].around is None


def test_the_words_that_the_question_shares_are_marked(engine: Engine) -> None:
    hit = engine.search("Le voisin doit-il procéder à l'élagage de ses branchages ?", k=1).hits[0]
    assert [hit.passage[start:end] for start, end in hit.marks] == ["branchages", "voisin", "procède", "élagage"]
