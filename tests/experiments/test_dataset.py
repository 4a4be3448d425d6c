"""What a benchmark is made of, counted by hand on the tiny one."""

from dataclasses import replace
from pathlib import Path

from lexarbor.corpus.benchmarks.catalogue import Benchmark, build_benchmark
from lexarbor.corpus.questions import QuestionSet
from lexarbor.corpus.tree import LawTree
from lexarbor.experiments.dataset import UNTOLD, dataset, overlap_table, topics, topics_table
from lexarbor.experiments.lab import Lab

TINY = build_benchmark("tiny")


def without_topics(benchmark: Benchmark, *kept: str) -> Benchmark:
    """The benchmark with the topics of some questions alone."""
    held = benchmark.questions
    questions = {id: one if id in kept else replace(one, topic="") for id, one in held.questions.items()}
    bare = QuestionSet(questions, held.qrels, held.splits)
    return replace(benchmark, questions=bare, training=bare)


def test_the_tables_of_the_tiny_benchmark(tmp_path: Path) -> None:
    of_topics, of_law, of_labels, of_overlap = dataset(Lab("tiny", tmp_path)).tables
    assert of_topics.columns == ["Topic", "Train", "Dev", "Test", "Total"]
    assert of_topics.rows == [
        ["Voisinage", 5, 2, 2, 9],
        ["Fêtes, marchés et jardins", 2, 1, 2, 5],
        ["Logement et travaux", 3, 0, 2, 5],
        ["Travail", 2, 1, 2, 5],
        ["Total", 12, 4, 8, 24],
    ]
    assert of_law.rows == [
        ["Code communal de Valombre", 44, 21, 4, "3.4", 31, 37],
        ["Code des fêtes, marchés et jardins de Valombre", 17, 9, 4, "3.2", 12, 14],
        ["Total", 61, 30, 4, "3.4", 43, 51],
    ]
    assert of_labels.rows == [
        ["train", 12, 28, 28, "2.3", "2", 6],
        ["dev", 4, 7, 7, "1.8", "2", 2],
        ["test", 8, 16, 15, "2.0", "2", 4],
        ["Total", 24, 51, 43, "2.1", "2", 6],
    ]
    assert of_overlap.rows == [["dev", 0, 1, 3, 7, 1, "14.3"], ["test", 2, 3, 3, 16, 7, "43.8"]]


def test_its_statistics_are_kept_for_programs(tmp_path: Path) -> None:
    assert dataset(Lab("tiny", tmp_path)).data["statistics"]["labels"] == 51


def test_a_question_without_a_topic_is_counted_as_such() -> None:
    found = topics(without_topics(TINY, "V01"))
    assert (found["V01"], found["V02"]) == ("Voisinage", UNTOLD)
    assert topics_table(without_topics(TINY, "V01")).notes == []


def test_where_there_are_no_topics_at_all_the_code_of_most_gold_is_one() -> None:
    bare = without_topics(TINY)
    found = topics(bare)
    assert found["V05"] == "Code communal de Valombre"
    assert found["V10"] == "Code des fêtes, marchés et jardins de Valombre"
    assert found["V20"] == "Code des fêtes, marchés et jardins de Valombre"  # three of its four
    assert found["V22"] == "Code communal de Valombre"  # one of each: the first of the law
    assert topics_table(bare).rows[-1] == ["Total", 12, 4, 8, 24]
    assert "the code that most" in topics_table(bare).notes[0]


def test_questions_without_their_law_have_their_tables(tmp_path: Path) -> None:
    lab = Lab("own", tmp_path)
    lab.__dict__["benchmark"] = replace(without_topics(TINY), name="own", law=LawTree(()))
    titles = [table.title for table in dataset(lab).tables]
    assert titles == ["Topics of questions, own", "Gold articles of a question, own", "Labels that training has, own"]
    assert dataset(lab).tables[0].rows[0][0] == UNTOLD


def test_a_transfer_is_compared_with_what_it_learns_from() -> None:
    held = TINY.questions
    moved = QuestionSet(held.questions, held.qrels, {"test": held.splits["test"]})
    assert overlap_table(replace(TINY, questions=moved)).rows == [["test", 2, 3, 3, 16, 7, "43.8"]]
    assert overlap_table(replace(TINY, questions=moved, training=moved)).rows == []
