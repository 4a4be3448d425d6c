"""Nothing of a dev or test sheet, nor of a sheet, chapter or agreement under a near-equal title, enters any stage."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from invented import SHEETS, SPLITS, STABLE
from leaks import count_leaks, held_out_ids, held_out_titles, learned_sentences, long_sentences, near_when_joined

from lexarbor.corpus.benchmarks import catalogue
from lexarbor.corpus.benchmarks.catalogue import build_benchmark
from lexarbor.supervision.folder import Pair, Passage, Supervision, write_supervision
from lexarbor.supervision.preparation import prepare
from lexarbor.supervision.texts import all_texts

TITLES = ["Vendre au marché", "La rupture collective"]


@pytest.mark.parametrize(
    ("passages", "pairs", "found"),
    [
        ([Passage("F10-0", "…", ("Autre",))], [Pair("sheet", "Autre", ("F10-0",))], {}),
        ([Passage("F1-0", "…", ("Autre",))], [], {"id of a passage": 1}),
        ([], [Pair("sheet", "Autre", ("F9-0", "F1-12"))], {"id in a pair": 1}),
        ([], [Pair("gold", "Le marché : vendre", ("A",)), Pair("gold", "Vendre", ("A",))], {"question of a pair": 1}),
        ([Passage("K", "…", ("B", "Titre IX : Vendre au marché"))], [], {"heading of a passage": 1}),
        ([Passage("K", "…", ("B", "Au marché", "Vendre"))], [], {}),
    ],
)
def test_leaks_are_counted(
    tmp_path: Path, passages: Sequence[Passage], pairs: Sequence[Pair], found: dict[str, int]
) -> None:
    folder = write_supervision(Supervision([], list(passages), list(pairs)), tmp_path)
    assert count_leaks(folder, {"F1"}, TITLES) == found


def test_headings_are_read_as_one_too(tmp_path: Path) -> None:
    near = Passage("F9-0", "…", ("Rupture", "Chapitre II : Collective", "Les délais"))
    folder = write_supervision(Supervision([], [near, Passage("F9-1", "…", ("Rupture", "Amiable"))]), tmp_path)
    assert near_when_joined(folder, TITLES) == [near]


def test_nothing_that_is_held_out_is_learned_from(invented: Callable[[], None], tmp_path: Path) -> None:
    invented()
    folder = prepare("vosdroits", tmp_path / "out")
    benchmark, transfer = build_benchmark("vosdroits"), build_benchmark("travail")
    ids, titles = held_out_ids(benchmark), held_out_titles(benchmark, transfer)
    assert ids == {"F2", "F3"}
    assert set(titles) == {
        "Vendre au marché",
        "Tondre sa pelouse le dimanche",
        "Le fourrage : Qui paie ?",
        "Le fourrage",
        "Qui paie ?",
    }
    assert not count_leaks(folder, ids, titles)
    assert not near_when_joined(folder, titles)
    read = "\n".join((*all_texts(folder), *(pair.question for pair in folder.pairs)))
    for sheet in SHEETS:
        for chapter in sheet.chapters:
            if chapter.text.startswith(("Secret", "Trop près")):
                assert chapter.text not in read
        if sheet.id in ids:
            assert sheet.title not in read
            assert sheet.description not in read
    assert "Trop près" not in read


def test_with_dev_nothing_of_test_is_learned_from(invented: Callable[[], None], tmp_path: Path) -> None:
    invented()
    folder = prepare("vosdroits", tmp_path / "out", learn_from=("train", "dev"))
    benchmark, transfer = build_benchmark("vosdroits"), build_benchmark("travail")
    ids = held_out_ids(benchmark, ["test"])
    titles = held_out_titles(benchmark, transfer, ["test"])
    assert ids == {"F3"}
    assert set(titles) == {"Tondre sa pelouse le dimanche", "Le fourrage : Qui paie ?", "Le fourrage", "Qui paie ?"}
    assert not count_leaks(folder, ids, titles)
    assert not near_when_joined(folder, titles)
    read = "\n".join((*all_texts(folder), *(pair.question for pair in folder.pairs)))
    for hidden in (
        "Tondre",
        "Le gazon",
        "Secret de test.",
        "Trop près de test.",
        "Trop près de Travail.",
        "fourrage :",
    ):
        assert hidden not in read
    for learned in ("Vendre au marché", "Les étals", "Secret de dev.", "Trop près de dev."):
        assert learned in read
    assert not any(one.gold for one in folder.asked)


def test_what_sheets_share_is_learned_from_the_one_that_trains(invented: Callable[[], None], tmp_path: Path) -> None:
    """A sentence of a held-out sheet that another sheet has too is that one's, with that one's articles."""
    invented()
    folder = prepare("vosdroits", tmp_path / "out")
    assert long_sentences([STABLE]) <= learned_sentences(folder)
    assert {pair.positives for pair in folder.pairs if pair.question == STABLE} == {("VALARTI0009",)}


def test_what_another_benchmark_holds_out_is_not_read_either(
    invented: Callable[[], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that one language model serves both; questions of this benchmark's own train are learned from all the same."""
    invented()
    other = {"train": ("F2",), "dev": (), "test": ("F1",)}
    monkeypatch.setattr(catalogue, "written_split", {**SPLITS, "vosdroits-disjoint": other}.__getitem__)
    alone = prepare("vosdroits", tmp_path / "alone")
    both = prepare("vosdroits", tmp_path / "both", also_for=("vosdroits-disjoint",))
    for folder, is_read in ((alone, True), (both, False)):
        assert any(passage.id.startswith("F1-") for passage in folder.passages) is is_read
        assert any(pair.source == "F1" for pair in folder.pairs if pair.kind in ("sheet", "chapter")) is is_read
    assert [pair for pair in both.pairs if pair.kind == "gold"] == [pair for pair in alone.pairs if pair.kind == "gold"]
    assert not count_leaks(both, {"F1"}, [])
