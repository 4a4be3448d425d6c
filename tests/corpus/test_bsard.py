import csv
from datetime import date
from importlib.resources import as_file, files
from pathlib import Path

import pytest
from bsard_files import ARTICLE_COLUMNS, ARTICLES, EMPTY, QUESTION_COLUMNS, TRAIN, table, write_files

from lexarbor.corpus.bsard import (
    draw_dev,
    read_bsard,
    read_bsard_law,
    read_bsard_questions,
    read_negatives,
    read_synthetic_questions,
    write_bsard,
)
from lexarbor.corpus.jsonl import read_jsonl
from lexarbor.corpus.law import Article, Code, Section
from lexarbor.corpus.questions import Question, QuestionSet, read_question_set
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import BenchmarkError, CorpusError, LexarborError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_files(tmp_path)


@pytest.fixture(scope="module")
def tiny() -> tuple[LawTree, QuestionSet]:
    with as_file(files("lexarbor.corpus.tiny")) as home:
        return read_jsonl(home / "law.jsonl"), read_question_set(home / "questions.jsonl")


def test_articles_keep_their_ids_order_and_texts(folder: Path) -> None:
    tree, _ = read_bsard(folder)
    assert list(tree.articles) == ["3", "8", "5", "4", "1", "9"]
    assert [article.text for article in tree.articles.values()] == [row[2] for row in ARTICLES]
    assert tree.date is None
    assert all(article.start is None and article.end is None for article in tree.articles.values())


def test_the_number_stands_in_the_reference_and_its_remark_becomes_the_status(folder: Path) -> None:
    articles = read_bsard_law(folder).articles.values()
    assert [article.number for article in articles] == ["1er", "12.4.6", "7bis", "2", "1", "N1.1"]
    assert [article.status for article in articles] == ["", "", "DROIT_FUTUR", "", "", ""]


def test_all_eight_headings_are_seen_code_first(folder: Path) -> None:
    tree = read_bsard_law(folder)
    eight = ("Code des Eaux", "regional", "L1", "P", "T", "C", "S", "s")
    assert tree.headings(tree.articles["3"]) == eight
    assert tree.headings(tree.articles["9"]) == ("Code des Vents", "L1")
    assert [tree.sections[id].level for id in tree.articles["3"].path] == [1, 2, 3, 4, 5, 6, 7]


def test_a_place_is_known_by_its_way_down_not_by_its_heading(folder: Path) -> None:
    tree = read_bsard_law(folder)
    assert [code.title for code in tree.codes.values()] == [
        "Code des Eaux",
        "Code des Eaux",
        "Code des Vents",
    ]
    assert tree.siblings("3") == ("8",)
    law_type, book = tree.articles["3"].path[:2]
    assert tree.articles["4"].path == (law_type, book)
    assert tree.articles["1"].path[-1] != book
    assert tree.articles["1"].code != tree.articles["3"].code


def test_the_same_heading_in_another_column_is_another_place(folder: Path) -> None:
    rows = [
        ["1", "Art. 1, C", "a", "", "C", "Dispositions", "", "", "", "", "", ""],
        ["2", "Art. 2, C", "b", "", "C", "", "", "", "Dispositions", "", "", ""],
    ]
    table(folder / "articles_fr.csv", ARTICLE_COLUMNS, rows)
    tree = read_bsard_law(folder)
    assert len(tree.sections) == 2
    assert tree.siblings("1") == ()


def test_an_article_met_again_elsewhere_has_another_place(folder: Path) -> None:
    again = ["3", *ARTICLES[0][1:5], "L2", *EMPTY[1:], ""]
    table(folder / "articles_fr.csv", ARTICLE_COLUMNS, [*ARTICLES, ARTICLES[0], again])
    tree = read_bsard_law(folder)
    assert len(tree) == 6
    assert tree.articles["3"].other_paths == (tree.articles["5"].path,)


def test_a_row_without_a_code_takes_the_one_of_its_reference(folder: Path) -> None:
    table(
        folder / "articles_fr.csv",
        ARTICLE_COLUMNS,
        [["1", "Art. 1, La Constitution", "a", *EMPTY, "", "", ""]],
    )
    assert [code.title for code in read_bsard_law(folder).codes.values()] == ["La Constitution"]


