"""From a benchmark to a supervision folder."""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from invented import REFUSED, STABLE

from lexarbor.corpus.benchmarks.catalogue import build_benchmark
from lexarbor.corpus.bsard import write_bsard
from lexarbor.corpus.sources import read_tiny, read_tiny_questions
from lexarbor.errors import BenchmarkError, LexarborError, TrainingError
from lexarbor.graph.legislation import legislative_graph, section_headings
from lexarbor.supervision import preparation, weak
from lexarbor.supervision.folder import Asked, Pair, Passage, SupervisionFolder
from lexarbor.supervision.preparation import prepare

CONTENTS = ("articles", "passages", "pairs", "texts", "asked", "sections")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> SupervisionFolder:
    return prepare("tiny", tmp_path_factory.mktemp("tiny") / "supervision")


def test_the_law_in_force_is_what_is_ranked(tiny: SupervisionFolder) -> None:
    law = read_tiny()
    held = sorted(id for id, article in law.articles.items() if law.is_current(article))
    assert [article.id for article in tiny.articles] == held
    for article in tiny.articles:
        assert article == Passage(article.id, law.articles[article.id].text, law.headings(law.articles[article.id]))
    assert (tiny.passages, tiny.texts) == ([], [])


def test_the_graph_is_that_of_the_law_with_a_title_for_each_section(tiny: SupervisionFolder) -> None:
    law, graph = read_tiny(), tiny.graph
    expected = legislative_graph(law)
    assert (graph.sections, graph.articles, graph.kinds) == (expected.sections, expected.articles, expected.kinds)
    assert all(np.array_equal(graph.edges[kind], expected.edges[kind]) for kind in graph.kinds)
    headings = section_headings(law)
    assert [section.id for section in tiny.sections] == list(graph.sections)
    assert [(*section.headings, section.text) for section in tiny.sections] == [headings[id] for id in graph.sections]


def test_train_questions_are_gold_and_have_negatives(tiny: SupervisionFolder) -> None:
    questions = read_tiny_questions()
    gold = [pair for pair in tiny.pairs if pair.kind == "gold"]
    assert [(pair.question, pair.positives) for pair in gold] == [
        (question.text, tuple(sorted(questions.qrels[question.id]))) for question in questions.split("train")
    ]
    ranked = {article.id for article in tiny.articles}
    for pair in gold:
        assert set(pair.negatives) <= ranked - set(pair.positives)
    assert sum(bool(pair.negatives) for pair in gold) == 11  # BM25 knows no other article for one of them


def test_weak_pairs_follow_and_have_none(tiny: SupervisionFolder) -> None:
    kinds = list(dict.fromkeys(pair.kind for pair in tiny.pairs))
    assert kinds == ["gold", "headings", "sentence", "citation"]
    assert tiny.kinds()["gold"] == 12
    assert tiny.kinds()["citation"] == 24
    assert not any(pair.negatives for pair in tiny.pairs if pair.kind != "gold")
    ranked = {article.id for article in tiny.articles}
    assert all(set(pair.positives) <= ranked for pair in tiny.pairs)


def test_only_dev_is_asked_with_its_gold(tiny: SupervisionFolder) -> None:
    questions = read_tiny_questions()
    dev = [Asked(one.id, "dev", one.text, tuple(sorted(questions.qrels[one.id]))) for one in questions.split("dev")]
    test = [Asked(one.id, "test", one.text) for one in questions.split("test")]
    assert tiny.asked == dev + test


def test_facts_tell_where_it_comes_from(tiny: SupervisionFolder) -> None:
    assert tiny.facts == {
        "benchmark": "tiny",
        "learned_from": ["train"],
        "law": "tiny",
        "law_as_of": "2026-01-01",
        "kept_out_by_the_guard": {},
    }


def test_a_final_model_learns_from_dev_too(tiny: SupervisionFolder, tmp_path: Path) -> None:
    questions = read_tiny_questions()
    folder = prepare("tiny", tmp_path, learn_from=("train", "dev", "train"))
    learned = [*questions.split("train"), *questions.split("dev")]
    assert [(pair.source, pair.question, pair.positives) for pair in folder.pairs if pair.kind == "gold"] == [
        (one.id, one.text, tuple(sorted(questions.qrels[one.id]))) for one in learned
    ]
    assert sum(bool(pair.negatives) for pair in folder.pairs) == 15  # all that are gold but one
    assert [pair for pair in folder.pairs if pair.kind != "gold"] == [
        pair for pair in tiny.pairs if pair.kind != "gold"
    ]
    assert folder.asked == [Asked(one.id, "test", one.text) for one in questions.split("test")]
    assert folder.facts == tiny.facts | {"learned_from": ["train", "dev"]}


