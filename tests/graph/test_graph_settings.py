"""What a graph encoder can be, and what it cannot."""

from typing import Any

import pytest
from four_nodes import GRAPH

from lexarbor.errors import GraphError, ModelError
from lexarbor.graph.legislation import EDGE_KINDS
from lexarbor.graph.settings import GraphSettings


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"layer": "gatv3"}, r"layer is 'gatv3': did you mean 'gatv2'\?"),
        ({"layers": -1}, "layers is -1: give a whole number of 0 or more"),
        ({"layers": True}, "layers is True: give a whole number"),
        ({"width": 0}, "width is 0: give a whole number of 1 or more"),
        ({"own": 1.5}, "own is 1.5: give a whole number of 0 or more"),
        ({"dropout": 1}, "dropout is 1: give a number from 0 to below 1"),
        ({"dropout": "much"}, "dropout is 'much': give a number"),
        ({"residual": "yes"}, "residual is 'yes': write true or false"),
        ({"edges": "contains"}, "edges are 'contains': give a list of contains, within"),
        ({"edges": ["contain"]}, r"unknown kind 'contain'; did you mean 'contains'\?"),
        ({"edges": [["contains"]]}, r"unknown kind \['contains'\]"),
        ({"edges": ["next", "next"]}, "the kind 'next' twice"),
        ({"layers": 0}, "0 layers with edges .* own 0 and residual True"),
        ({"layers": 0, "edges": [], "own": 0}, r"0 layers with edges \[\], own 0"),
        ({"layers": 0, "edges": [], "own": 2, "layer": "gcn", "residual": False}, "residual False"),
        ({"typed": False}, "typed is False, which the layer 'hearing' cannot be"),
        ({"residual": False}, "residual is False, which the layer 'hearing' cannot be"),
        ({"layer": "gat", "width": 10, "heads": 3}, "3 heads cannot share a width of 10"),
    ],
)
def test_what_cannot_be_is_refused(values: dict[str, Any], said: str) -> None:
    with pytest.raises(GraphError, match=said):
        GraphSettings(**values)
    with pytest.raises(ModelError, match=rf"there: .*{said}"):
        GraphSettings.from_dict(values, "there")


def test_kinds_stand_in_their_own_order_however_named() -> None:
    assert GraphSettings(edges=["cites", "contains"]).edges == ("contains", "cites")  # type: ignore[arg-type]
    assert GraphSettings(edges=("cites", "contains")) == GraphSettings(edges=("contains", "cites"))


def test_settings_come_back_from_what_is_saved() -> None:
    settings = GraphSettings(layer="gat", heads=2, edges=("next", "cited"), own=3, dropout=0)
    assert GraphSettings.from_dict(settings.as_dict()) == settings
    assert GraphSettings.from_dict({}) == GraphSettings()
    with pytest.raises(ModelError, match=r"unknown setting 'layer_width'; did you mean"):
        GraphSettings.from_dict({"layer_width": 3})


def test_widths_from_the_text_encoder_through_each_layer() -> None:
    assert GraphSettings(layer="gatv2", layers=3, width=3072).widths(768) == (768, 3072, 3072, 768)
    assert GraphSettings(layer="gcn", layers=1).widths(8) == (8, 8)
    assert GraphSettings(layers=2).widths(8) == (8, 8, 8)
    assert GraphSettings(layers=0, edges=(), own=2).widths(8) == (8,)
    with pytest.raises(GraphError, match="2 heads cannot share the 5 numbers of a vector"):
        GraphSettings(layer="gat", heads=2).widths(5)
    with pytest.raises(GraphError, match="a vector of 0 numbers"):
        GraphSettings().widths(0)


def test_a_graph_is_heard_by_the_kinds_named() -> None:
    assert GraphSettings(edges=("cites", "next")).heard(GRAPH).kinds == ("next", "cites")
    assert GraphSettings(edges=(), own=1).heard(GRAPH).kinds == ()
    assert GraphSettings().heard(GRAPH).kinds == EDGE_KINDS
    with pytest.raises(GraphError, match=r"hears edges of the kind 'cites', the graph has next, previous"):
        GraphSettings(edges=("next", "cites")).heard(GRAPH.only(["next", "previous"]))
