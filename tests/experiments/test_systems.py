"""The systems by name, on the tiny corpus."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import date

import pytest

from lexarbor.corpus.benchmarks.catalogue import Benchmark, build_benchmark
from lexarbor.corpus.law import Article, Code
from lexarbor.corpus.questions import Question, QuestionSet
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import BenchmarkError
from lexarbor.evaluation import ScoredArticle, order
from lexarbor.experiments import systems
from lexarbor.experiments.systems import SYSTEMS, bm25, build_system, chosen, in_order, run, settings_for
from lexarbor.search import analysis
from lexarbor.search.fields import FIELDS
from lexarbor.search.lexical import BM25Settings, LexicalIndex, tuned
from lexarbor.search.memory import QuestionMemory

TINY = build_benchmark("tiny")
QUESTION = "Combien coûte une place au marché ?"


def ids(ranking: Iterable[ScoredArticle]) -> list[str]:
    return [article for article, _ in ranking]


@pytest.mark.parametrize(("system", "field"), [("bm25", "text"), ("bm25+headings", "headings+text")])
def test_bm25_ranks_by_the_scores_of_its_field_then_by_id(system: str, field: str) -> None:
    articles = in_order(TINY.law)
    index = LexicalIndex.build((FIELDS[field](TINY.law, article) for article in articles), tuned(field))
    scores = zip((article.id for article in articles), index.scores(QUESTION).tolist(), strict=True)
    expected = order((id, score) for id, score in scores if score > 0)
    assert list(build_system(system, TINY)(QUESTION)) == expected
    assert "VALARTI0055" in ids(expected)[:3]


def test_bm25_takes_other_settings_where_they_are_given() -> None:
    once = list(bm25(TINY, "text", BM25Settings(k1=0, b=0))("eau eau"))
    assert len({score for _, score in once}) == 1  # k1 = 0: a word counts once, however often it stands
    assert ids(once) == sorted(ids(once))


@pytest.mark.parametrize(
    ("benchmark", "field", "k1_and_b"),
    [
        ("bsard", "text", (2.5, 0.2)),  # the paper's, chosen there
        ("bsard", "text+questions", (2.5, 0.2)),
        ("bsard", "headings+text", (1.5, 0.5)),  # which the paper does not try
        ("tiny", "text", (1.0, 0.7)),
    ],
)
def test_where_the_paper_chose_its_parameters_they_are_taken(
    benchmark: str, field: str, k1_and_b: tuple[float, float]
) -> None:
    settings = settings_for(replace(TINY, name=benchmark), field)
    assert settings == BM25Settings(*k1_and_b)


def test_bsard_is_ranked_by_the_papers_parameters() -> None:
    bsard = replace(TINY, name="bsard")
    assert list(build_system("bm25", bsard)(QUESTION)) == list(bm25(TINY, "text", BM25Settings(2.5, 0.2))(QUESTION))
    assert list(build_system("bm25", bsard)(QUESTION)) != list(build_system("bm25", TINY)(QUESTION))


def test_headings_find_what_the_text_takes_for_granted() -> None:
    """L113-1 says "canidés"; that they are animals stands in the heading above it."""
    assert "VALARTI0009" in ids(build_system("bm25+headings", TINY)("animaux"))
    assert "VALARTI0009" not in ids(build_system("bm25", TINY)("animaux"))


@pytest.mark.parametrize(("system", "field"), [("bm25+lemmas", "text"), ("bm25+headings+lemmas", "headings+text")])
def test_lemmas_are_another_analysis_of_the_same_field(
    monkeypatch: pytest.MonkeyPatch, system: str, field: str
) -> None:
    monkeypatch.setitem(analysis.ANALYSERS, "lemmas", lambda remember: str.split)
    found = set(ids(build_system(system, TINY)("maire marchés")))
    texts = {article.id: FIELDS[field](TINY.law, article).split() for article in in_order(TINY.law)}
    assert found == {id for id, words in texts.items() if "maire" in words or "marchés" in words}
    assert found


def test_only_what_is_in_force_is_ranked_by_id() -> None:
    held = [article.id for article in in_order(TINY.law)]
    assert held == sorted(TINY.law.as_of(date(2026, 1, 1)).articles)
    assert "VALARTI0023" not in held  # repealed
    undated = LawTree([Code("C1", "Code"), Article("A1", "1", "C1", "Un chien.", (), end=date(2020, 1, 1))])
    assert [article.id for article in in_order(undated)] == ["A1"]


def test_memory_remembers_the_train_questions_alone() -> None:
    remembered = QuestionMemory(TINY.training.split("train"), TINY.training.gold(["train"]))
    ranking = list(build_system("memory", TINY)(QUESTION))
    assert ranking == order(remembered.scores(QUESTION).items())
    assert set(ids(ranking)) <= TINY.training.positives(["train"])


def test_popularity_is_how_often_train_cites_an_article_whatever_the_question() -> None:
    ranker = build_system("popularity", TINY)
    ranking = list(ranker(QUESTION))
    assert list(ranker("autre chose")) == ranking
    gold = TINY.training.gold(["train"]).values()
    assert len(ranking) == len(frozenset().union(*gold))
    assert all(score == sum(article in articles for articles in gold) for article, score in ranking)
    assert ranking == order(ranking)


def test_a_ranking_ends_at_the_depth(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = {name: list(SYSTEMS[name](TINY)("la commune et le maire")) for name in ("bm25", "memory", "popularity")}
    monkeypatch.setattr(systems, "DEPTH", 2)
    for name, ranking in whole.items():
        assert len(ranking) > 2
        assert list(build_system(name, TINY)("la commune et le maire")) == ranking[:2]


def test_a_run_has_every_question_even_without_an_answer() -> None:
    found = run(build_system("bm25", TINY), [Question("1", "le marché"), Question("2", "xylophone")])
    assert list(found) == ["1", "2"]
    assert found["1"]
    assert found["2"] == []


def test_systems_are_chosen_by_names_joined_by_commas() -> None:
    assert chosen(" bm25, memory ,,") == ["bm25", "memory"]


@pytest.mark.parametrize("names", ["bm25,bm26", "BM25"])
def test_an_unknown_system_is_named_with_the_choice(names: str) -> None:
    with pytest.raises(BenchmarkError, match=f"unknown system '{names[-4:]}': choose among bm25, bm25.headings, "):
        chosen(names)
    with pytest.raises(BenchmarkError, match="unknown system"):
        build_system(names[-4:], TINY)


def test_no_system_at_all_is_refused() -> None:
    with pytest.raises(BenchmarkError, match="no system was named: choose among bm25"):
        chosen(" , ")


def test_without_articles_bm25_is_refused_and_memory_and_popularity_are_not() -> None:
    lawless = replace(TINY, law=LawTree((), name="nothing"))
    with pytest.raises(BenchmarkError, match="the law 'nothing' holds no article to rank"):
        build_system("bm25", lawless)
    for name in ("memory", "popularity"):
        assert list(build_system(name, lawless)(QUESTION)) == list(build_system(name, TINY)(QUESTION))


def test_without_train_questions_memory_is_refused() -> None:
    untaught = Benchmark("untaught", TINY.law, TINY.questions, QuestionSet({}, {}, {}, "untaught"))
    with pytest.raises(BenchmarkError, match="untaught has no split 'train'"):
        build_system("memory", untaught)
