"""recipes/paper-dsr.yaml against the paper's table of training hyper-parameters, value by value."""

from collections.abc import Callable
from pathlib import Path

import pytest

from lexarbor.training.graph_recipe import GraphRecipe
from lexarbor.training.recipes import PretrainRecipe, TextRecipe, read_recipe

RECIPES = Path(__file__).parents[2] / "recipes"

TABLE = """
    Maximum Chunk Length    | 128
    Maximum Document Length | 1024
    Pooling Strategy        | max
    Temperature             | 0.01
    Similarity              | cos
    Batch Size              | 24
    Weight Decay            | 0.01
    Max Epochs              | 15
    Peak Learning Rate      | 2e-5
    Learning Rate Decay     | Linear
    Warmup ratio            | 0.05
    AdamW epsilon           | 1e-7
    AdamW beta 1            | 0.9
    AdamW beta 2            | 0.999
    Gradient Clipping       | 1.0
"""
"""The column DSR of the table "Training hyperparameters for DSR and LGE"; its row #Layers is of LGE alone."""

OPTIMISATION: dict[str, Callable[[TextRecipe | GraphRecipe], object]] = {
    "Batch Size": lambda recipe: recipe.optimisation.batch_size * recipe.optimisation.accumulation,
    "Weight Decay": lambda recipe: recipe.optimisation.weight_decay,
    "Max Epochs": lambda recipe: recipe.optimisation.epochs,
    "Peak Learning Rate": lambda recipe: recipe.optimisation.learning_rate,
    "Learning Rate Decay": lambda recipe: recipe.optimisation.schedule.capitalize(),
    "Warmup ratio": lambda recipe: recipe.optimisation.warmup,
    "AdamW epsilon": lambda recipe: recipe.optimisation.epsilon,
    "AdamW beta 1": lambda recipe: recipe.optimisation.beta1,
    "AdamW beta 2": lambda recipe: recipe.optimisation.beta2,
    "Gradient Clipping": lambda recipe: recipe.optimisation.clipping,
}
"""The rows of the table that both columns fill."""

READ: dict[str, Callable[[TextRecipe], object]] = {
    "Maximum Chunk Length": lambda recipe: recipe.encoder.chunk_tokens,
    "Maximum Document Length": lambda recipe: recipe.encoder.max_tokens,
    "Pooling Strategy": lambda recipe: recipe.encoder.chunk_pooling,
    "Temperature": lambda recipe: recipe.loss.temperature,
    "Similarity": lambda recipe: recipe.encoder.similarity[:3],
    **OPTIMISATION,
}


def table(written: str = TABLE) -> dict[str, float | str]:
    rows = dict(line.split("|") for line in written.strip().splitlines())
    return {name.strip(): number(value.strip()) for name, value in rows.items()}


def number(value: str) -> float | str:
    try:
        return float(value)
    except ValueError:
        return value


def dsr() -> TextRecipe:
    recipe = read_recipe(RECIPES / "paper-dsr.yaml")
    assert isinstance(recipe, TextRecipe)
    return recipe


def test_every_row_of_the_table_is_compared() -> None:
    assert list(table()) == list(READ)
    assert len(READ) == 15


@pytest.mark.parametrize("name", READ)
def test_the_recipe_has_the_papers_value(name: str) -> None:
    assert READ[name](dsr()) == table()[name]


def test_what_implementation_details_adds() -> None:
    """CamemBERT for queries, its domain-adapted checkpoint for articles, [CLS] vectors, 16-bit mixed precision."""
    recipe = dsr()
    assert recipe.start == "camembert-base"
    assert recipe.article_start
    assert not recipe.encoder.shared
    assert recipe.encoder.article == "hierarchical"
    assert recipe.encoder.pooling == "cls"
    assert recipe.dropout == 0.1
    assert recipe.optimisation.precision == "fp16"
    assert recipe.supervision.in_batch
    assert recipe.supervision.negatives == "bm25"
    assert recipe.loss.name == "contrastive"
    assert not recipe.encoder.headings


def test_domain_adaptation_goes_on_from_camembert_for_50k_steps() -> None:
    recipe = read_recipe(RECIPES / "paper-pretrain.yaml")
    assert isinstance(recipe, PretrainRecipe)
    assert recipe.start == "camembert-base"
    assert recipe.optimisation.steps == 50_000
