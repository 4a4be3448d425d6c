"""Any checkpoint can begin a retriever; one that cannot is refused before long work, by name."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_models import ARCHITECTURES, LAW, tiny_checkpoint, tiny_config, tiny_tokenizer
from transformers import (
    AutoModel,
    BertForMaskedLM,
    BertModel,
    CamembertModel,
    DPRConfig,
    DPRContextEncoder,
    DPRQuestionEncoder,
    DPRReader,
)
from transformers.utils import logging

from lexarbor.errors import ModelError
from lexarbor.text.retriever import DenseStatuteRetriever
from lexarbor.text.settings import EncoderSettings
from lexarbor.text.towers import position_limit, read_tower

SETTINGS = EncoderSettings(max_tokens=32, question_tokens=16)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_any_architecture_is_read_without_its_pooler(tmp_path: Path, architecture: str) -> None:
    tower = read_tower(tiny_checkpoint(tmp_path, architecture), SETTINGS)
    assert type(tower.model) is ARCHITECTURES[architecture][1]
    assert not [name for name, _ in tower.model.named_parameters() if "pooler" in name]
    batch = tower.tokenizer(LAW[:1], return_tensors="pt")
    batch.pop("token_type_ids", None)
    expected = AutoModel.from_pretrained(tmp_path).eval()(**batch).last_hidden_state
    assert torch.equal(tower.model.eval()(**batch).last_hidden_state, expected)


def test_of_a_masked_language_model_the_body_is_read(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    whole = BertForMaskedLM(tiny_config("bert", tokenizer))
    whole.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    body = read_tower(tmp_path, SETTINGS).model
    assert type(body) is BertModel
    for name, weight in whole.bert.named_parameters():
        assert torch.equal(body.get_parameter(name), weight)


def tiny_dpr(folder: Path, encoder: Any = DPRQuestionEncoder, *, seed: int = 0, projection: int = 0) -> Any:
    """A dense passage retriever's encoder as transformers makes and saves it."""
    torch.manual_seed(seed)
    tokenizer = tiny_tokenizer()
    config = DPRConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=66,
        layer_norm_eps=0.1,  # neither BERT's value nor DPR's: what is not taken over would be seen
        initializer_range=0.3,
        projection_dim=projection,
    )
    model = encoder(config).eval()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return model


@pytest.mark.parametrize("encoder", [DPRQuestionEncoder, DPRContextEncoder])
def test_of_a_dense_passage_retriever_the_bert_inside_is_read(tmp_path: Path, encoder: Any) -> None:
    """Its vector is [CLS]: transformers' `pooler_output`."""
    whole = tiny_dpr(tmp_path, encoder)
    tower = read_tower(tmp_path, SETTINGS)
    assert type(tower.model) is BertModel
    batch = tower.tokenizer(LAW, padding=True, truncation=True, max_length=32, return_tensors="pt")
    batch.pop("token_type_ids", None)
    with torch.no_grad():
        vectors = tower.model(**batch).last_hidden_state[:, 0]
        assert torch.equal(vectors, whole(**batch).pooler_output)


def test_a_retriever_begins_from_two_such_encoders_and_is_saved_as_any_other(tmp_path: Path) -> None:
    whole = {
        "question": tiny_dpr(tmp_path / "question", DPRQuestionEncoder, seed=1),
        "article": tiny_dpr(tmp_path / "article", DPRContextEncoder, seed=2),
    }
    settings = EncoderSettings(max_tokens=32, question_tokens=16, pooling="cls", shared=False)
    begun = DenseStatuteRetriever.from_checkpoint(tmp_path / "question", settings, tmp_path / "article")
    begun.save(tmp_path / "saved")
    for model in (begun, DenseStatuteRetriever.load(tmp_path / "saved")):
        model.eval()
        questions = model.padded(model.question_ids(LAW))
        articles = model.padded([chunk for chunks in model.article_ids(LAW) for chunk in chunks])
        with torch.no_grad():
            asked = model.encode_question_ids(*questions)
            read = model.encode_article_ids(*articles, torch.ones(len(LAW), dtype=torch.long))
            expected = {
                name: encoder(given.ids, given.mask).pooler_output
                for (name, encoder), given in zip(whole.items(), (questions, articles), strict=True)
            }
        torch.testing.assert_close(asked, expected["question"])
        torch.testing.assert_close(read, expected["article"])


