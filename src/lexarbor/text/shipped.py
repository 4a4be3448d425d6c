"""The encoder that comes with Lexarbor: a model folder inside the package."""

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from lexarbor.errors import ModelError
from lexarbor.text.manifests import MANIFEST

if TYPE_CHECKING:
    from lexarbor.text.encoder import TextEncoder

SHIPPED = "encoder"
"""Its folder under `lexarbor/shipped`."""


def shipped_model() -> Path:
    """The folder of the shipped encoder."""
    folder = Path(str(files("lexarbor"))) / "shipped" / SHIPPED
    if not (folder / MANIFEST).is_file():
        raise ModelError(
            f"{folder}: no encoder was shipped with this copy of Lexarbor; install it from a wheel or a whole "
            "checkout, or give the folder of another model"
        )
    return folder


def open_shipped(threads: int | None = None) -> "TextEncoder":
    """The shipped encoder, its checksums verified; `threads` says how many texts are encoded at once."""
    from lexarbor.text.encoder import TextEncoder

    return TextEncoder.open(shipped_model(), threads)
