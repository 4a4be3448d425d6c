import json
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path

import pytest

from lexarbor.corpus.questions import (
    LONGEST,
    AnsweredQuestion,
    Question,
    QuestionSet,
    read_answered,
    read_question_set,
    read_questions,
    write_question_set,
)
from lexarbor.errors import BenchmarkError

QUESTIONS = {
    "q1": Question("q1", "Puis-je garder un coq ?", "Voisinage", "Animaux de ferme"),
    "q2": Question("q2", "Qui paie la réparation du puits ?"),
    "q3": Question("q3", "Ai-je droit à un banc au marché ?", "Commerce"),
}
QRELS = {"q1": frozenset({"a1", "a2"}), "q2": frozenset({"a2"}), "q3": frozenset({"a3"})}
SPLITS = {"train": ("q1",), "dev": ("q2",), "test": ("q3",)}


@pytest.fixture
def asked() -> QuestionSet:
    return QuestionSet(dict(QUESTIONS), dict(QRELS), dict(SPLITS), "marché")


def jsonl(path: Path, *lines: object) -> Path:
    path.write_text("".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines))
    return path


def test_a_split_gives_its_questions_in_order(asked: QuestionSet) -> None:
    assert asked.split("dev") == [QUESTIONS["q2"]]
    wider = replace(asked, splits={"train": ("q3", "q1"), "test": ("q2",)})
    assert [question.id for question in wider.split("train")] == ["q3", "q1"]


def test_gold_and_positives_of_some_splits(asked: QuestionSet) -> None:
    assert asked.gold(["train", "dev"]) == {"q1": {"a1", "a2"}, "q2": {"a2"}}
    assert asked.positives(["train", "dev"]) == {"a1", "a2"}
    assert asked.positives([]) == frozenset()


def test_one_split_may_be_named_without_a_list(asked: QuestionSet) -> None:
    assert asked.gold("test") == {"q3": {"a3"}}
    assert asked.positives("train") == {"a1", "a2"}


@pytest.mark.parametrize("ask", [QuestionSet.split, QuestionSet.gold, QuestionSet.positives])
def test_an_unknown_split_is_told_the_known_ones(asked: QuestionSet, ask: object) -> None:
    with pytest.raises(BenchmarkError, match=r"marché has no split 'validation': it has train, dev, test"):
        ask(asked, "validation")  # type: ignore[operator]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"splits": {"train": ("q1", "q9")}}, "the split 'train' names 'q9', which is not a question"),
        ({"splits": {"train": ("q1",), "test": ("q1",)}}, "question 'q1' is in 'train' and in 'test'"),
        ({"splits": {"train": ("q1", "q1")}}, "question 'q1' is twice in 'train'"),
        ({"qrels": {"q1": frozenset("a"), "q2": frozenset("a")}}, "question 'q3' has no gold article"),
        ({"qrels": QRELS | {"q2": frozenset()}}, "question 'q2' has no gold article"),
        ({"qrels": QRELS | {"q9": frozenset("a")}}, "given for 'q9', which is not a question"),
        ({"questions": QUESTIONS | {"q3": QUESTIONS["q1"]}}, "question 'q1' is filed under 'q3'"),
    ],
)
def test_a_set_whose_parts_do_not_fit_is_refused(asked: QuestionSet, change: dict, message: str) -> None:
    with pytest.raises(BenchmarkError, match=message):
        replace(asked, **change)


@pytest.mark.parametrize(
    ("id", "text", "message"),
    [
        ("q1", " \n", "question 'q1' is empty: ask something like"),
        ("q1", "a" * (LONGEST + 1), "question 'q1' has 10,001 characters, more than 10,000"),
        ("", "Pourquoi ?", "cannot be a question's id"),
        ("q 1", "Pourquoi ?", "'q 1' cannot be a question's id"),
        ("q1", "Pourquoi \ud83d ?", "question 'q1' holds bytes that are no text"),
    ],
)
def test_what_is_no_question_is_refused_by_name(id: str, text: str, message: str) -> None:
    with pytest.raises(BenchmarkError, match=message):
        Question(id, text)


def test_the_longest_text_is_still_a_question() -> None:
    assert Question("q1", "a" * LONGEST)


def test_questions_are_read_in_the_order_of_the_file(tmp_path: Path) -> None:
    lines = [{"id": "b", "text": "Où ?"}, "\n", {"id": 7, "text": "Quand ?", "topic": "Temps", "more": 1}]
    assert read_questions(jsonl(tmp_path / "asked.jsonl", *lines)) == [
        Question("b", "Où ?"),
        Question("7", "Quand ?", "Temps"),
    ]


def test_line_separators_inside_a_text_do_not_end_the_line(tmp_path: Path) -> None:
    path = tmp_path / "asked.jsonl"
    path.write_bytes("\ufeff".encode() + '{"id": "1", "text": "Où\u2028 ?"}\r\n'.encode())
    assert read_questions(path) == [Question("1", "Où\u2028 ?")]


