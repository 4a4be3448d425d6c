"""Vectors in 8 bits, known by what was read."""

from pathlib import Path

import numpy as np
import pytest

from lexarbor.errors import ModelError
from lexarbor.text.known_vectors import KnownVectors, write_known

TEXTS = tuple(f"Article {number}" for number in range(40))
VECTORS = dict(zip(TEXTS, np.random.default_rng(0).normal(size=(40, 12)), strict=True))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_known(tmp_path / "known", "encoder", VECTORS, {"law": "tiny"})
    return tmp_path / "known"


def test_vectors_come_back_within_half_a_step(folder: Path) -> None:
    known = KnownVectors.open(folder)
    found = known.read([*TEXTS, "Article 40"])
    assert (known.encoder, len(known), set(found)) == ("encoder", 40, set(TEXTS))
    for text, vector in VECTORS.items():
        assert np.abs(found[text] - vector).max() <= np.abs(vector).max() / 254 * 1.001


def test_those_of_another_encoder_are_not_found(tmp_path: Path) -> None:
    write_known(tmp_path / "other", "another", VECTORS, {})
    held = KnownVectors.open(tmp_path / "other")
    assert len(held.read(TEXTS)) == 40
    arrays = (np.load(tmp_path / "other" / f"{name}.npy") for name in ("keys", "vectors", "scales"))
    renamed = KnownVectors("encoder", *arrays)
    assert renamed.read(TEXTS) == {}


def test_the_order_of_writing_does_not_matter(folder: Path, tmp_path: Path) -> None:
    write_known(tmp_path / "turned", "encoder", dict(reversed(VECTORS.items())), {"law": "tiny"})
    for path in folder.iterdir():
        assert path.read_bytes() == (tmp_path / "turned" / path.name).read_bytes()


def test_a_vector_of_zeros_stays_so(tmp_path: Path) -> None:
    write_known(tmp_path / "zeros", "encoder", {"a": np.zeros(3, dtype=np.float32)}, {})
    assert (KnownVectors.open(tmp_path / "zeros").read(["a"])["a"] == 0).all()


@pytest.mark.parametrize("name", ["keys.npy", "vectors.npy", "scales.npy", "manifest.json"])
def test_a_damaged_file_is_refused(folder: Path, name: str) -> None:
    content = bytearray((folder / name).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / name).write_bytes(content)
    with pytest.raises(ModelError, match=r"damaged or exchanged|cannot be read|its format is|has no checksums"):
        KnownVectors.open(folder)


def test_a_folder_without_vectors_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no vectors there"):
        KnownVectors.open(tmp_path)
