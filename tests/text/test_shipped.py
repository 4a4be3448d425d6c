"""The shipped encoder is found inside the package, or it is said where it should be."""

from pathlib import Path

import numpy as np
import pytest
from tiny_exports import FLAT, exported

import lexarbor
from lexarbor.errors import ModelError
from lexarbor.text import shipped
from lexarbor.text.encoder import TextEncoder


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in the place of the package."""
    places = {"lexarbor": tmp_path}
    monkeypatch.setattr(shipped, "files", places.__getitem__)
    return tmp_path


def test_its_place_is_in_the_package() -> None:
    assert shipped.files("lexarbor") == Path(lexarbor.__file__).parent


def test_it_is_opened_where_it_lies(package: Path) -> None:
    (package / "shipped").mkdir()
    (package / "shipped" / "encoder").symlink_to(exported(FLAT))
    assert shipped.shipped_model() == package / "shipped" / "encoder"
    encoder = shipped.open_shipped(threads=1)
    assert encoder.threads == 1
    wanted = TextEncoder.open(exported(FLAT)).encode_questions(["salarié"])
    assert np.array_equal(encoder.encode_questions(["salarié"]), wanted)


def test_where_it_was_left_out_that_is_told(package: Path) -> None:
    (package / "shipped" / "encoder").mkdir(parents=True)
    for found in (shipped.shipped_model, shipped.open_shipped):
        with pytest.raises(ModelError, match=r"shipped/encoder: no encoder was shipped with this copy .* install it"):
            found()
