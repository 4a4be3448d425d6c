"""Where results go: looked at before long work, so that it is not done for nothing."""

import os
from pathlib import Path

from lexarbor.errors import LexarborError


def check_folder(path: Path) -> None:
    """Refuse a folder that is none, or that could not be made; nothing is made yet."""
    nearest = next(place for place in (path, *path.absolute().parents) if place.exists())
    if not nearest.is_dir():
        what = "is" if nearest == path else f"{nearest} is"
        raise LexarborError(f"{path}: {what} a file; give the name of a folder")
    if not os.access(nearest, os.W_OK):
        raise LexarborError(f"{path}: nothing may be written in {nearest}; give another folder")
