"""What the layer `hearing` begins with, before anything is learned."""

import numpy as np
import pytest
import torch
from tiny_graph import recipe, tiny_law, tiny_views

from lexarbor.errors import TrainingError
from lexarbor.training.graph import heard_graph, objective_of


def test_each_layer_begins_with_what_the_recipe_says() -> None:
    plan = recipe(
        graph={"layers": 3, "edges": ["contains", "within", "cites"]},
        heard_at_first={"contains": 0.2, "cites": 0.5},
        gathered_at_first={"within": 5.0},
    )
    folder = tiny_law()
    encoder = objective_of(plan, folder, tiny_views(), heard_graph(plan, folder)).encoder
    heard = [layer.heard[:, 0].tolist() for layer in encoder.layers]
    assert np.allclose(heard, [[0, 5, 0], [0, 5, 0], [0.2, 0, 0.5]])
    assert all(torch.equal(layer.heard, layer.heard[:, :1].expand_as(layer.heard)) for layer in encoder.layers)


def test_nothing_named_is_the_same_little_of_all() -> None:
    folder, plan = tiny_law(), recipe()
    encoder = objective_of(plan, folder, tiny_views(), heard_graph(plan, folder)).encoder
    assert all(bool((layer.heard == layer.heard[0, 0]).all()) for layer in encoder.layers)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"graph": {"edges": ["contains"]}, "heard_at_first": {"cites": 1.0}},
            "heard_at_first names the kind 'cites', graph.edges has contains",
        ),
        (
            {"graph": {"layer": "gcn"}, "gathered_at_first": {"within": 1.0}},
            "gathered_at_first is for the layer 'hearing', graph.layer is 'gcn'",
        ),
    ],
)
def test_what_cannot_be_begun_with_is_refused(changes: dict[str, object], told: str) -> None:
    with pytest.raises(TrainingError, match=told):
        recipe(**changes)
