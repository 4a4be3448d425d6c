"""The graph encoder that comes with Lexarbor, for the vectors of the shipped text encoder."""

from importlib.resources import files
from pathlib import Path

from lexarbor.errors import ModelError
from lexarbor.graph.enrichment import Enricher
from lexarbor.text.manifests import MANIFEST

SHIPPED = "graph"
"""Its folder under `lexarbor/shipped`."""


def shipped_graph_model() -> Path:
    """The folder of the shipped graph encoder."""
    folder = Path(str(files("lexarbor"))) / "shipped" / SHIPPED
    if not (folder / MANIFEST).is_file():
        raise ModelError(
            f"{folder}: no graph encoder was shipped with this copy of Lexarbor; install it from a wheel or a whole "
            "checkout, or give the folder of another"
        )
    return folder


def open_shipped_graph() -> Enricher:
    """The shipped graph encoder, its checksums verified."""
    return Enricher.open(shipped_graph_model())
