"""A run's folder: nobody else's is taken, a finished run stays, a stopped one goes on with what it was begun with."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from lexarbor.errors import TrainingError
from lexarbor.supervision.folder import Passage, Supervision, SupervisionFolder, write_supervision
from lexarbor.training.arguments import fitting
from lexarbor.training.hyperparameters import Watching
from lexarbor.training.recipes import PretrainRecipe, TextRecipe, read_recipe
from lexarbor.training.runs import (
    WEIGHTS,
    claim,
    data_checksum,
    last_checkpoint,
    undone_if_refused,
)

SAVING = Watching(save_every=2)
RECIPES = {"pretrain": PretrainRecipe(watching=SAVING), "text": TextRecipe(start="bert", watching=SAVING)}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def checkpoint(folder: Path, step: int) -> Path:
    made = folder / f"checkpoint-{step}"
    made.mkdir(parents=True)
    (made / "trainer_state.json").write_text("{}")
    (made / WEIGHTS).touch()
    return made


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=list(RECIPES))
def test_a_stopped_run_goes_on_and_a_finished_one_does_not(tmp_path: Path, recipe: PretrainRecipe | TextRecipe) -> None:
    out = tmp_path / "deep" / "run"
    assert claim(recipe, out, resume=False, data="abc") is None
    assert names(out) == ["data.sha256", "recipe.yaml"]
    assert read_recipe(out / "recipe.yaml") == recipe
    assert claim(recipe, out, resume=True, data="abc") is None  # stopped before its first checkpoint
    last = checkpoint(out / "checkpoints", 2)
    assert claim(replace(recipe, watching=Watching(save_every=9)), out, resume=True, data="abc") == last
    with pytest.raises(TrainingError, match="is not empty: give a new folder, or resume"):
        claim(recipe, out, resume=False)
    (out / "log.json").touch()
    with pytest.raises(TrainingError, match="holds a run that has finished"):
        claim(recipe, out, resume=True, data="abc")


def test_what_cannot_be_resumed_is_left_as_it_is(tmp_path: Path) -> None:
    recipe = PretrainRecipe(watching=SAVING)
    with pytest.raises(TrainingError, match="save_every is 0"):
        claim(replace(recipe, watching=Watching()), tmp_path / "new", resume=True)
    claim(replace(recipe, watching=Watching()), tmp_path / "unsaved", resume=False)
    with pytest.raises(TrainingError, match="save_every is 0"):
        claim(recipe, tmp_path / "unsaved", resume=True)
    claim(recipe, tmp_path / "run", resume=False, data="abc")
    with pytest.raises(TrainingError, match="begun with another masked"):
        claim(replace(recipe, masked=0.3), tmp_path / "run", resume=True, data="abc")
    with pytest.raises(TrainingError, match="begun with other data"):
        claim(recipe, tmp_path / "run", resume=True, data="abd")
    assert read_recipe(tmp_path / "run" / "recipe.yaml") == recipe
    assert (tmp_path / "run" / "data.sha256").read_text() == "abc\n"


def test_a_folder_of_something_else_is_not_resumed(tmp_path: Path) -> None:
    (tmp_path / "encoder").mkdir()
    with pytest.raises(TrainingError, match=r"no run's: it has no recipe\.yaml"):
        claim(PretrainRecipe(watching=SAVING), tmp_path, resume=True)
    assert names(tmp_path) == ["encoder"]


def test_other_processes_than_the_first_write_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "1")
    claim(PretrainRecipe(), tmp_path, resume=False, data="abc")
    assert names(tmp_path) == []


def test_data_are_known_by_their_manifest(tmp_path: Path) -> None:
    found = []
    for text in ("La pêche est libre.", "La pêche est interdite.", "La pêche est libre."):
        folder = tmp_path / str(len(found))
        write_supervision(Supervision([Passage("A1", text)]), folder)
        found.append(data_checksum(SupervisionFolder.open(folder)))
    assert found[0] == found[2] != found[1]
    assert len(found[0]) == 64
    assert data_checksum(Supervision([])) == ""


def test_the_last_checkpoint_is_the_newest_whole_one(tmp_path: Path) -> None:
    assert last_checkpoint(tmp_path / "none") is None
    for step in (2, 10):
        checkpoint(tmp_path, step)
    (tmp_path / "checkpoint-11").mkdir()  # killed before anything was written
    (checkpoint(tmp_path, 12) / "trainer_state.json").write_text('{"global_step"')  # killed while its last file was
    assert last_checkpoint(tmp_path) == tmp_path / "checkpoint-10"


def test_a_refused_run_gives_its_folder_back(tmp_path: Path) -> None:
    for out, held in ((tmp_path / "new", None), (tmp_path / "empty", []), (tmp_path / "full", ["thesis.txt"])):
        if held is not None:
            out.mkdir()
        for name in held or []:
            (out / name).touch()
        with pytest.raises(TrainingError), undone_if_refused(out):
            claim(PretrainRecipe(), out, resume=False, data="abc")
            (out / "checkpoints").mkdir()
            (out / "runs").mkdir()
            raise TrainingError("does not fit")
        assert (names(out) if out.exists() else None) == held


def test_what_can_be_resumed_is_not_given_back(tmp_path: Path) -> None:
    with pytest.raises(TrainingError), undone_if_refused(tmp_path):
        claim(PretrainRecipe(), tmp_path, resume=False)
        checkpoint(tmp_path / "checkpoints", 2)
        raise TrainingError("does not fit")
    assert names(tmp_path) == ["checkpoints", "recipe.yaml"]


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory"),
        MemoryError(),
        RuntimeError("[enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: can't allocate memory: you tried"),
    ],
)
def test_where_memory_ends_there_is_advice(error: Exception) -> None:
    with pytest.raises(TrainingError) as caught, fitting("9 blocks", "take less"):
        raise error
    assert str(caught.value) == "a batch of 9 blocks does not fit in this memory: take less"
    with pytest.raises(RuntimeError, match="shapes differ"), fitting("9 blocks", "take less"):
        raise RuntimeError("shapes differ")
