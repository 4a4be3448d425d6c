from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from bsard_files import ARTICLE_COLUMNS, ARTICLES, EMPTY, QUESTION_COLUMNS, TEST, TRAIN, table, write_files

from lexarbor.corpus.bsard import (
    read_bsard,
)
from lexarbor.errors import CorpusError, FetchError, MissingExtraError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_files(tmp_path)


Spoil = Callable[[Path], object]


def rows_of(name: str, columns: Sequence[str], *rows: Sequence[str]) -> Spoil:
    return lambda folder: table(folder / name, columns, rows)


def bytes_of(name: str, content: bytes) -> Spoil:
    return lambda folder: (folder / name).write_bytes(content)


A, T = "articles_fr.csv", "questions_fr_train.csv"


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            lambda folder: (folder / A).unlink(),
            r": no articles_fr\.csv or articles\.csv inside; give the folder",
        ),
        (
            lambda folder: (folder / T).unlink(),
            r": no questions_fr_train\.csv or questions_train\.csv inside",
        ),
        (bytes_of(A, b""), r"articles_fr\.csv: the file is empty"),
        (bytes_of(T, b"\n\n"), r"train\.csv: the file is empty"),
        (rows_of(A, ARTICLE_COLUMNS), r"articles_fr\.csv: column names but no article"),
        (
            rows_of(A, ["id", "reference", "article", "code"], ["1", "", "", ""]),
            r"articles_fr\.csv: no column law_type, book, part, act, chapter, section, subsection, "
            r"but id, reference, article, code; take BSARD's own file",
        ),
        (rows_of(T, ["", "id"]), r"train\.csv: no column category, .*, but \(unnamed\), id;"),
        (
            rows_of(A, ARTICLE_COLUMNS, ARTICLES[0], ["x1", *ARTICLES[1][1:]]),
            r"articles_fr\.csv, line 3: the id must be an integer, found 'x1'",
        ),
        (
            rows_of(A, ARTICLE_COLUMNS, ["3", "", "Un\ntexte", *ARTICLES[0][3:]], ["3", "", "b", *ARTICLES[0][3:]]),
            r"articles_fr\.csv, line 4: the id 3 stands above with another text or code",
        ),
        (
            rows_of(A, ARTICLE_COLUMNS, ["1", "Art. 1", "a", *EMPTY, "", "", ""]),
            r"articles_fr\.csv, line 2: neither 'code' nor 'reference' names the code",
        ),
        (
            rows_of(A, ARTICLE_COLUMNS, ARTICLES[0], ARTICLES[1][:5]),
            r"articles_fr\.csv, line 3: 5 values, 12 columns; correct the file",
        ),
        (
            bytes_of(A, b'id,reference\n1,"Art. 1'),
            r"articles_fr\.csv, line 2: not CSV \(unexpected end of data\)",
        ),
        (bytes_of(T, b"id\n1\n\xe9"), r"train\.csv, line 3: not UTF-8 text; save the file as UTF-8"),
        (
            rows_of(T, QUESTION_COLUMNS, TRAIN[0], ["2", "", "", "Où ?", "", "4,404"]),
            r"train\.csv, line 3: article_ids names 404, which is no article",
        ),
        (
            rows_of(T, QUESTION_COLUMNS, ["2", "", "", "Où ?", "", ""]),
            r"train\.csv, line 2: article_ids must be an integer, found ''",
        ),
        (
            rows_of(T, QUESTION_COLUMNS, ["2.0", "", "", "Où ?", "", "4"]),
            r"train\.csv, line 2: the id must be an integer, found '2\.0'",
        ),
        (
            rows_of(T, QUESTION_COLUMNS, ["2", "", "", " ", "", "4"]),
            r"train\.csv, line 2: question '2' is empty",
        ),
        (
            rows_of(T, QUESTION_COLUMNS, ["2", "", "", "a" * 1_000_000, "", "4"]),
            r"train\.csv, line 2: question '2' has 1,000,000 characters",
        ),
        (
            rows_of(T, QUESTION_COLUMNS, TRAIN[0], ["10", "", "", "Où ?", "", "4"]),
            r"train\.csv, line 3: the id 10 stands above with another text or gold",
        ),
        (
            rows_of(T, QUESTION_COLUMNS, TEST[0]),
            r"question '7' is in 'train' and in 'test': keep it in one split",
        ),
    ],
)
def test_bad_input_is_one_line_with_file_place_and_remedy(folder: Path, spoil: Spoil, message: str) -> None:
    spoil(folder)
    with pytest.raises(CorpusError, match=message) as refusal:
        read_bsard(folder)
    assert str(folder) in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("source", ["absent", "./absent", "a/b/c", "/absent/bsard"])
def test_what_is_neither_a_folder_nor_a_hub_name_is_refused(source: str) -> None:
    with pytest.raises(CorpusError, match=f"{source}: no such folder; give BSARD's"):
        read_bsard(source)


def test_a_hub_name_out_of_reach_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    with pytest.raises((FetchError, MissingExtraError)) as refusal:
        read_bsard("lexarbor-tests/no-such-dataset")
    remedies = ("pip install 'lexarbor[hub]'", "give the CSV files' folder by path instead")
    assert any(remedy in str(refusal.value) for remedy in remedies)
    assert "'lexarbor-tests/no-such-dataset' is no folder" in str(refusal.value)
    assert "\n" not in str(refusal.value)