def test_questions_come_with_topic_description_and_gold(folder: Path) -> None:
    _, asked = read_bsard(folder)
    assert asked.questions["10"] == Question("10", "Puis-je creuser ?", "Eau", "Puits, Terrain, Jardin")
    assert asked.qrels == {"10": {"5", "3"}, "2": {"4"}, "7": {"9"}}
    assert asked.splits["test"] == ("7",)


def test_the_hubs_file_names_and_an_unnamed_first_column_are_known(folder: Path) -> None:
    for name in ("articles", "questions_train", "questions_test"):
        old = name.replace("_", "_fr_") if "_" in name else f"{name}_fr"
        (folder / f"{old}.csv").rename(folder / f"{name}.csv")
    indexed = [[str(n), *row] for n, row in enumerate(TRAIN)]
    table(folder / "questions_train.csv", ["", *QUESTION_COLUMNS], indexed)
    tree, asked = read_bsard(str(folder))
    assert len(tree) == 6
    assert set(asked.questions) == {"10", "2", "7"}


def test_the_articles_file_itself_is_a_source(folder: Path) -> None:
    assert len(read_bsard_law(folder / "articles_fr.csv")) == 6


def test_an_article_longer_than_the_csv_limit_is_read_and_the_limit_stays(folder: Path) -> None:
    before = csv.field_size_limit()
    long = "Il est une fois. " * 20_000
    assert len(long) > before
    table(
        folder / "articles_fr.csv",
        ARTICLE_COLUMNS,
        [*ARTICLES[1:], [*ARTICLES[0][:2], long, *ARTICLES[0][3:]]],
    )
    assert read_bsard_law(folder).articles["3"].text == long
    (folder / "articles_fr.csv").write_text('id,"' + long)
    with pytest.raises(CorpusError):
        read_bsard_law(folder)
    assert csv.field_size_limit() == before


def test_dev_is_a_fifth_of_train_and_always_the_same(folder: Path) -> None:
    rows = [[str(n), "", "", f"Question {n} ?", "", "3"] for n in range(90, 110)]
    table(folder / "questions_fr_train.csv", QUESTION_COLUMNS, rows)
    splits = read_bsard_questions(folder).splits
    assert splits["dev"] == ("91", "98", "102", "103")
    assert splits["train"] == tuple(row[0] for row in rows if row[0] not in splits["dev"])


def test_dev_does_not_depend_on_the_order_of_the_file() -> None:
    questions = [Question(str(n), f"Question {n} ?") for n in range(1, 51)]
    assert draw_dev(questions) == draw_dev(questions[::-1])


def test_a_question_asked_twice_stays_in_train() -> None:
    twice = [Question(str(n), "Où ?" if n % 2 else "Où?") for n in range(1, 91)]
    alone = [Question(str(n), f"Question {n} ?") for n in range(91, 101)]
    assert draw_dev([*twice, *alone]) == {question.id for question in alone}


def test_a_dev_file_is_taken_as_it_is(folder: Path) -> None:
    table(folder / "questions_fr_dev.csv", QUESTION_COLUMNS, [["6", "", "", "Où ?", "", "1"]])
    asked = read_bsard_questions(folder)
    assert asked.splits == {"train": ("10", "2"), "dev": ("6",), "test": ("7",)}


def test_questions_need_no_articles(folder: Path) -> None:
    (folder / "articles_fr.csv").unlink()
    assert set(read_bsard_questions(folder).questions) == {"10", "2", "7"}


@pytest.mark.parametrize(
    "name", ["questions_fr_synthetic.csv", "questions_synthetic.csv", "synthetic_questions_fr.csv"]
)
def test_synthetic_questions_are_read_where_present(folder: Path, name: str) -> None:
    assert read_synthetic_questions(folder).questions == {}
    rows = [["1200", "où est la source", "4"], ["1201", " ", "4"], ["1202", "quel vent", "9"]]
    table(folder / name, ["id", "question", "article_ids"], rows)
    synthetic = read_synthetic_questions(folder)
    assert [question.text for question in synthetic.split("synthetic")] == ["où est la source", "quel vent"]
    assert synthetic.qrels == {"1200": {"4"}, "1202": {"9"}}


