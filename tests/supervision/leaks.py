"""Counts what a supervision folder holds of what is held out, without asking the code that prepared it."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain

from lexarbor.corpus.benchmarks.catalogue import Benchmark
from lexarbor.corpus.benchmarks.sheets import Sheet
from lexarbor.corpus.references import fold
from lexarbor.search.passages import sentences
from lexarbor.supervision.folder import Passage, SupervisionFolder
from lexarbor.supervision.guard import LeakageGuard
from lexarbor.supervision.weak import plain_heading

SHORTEST = 60
"""Characters: a shorter sentence is a figure of speech."""


HELD_OUT = ("dev", "test")


def held_out_ids(benchmark: Benchmark, parts: Sequence[str] = HELD_OUT) -> frozenset[str]:
    return frozenset(id for part in parts for id in benchmark.questions.splits[part])


def held_out_titles(benchmark: Benchmark, transfer: Benchmark, parts: Sequence[str] = HELD_OUT) -> list[str]:
    """Titles of dev and test; of a transfer test the question, its sheet's title and its section's."""
    titles = [benchmark.questions.questions[id].text for id in held_out_ids(benchmark, parts)]
    for question in transfer.questions.questions.values():
        section = question.text[len(question.topic) + 3 :]
        assert question.text == f"{question.topic} : {section}"
        titles += (question.text, question.topic, section)
    return titles


def count_leaks(folder: SupervisionFolder, ids: Collection[str], titles: Iterable[str]) -> Counter[str]:
    """Over all that any stage reads to learn from: ids of sheets held out, and titles near theirs."""
    held = LeakageGuard(titles)
    found: Counter[str] = Counter()
    for pair in folder.pairs:
        found["id in a pair"] += any(_sheet(id) in ids for id in (*pair.positives, *pair.negatives))
        found["question of a pair"] += held.is_near(pair.question)
    for passage in folder.passages:
        found["id of a passage"] += _sheet(passage.id) in ids
        found["heading of a passage"] += any(
            held.is_near(title) for heading in passage.headings for title in (heading, plain_heading([heading]))
        )
    return +found


def near_when_joined(folder: SupervisionFolder, titles: Iterable[str]) -> list[Passage]:
    """Passages of which several headings, one below the other, are near a title held out when read as one."""
    held = LeakageGuard(titles)
    return [passage for passage in folder.passages if any(map(held.is_near, _runs(passage.headings)))]


def _runs(headings: tuple[str, ...]) -> Iterator[str]:
    for first in range(len(headings)):
        for last in range(first + 2, len(headings) + 1):
            yield " ".join(headings[first:last])
            yield plain_heading(headings[first:last])


def _sheet(id: str) -> str:
    return id.rpartition("-")[0]


def learned_sentences(folder: SupervisionFolder) -> set[str]:
    """Every sentence that any stage reads to learn from."""
    texts = (passage.text for passage in (*folder.articles, *folder.passages))
    return long_sentences(chain(texts, folder.texts, (pair.question for pair in folder.pairs)))


def sentences_of(sheets: Iterable[Sheet]) -> set[str]:
    return long_sentences(
        text for sheet in sheets for text in (sheet.description, *(part.text for part in sheet.chapters))
    )


def long_sentences(texts: Iterable[str]) -> set[str]:
    return {fold(part) for text in texts for part in sentences(text) if len(part) >= SHORTEST}
