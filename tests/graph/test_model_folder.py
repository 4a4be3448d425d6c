"""The folder of a trained graph encoder: whole or refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from four_nodes import random_weights

from lexarbor.errors import LexarborError, ModelError
from lexarbor.files import sha256
from lexarbor.graph.model_folder import WEIGHTS, GraphModelFolder, write_model
from lexarbor.graph.settings import GraphSettings
from lexarbor.text.manifests import MANIFEST

SETTINGS = GraphSettings(layer="gat", layers=2, width=6, heads=2, edges=("contains", "cites"), own=3)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "runs" / "lge"
    write_model(path, SETTINGS, 4, "cd" * 32, random_weights(SETTINGS), {"recipe": "recipes/lge.yaml"})
    return path


def test_a_folder_gives_back_what_was_written(folder: Path) -> None:
    found = GraphModelFolder.open(folder)
    assert (found.settings, found.dimension, found.encoder) == (SETTINGS, 4, "cd" * 32)
    assert found.provenance == {"recipe": "recipes/lge.yaml"}
    weights = random_weights(SETTINGS)
    assert found.weights.keys() == weights.keys()
    for name, held in found.weights.items():
        assert held.dtype == np.float16
        assert np.array_equal(held, weights[name])
    assert sorted(path.name for path in folder.iterdir()) == [MANIFEST, WEIGHTS]


def test_equal_models_give_equal_bytes(folder: Path, tmp_path: Path) -> None:
    write_model(tmp_path / "other", SETTINGS, 4, "cd" * 32, random_weights(SETTINGS), {"recipe": "recipes/lge.yaml"})
    for name in (MANIFEST, WEIGHTS):
        assert (folder / name).read_bytes() == (tmp_path / "other" / name).read_bytes()


def test_the_checksum_tells_models_apart_and_not_where_they_come_from(folder: Path, tmp_path: Path) -> None:
    def checksum(name: str, settings: GraphSettings = SETTINGS, encoder: str = "cd" * 32, more: float = 0) -> str:
        weights = {name: held + more for name, held in random_weights(settings).items()}
        write_model(tmp_path / name, settings, 4, encoder, weights)
        return GraphModelFolder.open(tmp_path / name).checksum

    first = GraphModelFolder.open(folder).checksum
    assert checksum("same") == first
    others = GraphSettings(**(SETTINGS.as_dict() | {"edges": ("contains", "next")}))
    assert len({first, checksum("a", others), checksum("b", encoder="ef"), checksum("c", more=0.5)}) == 4


def test_a_model_is_replaced_and_other_files_stay(folder: Path) -> None:
    (folder / "log.jsonl").write_text("{}")
    other = GraphSettings(edges=("contains",))
    write_model(folder, other, 4, "ef" * 32, random_weights(other))
    assert GraphModelFolder.open(folder).settings == other
    assert (folder / "log.jsonl").read_text() == "{}"


def test_a_folder_half_replaced_is_refused(folder: Path) -> None:
    old = (folder / MANIFEST).read_bytes()
    write_model(folder, SETTINGS, 4, "cd" * 32, {name: held + 1 for name, held in random_weights(SETTINGS).items()})
    (folder / MANIFEST).write_bytes(old)  # as a crash before the manifest is written leaves it
    with pytest.raises(ModelError, match=r"weights\.npz: damaged or exchanged, its checksum is not the manifest's"):
        GraphModelFolder.open(folder)


def test_missing_files_are_told(folder: Path, tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere", tmp_path, folder / MANIFEST):
        with pytest.raises(ModelError, match=r"no graph encoder there, it has no manifest\.json; give the folder"):
            GraphModelFolder.open(path)
    (folder / WEIGHTS).unlink()
    with pytest.raises(ModelError, match=r"weights\.npz: cannot be read \(No such file.*\), the model is not whole"):
        GraphModelFolder.open(folder)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": "lexarbor-model/1"}, "its format is 'lexarbor-model/1', this version reads 'lexarbor-lge/1'"),
        ({"settings": None}, "has no settings"),
        ({"settings": {"layer": "gta"}}, r"layer is 'gta': did you mean 'gat'\?"),
        ({"settings": {"depth": 3}}, "unknown setting 'depth'"),
        (
            {"settings": SETTINGS.as_dict() | {"own": 4}},
            r"weight' are float16 \(3, 4\), its settings say \(4, 4\)",
        ),
        ({"settings": SETTINGS.as_dict() | {"own": 0}}, r"'own\.0\.bias' are none of its settings'"),
        ({"settings": SETTINGS.as_dict() | {"layers": 3}}, r"'layers\.2\.all\.att_dst' are missing"),
        ({"dimension": 0}, "its dimension is 0"),
        ({"dimension": "4"}, "its dimension is '4'"),
        ({"dimension": True}, "its dimension is True"),
        ({"dimension": 3}, "2 heads cannot share the 3 numbers of a vector"),
        ({"encoder": None}, "its encoder is None"),
        ({"checksums": None}, "has no checksums"),
        ({"checksums": {}}, "damaged or exchanged"),
    ],
)
def test_a_manifest_that_does_not_fit_is_refused(folder: Path, change: dict[str, Any], said: str) -> None:
    values = json.loads((folder / MANIFEST).read_text())
    (folder / MANIFEST).write_text(json.dumps(values | change))
    with pytest.raises(ModelError, match=said):
        GraphModelFolder.open(folder)


@pytest.mark.parametrize("content", ["", "{", "[]", "[" * 100_000, '"lexarbor-lge/1"'])
def test_what_is_no_manifest_is_refused(folder: Path, content: str) -> None:
    (folder / MANIFEST).write_text(content)
    with pytest.raises(ModelError, match=r"manifest\.json: (cannot be read|its format is)"):
        GraphModelFolder.open(folder)


def _exchange(folder: Path, weights: dict[str, Any]) -> None:
    """With a checksum that is right."""
    with (folder / WEIGHTS).open("wb") as file:
        np.savez(file, **weights)
    _allow(folder)


def _allow(folder: Path) -> None:
    values = json.loads((folder / MANIFEST).read_text())
    values["checksums"] = {WEIGHTS: sha256(folder / WEIGHTS)}
    (folder / MANIFEST).write_text(json.dumps(values))


def test_nothing_in_the_weights_is_ever_run(folder: Path) -> None:
    _exchange(folder, random_weights(SETTINGS) | {"scale": np.array([print], dtype=object)})
    with pytest.raises(ModelError, match=r"weights\.npz: holds no weights that can be read"):
        GraphModelFolder.open(folder)


@pytest.mark.parametrize("content", [b"", b"weights", b"PK\x03\x04"])
def test_what_is_no_archive_is_refused(folder: Path, content: bytes) -> None:
    (folder / WEIGHTS).write_bytes(content)
    _allow(folder)
    with pytest.raises(ModelError, match=r"weights\.npz: holds no weights that can be read"):
        GraphModelFolder.open(folder)


def test_a_single_array_is_refused(folder: Path) -> None:
    with (folder / WEIGHTS).open("wb") as file:
        np.save(file, np.zeros(3))
    _allow(folder)
    with pytest.raises(ModelError, match=r"weights\.npz: holds no weights that can be read"):
        GraphModelFolder.open(folder)


def test_numbers_that_are_none_are_refused(folder: Path, tmp_path: Path) -> None:
    weights = random_weights(SETTINGS)
    weights["scale"][1] = np.nan
    _exchange(folder, weights)
    with pytest.raises(ModelError, match="the weights 'scale' hold infinite numbers or none"):
        GraphModelFolder.open(folder)
    with pytest.raises(ModelError, match="the weights 'scale' hold infinite numbers or none"):
        write_model(tmp_path / "new", SETTINGS, 4, "cd" * 32, weights)
    _exchange(folder, weights | {"scale": np.array(["1"] * 4)})
    with pytest.raises(ModelError, match=r"weights\.npz: the weights 'scale' are <U1 \(4,\), its settings say \(4,\)"):
        GraphModelFolder.open(folder)


def test_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="give that one's checksum"):
        write_model(tmp_path, SETTINGS, 4, "", random_weights(SETTINGS))
    (tmp_path / "file").write_text("")
    with pytest.raises(LexarborError, match="cannot make the folder"):
        write_model(tmp_path / "file", SETTINGS, 4, "cd", random_weights(SETTINGS))