GOOD = {"id": "1", "text": "Où ?", "gold": ["a1"], "split": "train"}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": "2", "te\n', r"line 2: not JSON \(Unterminated string starting at at column 13\)"),
        ("[" * 100_000 + "\n", "line 2: not JSON"),
        ([1], "line 2: expected a JSON object, found list"),
        ({"text": "Où ?"}, 'line 2: the key "id" is missing'),
        ({"id": "2"}, 'line 2: the key "text" is missing'),
        ({"id": "2", "text": ""}, "line 2: question '2' is empty"),
        ({"id": "2", "text": "a" * 1_000_000}, "line 2: question '2' has 1,000,000 characters"),
        ({"id": "2", "text": None}, 'line 2: "text" must be text, found NoneType'),
        ({"id": True, "text": "Où ?"}, 'line 2: "id" must be text, found bool'),
        ({"id": "1", "text": "Qui ?"}, "line 2: the id '1' is already that of line 1"),
        ({"id": "2", "text": "\ud800"}, "line 2: question '2' holds bytes that are no text"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: object, message: str) -> None:
    path = jsonl(tmp_path / "asked.jsonl", GOOD, line)
    with pytest.raises(BenchmarkError, match=rf"asked\.jsonl, {message}"):
        read_questions(path)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"split": "train"}, 'the key "gold" is missing'),
        ({"gold": ["a1"]}, 'the key "split" is missing'),
        ({"gold": [], "split": "train"}, '"gold" must be a list of one or more article ids'),
        ({"gold": "a1", "split": "train"}, '"gold" must be a list of one or more article ids'),
        ({"gold": [1], "split": "train"}, '"gold" must be a list of one or more article ids'),
        ({"gold": ["a1"], "split": 3}, '"split" must be a name or null, found 3'),
    ],
)
def test_a_line_without_usable_labels_is_named(tmp_path: Path, fields: dict, message: str) -> None:
    path = jsonl(tmp_path / "asked.jsonl", GOOD, {"id": "2", "text": "Qui ?"} | fields)
    with pytest.raises(BenchmarkError, match=rf"asked\.jsonl, line 2: {message}"):
        read_question_set(path)


def test_answered_questions_name_their_articles_as_the_file_does(tmp_path: Path) -> None:
    lines = [
        {"id": "b", "text": "Où ?", "gold": ["a2", "article 5 du code", "a2"], "split": "train", "topic": "Lieu"},
        {"id": 7, "text": "Quand ?", "gold": ["L. 1"]},
    ]
    assert read_answered(jsonl(tmp_path / "asked.jsonl", *lines)) == [
        AnsweredQuestion(Question("b", "Où ?", "Lieu"), ("a2", "article 5 du code")),
        AnsweredQuestion(Question("7", "Quand ?"), ("L. 1",)),
    ]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, 'the key "gold" is missing'),
        ({"gold": []}, '"gold" must be a list of one or more article ids'),
        ({"gold": ["a1", ""]}, '"gold" must be a list of one or more article ids'),
        ({"gold": ["a1"], "text": " "}, "question '2' is empty"),
    ],
)
def test_an_answered_question_without_answers_is_named(tmp_path: Path, fields: dict, message: str) -> None:
    path = jsonl(tmp_path / "asked.jsonl", GOOD, {"id": "2", "text": "Qui ?"} | fields)
    with pytest.raises(BenchmarkError, match=rf"asked\.jsonl, line 2: {message}"):
        read_answered(path)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(BenchmarkError, match=r"absent\.jsonl: cannot be read \(No such file or directory\)"):
        read_questions(tmp_path / "absent.jsonl")
    (tmp_path / "empty.jsonl").write_text("\n\n")
    with pytest.raises(BenchmarkError, match=r"empty\.jsonl: no question inside"):
        read_questions(tmp_path / "empty.jsonl")
    (tmp_path / "latin.jsonl").write_bytes(
        b'{"id": "1", "text": "ok"}\n' + '{"id": "2", "text": "Où"}'.encode("latin-1")
    )
    with pytest.raises(BenchmarkError, match=r"latin\.jsonl, line 2: not UTF-8 text"):
        read_questions(tmp_path / "latin.jsonl")


def test_a_set_written_and_read_again_is_the_same(asked: QuestionSet, tmp_path: Path) -> None:
    path = tmp_path / "marché.jsonl"
    write_question_set(asked, path)
    assert read_question_set(path) == asked
    assert list(tmp_path.iterdir()) == [path]


def test_a_question_outside_the_splits_is_kept(asked: QuestionSet, tmp_path: Path) -> None:
    partly = replace(asked, splits={"train": ("q1",)})
    write_question_set(partly, tmp_path / "partly.jsonl")
    assert read_question_set(tmp_path / "partly.jsonl", name="marché") == partly


def test_splits_come_in_the_order_of_use(asked: QuestionSet, tmp_path: Path) -> None:
    turned = replace(asked, splits={"extra": ("q1",), "test": ("q2",), "train": ("q3",)})
    write_question_set(turned, tmp_path / "turned.jsonl")
    assert list(read_question_set(tmp_path / "turned.jsonl").splits) == ["train", "test", "extra"]


def test_a_failed_write_leaves_the_old_file(asked: QuestionSet, tmp_path: Path) -> None:
    path = jsonl(tmp_path / "asked.jsonl", GOOD)
    before = path.read_bytes()
    del asked.qrels["q3"]
    with pytest.raises(KeyError):
        write_question_set(asked, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_the_tiny_corpus_has_a_question_set() -> None:
    with as_file(files("lexarbor.corpus.tiny") / "questions.jsonl") as path:
        tiny = read_question_set(path, name="tiny")
    assert len(tiny.questions) == 24
    assert set(tiny.splits) == {"train", "dev", "test"}
    assert sum(len(ids) for ids in tiny.splits.values()) == 24
    assert read_questions(path) == list(tiny.questions.values())
