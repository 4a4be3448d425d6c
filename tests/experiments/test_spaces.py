"""The spaces that searches choose from, each value held against the paper's appendix "G-DSR Hyperparameter Tuning"."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml

from lexarbor.errors import TrainingError
from lexarbor.experiments.scales import merged
from lexarbor.experiments.spaces import LABELS, SPACES, space_of, told
from lexarbor.training.recipes import parse_recipe

RECIPES = Path(__file__).parents[2] / "recipes"
# As the appendix prints them, its words kept; temperature 0 is the one value that is not searched.
DSR = {
    "Batch size": "8, 16, 24, 32",
    "Learning rate": "5e-5, 4e-5, 3e-5, 2e-5, 1e-5",
    "Weight decay": "0, 0.1, 0.01, 0.001",
    "Max chunk length": "64, 128, 256, 512",
    "Max document length": "1024, 2048",
    "Pooling strategy": "mean, max",
    "Similarity function": "dot-product, cosine, L2",
    "Temperature": "0.1, 0.01, 0.001",
}
LGE = {
    "Batch size": "8, 16, 32, 64, 128, 256, 512",
    "Learning rate": "2e-2, 2e-3, 2e-4, 2e-5, 2e-6",
    "Weight decay": "0, 0.1, 0.01, 0.001",
    "Layers": "1, 2, 3, 4",
}
WIDE = {**DSR, "Batch size": "32, 64, 128, 256", "Learning rate": "5e-5, 1e-4, 2e-4, 4e-4"}


def paper(name: str) -> dict[str, Any]:
    written: dict[str, Any] = yaml.safe_load((RECIPES / name).read_text(encoding="utf-8"))
    return written


def at(recipe: Any, key: str) -> Any:
    for part in key.split("."):
        recipe = recipe[part] if isinstance(recipe, dict) else getattr(recipe, part)
    return recipe


@pytest.mark.parametrize(("name", "printed"), [("dsr", DSR), ("lge", LGE), ("wide", WIDE)])
def test_the_values_are_the_papers(name: str, printed: dict[str, str]) -> None:
    space = space_of(name)
    found = {LABELS[key]: ", ".join(told(key, one) for one in values) for key, values in space.choices.items()}
    assert found == printed
    assert space.choices.keys() == space.papers.keys()


def test_their_sizes() -> None:
    assert {name: space.size for name, space in SPACES.items()} == {"dsr": 11520, "wide": 9216, "lge": 560}


@pytest.mark.parametrize(("name", "file"), [("dsr", "paper-dsr.yaml"), ("lge", "paper-lge.yaml")])
def test_what_the_paper_chose_is_in_its_space_and_is_its_recipe(name: str, file: str) -> None:
    space, recipe = SPACES[name], parse_recipe(paper(file))
    assert {key: at(recipe, key) for key in space.papers} == space.papers
    assert parse_recipe(merged(paper(file), space.recipe_values(space.papers))) == recipe


@pytest.mark.parametrize(("name", "file"), [("dsr", "paper-dsr.yaml"), ("wide", "dsr-tiny.yaml"), ("lge", "lge.yaml")])
def test_every_recipe_of_a_space_can_be_parsed_and_has_its_values(name: str, file: str) -> None:
    space, base = SPACES[name], merged(paper(file))
    if name != "lge":
        base = merged(base, {"encoder": {"overlap": 100}})  # more than a short chunk holds
    shape = [key for key in space.choices if not key.startswith("optimisation")]  # the others do not meet each other
    for values in product(*(space.choices[key] for key in shape)):
        chosen = {key: some[0] for key, some in space.choices.items()} | dict(zip(shape, values, strict=True))
        recipe = parse_recipe(merged(base, space.recipe_values(chosen)))
        assert {key: at(recipe, key) for key in chosen} == chosen
        assert name == "lge" or at(recipe, "encoder.article") == "hierarchical"


def test_what_is_not_in_a_space_is_refused() -> None:
    with pytest.raises(TrainingError, match=r"loss\.temperature=0"):
        SPACES["dsr"].recipe_values({"loss.temperature": 0})
    with pytest.raises(TrainingError, match=r"did you mean 'graph\.layers'"):
        SPACES["lge"].recipe_values({"graph.layer": 2})
    with pytest.raises(TrainingError, match="unknown space 'dsrr': did you mean 'dsr'"):
        space_of("dsrr")
