"""TREC files in and out."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexarbor.errors import EvaluationError
from lexarbor.evaluation import order, read_qrels, read_run, write_qrels, write_run

RUN = {"q1": [("b", 0.1), ("a", 0.1), ("c", 1 / 3)], "q2": [("a", -2.0)]}

IDS = st.text(min_size=1, max_size=8).filter(lambda text: text.split() == [text] and text[0] != "\ufeff")
SCORES = st.floats(allow_nan=False) | st.sampled_from([0.1, 0.1 + 1e-17, 1.0, 1.0 + 2**-52])
RUNS = st.dictionaries(IDS, st.dictionaries(IDS, SCORES, min_size=1).map(lambda scores: list(scores.items())))
QRELS = st.dictionaries(IDS, st.frozensets(IDS, min_size=1), min_size=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all the examples of a property."""
    return tmp_path_factory.mktemp("trec")


def test_the_run_file_is_as_the_format_says(tmp_path: Path) -> None:
    write_run(RUN, tmp_path / "run.trec", tag="bm25")
    assert (tmp_path / "run.trec").read_text(encoding="utf-8").splitlines() == [
        "q1 Q0 c 1 0.3333333333333333 bm25",
        "q1 Q0 a 2 0.1 bm25",
        "q1 Q0 b 3 0.1 bm25",
        "q2 Q0 a 1 -2.0 bm25",
    ]


@settings(deadline=None)
@given(RUNS)
def test_a_run_read_back_has_the_same_order_and_scores(folder: Path, run: dict[str, list[tuple[str, float]]]) -> None:
    write_run(run, folder / "run.trec")
    back = read_run(folder / "run.trec")
    assert back == {question: order(scored) for question, scored in run.items()}


@settings(deadline=None)
@given(QRELS)
def test_qrels_read_back_are_the_same(folder: Path, qrels: dict[str, frozenset[str]]) -> None:
    write_qrels(qrels, folder / "qrels.trec")
    assert read_qrels(folder / "qrels.trec") == qrels


def test_a_foreign_run_is_read_by_its_scores_whatever_its_ranks_tabs_blank_lines_and_mark(
    tmp_path: Path,
) -> None:
    path = tmp_path / "run.trec"
    path.write_bytes("\ufeffq1\tQ0\ta\t1\t2\tx\r\n\r\nq1 0 b 0 1e1 x".encode())
    assert read_run(path) == {"q1": [("b", 10.0), ("a", 2.0)]}


def test_a_ranking_without_articles_has_no_line(tmp_path: Path) -> None:
    write_run({"q1": []}, tmp_path / "run.trec")
    assert read_run(tmp_path / "run.trec") == {}


def test_only_relevance_above_zero_is_relevant_and_no_question_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "qrels.trec"
    path.write_text("q1 0 a 1\nq1 0 b 0\nq1 0 c 2\nq2 0 a 0\nq2 0 b -1\n", encoding="utf-8")
    assert read_qrels(path) == {"q1": {"a", "c"}, "q2": set()}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q1 Q0 a 1 2.0", "line 2: 5 columns; expected 6: question Q0 article rank score tag"),
        ("q1 Q0 a 1 2.0 my tag", "line 2: 7 columns; expected 6"),
        ("q1 Q0 a first 2.0 tag", "line 2: the rank is 'first'; expected a whole number"),
        ("q1 Q0 a 1 high tag", "line 2: the score is 'high'; expected a number"),
        ("q1 Q0 a 1 nan tag", "line 2: the score is 'nan'"),
        ("q1 Q0 z 2 1.0 tag", "line 2: article 'z' twice for question 'q1'"),
    ],
)
def test_a_malformed_run_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "bad.trec"
    path.write_text(f"q1 Q0 z 1 3.0 tag\n{line}\n", encoding="utf-8")
    with pytest.raises(EvaluationError, match=f"bad.trec, {message}"):
        read_run(path)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q1 0 a", "line 2: 3 columns; expected 4: question 0 article relevance"),
        ("q1 0 a yes", "line 2: the relevance is 'yes'; expected a whole number"),
        ("q1 0 z 0", "line 2: article 'z' twice for question 'q1'"),
    ],
)
def test_a_malformed_qrels_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "bad.qrels"
    path.write_text(f"q1 0 z 1\n{line}\n", encoding="utf-8")
    with pytest.raises(EvaluationError, match=f"bad.qrels, {message}"):
        read_qrels(path)


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes("q1 Q0 é 1 2.0 tag".encode("latin-1"))
    with pytest.raises(EvaluationError, match="latin: it is not UTF-8 text"):
        read_run(tmp_path / "latin")
    with pytest.raises(EvaluationError, match=r"cannot read .*absent: No such file"):
        read_run(tmp_path / "absent")


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ({"q 1": [("a", 1.0)]}, "question id 'q 1' cannot stand in a TREC file"),
        ({"q1": [("L. 12", 1.0)]}, r"article id 'L\. 12' cannot stand"),
        ({"q1": [("L.\u00a012", 1.0)]}, "article id .* cannot stand"),
        ({"": [("a", 1.0)]}, "question id '' cannot stand"),
        ({"\ufeffq": [("a", 1.0)]}, "question id .* cannot stand"),
        ({"q1": [("a\ud800", 1.0)]}, "is not valid Unicode"),
        ({"q1": [("a", float("nan"))]}, "question 'q1': the score of article 'a'"),
    ],
)
def test_a_run_that_cannot_be_written_leaves_the_old_file_whole(
    tmp_path: Path, run: dict[str, list[tuple[str, float]]], message: str
) -> None:
    path = tmp_path / "run.trec"
    write_run(RUN, path)
    before = path.read_bytes()
    with pytest.raises(EvaluationError, match=message):
        write_run(RUN | run, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_tag_is_one_word(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="tag 'my system' cannot stand"):
        write_run(RUN, tmp_path / "run.trec", tag="my system")


def test_qrels_that_cannot_be_written_are_refused(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="question 'q1' has no relevant article"):
        write_qrels({"q1": frozenset()}, tmp_path / "qrels")
    with pytest.raises(EvaluationError, match="article id 'a b' cannot stand"):
        write_qrels({"q1": {"a b"}}, tmp_path / "qrels")
    assert not list(tmp_path.iterdir())