@pytest.mark.parametrize("encoder", ["DPRQuestionEncoder", "DPRContextEncoder"])
def test_a_camembert_that_was_trained_as_such_an_encoder_is_a_camembert(tmp_path: Path, encoder: str) -> None:
    """As etalab-ia's are published: the type is CamemBERT's, only the architecture tells where they come from."""
    folder = tiny_checkpoint(tmp_path, "camembert")
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps(config | {"architectures": [encoder]}), encoding="utf-8")
    body = read_tower(folder, SETTINGS).model
    assert type(body) is CamembertModel
    weights = load_file(folder / "model.safetensors")
    for name, weight in body.named_parameters():
        assert torch.equal(weight, weights[name])


def test_a_dense_passage_retriever_whose_vectors_are_not_a_bert_s_is_refused(tmp_path: Path) -> None:
    tiny_dpr(tmp_path / "projecting", projection=8)
    with pytest.raises(ModelError, match="projects its vectors to 8 numbers, by a layer that our encoders do not have"):
        read_tower(tmp_path / "projecting", SETTINGS)
    tiny_dpr(tmp_path / "reader", DPRReader)
    with pytest.raises(
        ModelError, match="of type 'dpr' with DPRReader: expected DPRQuestionEncoder or DPRContextEncoder"
    ):
        read_tower(tmp_path / "reader", SETTINGS)


def test_missing_weights_of_a_dense_passage_retriever_are_told_of(tmp_path: Path) -> None:
    tiny_dpr(tmp_path, DPRContextEncoder)
    weights = load_file(tmp_path / "model.safetensors")
    del weights["ctx_encoder.bert_model.encoder.layer.1.output.dense.weight"]
    save_file(weights, tmp_path / "model.safetensors", {"format": "pt"})
    with pytest.raises(ModelError, match=r"1 weights are missing, ctx_encoder\.bert_model\.encoder\.layer\.1\.output"):
        read_tower(tmp_path, SETTINGS)


def test_sixteen_bits_are_read_as_thirty_two(tmp_path: Path) -> None:
    folder = tiny_checkpoint(tmp_path)
    BertModel.from_pretrained(folder).half().save_pretrained(folder)
    assert {weight.dtype for weight in read_tower(folder, SETTINGS).model.parameters()} == {torch.float32}


@pytest.mark.parametrize("start", ["no-such-model", "no-such/model", "no such name"])
def test_a_name_that_nobody_gives_is_told_of(start: str) -> None:
    with pytest.raises(ModelError, match=f"{start}: neither a folder nor a checkpoint"):
        read_tower(start, SETTINGS)


def test_a_missing_folder_is_told_of(tmp_path: Path) -> None:
    for start in (tmp_path / "missing", str(tmp_path / "missing"), Path("missing"), "./missing", "models/missing"):
        with pytest.raises(ModelError, match="missing: there is no such folder"):
            read_tower(start, SETTINGS)


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["config.json"], "no config.json in this folder"),
        (["model.safetensors"], "its weights cannot be read"),
        (["tokenizer.json", "tokenizer_config.json"], "no tokenizer"),
    ],
)
def test_a_folder_that_lacks_a_part_is_told_of(tmp_path: Path, names: list[str], told: str) -> None:
    folder = tiny_checkpoint(tmp_path)
    for name in names:
        (folder / name).unlink()
    with pytest.raises(ModelError, match=told):
        read_tower(folder, SETTINGS)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_damaged_file_is_told_of(tmp_path: Path, name: str) -> None:
    folder = tiny_checkpoint(tmp_path)
    for content in ((folder / name).read_bytes()[:50], b"{}", b""):
        (folder / name).write_bytes(content)
        with pytest.raises(ModelError, match=str(folder)):
            read_tower(folder, SETTINGS)


