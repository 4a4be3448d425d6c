"""recipes/paper-dpr.yaml: two flat towers from two checkpoints, which learn as the paper's DSR does."""

from dataclasses import asdict
from pathlib import Path

from lexarbor.training.recipes import TextRecipe, read_recipe

RECIPES = Path(__file__).parents[2] / "recipes"


def test_it_differs_from_the_paper_s_dsr_by_its_encoder_alone() -> None:
    dpr, dsr = (read_recipe(RECIPES / f"paper-{name}.yaml") for name in ("dpr", "dsr"))
    assert isinstance(dpr, TextRecipe)
    theirs = asdict(dsr)
    assert {name for name, value in asdict(dpr).items() if value != theirs[name]} == {
        "start",
        "article_start",
        "encoder",
    }


def test_each_tower_begins_from_its_own_checkpoint_and_reads_flat() -> None:
    recipe = read_recipe(RECIPES / "paper-dpr.yaml")
    assert isinstance(recipe, TextRecipe)
    assert recipe.start == "etalab-ia/dpr-question_encoder-fr_qa-camembert"
    assert recipe.article_start == "etalab-ia/dpr-ctx_encoder-fr_qa-camembert"
    encoder = recipe.encoder
    assert (encoder.article, encoder.max_tokens, encoder.pooling, encoder.shared) == ("first", 512, "cls", False)