def test_synthetic_questions_without_ids_are_counted(folder: Path) -> None:
    table(folder / "questions_fr_synthetic.csv", ["question", "article_ids"], [["a ?", "4"], ["b ?", "9"]])
    assert list(read_synthetic_questions(folder).questions) == ["synthetic-1", "synthetic-2"]


def test_negatives_are_read_where_present_and_keep_their_order(folder: Path) -> None:
    assert read_negatives(folder) == {}
    (folder / "negatives").mkdir()
    (folder / "negatives" / "bm25_negatives_train.json").write_text('{"10": [9, 1], "2": [8]}')
    (folder / "negatives" / "bm25_negatives_synthetic.json").write_text('{"1200": ["3"]}')
    assert read_negatives(folder) == {"1200": ("3",), "10": ("9", "1"), "2": ("8",)}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"10": [9', r"a\.json: not JSON \("),
        ("[" * 100_000, r"a\.json: not JSON \("),
        ("[1]", r"a\.json: expected lists of article ids by question id"),
        ('{"10": 9}', r"a\.json: expected lists of article ids by question id"),
        ('{"10": [null]}', r"a\.json, question '10': an article id must be an integer, found 'None'"),
        ('{"x": [1]}', r"a\.json, question 'x': a question id must be an integer, found 'x'"),
        ('{"2": [1]}', r"b\.json, question '2': another file gives it other negatives"),
    ],
)
def test_bad_negatives_are_named(folder: Path, content: str, message: str) -> None:
    (folder / "negatives").mkdir()
    (folder / "negatives" / "a.json").write_text(content)
    (folder / "negatives" / "b.json").write_text('{"2": [8]}')
    with pytest.raises(CorpusError, match=message):
        read_negatives(folder)


def test_the_tiny_corpus_goes_through_bsards_columns(tiny: tuple[LawTree, QuestionSet], tmp_path: Path) -> None:
    law, asked = tiny
    numbering = write_bsard(law, asked, tmp_path / "new" / "bsard")
    read_law, read_asked = read_bsard(tmp_path / "new" / "bsard")
    articles, questions = numbering
    assert list(read_law.articles) == [articles[id] for id in law.articles]
    for id, article in law.articles.items():
        again = read_law.articles[articles[id]]
        assert (again.text, again.number) == (article.text, article.number)
        assert read_law.headings(again) == law.headings(article)
    for id, question in asked.questions.items():
        again_asked = read_asked.questions[questions[id]]
        assert (again_asked.text, again_asked.topic) == (question.text, question.topic)
        assert again_asked.description == question.description
        assert read_asked.qrels[questions[id]] == {articles[gold] for gold in asked.qrels[id]}
    for split, ids in asked.splits.items():
        assert read_asked.splits[split] == tuple(questions[id] for id in ids)