def test_missing_weights_are_told_of(tmp_path: Path) -> None:
    folder = tiny_checkpoint(tmp_path / "one", "camembert")
    weights = load_file(folder / "model.safetensors")
    del weights["encoder.layer.1.output.dense.weight"]
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(ModelError, match=r"1 weights are missing, encoder\.layer\.1\.output\.dense\.weight for one"):
        read_tower(folder, SETTINGS)


def test_weights_of_another_size_are_told_of(tmp_path: Path) -> None:
    folder = tiny_checkpoint(tmp_path / "one", hidden=16)
    (folder / "config.json").write_bytes((tiny_checkpoint(tmp_path / "two") / "config.json").read_bytes())
    with pytest.raises(ModelError, match=r"\d+ weights are of another size than config\.json says"):
        read_tower(folder, SETTINGS)


def test_a_tokenizer_of_another_model_is_told_of(tmp_path: Path) -> None:
    folder = tiny_checkpoint(tmp_path)
    tokenizer = tiny_tokenizer()
    tokenizer.add_tokens(["préavis"])
    tokenizer.save_pretrained(folder)
    with pytest.raises(ModelError, match="its tokenizer has 201 tokens, its model only 200"):
        read_tower(folder, SETTINGS)


def test_a_tokenizer_without_special_tokens_is_told_of(tmp_path: Path) -> None:
    folder = tiny_checkpoint(tmp_path)
    tokenizer = tiny_tokenizer()
    tokenizer.sep_token = None
    tokenizer.save_pretrained(folder)
    with pytest.raises(ModelError, match="its tokenizer has no sep_token"):
        read_tower(folder, SETTINGS)


@pytest.mark.parametrize(("architecture", "limit"), [("bert", 40), ("electra", 40), ("camembert", 38)])
def test_more_tokens_than_a_checkpoint_reads_are_refused(tmp_path: Path, architecture: str, limit: int) -> None:
    folder = tiny_checkpoint(tmp_path, architecture, positions=40)
    assert position_limit(read_tower(folder, EncoderSettings(max_tokens=limit, question_tokens=limit)).model) == limit
    hierarchical = EncoderSettings("hierarchical", max_tokens=80, chunk_tokens=limit, question_tokens=16)
    read_tower(folder, hierarchical)  # more than the limit, but never at once
    for settings, name in (
        (EncoderSettings(max_tokens=limit + 1, question_tokens=16), "max_tokens"),
        (EncoderSettings(max_tokens=16, question_tokens=limit + 1), "question_tokens"),
        (EncoderSettings("hierarchical", chunk_tokens=limit + 1, question_tokens=16), "chunk_tokens"),
    ):
        with pytest.raises(ModelError, match=f"reads at most {limit} tokens at once, but {name} is {limit + 1}"):
            read_tower(folder, settings)


def test_a_roberta_really_fails_past_that_limit(tmp_path: Path) -> None:
    model = AutoModel.from_pretrained(tiny_checkpoint(tmp_path, "camembert", positions=40)).eval()
    model(torch.full((1, 38), 5))
    with pytest.raises((IndexError, RuntimeError)):
        model(torch.full((1, 39), 5))


def test_transformers_speaks_again_afterwards(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tiny_checkpoint(tmp_path)
    before = logging.get_verbosity(), logging.is_progress_bar_enabled()
    capsys.readouterr()
    read_tower(folder, SETTINGS)
    assert capsys.readouterr() == ("", "")
    assert (logging.get_verbosity(), logging.is_progress_bar_enabled()) == before
