"""BM25 over articles expanded with questions: as a system, and tuned."""

from dataclasses import replace
from pathlib import Path

import pytest

from bm25_formula import lucene_bm25
from lexarbor.corpus.benchmarks.catalogue import build_benchmark, written_split
from lexarbor.corpus.questions import Question, QuestionSet
from lexarbor.errors import BenchmarkError, SearchError, TrainingError
from lexarbor.evaluation import evaluate
from lexarbor.experiments import expansion
from lexarbor.experiments.bm25_grid import tune_bm25
from lexarbor.experiments.evaluation import evaluate_systems
from lexarbor.experiments.expansion import check_questions, questions_of
from lexarbor.experiments.systems import DOC2QUERY, bm25, build_system, in_order, run
from lexarbor.search import lexical
from lexarbor.search.lexical import BM25Settings, tuned
from lexarbor.supervision import synthetic
from lexarbor.supervision.synthetic import SyntheticQuestion, shipped_questions, write_synthetic

TINY = build_benchmark("tiny")
ASKED = [
    ("VALARTI0009", "Puis-je garder un éléphant ?"),
    ("VALARTI0055", "Combien coûte un éléphant au marché ?"),
    ("VALARTI0009", "Puis-je garder un éléphant ?"),
    ("LEGIARTI1", "Un éléphant d'une autre loi ?"),
]
FIELDS = list(DOC2QUERY.items())


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.jsonl.xz"
    write_synthetic([SyntheticQuestion(article, text, "tiny-mt5", -1.0) for article, text in ASKED], path)
    return path


def expanded_texts(field: str) -> list[str]:
    """Each article's words, its questions below, as often as they were asked."""
    texts = []
    for article in in_order(TINY.law):
        above = TINY.law.headings(article) if "headings" in field else ()
        below = [text for id, text in ASKED if id == article.id]
        texts.append("\n".join((*above, article.text, *below)))
    return texts


@pytest.mark.parametrize(("system", "field"), FIELDS)
@pytest.mark.parametrize("question", ["éléphant", "Combien coûte une place au marché ?", "garder un animal"])
def test_scores_are_those_of_the_formula_over_the_expanded_texts(
    questions: Path, system: str, field: str, question: str
) -> None:
    settings = tuned(field)
    scores = lucene_bm25(expanded_texts(field), question, settings.k1, settings.b)
    expected = {article.id: score for article, score in zip(in_order(TINY.law), scores, strict=True) if score}
    found = dict(build_system(system, TINY, questions=questions)(question))
    assert found == pytest.approx(expected, abs=1e-5)


def test_questions_find_what_the_law_never_says(questions: Path) -> None:
    assert list(build_system("bm25", TINY)("éléphant")) == []
    found = [id for id, _ in build_system("doc2query", TINY, questions=questions)("éléphant")]
    assert sorted(found) == ["VALARTI0009", "VALARTI0055"]


def test_other_systems_are_not_expanded(questions: Path) -> None:
    assert list(build_system("bm25", TINY, questions=questions)("éléphant")) == []


def test_questions_are_kept_by_article_in_their_order(questions: Path) -> None:
    assert questions_of(TINY.law, questions) == {
        "VALARTI0009": [ASKED[0][1], ASKED[2][1]],
        "VALARTI0055": [ASKED[1][1]],
    }


def test_it_is_evaluated_by_name_with_the_file_that_is_named(questions: Path) -> None:
    results = evaluate_systems(TINY, "dev", ["bm25", *DOC2QUERY], questions=questions)
    assert list(results) == ["bm25", "doc2query", "doc2query+headings"]
    ranker = bm25(TINY, "text+questions", questions=questions)
    assert results["doc2query"].run == run(ranker, TINY.questions.split("dev"))


@pytest.mark.parametrize("system", DOC2QUERY)
def test_without_a_file_the_shipped_questions_are_taken(
    questions: Path, monkeypatch: pytest.MonkeyPatch, system: str
) -> None:
    monkeypatch.setattr(expansion, "shipped_questions", lambda: questions)
    named = build_system(system, TINY, questions=questions)
    assert list(build_system(system, TINY)("éléphant")) == list(named("éléphant"))
    check_questions(None)


def test_where_none_is_shipped_it_says_what_to_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synthetic, "shipped_path", lambda name: tmp_path / "shipped" / name)
    with pytest.raises(BenchmarkError, match="no synthetic questions come with this copy of Lexarbor: write them with"):
        build_system("doc2query", TINY)
    with pytest.raises(BenchmarkError, match="`lexarbor augment`, and name the file with --questions"):
        check_questions(None)
    (tmp_path / "shipped").mkdir()
    (tmp_path / "shipped" / "questions.jsonl.xz").touch()
    assert shipped_questions() == tmp_path / "shipped" / "questions.jsonl.xz"


def test_questions_of_another_law_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.jsonl"
    write_synthetic([SyntheticQuestion("LEGIARTI1", "Qui ?", "tiny-mt5", -1.0)], path)
    with pytest.raises(BenchmarkError, match=r"other\.jsonl: no question there is about an article of the law 'tiny'"):
        build_system("doc2query", TINY, questions=path)
    with pytest.raises(TrainingError, match=r"none\.jsonl: no such file of synthetic questions"):
        check_questions(tmp_path / "none.jsonl")


@pytest.mark.parametrize("system", DOC2QUERY)
def test_questions_that_the_generator_learned_from_are_refused(questions: Path, system: str) -> None:
    known = written_split("vosdroits")["train"][0]
    asked = QuestionSet({known: Question(known, "?!")}, {known: frozenset({"VALARTI0005"})}, {"test": (known,)})
    with pytest.raises(BenchmarkError, match="learns from questions of the split 'test'"):
        evaluate_systems(replace(TINY, questions=asked), "test", [system], questions=questions)


@pytest.mark.parametrize("field", DOC2QUERY.values())
def test_tuning_tries_the_expanded_field(questions: Path, field: str) -> None:
    grid = tune_bm25(TINY, field, measure="map", k1=(0.5, 2.0), b=(0.2, 0.8), questions=questions)
    gold, dev = TINY.questions.gold(["dev"]), TINY.questions.split("dev")
    expected = [
        [
            evaluate(run(bm25(TINY, field, BM25Settings(k1, b), questions=questions), dev), gold).mean("map")
            for b in grid.b
        ]
        for k1 in grid.k1
    ]
    assert grid.values.tolist() == expected


def test_an_expanded_field_takes_the_parameters_of_the_plain_one_until_it_has_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain = {field: values for field, values in lexical._TUNED.items() if "questions" not in field[0]}
    monkeypatch.setattr(lexical, "_TUNED", plain | {("text+questions", "stems"): (4.0, 0.1)})
    assert tuned("text+questions") == BM25Settings(4.0, 0.1)
    assert tuned("headings+text+questions") == tuned("headings+text")
    assert tuned("text+questions", "lemmas") == tuned("text", "lemmas")
    with pytest.raises(SearchError, match=r"BM25 was not tuned for titles\+questions by stems: choose one of text by"):
        tuned("titles+questions")
