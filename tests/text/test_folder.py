"""The model folder: whole or refused, checked before anything is loaded."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lexarbor.errors import LexarborError, ModelError
from lexarbor.text.encoder import TextEncoder
from lexarbor.text.folder import Manifest, ModelFolder, files_of, writing
from lexarbor.text.settings import EncoderSettings

FLAT = Manifest(EncoderSettings(), 8, (2, 3), {"recipe": "tiny.yaml"})
FULL = replace(FLAT, settings=EncoderSettings(article="hierarchical", max_tokens=1008, shared=False))


def write(folder: Path, manifest: Manifest = FLAT, content: str = "content of") -> Path:
    with writing(folder, manifest) as building:
        for name in files_of(manifest.settings):
            (building / name).write_text(f"{content} {name}", encoding="utf-8")
    return folder


def edit(folder: Path, **values: Any) -> Path:
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | values), encoding="utf-8")
    return folder


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_what_was_written_is_opened(tmp_path: Path) -> None:
    found = ModelFolder.open(write(tmp_path / "new" / "model", FULL))
    assert found.manifest == FULL
    assert set(found.checksums) == {"tokenizer.json", "encoder.onnx", "article_encoder.onnx", "second_level.onnx"}
    assert names(found.path) == {"manifest.json", *found.checksums}
    assert found.size == sum(path.stat().st_size for path in found.path.iterdir())


def test_the_manifest_is_as_documented(tmp_path: Path) -> None:
    told = json.loads((write(tmp_path / "model") / "manifest.json").read_text(encoding="utf-8"))
    assert told == {
        "format": "lexarbor-model/1",
        "settings": EncoderSettings().as_dict(),
        "dimension": 8,
        "special_tokens": [2, 3],
        "checksums": {
            "tokenizer.json": "114cd5d77600f7daafc3e1e1653f4415962b93c9d724739eff21f0e2f9ac3ef4",
            "encoder.onnx": "ea2d78098e0b0ff6ba274ffd805fca96111dbf798fa2f5799e5d1e19caf68b5a",
        },
        "provenance": {"recipe": "tiny.yaml"},
    }


@pytest.mark.parametrize("name", ["tokenizer.json", "encoder.onnx", "article_encoder.onnx", "second_level.onnx"])
def test_a_file_that_is_damaged_or_missing_is_named_before_anything_is_loaded(tmp_path: Path, name: str) -> None:
    folder = write(tmp_path / "model", FULL)  # nothing here could be loaded, yet the checksum is what is told
    (folder / name).write_text(f"content of {name}!", encoding="utf-8")
    with pytest.raises(ModelError, match=rf"model/{name}: damaged or exchanged, its checksum .*; export"):
        TextEncoder.open(folder)
    (folder / name).unlink()
    with pytest.raises(ModelError, match=rf"model/{name}: cannot be read \(No such file.*; export"):
        TextEncoder.open(folder)


def test_a_folder_that_is_no_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path, tmp_path / "nothing", tmp_path / "file"):
        with pytest.raises(ModelError, match=r"no model there, it has no manifest.json; give the folder"):
            ModelFolder.open(path)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": "lexarbor-index/1"}', "[" * 100_000, "\udcff"])
def test_another_manifest_is_refused(tmp_path: Path, content: str) -> None:
    folder = write(tmp_path / "model")
    (folder / "manifest.json").write_text(content, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(ModelError, match=r"manifest.json: (cannot be read|its format is .* reads 'lexarbor-model/1')"):
        ModelFolder.open(folder)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"settings": None}, "has no encoder settings"),
        ({"settings": {"poling": "cls"}}, "did you mean 'pooling'"),
        ({"settings": {"pooling": "sum"}}, "pooling is 'sum'"),
        ({"dimension": 0}, "its dimension is 0"),
        ({"dimension": "8"}, "its dimension is '8'"),
        ({"dimension": True}, "its dimension is True"),
        ({"special_tokens": [2]}, "two token ids are needed"),
        ({"special_tokens": [2, -3]}, "two token ids are needed"),
        ({"special_tokens": "23"}, "two token ids are needed"),
        ({"checksums": None}, "has no checksums"),
        ({"checksums": {}}, "checksum is not the manifest's"),
        ({"checksums": {"tokenizer.json": 3}}, "checksum is not the manifest's"),
    ],
)
def test_a_manifest_that_cannot_be_right_is_refused(tmp_path: Path, values: dict[str, Any], told: str) -> None:
    folder = edit(write(tmp_path / "model"), **values)
    with pytest.raises(ModelError, match=told):
        ModelFolder.open(folder)


def test_the_checksum_changes_with_what_changes_a_vector(tmp_path: Path) -> None:
    first = ModelFolder.open(write(tmp_path / "first")).checksum
    same = ModelFolder.open(write(tmp_path / "same", replace(FLAT, provenance={}))).checksum
    assert same == first
    settings = replace(FLAT, settings=EncoderSettings(max_tokens=255))
    others = {
        ModelFolder.open(write(tmp_path / "settings", settings)).checksum,
        ModelFolder.open(write(tmp_path / "tokens", replace(FLAT, special_tokens=(2, 4)))).checksum,
        ModelFolder.open(write(tmp_path / "content", content="another")).checksum,
    }
    assert len(others | {first}) == 4


def test_a_new_model_takes_the_place_of_the_old_and_leaves_the_model_card(tmp_path: Path) -> None:
    folder = write(tmp_path / "model", FULL)
    (folder / "README.md").write_text("card", encoding="utf-8")
    write(folder, FLAT)
    assert ModelFolder.open(folder).manifest == FLAT
    assert names(folder) == {"README.md", "manifest.json", "tokenizer.json", "encoder.onnx"}


def test_what_fails_leaves_the_old_model_and_no_trace(tmp_path: Path) -> None:
    folder = write(tmp_path / "model")
    before = names(folder)
    for path in (folder, tmp_path / "new"):
        with pytest.raises(RuntimeError), writing(path, FULL) as building:
            (building / "encoder.onnx").write_text("half")
            raise RuntimeError
        with pytest.raises(LexarborError, match="could not be written"), writing(path, FULL) as building:
            (building / "encoder.onnx").write_text("half")
    assert ModelFolder.open(folder).manifest == FLAT
    assert names(folder) == before
    assert not (tmp_path / "new").exists()
