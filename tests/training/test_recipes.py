"""Recipes: every value checked before work, unknown keys refused with the nearest, saved whole."""

from pathlib import Path
from typing import Any

import pytest

from lexarbor.errors import TrainingError
from lexarbor.training.hyperparameters import Architecture, Loss, Optimisation, SupervisionRecipe, Watching
from lexarbor.training.recipes import PretrainRecipe, TextRecipe, parse_recipe, read_recipe, write_recipe

RECIPES = Path(__file__).parents[2] / "recipes"


@pytest.mark.parametrize("path", sorted(RECIPES.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_shipped_recipe_can_be_read(path: Path, tmp_path: Path) -> None:
    recipe = read_recipe(path)
    write_recipe(recipe, tmp_path / "again.yaml")
    assert read_recipe(tmp_path / "again.yaml") == recipe


def test_the_shipped_recipes_are_there() -> None:
    names = {path.name for path in RECIPES.glob("*.yaml")}
    assert {"pretrain.yaml", "pretrain-tiny.yaml", "paper-pretrain.yaml", "paper-dsr.yaml"} <= names
    assert {"generate-gaps.yaml", "generate.yaml", "generate-near.yaml", "generate-tiny.yaml"} <= names


def test_values_are_read_where_they_belong() -> None:
    recipe = parse_recipe(
        {
            "stage": "text",
            "start": "somewhere",
            "encoder": {"max_tokens": 128},
            "loss": {"temperature": "5e-2"},  # YAML reads 5e-2 as a word
            "supervision": {"kinds": {"gold": 1, "headings": 0.5}},
            "optimisation": {"epochs": 2},
            "watching": {"report": ["tensorboard"]},
        }
    )
    assert isinstance(recipe, TextRecipe)
    assert recipe.encoder.max_tokens == 128
    assert recipe.loss.temperature == 0.05
    assert recipe.supervision.kinds == {"gold": 1.0, "headings": 0.5}
    assert recipe.optimisation.epochs == 2.0
    assert recipe.watching.report == ("tensorboard",)


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ({"stage": "pretrain", "maskd": 0.2}, "unknown key 'maskd': did you mean 'masked'?"),
        (
            {"stage": "pretrain", "optimisation": {"learning_rat": 1}},
            "'optimisation.learning_rat': did you mean 'learn",
        ),
        ({"stage": "pretrain", "zzz": 1}, "unknown key 'zzz': known are stage, start"),
        ({"stage": "graphs"}, "stage is 'graphs': choose one of pretrain, text, graph, generate"),
        ({}, "stage is None"),
        ({"stage": "text"}, "'start' is missing"),
        ({"stage": "pretrain", "block_tokens": "many"}, "block_tokens is 'many': expected int"),
        ({"stage": "pretrain", "block_tokens": True}, "block_tokens is True: expected int"),
        ({"stage": "pretrain", "masked": "few"}, "masked is 'few': expected float"),
        ({"stage": "pretrain", "optimisation": 3}, "optimisation: expected keys with values"),
        ({"stage": ["text"]}, "stage is ['text']"),
        ({"stage": "pretrain", "masked": ".nan"}, "masked is '.nan'"),
        ({"stage": "pretrain", "masked": float("inf")}, "masked is inf"),
        ({"stage": "pretrain", "watching": {"report": "wandb"}}, "watching.report is 'wandb': expected"),
        ({"stage": "text", "start": "x", "encoder": {"pooling": "sum"}}, "pooling is 'sum'"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_place(written: dict[str, Any], told: str) -> None:
    with pytest.raises(TrainingError) as caught:
        parse_recipe(written)
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: Optimisation(), "by steps or by epochs"),
        (lambda: Optimisation(steps=1, epochs=1), "by steps or by epochs"),
        (lambda: Optimisation(steps=1, schedule="steps"), "schedule is 'steps'"),
        (lambda: Optimisation(steps=1, precision="int8"), "precision is 'int8'"),
        (lambda: Optimisation(steps=1, batch_size=0), "batch_size is 0"),
        (lambda: Optimisation(steps=1, learning_rate=2), "learning_rate is 2"),
        (lambda: Optimisation(steps=1, learning_rate=float("nan")), "learning_rate is nan"),
        (lambda: Optimisation(steps=1, warmup=1.5), "warmup"),
        (lambda: Watching(patience=2), "needs watching.evaluate_every"),
        (lambda: Watching(log_every=0), "log_every is 0"),
        (lambda: Watching(report=("mlflow",)), "report is 'mlflow'"),
        (lambda: Loss(temperature=0), "temperature is 0"),
        (lambda: Loss(name="ranknet"), "loss.name is 'ranknet'"),
        (lambda: SupervisionRecipe(kinds={}), "supervision.kinds is {}"),
        (lambda: SupervisionRecipe(kinds={"gold": -1}), "supervision.kinds"),
        (lambda: SupervisionRecipe(negatives="none", in_batch=False), "nothing to tell apart"),
        (lambda: SupervisionRecipe(hard_negatives=0, in_batch=False), "nothing to tell apart"),
        (lambda: Architecture(hidden=100, heads=6), "multiple of heads"),
        (lambda: PretrainRecipe(masked=1.0), "masked is 1.0"),
        (lambda: PretrainRecipe(dropout=1.0), "dropout is 1.0"),
        (lambda: TextRecipe(start="x", dropout=-0.1), "dropout is -0.1"),
        (lambda: PretrainRecipe(watching=Watching(evaluate_every=5)), "evaluate_every looks at questions of dev"),
        (lambda: PretrainRecipe(optimisation=Optimisation(steps=1, mini_batch=8)), "mini_batch is for the stage text"),
        (lambda: PretrainRecipe(block_tokens=2048), "more than architecture.positions (1024)"),
        (lambda: TextRecipe(start="x", article_start="y"), "set encoder.shared to false"),
    ],
)
def test_impossible_values_are_refused(make: Any, told: str) -> None:
    with pytest.raises(TrainingError) as caught:
        make()
    assert told in str(caught.value)


