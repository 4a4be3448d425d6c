"""BSARD's CSV files made by hand, with invented law."""

import csv
from collections.abc import Sequence
from pathlib import Path

ARTICLE_COLUMNS = [
    "id",
    "reference",
    "article",
    "law_type",
    "code",
    "book",
    "part",
    "act",
    "chapter",
    "section",
    "subsection",
    "description",
]
QUESTION_COLUMNS = ["id", "category", "subcategory", "question", "extra_description", "article_ids"]
EMPTY = [""] * 6
ARTICLES = [
    [
        "3",
        "Art. 1er, Code des Eaux",
        "L'eau coule.",
        "regional",
        "Code des Eaux",
        "L1",
        "P",
        "T",
        "C",
        "S",
        "s",
        "",
    ],
    ["8", "Art. 12.4.6, Code des Eaux", "", "regional", "Code des Eaux", "L1", "P", "T", "C", "S", "s", "d"],
    [
        "5",
        "Art. 7bis_DROIT_FUTUR, Code des Eaux",
        "Puits.",
        "regional",
        "Code des Eaux",
        "L2",
        *EMPTY[1:],
        "",
    ],
    ["4", "Art. 2, Code des Eaux", "Sources.", "regional", "Code des Eaux", "L1", *EMPTY[1:], ""],
    ["1", "Art. 1, Code des Eaux", "Mers.", "national", "Code des Eaux", "L1", *EMPTY[1:], ""],
    [
        "9",
        "Art. N1.1, Code des Vents, et des Airs",
        "Vents.",
        "",
        "Code des Vents",
        "",
        "",
        "",
        "L1",
        "",
        "",
        "",
    ],
]
TRAIN = [
    ["10", "Eau", "Puits", "Puis-je creuser ?", "Terrain, Jardin", "5,3"],
    ["2", "Eau", "", "Qui cure la source ?", "", "4"],
]
TEST = [["7", "Air", "", "Puis-je planter un moulin ?", "", "9, 9"]]


def table(path: Path, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([columns, *rows])


def write_files(folder: Path) -> Path:
    table(folder / "articles_fr.csv", ARTICLE_COLUMNS, ARTICLES)
    table(folder / "questions_fr_train.csv", QUESTION_COLUMNS, TRAIN)
    table(folder / "questions_fr_test.csv", QUESTION_COLUMNS, TEST)
    return folder
