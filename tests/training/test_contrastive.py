"""The stage `text`, whole: it learns, it stops in time, and it goes on where it was killed."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from tiny_supervision import asking_train, recipe, tiny, weights

from killed_runs import Killed, killed_at
from lexarbor.errors import TrainingError
from lexarbor.evaluation import MEASURES
from lexarbor.supervision.weak import KINDS
from lexarbor.text.retriever import DenseStatuteRetriever
from lexarbor.training.batches import BatchStream
from lexarbor.training.contrastive import train_text
from lexarbor.training.drawing import shares
from lexarbor.training.ranking import Dev
from lexarbor.training.recipes import TextRecipe, read_recipe

RECIPES = Path(__file__).parent.parent.parent / "recipes"


def same_weights(one: Path, other: Path) -> bool:
    first, second = (weights(DenseStatuteRetriever.load(folder)) for folder in (one, other))
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


def test_it_learns_train_questions_by_heart(tmp_path: Path) -> None:
    by_heart = recipe(
        dropout=0.0,
        optimisation={"batch_size": 12, "steps": 60, "learning_rate": 2e-3},
        supervision={"positives": 2},
        watching={"evaluate_every": 30, "log_every": 5},
    )
    report = train_text(by_heart, asking_train(tiny()), tmp_path / "run")
    log = json.loads((tmp_path / "run" / "log.json").read_text(encoding="utf-8"))["log"]
    losses = [entry["loss"] for entry in log if "loss" in entry]
    assert losses[0] > 2 and losses[-1] < 0.1
    assert [entry["step"] for entry in log if "eval_map" in entry] == [30, 60]
    assert report.dev["recall@10"] > 0.95
    assert (report.steps, report.kept_step, report.loss) == (60, 60, losses[-1])
    assert read_recipe(tmp_path / "run" / "recipe.yaml") == by_heart
    loaded = DenseStatuteRetriever.load(tmp_path / "run")
    folder = asking_train(tiny())
    assert Dev(loaded, folder.articles, folder.asked).figures(loaded) == pytest.approx(report.dev)
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        "encoder",
        "log.json",
        "recipe.yaml",
        "settings.json",
    ]


@pytest.mark.parametrize("accumulation", [1, 2])
def test_a_killed_run_goes_on_bit_for_bit(tmp_path: Path, accumulation: int) -> None:
    watched = {"save_every": 3, "evaluate_every": 2, "log_every": 1}
    plan = recipe(
        dropout=0.1,
        supervision={"kinds": {"gold": 1, "sentence": 1}},
        optimisation={"steps": 6, "accumulation": accumulation, "mini_batch": 4},
        watching=watched,
    )
    train_text(plan, tiny(), tmp_path / "straight")
    with killed_at(BatchStream, 5 * accumulation):
        train_text(plan, tiny(), tmp_path / "killed")
    assert [path.name for path in (tmp_path / "killed" / "checkpoints").iterdir()] == ["checkpoint-3"]
    report = train_text(plan, tiny(), tmp_path / "killed", resume=True)
    assert report.steps == 6
    assert same_weights(tmp_path / "straight", tmp_path / "killed")
    logs = [
        [
            {name: value for name, value in entry.items() if not name.endswith(("second", "runtime"))}
            for entry in json.loads((tmp_path / name / "log.json").read_text(encoding="utf-8"))["log"]
            if "train_loss" not in entry
        ]
        for name in ("straight", "killed")
    ]
    assert logs[0] == logs[1]


def scripted(figures: list[float], monkeypatch: pytest.MonkeyPatch) -> list[dict[str, torch.Tensor]]:
    """Looks at dev that find these figures; gives the weights that were looked at."""
    seen: list[dict[str, torch.Tensor]] = []

    def figure(self: Dev, model: DenseStatuteRetriever) -> dict[str, float]:
        seen.append(weights(model))
        return {"recall@100": figures[len(seen) - 1]}

    monkeypatch.setattr(Dev, "figures", figure)
    return seen


PATIENT = {"evaluate_every": 1, "patience": 2, "measure": "recall@100"}


def test_patience_stops_and_keeps_the_best(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = scripted([0.1, 0.5, 0.4, 0.5, 0.9], monkeypatch)
    report = train_text(recipe(optimisation={"steps": 9}, watching=PATIENT), tiny(), tmp_path / "run")
    assert (report.steps, report.kept_step, report.dev) == (4, 2, {"recall@100": 0.5})
    kept = weights(DenseStatuteRetriever.load(tmp_path / "run"))
    assert all(torch.equal(kept[name], seen[1][name]) for name in kept)
    assert not torch.equal(kept[max(kept)], seen[3][max(kept)])


def stopped_after_two_looks(out: Path, monkeypatch: pytest.MonkeyPatch) -> TextRecipe:
    """The first look was the better one."""
    plan = recipe(optimisation={"steps": 9}, watching={**PATIENT, "save_every": 1})
    with monkeypatch.context() as patched:
        scripted([0.5, 0.4], patched)
        with killed_at(BatchStream, 3):
            train_text(plan, tiny(), out)
    return plan


def test_patience_goes_on_counting_after_a_kill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = stopped_after_two_looks(tmp_path / "run", monkeypatch)
    scripted([0.3, 0.9], monkeypatch)
    report = train_text(plan, tiny(), tmp_path / "run", resume=True)
    assert (report.steps, report.kept_step, report.dev["recall@100"]) == (3, 1, 0.5)


def test_a_run_that_was_moved_after_its_last_step_keeps_the_best(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: Any) -> None:
        raise Killed

    plan = recipe(optimisation={"steps": 2}, watching={**PATIENT, "save_every": 1})
    with monkeypatch.context() as patched:
        seen = scripted([0.5, 0.4], patched)
        patched.setattr(DenseStatuteRetriever, "save", killed)
        with pytest.raises(Killed):
            train_text(plan, tiny(), tmp_path / "run")
    (tmp_path / "run").rename(tmp_path / "moved")
    report = train_text(plan, tiny(), tmp_path / "moved", resume=True)
    assert (report.steps, report.kept_step, report.dev) == (2, 1, {"recall@100": 0.5})
    kept = weights(DenseStatuteRetriever.load(tmp_path / "moved"))
    assert all(torch.equal(kept[name], seen[0][name]) for name in kept)


def test_a_best_checkpoint_that_is_gone_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = stopped_after_two_looks(tmp_path / "run", monkeypatch)
    shutil.rmtree(tmp_path / "run" / "checkpoints" / "checkpoint-1")
    with pytest.raises(TrainingError, match="the best checkpoint until now, is not there"):
        train_text(plan, tiny(), tmp_path / "run", resume=True)


@pytest.mark.parametrize("measure", MEASURES)
def test_a_run_can_be_chosen_by_any_measure(tmp_path: Path, measure: str) -> None:
    plan = recipe(optimisation={"steps": 1}, watching={"evaluate_every": 1, "patience": 1, "measure": measure})
    assert measure in train_text(plan, tiny(), tmp_path / "run").dev


def test_what_tensorboard_reads_stays_when_a_run_has_finished(tmp_path: Path) -> None:
    train_text(recipe(watching={"report": ["tensorboard"], "save_every": 2}), tiny(), tmp_path / "run")
    assert list((tmp_path / "run" / "runs").glob("events.out.tfevents.*"))
    assert not (tmp_path / "run" / "checkpoints").exists()


def test_only_states_that_can_be_resumed_are_written_whole(tmp_path: Path) -> None:
    for save_every, expected in ((0, False), (1, True)):
        out = tmp_path / str(save_every)
        with killed_at(BatchStream, 2):
            train_text(recipe(watching={**PATIENT, "save_every": save_every}), tiny(), out)
        assert (out / "checkpoints" / "checkpoint-1" / "optimizer.pt").exists() == expected


@pytest.mark.parametrize(
    "changes",
    [
        {"loss": {"name": "triplet"}},
        {"encoder": {"article": "hierarchical", "max_tokens": 60, "chunk_tokens": 24, "shared": False}},
        {"encoder": {"similarity": "euclidean"}, "optimisation": {"precision": "bf16"}},
        {"supervision": {"unit": "label"}, "optimisation": {"steps": 0, "epochs": 0.5}},
        {"optimisation": {"workers": 1, "schedule": "constant"}},
    ],
    ids=lambda changes: "+".join(str(value) for part in changes.values() for value in part.values()),
)
def test_what_recipes_can_ask_for_moves_the_weights(tmp_path: Path, changes: dict[str, Any]) -> None:
    before = recipe(**{**changes, "optimisation": {**changes.get("optimisation", {}), "learning_rate": 1e-30}})
    after = recipe(**changes)
    for name, plan in (("before", before), ("after", after)):
        train_text(plan, tiny(), tmp_path / name)
    found = [weights(DenseStatuteRetriever.load(tmp_path / name)) for name in ("before", "after")]
    # a bias of keys adds the same to all scores of attention: its gradient is 0 but for rounding
    moving = [name for name in found[0] if "key.bias" not in name]
    assert not [name for name in moving if torch.equal(found[0][name], found[1][name])]
    assert all(torch.isfinite(weight).all() for weight in found[1].values())


def test_workers_do_not_change_what_is_learned(tmp_path: Path) -> None:
    for workers in (0, 2):
        train_text(recipe(optimisation={"workers": workers}), tiny(), tmp_path / str(workers))
    assert same_weights(tmp_path / "0", tmp_path / "2")


def test_dev_is_looked_at_at_the_end_without_being_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = scripted([0.25, 1.0], monkeypatch)
    report = train_text(recipe(), tiny(), tmp_path / "run")
    assert (report.dev, len(seen)) == ({"recall@100": 0.25}, 1)


def test_steps_of_epochs_count_units(tmp_path: Path) -> None:
    plan = recipe(optimisation={"steps": 0, "epochs": 2, "batch_size": 5})
    gold = tiny().kinds()["gold"]
    assert train_text(plan, tiny(), tmp_path / "run").steps == 2 * -(-gold // 5)


def test_the_recipe_for_a_cpu_learns_in_seconds(tmp_path: Path) -> None:
    plan = read_recipe(RECIPES / "dsr-tiny.yaml")
    assert isinstance(plan, TextRecipe)
    report = train_text(plan, tiny(), tmp_path / "run")
    log = json.loads((tmp_path / "run" / "log.json").read_text(encoding="utf-8"))["log"]
    losses = [entry["loss"] for entry in log if "loss" in entry]
    assert losses[-1] < losses[0] / 2
    assert report.dev["recall@10"] > 0


def jobs_of_the_study() -> dict[str, dict[str, Any]]:
    study = yaml.safe_load((RECIPES.parent / "benchmarks" / "study_dsr.yaml").read_text(encoding="utf-8"))
    return dict(study["jobs"])


@pytest.mark.parametrize("name", jobs_of_the_study())
def test_the_study_has_recipes_that_can_be_read_and_kinds_that_are_made(name: str) -> None:
    told = jobs_of_the_study()[name]
    plan = read_recipe(RECIPES.parent / told["recipe"], told.get("set", ()))
    assert isinstance(plan, TextRecipe)
    assert plan.supervision.kinds.keys() <= {"gold", *KINDS}
    assert sum(shares(plan.supervision.kinds, plan.optimisation.batch_size).values()) == plan.optimisation.batch_size
