"""The tiny law with its graph, retrievers of random weights that read it, and recipes that take seconds over them."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from tiny_supervision import changed, retriever

from lexarbor.supervision.folder import Supervision
from lexarbor.supervision.preparation import prepare
from lexarbor.training.graph_recipe import GraphRecipe
from lexarbor.training.graph_views import Views, prepare_views
from lexarbor.training.recipes import parse_recipe

_kept = TemporaryDirectory()
FOLDS = 3


@cache
def tiny_law() -> Supervision:
    """As `lexarbor train prepare` writes it, in memory."""
    folder = prepare("tiny", Path(_kept.name) / "supervision", kinds=["headings"])
    return Supervision(
        folder.articles,
        folder.passages,
        folder.pairs,
        folder.texts,
        folder.asked,
        folder.facts,
        folder.sections,
        folder.graph,
    )


@cache
def encoder(number: int = 0, **settings: Any) -> str:
    """The folder of a retriever of random weights, the same for the same number; not to be written to. It reads no
    headings, unless told to: so headings can stand for questions.
    """
    folder = Path(_kept.name) / "-".join(map(str, (number, *settings.values())))
    model = retriever(Path(_kept.name) / "bert", **{"headings": False, **settings})
    draw = torch.Generator().manual_seed(number)
    with torch.no_grad():
        for weight in model.parameters():
            weight += 0.05 * torch.randn(weight.shape, generator=draw)
    model.save(folder)
    return str(folder)


@cache
def folds() -> list[str]:
    return [encoder(number) for number in range(1, FOLDS + 1)]


def recipe(**changes: Any) -> GraphRecipe:
    """A small recipe; keyword arguments are merged into its parts."""
    written: dict[str, Any] = {
        "stage": "graph",
        "encoder": encoder(),
        "graph": {"layer": "hearing", "layers": 2, "width": 16},
        "loss": {"temperature": 0.05},
        "optimisation": {"batch_size": 6, "steps": 4, "learning_rate": 1e-2},
        "watching": {"log_every": 1},
    }
    made = parse_recipe(changed(written, changes))
    assert isinstance(made, GraphRecipe)
    return made


@cache
def tiny_views(folded: bool = False) -> Views:
    """Of all kinds of the tiny law."""
    kinds = {"gold": 1.0, "headings": 1.0}
    named = {"folds": folds()} if folded else {}
    return prepare_views(recipe(supervision={"kinds": kinds}, **named), tiny_law())
