"""Supervision of an experiment: once from what it is asked from, and whose language models may be taken."""

import json
import shutil
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from light_training import finish, on_bench

from lexarbor.corpus.sources import read_tiny
from lexarbor.errors import BenchmarkError, LexarborError, TrainingError
from lexarbor.experiments import preparing, running
from lexarbor.experiments.catalogue import experiment
from lexarbor.experiments.jobs import Job, made_path, read_made
from lexarbor.experiments.lab import Lab
from lexarbor.experiments.prepared import check_lender
from lexarbor.experiments.preparing import prepare_data
from lexarbor.files import sha256
from lexarbor.supervision.synthetic import read_synthetic, shipped_questions, write_synthetic

NAMES = ["gnns"]


def questions(path: Path, wording: str) -> Path:
    """A synthetic question of one article."""
    line = {"article": read_tiny().current()[0].id, "question": wording, "generator": "test", "score": -1.0}
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """Not to be written to."""
    lab = Lab("tiny", tmp_path_factory.mktemp("prepared"), train_on="train+dev")
    prepare_data(lab)
    return lab


def told(lab: Lab, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((lab.work / "data" / f"{name}.json").read_text(encoding="utf-8"))
    return found


def test_what_a_folder_is_prepared_from_is_told_beside_it(prepared: Lab, tmp_path: Path) -> None:
    expected = {"benchmark": "tiny", "source": None, "kinds": ["sentence"], "questions": None, "also_for": []}
    assert told(prepared, "train") == told(prepared, "train+dev") == expected
    asked = Lab("tiny", tmp_path, questions=questions(tmp_path / "questions.jsonl", "Qui paie le puits ?"))
    (folder,) = prepare_data(asked)
    assert told(asked, "train") == {**expected, "questions": sha256(tmp_path / "questions.jsonl")}
    before = (folder / "manifest.json").stat().st_mtime_ns
    assert prepare_data(asked) == [folder]
    assert (folder / "manifest.json").stat().st_mtime_ns == before


def test_language_models_of_vosdroits_are_kept_from_the_sheets_of_its_other_split(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`prepare` itself keeps them out: tests/supervision/test_leakage.py."""
    asked = []

    def seen(name: str, folder: Path, **given: Any) -> None:
        asked.append((name, given["learn_from"], given["also_for"]))
        raise BenchmarkError("enough")

    monkeypatch.setattr(preparing, "prepare", seen)
    for benchmark in ("vosdroits", "vosdroits-disjoint"):
        with pytest.raises(BenchmarkError, match="enough"):
            prepare_data(Lab(benchmark, tmp_path))
    assert asked == [
        ("vosdroits", ["train"], ["vosdroits-disjoint"]),
        ("vosdroits-disjoint", ["train"], []),
    ]


def test_a_folder_that_was_prepared_from_something_else_is_refused(prepared: Lab, tmp_path: Path) -> None:
    for changes, said in (
        ({"name": "bsard", "scale": "tiny"}, r"for the benchmark tiny, not bsard: give another --work, or --benchmark"),
        ({"source": "elsewhere"}, r"another --source \(None, not elsewhere\)"),
        ({"questions": questions(tmp_path / "a.jsonl", "Qui ?")}, "with no synthetic questions: give another --work"),
        (
            {"changes": ("dpr_start.supervision.kinds={headings: 1}",)},
            r"another --scale, or --set, .*\(\['sentence'\], not \['head",
        ),
    ):
        with pytest.raises(BenchmarkError, match=said):
            prepare_data(replace(prepared, **changes))


def test_other_questions_under_the_same_name_are_refused(tmp_path: Path) -> None:
    lab = Lab("tiny", tmp_path / "work", questions=questions(tmp_path / "questions.jsonl", "Qui paie le puits ?"))
    prepare_data(lab)
    moved = Path(shutil.copy(tmp_path / "questions.jsonl", tmp_path / "moved.jsonl"))
    prepare_data(replace(lab, questions=moved))  # the same ones elsewhere
    questions(tmp_path / "questions.jsonl", "Qui garde le puits ?")
    with pytest.raises(BenchmarkError, match="was prepared with other synthetic questions"):
        prepare_data(lab)


def test_models_are_neither_trained_nor_told_of_over_what_was_prepared_otherwise(
    prepared: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "train_all", lambda *jobs, **how: pytest.fail("trained"))
    for lab, said in (
        (Lab("travail", prepared.work, scale="tiny"), "prepared for the benchmark tiny, not travail"),
        (Lab("tiny", prepared.work, questions=questions(tmp_path / "q.jsonl", "Qui ?")), "with no synthetic questions"),
    ):
        with pytest.raises(BenchmarkError, match=said):
            running.train(lab, NAMES)
        with pytest.raises(BenchmarkError, match=said):
            running.report(lab, NAMES[0], tmp_path / "out", "")
    assert not (tmp_path / "out").exists()


def test_shipped_questions_are_refused_where_their_generator_has_seen_what_is_held_out(tmp_path: Path) -> None:
    copy = Path(shutil.copy(shipped_questions(), tmp_path / "mine.jsonl.xz"))
    with pytest.raises(
        BenchmarkError, match=r"mine.jsonl.xz: 67054 of them come with Lexarbor, .*which vosdroits-disjoint may"
    ):
        running.check(Lab("vosdroits-disjoint", tmp_path, questions=copy), ["main"])
    running.check(Lab("vosdroits", tmp_path, questions=copy), ["main"])
    own = questions(tmp_path / "own.jsonl", "Qui ?")
    shipped = read_synthetic(copy)[:200]
    for share, mixed in ((1, True), (9, True), (20, False)):  # filtered, and one of ten and of twenty among others
        others = [replace(shipped[0], question=f"Question {number} ?") for number in range((share - 1) * 200)]
        write_synthetic([*shipped, *others], tmp_path / "mixed.jsonl")
        lab = Lab("vosdroits-disjoint", tmp_path, questions=tmp_path / "mixed.jsonl")
        with pytest.raises(BenchmarkError, match="200 of them come with") if mixed else nullcontext():
            running.check(lab, ["main"])
    running.check(Lab("vosdroits-disjoint", tmp_path, questions=own), ["main"])


def test_a_table_does_not_tell_of_models_that_began_otherwise(lender: Lab, tmp_path: Path) -> None:
    """Language models are no rows of it."""
    other = replace(lender, changes=("models.general.recipe.block_tokens=48",))
    with pytest.raises(TrainingError, match=r"'general' was trained with another block_tokens .*\(64, not 48\)"):
        running.report(other, NAMES[0], tmp_path / "out", "")


@pytest.mark.parametrize("name", ["manifest.json", "pairs.jsonl.xz"])
def test_what_was_prepared_and_is_damaged_can_be_prepared_again(name: str, prepared: Lab, tmp_path: Path) -> None:
    """And what was trained from it stays: it is the same again."""
    lab = Lab("tiny", tmp_path)
    shutil.copytree(prepared.work / "data", tmp_path / "data")
    folder = tmp_path / "data" / "train"
    before = sha256(folder / "manifest.json")
    (folder / name).write_bytes((folder / name).read_bytes()[:10])
    for call in (prepare_data, lambda one: running.train(one, NAMES)):
        with pytest.raises(
            BenchmarkError, match=r"data/train: is damaged, .*: remove it, and the same command prepares"
        ):
            call(lab)
    shutil.rmtree(folder)
    prepare_data(lab)
    assert sha256(folder / "manifest.json") == before


def test_a_folder_that_does_not_tell_is_refused(prepared: Lab, tmp_path: Path) -> None:
    shutil.copytree(prepared.work / "data" / "train", tmp_path / "data" / "train")
    with pytest.raises(BenchmarkError, match=r"data/train: what it was prepared from is not told there"):
        prepare_data(Lab("tiny", tmp_path))
    with pytest.raises(BenchmarkError, match=r"--models .*: no experiment has worked there; give the --work of one"):
        check_lender(Lab("tiny", tmp_path / "work"), tmp_path)


def test_language_models_are_taken_from_who_has_kept_this_benchmarks_sheets_out(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    place = tmp_path / "data" / "train.json"
    place.write_text(json.dumps({"benchmark": "vosdroits", "also_for": ["vosdroits-disjoint"]}), encoding="utf-8")
    for name in ("vosdroits", "vosdroits-disjoint"):
        check_lender(Lab(name, tmp_path / "work"), tmp_path)
    with pytest.raises(BenchmarkError, match=r"sheets that travail holds out, they were made for vosdroits: leave"):
        check_lender(Lab("travail", tmp_path / "work"), tmp_path)
    place.write_text(json.dumps({"benchmark": "vosdroits-disjoint", "also_for": []}), encoding="utf-8")
    with pytest.raises(BenchmarkError, match="sheets that vosdroits holds out, they were made for vosdroits-disjoint"):
        check_lender(Lab("vosdroits", tmp_path / "work"), tmp_path)


def tell_where(job: Job, work: Path) -> None:
    """What a job leaves names the folder that it was made in."""
    finish(job, work)
    (job.folder(work) / "made-in").write_text(work.name, encoding="utf-8")


@pytest.fixture
def lender(prepared: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """A work folder with every model of the graph neural networks."""
    on_bench(monkeypatch, tell_where)
    shutil.copytree(prepared.work / "data", tmp_path / "lender" / "data")
    lab = Lab("tiny", tmp_path / "lender")
    assert running.train(lab, NAMES) == {}
    return lab


def borrower(lender: Lab) -> Lab:
    """With supervision of its own."""
    work = lender.work.with_name("borrower")
    lab = Lab("tiny", work, models=lender.work, questions=questions(work.with_name("b.jsonl"), "Qui ?"))
    prepare_data(lab)
    assert (work / "data/train/manifest.json").read_bytes() != (lender.work / "data/train/manifest.json").read_bytes()
    return lab


def made_in(lab: Lab) -> dict[str, str]:
    return {path.parent.name: path.read_text(encoding="utf-8") for path in (lab.work / "models").glob("*/made-in")}


def test_language_models_are_borrowed_and_retrievers_are_not(lender: Lab) -> None:
    lab = borrower(lender)
    (lab.work / "models" / "general").mkdir(parents=True)
    (lab.work / "models" / "general" / "half-written").touch()
    assert running.train(lab, NAMES) == {}
    found = made_in(lab)
    assert {key for key, where in found.items() if where == "lender"} == {"general", "law", "vocabulary"}
    assert set(found) == {job.key for job in experiment("gnns").jobs(lab)}  # type: ignore[misc]
    assert not (lab.work / "models" / "general" / "half-written").exists()
    assert not list((lab.work / "models").glob(".*"))
    assert set(read_made(lab.work, "law")["from"]) == {"general"}
    assert running.train(lab, NAMES) == {}  # what was borrowed passes for what is asked for
    assert running.train(replace(lab, models=None), NAMES) == {}
    assert made_in(lab) == found


def test_what_is_borrowed_is_of_the_recipe_that_is_asked_for(lender: Lab) -> None:
    other = replace(borrower(lender), changes=("models.general.recipe.block_tokens=48",))
    with pytest.raises(TrainingError, match=r"'general' was trained with another block_tokens .*\(64, not 48\)"):
        running.train(other, NAMES)
    assert "general" not in made_in(other)


def test_what_begins_from_a_model_that_was_trained_here_is_trained_here(lender: Lab) -> None:
    lab = borrower(lender)
    assert running.train(replace(lab, models=None), NAMES, ["general"]) == {}
    assert running.train(lab, NAMES) == {}
    assert set(made_in(lab).values()) == {"borrower"}


def test_a_lender_that_does_not_tell_how_a_model_was_made_is_refused(lender: Lab) -> None:
    lab = borrower(lender)
    made_path(lender.work, "vocabulary").unlink()
    with pytest.raises(LexarborError, match=r"made/vocabulary\.json: cannot be read"):
        running.train(lab, NAMES)
    assert not (lab.work / "models").exists()
