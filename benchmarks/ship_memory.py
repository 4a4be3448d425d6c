"""Write what ships for the engine: the default law's vectors, and the questions remembered.

    python benchmarks/ship_memory.py

Both by the shipped encoder. Vectors are those of the articles of the default law as the encoder reads them, in 8 bits;
the memory has the train questions of VosDroits (a mean of the vectors of title and description, the `cid`s of the gold,
a checksum of each article's words) and the outside questions of the choosing half (title alone, the codes they name).
"""

from pathlib import Path

import numpy as np

from lexarbor.corpus.benchmarks.catalogue import build_benchmark
from lexarbor.corpus.benchmarks.outside import read_outside_questions
from lexarbor.corpus.benchmarks.sheets import read_sheets
from lexarbor.corpus.benchmarks.vosdroits import SHEETS
from lexarbor.corpus.packages import cache_folder, fetch, package
from lexarbor.corpus.sources import DEFAULT_LAW, read_law
from lexarbor.search.recollection import Remembered
from lexarbor.search.shipped_memory import Sheet, words_checksum, write_memory
from lexarbor.text.corpus_vectors import encode_inputs
from lexarbor.text.inputs import article_input
from lexarbor.text.known_vectors import write_known
from lexarbor.text.shipped import open_shipped

SHIPPED = Path(__file__).parent.parent / "src" / "lexarbor" / "shipped"


def ship_vectors() -> None:
    encoder = open_shipped()
    law = read_law(DEFAULT_LAW)
    articles = law.current()
    inputs = [article_input(law.headings(article), article.text, encoder.settings) for article in articles]
    vectors = encode_inputs(encoder, inputs, cache_folder() / "vectors")
    facts = {"law": DEFAULT_LAW, "law_as_of": law.date.isoformat() if law.date else None, "articles": len(articles)}
    write_known(SHIPPED / "vectors", encoder.checksum, dict(zip(inputs, vectors, strict=True)), facts)
    print(f"{SHIPPED / 'vectors'}: {len(articles):,} articles")


def ship_memory() -> None:
    encoder = open_shipped()
    benchmark = build_benchmark("vosdroits")
    law, train = benchmark.law, benchmark.questions.split("train")
    gold = benchmark.questions.gold(["train"])
    years = {sheet.id: sheet.year for sheet in read_sheets(fetch(package(SHEETS)))}
    texts = [text for question in train for text in (question.text, question.description or question.text)]
    pairs = encoder.encode_questions(texts).reshape(len(train), 2, -1)
    sheets = [
        Sheet(
            Remembered(question.id, years[question.id]),
            tuple((law.articles[id].cid, words_checksum(law.articles[id].text)) for id in sorted(gold[question.id])),
        )
        for question in train
    ]
    outside = [one for one in read_outside_questions(law) if one.split == "choose"]
    sheets += [Sheet(Remembered(one.id, one.year, elsewhere=one.codes)) for one in outside]
    vectors = np.concatenate([pairs.mean(axis=1), encoder.encode_questions([one.text for one in outside])])
    facts = {"benchmark": "vosdroits", "split": "train", "questions": len(train), "outside": len(outside)}
    write_memory(SHIPPED / "memory", encoder.checksum, sheets, vectors, facts)
    print(f"{SHIPPED / 'memory'}: {len(train)} questions, {len(outside)} outside")


if __name__ == "__main__":
    ship_vectors()
    ship_memory()
