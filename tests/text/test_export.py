"""From torch to ONNX: the same vectors in 32 bits, near ones in 8, and the retriever left as it was."""

import json
import logging
from pathlib import Path

import numpy as np
import pytest
import torch
from tiny_exports import FLAT, HIERARCHICAL, TEXTS, exported, retriever, torch_articles, torch_questions
from tiny_models import ARCHITECTURES

from lexarbor.errors import ModelError
from lexarbor.text import export as module
from lexarbor.text.encoder import TextEncoder
from lexarbor.text.export import export
from lexarbor.text.quantisation import WAYS
from lexarbor.text.settings import EncoderSettings


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_architecture_of_the_paper_can_be_exported(architecture: str) -> None:
    encoder = TextEncoder.open(exported(FLAT, architecture))
    model = retriever(FLAT, architecture)
    np.testing.assert_allclose(encoder.encode_articles(TEXTS), torch_articles(model, TEXTS), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("settings", [FLAT, HIERARCHICAL], ids=["flat", "hierarchical"])
@pytest.mark.parametrize("way", [way for way in WAYS if way != "float32"])
def test_in_8_bits_vectors_are_near(way: str, settings: EncoderSettings) -> None:
    encoder = TextEncoder.open(exported(settings, way=way))
    model = retriever(settings)
    for found, wanted in (
        (encoder.encode_questions(TEXTS), torch_questions(model, TEXTS)),
        (encoder.encode_articles(TEXTS), torch_articles(model, TEXTS)),
    ):
        lengths = np.linalg.norm(found, axis=1) * np.linalg.norm(wanted, axis=1)
        assert ((found * wanted).sum(axis=1) / lengths).min() > 0.99
        assert not np.allclose(found, wanted, atol=1e-5)  # it is in 8 bits


@pytest.mark.parametrize("way", [way for way in WAYS if way != "float32"])
def test_in_8_bits_a_model_is_smaller(way: str) -> None:
    for name in ("encoder.onnx", "article_encoder.onnx", "second_level.onnx"):
        small, large = (exported(HIERARCHICAL, way=kind) / name for kind in (way, "float32"))
        assert small.stat().st_size < 0.75 * large.stat().st_size  # the nodes themselves are much of a tiny model


def test_the_manifest_tells_where_the_model_comes_from(tmp_path: Path) -> None:
    folder = export(retriever(FLAT), tmp_path / "model", way="int8", provenance={"recipe": "weak.yaml"})
    told = folder.manifest.provenance
    assert (told["recipe"], told["quantisation"]) == ("weak.yaml", "int8")
    assert {"torch", "transformers", "onnxruntime"} <= set(told["libraries"])
    model = retriever(FLAT)
    assert folder.manifest.special_tokens == (model.tokenizer.cls_token_id, model.tokenizer.sep_token_id)
    assert json.loads((tmp_path / "model" / "manifest.json").read_text(encoding="utf-8"))["dimension"] == 32


def test_an_export_is_the_same_again() -> None:
    again = exported(FLAT).parent / "again"
    export(retriever(FLAT), again, way="float32")
    assert TextEncoder.open(again).checksum == TextEncoder.open(exported(FLAT)).checksum


def test_the_retriever_and_the_logging_stay_as_they_were(tmp_path: Path) -> None:
    model = retriever(FLAT)
    before = (model.question_tower.config._attn_implementation, model.training, logging.root.handlers[:])
    levels = [logging.getLogger(name).level for name in ("torch.onnx", "")]
    weights = {name: weight.clone() for name, weight in model.state_dict().items()}
    model.train()
    try:
        export(model, tmp_path, way="int8-blocks")
        assert model.training
    finally:
        model.eval()
    assert (model.question_tower.config._attn_implementation, model.training, logging.root.handlers[:]) == before
    assert [logging.getLogger(name).level for name in ("torch.onnx", "")] == levels
    assert logging.root.manager.disable == 0
    assert all(weight.equal(weights[name]) for name, weight in model.state_dict().items())


def test_an_unknown_way_and_missing_samples_are_refused_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(
        ModelError, match="'int4' is no way to export a model: choose one of float32, int8, int8-smooth"
    ):
        export(retriever(FLAT), tmp_path / "model", way="int4")
    with pytest.raises(ModelError, match="int8-smooth measures the model on sample texts, and none were given"):
        export(retriever(FLAT), tmp_path / "model", way="int8-smooth")
    assert not (tmp_path / "model").exists()


def test_a_graph_that_strays_from_torch_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def last(self: module._OneText, ids: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.tower(input_ids=ids).last_hidden_state[:, -1]  # and not their mean
        return found

    monkeypatch.setattr(module._OneText, "forward", last)
    with pytest.raises(ModelError, match=r"is .* away from torch at length 2: this architecture cannot be exported"):
        export(retriever(FLAT), tmp_path / "model")
    assert not (tmp_path / "model").exists()
