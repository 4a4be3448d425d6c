"""The graph encoder that ships: for the shipped text encoder, small, and opened without torch."""

import subprocess
import sys
from pathlib import Path

import pytest

from lexarbor.errors import ModelError
from lexarbor.graph import shipped
from lexarbor.graph.legislation import EDGE_KINDS
from lexarbor.graph.shipped import open_shipped_graph, shipped_graph_model
from lexarbor.text.shipped import open_shipped

MOST_BYTES = 3_000_000


def test_it_is_for_the_shipped_encoder() -> None:
    enricher, encoder = open_shipped_graph(), open_shipped()
    enricher.check_encoder(encoder.checksum)
    assert enricher.dimension == encoder.dimension
    assert enricher.settings.edges == EDGE_KINDS


def test_it_is_small() -> None:
    assert sum(path.stat().st_size for path in shipped_graph_model().iterdir()) < MOST_BYTES


def test_it_is_opened_without_torch() -> None:
    code = "import sys; from lexarbor.graph.shipped import open_shipped_graph as o; o(); print('torch' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "False\n"


def test_a_copy_without_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "SHIPPED", str(Path("no", "such")))
    with pytest.raises(ModelError, match="no graph encoder was shipped with this copy of Lexarbor; install it"):
        shipped_graph_model()