def test_what_was_read_is_written_the_same(folder: Path, tmp_path: Path) -> None:
    tree, asked = read_bsard(folder)
    write_bsard(tree, asked, tmp_path / "again")
    again, asked_again = read_bsard(tmp_path / "again")
    assert asked_again == asked
    assert [again.headings(article) for article in again.articles.values()] == [
        tree.headings(article) for article in tree.articles.values()
    ]
    assert list(again.articles) == list(tree.articles)
    with (tmp_path / "again" / "articles_fr.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ARTICLE_COLUMNS
    assert rows[1][3:11] == ARTICLES[0][3:11]


def deep_tree(depth: int, text: str = "Texte.") -> LawTree:
    path = tuple(f"s{n}" for n in range(1, depth + 1))
    sections = [Section(id, f"H{n}", n, f"s{n - 1}" if n > 1 else "c") for n, id in enumerate(path, start=1)]
    article = Article("a", "L1, annexe", "c", text, path, start=date(2020, 1, 1))
    return LawTree([Code("c", "Code profond"), *sections, article], date=date(2026, 1, 1))


def test_headings_too_deep_for_the_columns_are_joined_in_the_last(tmp_path: Path) -> None:
    asked = QuestionSet({"q": Question("q", "Où ?")}, {"q": frozenset("a")}, {"test": ("q",)})
    write_bsard(deep_tree(9), asked, tmp_path)
    tree = read_bsard_law(tmp_path)
    headings = ("Code profond", "H1", "H2", "H3", "H4", "H5", "H6 > H7 > H8 > H9")
    assert tree.headings(tree.articles["1"]) == headings
    assert tree.articles["1"].number == "L1 annexe"


def test_a_set_without_train_or_dev_comes_back_as_it_was(tmp_path: Path) -> None:
    text = 'Un "texte"\r\navec,\rtout ; ce\nqui gêne'
    asked = QuestionSet({"q": Question("q", "Où ?")}, {"q": frozenset("a")}, {"test": ("q",)})
    write_bsard(deep_tree(2, text), asked, tmp_path)
    tree, read = read_bsard(tmp_path)
    assert tree.articles["1"].text == text
    assert read.splits == {"train": (), "dev": (), "test": ("1",)}


@pytest.mark.parametrize(
    ("gold", "splits", "message"),
    [
        ("z", {"test": ("q",)}, "question 'q' has gold 'z', no article of the law"),
        ("a", {"extra": ("q",)}, "BSARD has the splits train, dev, test, and none named 'extra'"),
        ("a", {}, "question 'q' is in no split"),
    ],
)
def test_what_bsard_cannot_hold_is_refused_and_nothing_is_written(
    tmp_path: Path, gold: str, splits: dict[str, tuple[str, ...]], message: str
) -> None:
    asked = QuestionSet({"q": Question("q", "Où ?")}, {"q": frozenset(gold)}, splits)
    with pytest.raises(BenchmarkError, match=message):
        write_bsard(deep_tree(2), asked, tmp_path / "bsard")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    asked = QuestionSet({"q": Question("q", "Où ?")}, {"q": frozenset("a")}, {"test": ("q",)})
    with pytest.raises(LexarborError, match=r"cannot write .*file.articles_fr\.csv: File exists"):
        write_bsard(deep_tree(2), asked, tmp_path / "file")


@pytest.fixture
def real_questions() -> Path:
    folder = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "bsard"
    if not folder.is_dir():
        pytest.skip("BSARD's questions are not beside this checkout: ../shared/data/bsard")
    return folder


def test_the_real_questions_are_split_as_in_the_paper(real_questions: Path) -> None:
    asked = read_bsard_questions(real_questions)
    assert {split: len(ids) for split, ids in asked.splits.items()} == {"train": 709, "dev": 177, "test": 222}
    assert len(asked.questions) == 886 + 222
    assert asked == read_bsard_questions(str(real_questions))


def test_the_real_gold_is_whole(real_questions: Path) -> None:
    asked = read_bsard_questions(real_questions)
    assert sum(len(gold) for gold in asked.gold(["train", "dev"]).values()) == 5784
    # One of the 1,061 labels of the test file is there twice.
    assert sum(len(gold) for gold in asked.gold("test").values()) == 1060
    assert len(asked.positives(["train", "dev"])) == 1534
    assert len(asked.positives("test")) == 492
    assert asked.qrels["72"] == {"2041", "2119", "2138"}
    assert asked.questions["72"].topic == "Argent"
    assert asked.questions["72"].description.startswith("Dettes, Procédures de récupération des dettes")


def test_no_real_dev_question_is_asked_in_train_too(real_questions: Path) -> None:
    asked = read_bsard_questions(real_questions)
    train = {question.text for question in asked.split("train")}
    assert not any(question.text in train for question in asked.split("dev"))


def test_the_real_questions_lack_their_articles(real_questions: Path) -> None:
    with pytest.raises(CorpusError, match=r"no articles_fr\.csv or articles\.csv inside"):
        read_bsard(real_questions)
    assert read_negatives(real_questions) == {}
    assert read_synthetic_questions(real_questions).questions == {}
