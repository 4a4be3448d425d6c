"""recipes/paper-lge.yaml against the paper's table of training hyper-parameters, value by value."""

from collections.abc import Callable

import pytest
from test_paper_recipe import OPTIMISATION, RECIPES, dsr, table

from lexarbor.training.graph_recipe import GraphRecipe
from lexarbor.training.recipes import read_recipe

TABLE = """
    #Layers                 | 3
    Temperature             | 0.01
    Similarity              | cos
    Batch Size              | 512
    Weight Decay            | 0.1
    Max Epochs              | 10
    Peak Learning Rate      | 2e-4
    Learning Rate Decay     | Constant
    Warmup ratio            | 0.0
    AdamW epsilon           | 1e-7
    AdamW beta 1            | 0.9
    AdamW beta 2            | 0.999
    Gradient Clipping       | 1.0
"""
"""The column LGE of the table "Training hyperparameters for DSR and LGE"; its first three rows are of DSR alone."""

READ: dict[str, Callable[[GraphRecipe], object]] = {
    "#Layers": lambda recipe: recipe.graph.layers,
    "Temperature": lambda recipe: recipe.loss.temperature,
    "Similarity": lambda recipe: dsr().encoder.similarity[:3],  # vectors are compared as the encoder's are
    **OPTIMISATION,
}


def lge() -> GraphRecipe:
    recipe = read_recipe(RECIPES / "paper-lge.yaml")
    assert isinstance(recipe, GraphRecipe)
    return recipe


def test_the_recipe_has_the_papers_values() -> None:
    assert {name: read(lge()) for name, read in READ.items()} == table(TABLE)
    assert len(READ) == 13


def test_what_the_section_and_its_authors_code_add() -> None:
    """GATv2 without a residual, one head, vectors as the article encoder gives them; widths 768, 3072, 3072, 768; what
    stands above is heard, and nothing else; negatives of the batch and of BM25; 16-bit mixed precision.
    """
    recipe = lge()
    assert (recipe.graph.layer, recipe.graph.heads, recipe.graph.residual, recipe.graph.own) == ("gatv2", 1, False, 0)
    assert recipe.graph.widths(768) == (768, 3072, 3072, 768)
    assert (recipe.graph.edges, recipe.graph.typed) == (("contains",), False)
    assert (recipe.graph.dropout, recipe.graph.normalise) == (0.1, False)
    assert (recipe.negatives, recipe.supervision.in_batch, recipe.supervision.negatives) == ("batch", True, "bm25")
    assert (recipe.supervision.unit, recipe.loss.several_positives) == ("label", False)
    assert (recipe.folds, recipe.supervision.kinds) == ((), {"gold": 1})
    assert recipe.optimisation.precision == "fp16"


def test_the_networks_size_is_the_papers() -> None:
    """ "28M" in the table of architectures."""
    pytest.importorskip("torch_geometric")
    from lexarbor.graph.encoder import LegislativeGraphEncoder

    assert LegislativeGraphEncoder(lge().graph, 768).parameters_count == pytest.approx(28e6, rel=0.03)
