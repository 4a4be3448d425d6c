"""The leakage guard over the real packages: what the shipped model learned from."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest
from leaks import (
    count_leaks,
    held_out_ids,
    held_out_titles,
    learned_sentences,
    long_sentences,
    near_when_joined,
    sentences_of,
)

from lexarbor.corpus import packages
from lexarbor.corpus.agreements import AGREEMENTS, read_agreements
from lexarbor.corpus.benchmarks import vosdroits
from lexarbor.corpus.benchmarks.catalogue import Benchmark, build_benchmark
from lexarbor.corpus.benchmarks.sheets import Sheet, read_sheets
from lexarbor.corpus.sources import DEFAULT_LAW, read_law
from lexarbor.supervision.folder import SupervisionFolder
from lexarbor.supervision.guard import LeakageGuard
from lexarbor.supervision.preparation import prepare
from lexarbor.supervision.synthetic import read_synthetic, shipped_questions

pytestmark = pytest.mark.real

KINDS = {
    "gold": 528,
    "headings": 21989,
    "sentence": 31068,
    "citation": 25969,
    "sheet": 3463,
    "chapter": 25089,
    "agreement": 19059,
    "description": 528,
    "train_chapter": 5302,
    "train_text": 14447,
}
"""How many pairs of each kind there are."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> SupervisionFolder:
    return prepare("vosdroits", tmp_path_factory.mktemp("real") / "supervision")


@pytest.fixture(scope="module")
def transfer() -> Benchmark:
    return build_benchmark("travail")


@pytest.fixture(scope="module")
def benchmark_of(transfer: Benchmark) -> Benchmark:
    return Benchmark("vosdroits", transfer.law, transfer.training, transfer.training)


@pytest.fixture(scope="module")
def sheets() -> list[Sheet]:
    return read_sheets(packages.fetch(packages.package(vosdroits.SHEETS)))


def test_there_is_as_much_as_was_counted(folder: SupervisionFolder) -> None:
    assert folder.kinds() == KINDS
    assert (len(folder.articles), len(folder.passages), len(folder.texts)) == (27_519, 70_862, 7_402)
    assert len(folder.asked) == 283 + 314


def test_nothing_that_is_held_out_is_learned_from(
    folder: SupervisionFolder, benchmark_of: Benchmark, transfer: Benchmark
) -> None:
    ids, titles = held_out_ids(benchmark_of), held_out_titles(benchmark_of, transfer)
    assert len(ids) == 283
    assert not count_leaks(folder, ids, titles)


def test_no_passage_is_near_by_headings_read_together(
    folder: SupervisionFolder, benchmark_of: Benchmark, transfer: Benchmark
) -> None:
    """ "Rupture conventionnelle", "Collective" is near Travail's "La rupture conventionnelle collective"."""
    assert not near_when_joined(folder, held_out_titles(benchmark_of, transfer))


def test_every_sentence_comes_from_what_may_be_learned_from(
    folder: SupervisionFolder, benchmark_of: Benchmark, sheets: list[Sheet]
) -> None:
    """Sheets repeat each other, and the law: such a sentence is learned as the other text's."""
    ids = held_out_ids(benchmark_of)
    held_out = sentences_of(sheet for sheet in sheets if sheet.id in ids)
    learned = held_out & learned_sentences(folder)
    elsewhere = sentences_of(sheet for sheet in sheets if sheet.id not in ids) | long_sentences(
        other_texts(benchmark_of)
    )
    assert not learned - elsewhere
    assert 0 < len(learned) < 0.1 * len(held_out)


def test_with_dev_nothing_of_test_is_learned_from(
    tmp_path: Path, benchmark_of: Benchmark, transfer: Benchmark, sheets: list[Sheet]
) -> None:
    folder = prepare("vosdroits", tmp_path / "supervision", learn_from=("train", "dev"))
    ids, titles = held_out_ids(benchmark_of, ["test"]), held_out_titles(benchmark_of, transfer, ["test"])
    assert len(ids) == 162
    assert not count_leaks(folder, ids, titles)
    assert not near_when_joined(folder, titles)
    assert folder.kinds()["gold"] == 528 + 121
    assert len(folder.asked) == 162 + 314
    held_out = sentences_of(sheet for sheet in sheets if sheet.id in ids)
    elsewhere = sentences_of(sheet for sheet in sheets if sheet.id not in ids)
    assert not (held_out & learned_sentences(folder)) - elsewhere - long_sentences(other_texts(benchmark_of))


def other_texts(benchmark: Benchmark) -> Iterator[str]:
    for law in (benchmark.law, read_law(DEFAULT_LAW)):
        yield from (article.text for article in law.articles.values())
    agreements = read_agreements(packages.fetch(packages.package(AGREEMENTS)))
    yield from chain.from_iterable((article.text, *article.headings) for article in agreements)


def test_no_sheet_s_words_ship_as_a_synthetic_question(folder: SupervisionFolder) -> None:
    """Of sheets that the generator learned from: their titles and chapters' titles, or what is near-equal to one."""
    kinds = ("gold", "sheet", "chapter", "train_chapter")
    learned = LeakageGuard(pair.question for pair in folder.pairs if pair.kind in kinds)
    shipped = {one.question for one in read_synthetic(shipped_questions())}
    assert len(shipped) > 40_000
    assert not [question for question in sorted(shipped) if learned.is_near(question)]