def test_single_values_can_be_changed(tmp_path: Path) -> None:
    path = tmp_path / "recipe.yaml"
    path.write_text("stage: pretrain\noptimisation: {steps: 5}\n")
    recipe = read_recipe(path, ["optimisation.steps=7", "watching.report=[tensorboard]", "start=a/b"])
    assert (recipe.optimisation.steps, recipe.watching.report, recipe.start) == (7, ("tensorboard",), "a/b")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("optimisation.steps", "write it as key=value"),
        ("=3", "write it as key=value"),
        ("stage.x=1", "holds a single value"),
        ("optimisation.stepz=1", "did you mean 'steps'?"),
        ("masked=[", "cannot be read as YAML"),
    ],
)
def test_a_change_that_changes_nothing_is_refused(tmp_path: Path, change: str, told: str) -> None:
    path = tmp_path / "recipe.yaml"
    path.write_text("stage: pretrain\noptimisation: {steps: 5}\n")
    with pytest.raises(TrainingError) as caught:
        read_recipe(path, [change])
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [("- 1", "expected keys with values"), ("a: [", "cannot be read as YAML"), ("", "found NoneType")],
)
def test_a_file_that_is_no_recipe_is_refused_by_name(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "recipe.yaml"
    path.write_text(text)
    with pytest.raises(TrainingError) as caught:
        read_recipe(path)
    assert str(path) in str(caught.value)
    assert told in str(caught.value)


def test_a_recipe_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="no such recipe"):
        read_recipe(tmp_path / "none.yaml")


def test_two_recipes_with_equal_values_are_equal() -> None:
    assert parse_recipe({"stage": "pretrain"}) == PretrainRecipe()