def test_dev_s_own_sheets_come_with_it(invented: Callable[[], None], tmp_path: Path) -> None:
    """And what was kept out for being near one of them; what is near test stays out."""
    invented()
    kinds = [kind for kind in weak.KINDS if kind not in ("headings", "sentence", "citation")]
    before = prepare("vosdroits", tmp_path / "before", kinds=kinds)
    folder = prepare("vosdroits", tmp_path / "out", kinds=kinds, learn_from=("train", "dev"))
    assert [passage for passage in folder.passages if passage not in before.passages] == [
        Passage("F2-0", "Secret de dev.", ("Vendre au marché",)),
        Passage("F2-1", STABLE, ("Vendre au marché", "Les prix")),
        Passage("F5-0", "Trop près de dev.", ("Le marché : vendre",)),
        Passage("KALIARTI2", "Trop près de dev, sans son numéro.", ("Palefreniers", "Titre II : Vendre au marché")),
    ]
    known = {(pair.kind, pair.question, pair.source) for pair in before.pairs}
    added = [pair for pair in folder.pairs if (pair.kind, pair.question, pair.source) not in known]
    assert [replace(pair, negatives=()) for pair in added] == [
        Pair("gold", "Vendre au marché", ("VALARTI0015",), source="F2"),
        Pair("sheet", "Vendre au marché", ("F2-0", "F2-1"), source="F2"),
        Pair("sheet", "Le marché : vendre", ("F5-0",), source="F5"),
        Pair("chapter", "Vendre au marché : Les prix", ("F2-1",), bare=True, source="F2"),
        Pair("agreement", "Vendre au marché", ("KALIARTI2",), bare=True),
        Pair("description", "Les étals", ("VALARTI0015",), source="F2"),
        Pair("train_chapter", "Vendre au marché : Les prix", ("VALARTI0015",), source="F2"),
        Pair("train_text", STABLE, ("VALARTI0015",), source="F2"),
    ]
    assert folder.asked == before.asked[1:]
    assert folder.facts["kept_out_by_the_guard"] == {"held-out sheets": 1, "chapters near one": 2}


@pytest.mark.parametrize(
    ("learn_from", "told"),
    [
        (("train", "test"), "test cannot be learned from: models are tested on it; name train, or train and dev"),
        ((), "no split is named to learn from: name train, or train and dev"),
        (("train", "devel"), "the benchmark 'tiny' has no devel questions to learn from: name some of train, dev$"),
    ],
)
def test_a_split_that_cannot_be_learned_from_is_refused(tmp_path: Path, learn_from: Sequence[str], told: str) -> None:
    with pytest.raises(TrainingError, match=told):
        prepare("tiny", tmp_path / "out", learn_from=learn_from)
    assert not (tmp_path / "out").exists()


def test_test_is_refused_before_the_law_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparation, "build_benchmark", lambda name, source: pytest.fail("the law was read"))
    with pytest.raises(TrainingError, match="test cannot be learned from"):
        prepare("vosdroits", tmp_path / "out", learn_from=["test"])


@pytest.mark.parametrize("learn_from", [("train",), ("train", "dev")])
def test_bsard_from_a_folder_of_its_files(tiny: SupervisionFolder, tmp_path: Path, learn_from: Sequence[str]) -> None:
    """The tiny law and its questions in BSARD's columns."""
    (tmp_path / "csv").mkdir()
    law, questions = read_tiny(), read_tiny_questions()
    write_bsard(law, questions, tmp_path / "csv")
    folder = prepare("bsard", tmp_path / "out", source=str(tmp_path / "csv"), learn_from=learn_from, kinds=["sentence"])
    asked = [one for part in learn_from for one in questions.split(part)]
    assert [pair.question for pair in folder.pairs if pair.kind == "gold"] == [one.text for one in asked]
    held_out = [part for part in ("dev", "test") if part not in learn_from]
    assert [(one.split, one.text) for one in folder.asked] == [
        (part, one.text) for part in held_out for one in questions.split(part)
    ]
    assert sorted(one.text for one in folder.articles) == sorted(one.text for one in law.articles.values())
    assert (folder.facts["benchmark"], folder.facts["learned_from"]) == ("bsard", [*learn_from])


def test_another_law_is_read_from_where_it_is_told(invented: Callable[[], None], tmp_path: Path) -> None:
    invented()
    with pytest.raises(LexarborError, match="nowhere"):
        prepare("vosdroits", tmp_path / "out", source=str(tmp_path / "nowhere"))


def test_two_runs_write_the_same_bytes(tmp_path: Path) -> None:
    """In processes that order their sets differently."""
    code = "from pathlib import Path; from lexarbor.supervision.preparation import prepare; prepare('tiny', Path('{}'))"
    for seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", code.format(tmp_path / seed)], env=environment, check=True, timeout=120)
    names = sorted(path.name for path in (tmp_path / "1").iterdir())
    assert names == sorted(["manifest.json", "graph.json.xz", *(f"{name}.jsonl.xz" for name in CONTENTS)])
    for name in names:
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes(), name


