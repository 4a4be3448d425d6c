"""Export in BEIR's layout: corpus.jsonl, queries.jsonl and qrels/{split}.tsv, as retrieval toolkits read them."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lexarbor.corpus.benchmarks.catalogue import Benchmark
from lexarbor.files import folder_at, replacing


def write_beir(benchmark: Benchmark, folder: Path) -> None:
    """Each file appears whole. An article's title is its number under its headings."""
    folder_at(folder / "qrels")
    law, questions = benchmark.law, benchmark.questions
    _write(
        folder / "corpus.jsonl",
        (
            _line(
                _id=id,
                title=" > ".join((*law.headings(law.articles[id]), law.articles[id].number)),
                text=law.articles[id].text,
                metadata={"cid": law.articles[id].cid, "code": law.articles[id].code},
            )
            for id in law.positions
        ),
    )
    _write(
        folder / "queries.jsonl",
        (
            _line(
                _id=id,
                text=question.text,
                metadata={"topic": question.topic, "description": question.description},
            )
            for id, question in questions.questions.items()
        ),
    )
    for split in questions.splits:
        labels = (f"{id}\t{article}\t1" for id, gold in questions.gold([split]).items() for article in sorted(gold))
        _write(folder / "qrels" / f"{split}.tsv", ("query-id\tcorpus-id\tscore", *labels))


def _line(**fields: Any) -> str:
    return json.dumps(fields, ensure_ascii=False)


def _write(path: Path, lines: Iterable[str]) -> None:
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(line + "\n" for line in lines)
