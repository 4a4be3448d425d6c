"""The pictures of the documentation can be taken again."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from browser import Chromium

pytest_plugins = ["browser"]

DOCS = Path(__file__).parents[2] / "docs"


def script() -> Any:
    spec = spec_from_file_location("take_screenshots", DOCS / "take_screenshots.py")
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.real
def test_pictures_are_taken(chromium: "Chromium", served: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from PIL import Image

    pictures = script()
    monkeypatch.setattr(pictures, "FOLDER", tmp_path)
    with chromium.awake() as browser:
        for picture in pictures.PICTURES:
            pictures.take(browser, served, picture)
            with (
                Image.open(tmp_path / f"{picture.name}.png") as taken,
                Image.open(DOCS / "screenshots" / f"{picture.name}.png") as shown,
            ):
                assert taken.size == shown.size == (picture.width, picture.height)


def test_pictures_are_small() -> None:
    files = sorted((DOCS / "screenshots").glob("*.png"))
    assert [file.stem for file in files] == ["article", "dark", "home", "phone", "results"]
    assert all(file.stat().st_size < 150_000 for file in files)
