import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest

from lexarbor.corpus import packages
from lexarbor.corpus.benchmarks import catalogue, travail, vosdroits
from lexarbor.corpus.benchmarks.catalogue import BENCHMARKS, build_benchmark, written_split
from lexarbor.corpus.packages import Package
from lexarbor.corpus.references import fold
from lexarbor.errors import BenchmarkError
from npm_package import pack

WRITTEN = {"vosdroits": 811, "vosdroits-disjoint": 766, "travail": 314}
"""Questions in the committed splits."""


def text(value: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": value}]


def sheet(id: str, title: str, label: str) -> object:
    reference = {"name": "Reference", "children": [{"name": "Titre", "children": text(label)}]}
    heading = {"name": "dc:title", "children": text(title)}
    return {"children": [{"name": "Publication", "attributes": {"ID": id}, "children": [heading, reference]}]}


def asked(title: str, cid: str) -> object:
    references = {"LEGITEXT": {"articles": [{"text": "…", "cid": cid}]}}
    return {
        "pubId": fold(title).replace(" ", "-"),
        "title": title,
        "sections": [{"title": "Qui paie ?", "references": references}],
    }


TOWN = "Code communal de Valombre"
SHEETS = {
    "data/particuliers/F1.json": sheet("F1", "Garder un âne", f"{TOWN} : articles L113-1 et L999-9"),
    "data/particuliers/F2.json": sheet("F2", "Vendre au marché", f"{TOWN} : article L122-2"),
    "data/particuliers/F3.json": sheet("F3", "Se marier", "Code civil : article 144"),
    "data/fiches-travail.json": [asked("Le fourrage", "VALARTI0012"), asked("Vendre au marché", "VALARTI0013")],
}


@pytest.fixture
def invented(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """One tarball in the stead of both packages of sheets, and splits in the stead of those written down."""

    def stand_in(**splits: dict[str, tuple[str, ...]]) -> None:
        tarball = pack(tmp_path / "package.tgz", SHEETS)

        def fetch(package: Package) -> Path:
            assert package.spec in (vosdroits.SHEETS, travail.SHEETS)
            return tarball

        monkeypatch.setattr(packages, "fetch", fetch)
        monkeypatch.setattr(catalogue, "written_split", lambda name: splits[name.replace("-", "_")])

    return stand_in


def test_vosdroits_from_its_packages(invented: Callable[..., None]) -> None:
    invented(vosdroits={"train": ("F2",), "test": ("F1",)})
    built = build_benchmark("vosdroits", "tiny")
    assert built.name == built.questions.name == "vosdroits"
    assert built.law.name == "tiny"
    assert built.questions.qrels == {"F1": {"VALARTI0009"}, "F2": {"VALARTI0015"}}
    assert built.questions.splits == {"train": ("F2",), "test": ("F1",)}
    assert built.training is built.questions
    assert (built.references, [lost.question for lost in built.unresolved]) == (3, ["F1"])


def test_the_disjoint_benchmark_holds_the_questions_of_its_own_split(invented: Callable[..., None]) -> None:
    invented(vosdroits_disjoint={"train": ("F1",), "test": ()})
    built = build_benchmark("vosdroits-disjoint", "tiny")
    assert built.name == built.questions.name == "vosdroits-disjoint"
    assert list(built.questions.questions) == ["F1"]
    assert built.questions.splits == {"train": ("F1",), "test": ()}


def test_travail_is_tested_on_and_vosdroits_trained_on(invented: Callable[..., None]) -> None:
    invented(vosdroits={"train": ("F1", "F2")}, travail={"test": ("le-fourrage-0",)})
    built = build_benchmark("travail", "tiny")
    assert built.questions.qrels == {"le-fourrage-0": {"VALARTI0012"}}  # the other is near a VosDroits title
    assert built.questions.splits == {"test": ("le-fourrage-0",)}
    assert built.training.name == "vosdroits"
    assert built.training.splits == {"train": ("F1", "F2")}
    assert (built.references, built.unresolved) == (1, ())


@pytest.mark.parametrize("name", ["vosdroits", "travail"])
def test_a_written_question_that_is_not_found_is_an_error(invented: Callable[..., None], name: str) -> None:
    splits = {"vosdroits": {"train": ("F1",)}, "travail": {"test": ()}}
    lost = {"test": ("F9", "F1", "F7", "F8", "F6")} if name == "vosdroits" else {"test": ("F9", "F7", "F8", "F6")}
    invented(**splits | {name: lost})
    with pytest.raises(BenchmarkError, match=rf"{name}: 4 questions of the written split .*\(F6, F7, F8…\)"):
        build_benchmark(name, "tiny")


def test_tiny_needs_no_package() -> None:
    built = build_benchmark("tiny")
    assert (built.name, len(built.law), len(built.questions.questions)) == ("tiny", 64, 24)
    assert built.training is built.questions
    assert built.questions.positives(built.questions.splits) <= set(built.law.articles)


def test_tiny_has_its_own_law() -> None:
    with pytest.raises(BenchmarkError, match=r"'tiny' has its own law: leave 'other\.jsonl' out"):
        build_benchmark("tiny", "other.jsonl")


def test_an_unknown_name_is_told_the_known_ones() -> None:
    with pytest.raises(BenchmarkError, match=r"unknown benchmark 'vosdroit': choose one of vosdroits, .*tiny"):
        build_benchmark("vosdroit")
    assert {"vosdroits", "vosdroits-disjoint", "travail", "bsard", "tiny"} <= set(BENCHMARKS)


@pytest.mark.parametrize("name", WRITTEN)
def test_the_written_splits_are_ids_each_once(name: str) -> None:
    parts = written_split(name)
    ids = [id for part in parts.values() for id in part]
    assert len(ids) == len(set(ids)) == WRITTEN[name]
    assert set(parts) == ({"test"} if name == "travail" else {"train", "dev", "test"})
    committed = files("lexarbor.corpus.benchmarks") / "ids" / f"{name}.json"
    assert json.loads(committed.read_text(encoding="utf-8")) == {part: list(ids) for part, ids in parts.items()}


def test_the_disjoint_split_leaves_questions_out_but_adds_none() -> None:
    whole, disjoint = written_split("vosdroits"), written_split("vosdroits-disjoint")
    assert {id for ids in disjoint.values() for id in ids} < {id for ids in whole.values() for id in ids}
