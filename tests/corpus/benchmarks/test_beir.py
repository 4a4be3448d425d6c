import csv
import json
from pathlib import Path

import pytest

from lexarbor.corpus.benchmarks.beir import write_beir
from lexarbor.corpus.benchmarks.catalogue import Benchmark, build_benchmark
from lexarbor.errors import LexarborError


@pytest.fixture(scope="module")
def tiny() -> Benchmark:
    return build_benchmark("tiny")


@pytest.fixture
def exported(tiny: Benchmark, tmp_path: Path) -> Path:
    write_beir(tiny, tmp_path / "beir")
    return tmp_path / "beir"


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").removesuffix("\n").split("\n")]


def test_the_files_are_those_of_the_layout(exported: Path) -> None:
    files = sorted(str(path.relative_to(exported)) for path in exported.rglob("*") if path.is_file())
    assert files == ["corpus.jsonl", "qrels/dev.tsv", "qrels/test.tsv", "qrels/train.tsv", "queries.jsonl"]


def test_the_corpus_is_the_law_in_order(tiny: Benchmark, exported: Path) -> None:
    found = lines(exported / "corpus.jsonl")
    assert [document["_id"] for document in found] == list(tiny.law.positions)
    assert {document["_id"]: document["text"] for document in found} == {
        id: article.text for id, article in tiny.law.articles.items()
    }
    assert all(set(document) == {"_id", "title", "text", "metadata"} for document in found)
    newer = next(document for document in found if document["_id"] == "VALARTI0070")
    assert newer["metadata"] == {"cid": "VALARTI0010", "code": "VALTEXT01"}
    assert newer["title"] == (
        "Code communal de Valombre > Partie législative > Titre Ier : Tranquillité et salubrité > "
        "Chapitre Ier : Tranquillité publique > Garde et divagation des animaux > L113-2"
    )


def test_the_queries_are_the_questions(tiny: Benchmark, exported: Path) -> None:
    assert lines(exported / "queries.jsonl") == [
        {"_id": id, "text": asked.text, "metadata": {"topic": asked.topic, "description": asked.description}}
        for id, asked in tiny.questions.questions.items()
    ]


def test_the_qrels_are_the_gold_of_each_split(tiny: Benchmark, exported: Path) -> None:
    for split in ("train", "dev", "test"):
        with (exported / "qrels" / f"{split}.tsv").open(encoding="utf-8", newline="") as file:
            head, *rows = csv.reader(file, delimiter="\t")
        assert head == ["query-id", "corpus-id", "score"]
        assert {score for _, _, score in rows} == {"1"}
        gold = tiny.questions.gold([split])
        assert [(id, article) for id, article, _ in rows] == [(id, a) for id in gold for a in sorted(gold[id])]


def test_an_export_replaces_an_older_one(tiny: Benchmark, exported: Path) -> None:
    (exported / "queries.jsonl").write_text("old", encoding="utf-8")
    write_beir(tiny, exported)
    assert len(lines(exported / "queries.jsonl")) == 24


def test_a_folder_that_cannot_be_made_is_a_plain_error(tiny: Benchmark, tmp_path: Path) -> None:
    (tmp_path / "beir").write_text("a file", encoding="utf-8")
    with pytest.raises(LexarborError, match="cannot make the folder"):
        write_beir(tiny, tmp_path / "beir")