def test_kinds_can_be_chosen(tmp_path: Path) -> None:
    steps: list[tuple[int, int]] = []
    folder = prepare("tiny", tmp_path, kinds=["citation", "citation"], on_step=lambda *step: steps.append(step))
    assert folder.kinds() == {"gold": 12, "citation": 24}
    assert steps == [(done, 36) for done in range(1, 37)]


def test_vosdroits_from_its_packages(invented: Callable[[], None], tmp_path: Path) -> None:
    invented()
    kinds = [kind for kind in weak.KINDS if kind not in ("headings", "sentence")]
    folder = prepare("vosdroits", tmp_path / "out", kinds=kinds)
    assert folder.passages == [
        Passage("F1-0", STABLE, ("Garder un âne",)),
        Passage("F1-1", "Au plus un âne.", ("Garder un âne", "En ville")),
        Passage("F4-0", "Devant le maire.", ("Se marier",)),
        Passage("F6-0", "En mars.", ("Le jardin", "Semer")),
        Passage("KALIARTI1", "Une prime est due la nuit.", ("Palefreniers", "Titre Ier : Salaires", "Primes")),
    ]
    told = [replace(pair, negatives=()) for pair in folder.pairs if pair.kind != "citation"]
    assert told == [
        Pair("gold", "Garder un âne", ("VALARTI0009",), source="F1"),
        Pair("sheet", "Garder un âne", ("F1-0", "F1-1"), source="F1"),
        Pair("sheet", "Se marier", ("F4-0",), source="F4"),
        Pair("sheet", "Le jardin", ("F6-0",), source="F6"),
        Pair("chapter", "Garder un âne : En ville", ("F1-1",), bare=True, source="F1"),
        Pair("chapter", "Le jardin : Semer", ("F6-0",), bare=True, source="F6"),
        Pair("agreement", "Salaires : Primes", ("KALIARTI1",), bare=True),
        Pair("description", "Un animal à garder", ("VALARTI0009",), source="F1"),
        Pair("train_chapter", "Garder un âne : En ville", ("VALARTI0009",), source="F1"),
        Pair("train_text", STABLE, ("VALARTI0009",), source="F1"),
    ]
    for pair in folder.pairs:
        assert bool(pair.negatives) is (pair.kind in preparation.LABELLED), pair
    assert folder.texts == ["Code des ânes\nLes ânes votent."]
    assert folder.asked == [
        Asked("F2", "dev", "Vendre au marché", ("VALARTI0015",)),
        Asked("F3", "test", "Tondre sa pelouse le dimanche"),
        Asked("travail0-0", "travail", "Le fourrage : Qui paie ?"),
    ]
    assert folder.facts == {
        "benchmark": "vosdroits",
        "learned_from": ["train"],
        "law": "tiny",
        "law_as_of": "2026-01-01",
        "kept_out_by_the_guard": REFUSED,
    }


def test_an_unknown_kind_is_told_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="unknown kind of weak pairs 'titles': choose among headings, sentence, "):
        prepare("tiny", tmp_path / "out", kinds=["headings", "titles"])
    assert not (tmp_path / "out").exists()


def test_an_unknown_benchmark_is_told_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(BenchmarkError, match="unknown benchmark 'vosdroit'"):
        prepare("vosdroit", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("left", [{}, {"train": ()}])
def test_without_train_questions_nothing_can_be_learned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left: dict[str, tuple[str, ...]]
) -> None:
    whole = build_benchmark("tiny")
    splits = {part: ids for part, ids in whole.questions.splits.items() if part != "train"} | left
    monkeypatch.setattr(
        preparation,
        "build_benchmark",
        lambda name, source: replace(whole, questions=replace(whole.questions, splits=splits)),
    )
    with pytest.raises(TrainingError, match=r"'tiny' has no train questions over articles: it cannot be learned from"):
        prepare("tiny", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_bad_place_is_met_before_long_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparation, "build_benchmark", lambda name, source: pytest.fail("the law was read"))
    (tmp_path / "thèse.odt").touch()
    with pytest.raises(TrainingError, match=r"holds something else already \(thèse\.odt\); give a new or empty folder"):
        prepare("tiny", tmp_path)
    with pytest.raises(LexarborError, match="is a file; give the name of a folder"):
        prepare("tiny", tmp_path / "thèse.odt")


def test_supervision_is_written_over_supervision(tmp_path: Path, tiny: SupervisionFolder) -> None:
    prepare("tiny", tmp_path, kinds=["headings"])
    assert prepare("tiny", tmp_path).pairs == tiny.pairs
