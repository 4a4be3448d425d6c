"""What cannot be trained is refused before long work, in one sentence that says what to do."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_supervision import recipe, refused_by, tiny

from lexarbor.supervision.folder import write_supervision
from lexarbor.training import contrastive
from lexarbor.training.contrastive import train_text
from lexarbor.training.objective import ContrastiveObjective
from lexarbor.training.recipes import write_recipe

refused = partial(refused_by, train_text)


@pytest.fixture
def no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is loaded or made before what is wrong is told."""

    def begun(*_: Any) -> None:
        raise AssertionError("long work began")

    monkeypatch.setattr(contrastive, "start", begun)


@pytest.mark.usefixtures("no_model")
def test_supervision_that_lacks_what_the_recipe_names(tmp_path: Path) -> None:
    told = refused(recipe(supervision={"kinds": {"gilded": 1}}), tiny(), tmp_path)
    assert told.startswith("the supervision folder has no pairs of the kind 'gilded': choose among gold, headings")
    assert "holds no questions" in refused(recipe(), replace(tiny(), pairs=[]), tmp_path)
    no_dev = replace(tiny(), asked=[replace(one, split="test", gold=()) for one in tiny().asked])
    looking = recipe(watching={"evaluate_every": 1, "patience": 1})
    assert "no dev questions to look at" in refused(looking, no_dev, tmp_path)
    unknown = recipe(watching={"evaluate_every": 1, "patience": 1, "measure": "recal@100"})
    assert "watching.measure is 'recal@100': choose one of recall@10," in refused(unknown, tiny(), tmp_path)
    several = recipe(supervision={"unit": "label", "positives": 2})
    assert "positives is 2, but a unit 'label'" in refused(several, tiny(), tmp_path)
    missing = recipe(supervision={"negatives": str(tmp_path / "none.jsonl")})
    assert "no such file of mined negatives" in refused(missing, tiny(), tmp_path)
    assert not list(tmp_path.iterdir())


def test_nothing_to_tell_apart(tmp_path: Path) -> None:
    plan = recipe(supervision={"kinds": {"sentence": 1}, "in_batch": False})
    assert "no pair of the kinds sentence has hard negatives" in refused(plan, tiny(), tmp_path)


@pytest.mark.usefixtures("no_model")
def test_folders_that_are_not_this_runs(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").touch()
    assert "is not empty" in refused(recipe(), tiny(), tmp_path / "other")
    assert "save_every is 0" in refused(recipe(), tiny(), tmp_path / "new", resume=True)
    saving = recipe(watching={"save_every": 1})
    assert "no run's" in refused(saving, tiny(), tmp_path / "other", resume=True)
    write_recipe(saving, tmp_path / "other" / "recipe.yaml")
    changed = recipe(dropout=0.3, watching={"save_every": 2})
    assert "was begun with another dropout" in refused(changed, tiny(), tmp_path / "other", resume=True)
    (tmp_path / "other" / "log.json").touch()
    assert "has finished" in refused(saving, tiny(), tmp_path / "other", resume=True)


@pytest.mark.usefixtures("no_model")
def test_a_run_is_not_resumed_with_other_data(tmp_path: Path) -> None:
    saving = recipe(watching={"save_every": 1})
    one = write_supervision(tiny(), tmp_path / "one")
    other = write_supervision(replace(tiny(), texts=["Un texte de plus."]), tmp_path / "other")
    with pytest.raises(AssertionError, match="long work began"):
        train_text(saving, one, tmp_path / "run")
    assert "was begun with other data" in refused(saving, other, tmp_path / "run", resume=True)
    with pytest.raises(AssertionError, match="long work began"):
        train_text(saving, one, tmp_path / "run", resume=True)


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory"),
        MemoryError(),
        RuntimeError("[enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: can't allocate memory: you tried"),
    ],
)
def test_a_batch_that_does_not_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(ContrastiveObjective, "forward", full)
    assert refused(recipe(), tiny(), tmp_path) == (
        "a batch of 6 questions does not fit in this memory: set optimisation.mini_batch (e.g. 64) or lower batch_size"
    )


def test_another_error_stays_what_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("shapes differ")

    monkeypatch.setattr(ContrastiveObjective, "forward", broken)
    with pytest.raises(RuntimeError, match="shapes differ"):
        train_text(recipe(), tiny(), tmp_path)


def test_the_largest_batch_is_tried_first_and_leaves_no_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []
    whole = ContrastiveObjective.forward

    def watched(self: ContrastiveObjective, questions: Any, passages: Any, *masks: Any, **named: Any) -> Any:
        tried.append(passages["ids"].numel())
        return whole(self, questions, passages, *masks, **named)

    monkeypatch.setattr(ContrastiveObjective, "forward", watched)
    plan = recipe(dropout=0.1)
    train_text(plan, tiny(), tmp_path / "tried")
    assert tried[0] == max(tried)
    monkeypatch.setattr(contrastive, "try_largest", lambda *_: None)
    train_text(plan, tiny(), tmp_path / "untried")
    weights = [(tmp_path / name / "encoder" / "model.safetensors").read_bytes() for name in ("tried", "untried")]
    assert weights[0] == weights[1]
