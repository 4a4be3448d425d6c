"""A retriever's folder: read back as it was, plain for others to load, and a beginning for larger models."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from sentence_transformers import SentenceTransformer
from test_retriever import ARTICLES, CHUNKS, FLAT, encode_articles, encode_questions, retriever
from tiny_models import LAW, tiny_checkpoint
from transformers import AutoModel, AutoTokenizer

from lexarbor.errors import LexarborError, ModelError
from lexarbor.text.retriever import DenseStatuteRetriever
from lexarbor.text.settings import EncoderSettings

TOWER = ["1_Pooling/config.json", "config.json", "model.safetensors", "modules.json", "tokenizer.json"]
TOWER += ["tokenizer_config.json"]


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_checkpoint(tmp_path_factory.mktemp("camembert"), "camembert")


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def load(folder: Path, settings: EncoderSettings | None = None) -> DenseStatuteRetriever:
    return DenseStatuteRetriever.load(folder, settings).eval()


@pytest.mark.parametrize("settings", [FLAT, CHUNKS, replace(CHUNKS, shared=False, pooling="cls", chunk_pooling="max")])
def test_what_is_saved_is_loaded(start: Path, tmp_path: Path, settings: EncoderSettings) -> None:
    model = retriever(start, settings)
    with torch.no_grad():  # towers that differ, where there are two
        next(model.question_tower.parameters()).mul_(1.5)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.settings == settings
    assert torch.equal(encode_articles(again, ARTICLES), encode_articles(model, ARTICLES))
    assert torch.equal(encode_questions(again, LAW), encode_questions(model, LAW))
    assert (again.question_tower is again.article_tower) == settings.shared


def test_the_folder_holds_no_more_than_it_says(start: Path, tmp_path: Path) -> None:
    retriever(start, replace(CHUNKS, shared=False)).save(tmp_path)
    towers = [f"{tower}/{name}" for tower in ("article_encoder", "encoder") for name in TOWER]
    assert files(tmp_path) == [*towers, "second_level.safetensors", "settings.json"]
    retriever(start, FLAT).save(tmp_path)
    assert files(tmp_path) == [*(f"encoder/{name}" for name in TOWER), "settings.json"]


def test_what_else_stands_in_the_folder_stays(start: Path, tmp_path: Path) -> None:
    (tmp_path / "recipe.yaml").write_text("seed: 0\n", encoding="utf-8")
    retriever(start, FLAT).save(tmp_path)
    assert "recipe.yaml" in files(tmp_path)


def test_others_load_the_first_level_as_a_plain_folder(start: Path, tmp_path: Path) -> None:
    model = retriever(start, FLAT)
    model.save(tmp_path)
    tower = AutoModel.from_pretrained(tmp_path / "encoder").eval()
    long = " ".join(LAW)
    batch = AutoTokenizer.from_pretrained(tmp_path / "encoder")(long, return_tensors="pt", truncation=True)
    assert batch["input_ids"].shape[1] == 40
    tokens = tower(batch["input_ids"], batch["attention_mask"]).last_hidden_state
    assert torch.allclose(tokens.mean(dim=1), encode_articles(model, [long]), atol=1e-6)


@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_sentence_transformers_gives_the_same_vectors(start: Path, tmp_path: Path, pooling: str) -> None:
    model = retriever(start, replace(FLAT, pooling=pooling))
    model.save(tmp_path)
    theirs = SentenceTransformer(str(tmp_path / "encoder"), device="cpu", local_files_only=True)
    assert torch.allclose(theirs.encode(LAW, convert_to_tensor=True), encode_articles(model, LAW), atol=1e-6)


def test_saving_leaves_the_tokenizer_as_it_was(start: Path, tmp_path: Path) -> None:
    model = retriever(start, FLAT)
    before = model.tokenizer.model_max_length
    model.save(tmp_path)
    assert model.tokenizer.model_max_length == before != 40


@pytest.mark.parametrize("chunk_pooling", ["mean", "max"])
def test_a_flat_retriever_grows_a_second_level(start: Path, tmp_path: Path, chunk_pooling: str) -> None:
    flat = retriever(start, replace(FLAT, max_tokens=12))
    flat.save(tmp_path)
    grown = load(tmp_path, replace(CHUNKS, chunk_pooling=chunk_pooling))
    short = [text for text in ["Le préavis.", "Le contrat", ""] if len(grown.article_ids([text])[0]) == 1]
    assert len(short) == 3
    assert torch.equal(encode_articles(grown, short), encode_articles(flat, short))
    chunks = grown.article_ids(LAW[:1])[0]
    each = grown.encode_question_ids(*grown.padded(chunks))
    expected = each.mean(dim=0) if chunk_pooling == "mean" else each.amax(dim=0)
    assert torch.allclose(encode_articles(grown, LAW[:1])[0], expected, atol=1e-6)


def test_a_shared_tower_grows_into_two_that_learn_apart(start: Path, tmp_path: Path) -> None:
    shared = retriever(start, FLAT)
    shared.save(tmp_path)
    apart = load(tmp_path, replace(FLAT, shared=False))
    assert torch.equal(encode_articles(apart, LAW), encode_articles(shared, LAW))
    with torch.no_grad():
        next(apart.article_tower.parameters()).mul_(1.5)
    assert torch.equal(encode_questions(apart, LAW), encode_questions(shared, LAW))
    assert not torch.equal(encode_articles(apart, LAW), encode_articles(shared, LAW))


def test_a_second_level_that_is_not_wanted_is_left_out(start: Path, tmp_path: Path) -> None:
    retriever(start, CHUNKS).save(tmp_path)
    flat = load(tmp_path, FLAT)
    assert flat.second_level is None
    assert torch.equal(encode_articles(flat, LAW), encode_articles(retriever(start, FLAT), LAW))


def test_two_towers_cannot_become_one(start: Path, tmp_path: Path) -> None:
    retriever(start, replace(FLAT, shared=False)).save(tmp_path)
    with pytest.raises(ModelError, match="has two towers, which cannot become one: set shared to false"):
        load(tmp_path, FLAT)


def test_a_second_level_for_other_chunks_is_refused(start: Path, tmp_path: Path) -> None:
    retriever(start, CHUNKS).save(tmp_path)
    with pytest.raises(ModelError, match=r"second_level\.safetensors: does not fit the settings.*positions"):
        load(tmp_path, replace(CHUNKS, max_tokens=80))


@pytest.mark.parametrize("name", ["settings.json", "second_level.safetensors", "encoder/config.json"])
def test_a_damaged_folder_is_told_of(start: Path, tmp_path: Path, name: str) -> None:
    retriever(start, CHUNKS).save(tmp_path)
    for damage in ("cut", "gone"):
        if damage == "cut":
            os.truncate(tmp_path / name, 5)
        else:
            (tmp_path / name).unlink()
        with pytest.raises(ModelError, match=str(tmp_path)):
            load(tmp_path)


def test_a_checkpoint_is_no_retriever(start: Path) -> None:
    with pytest.raises(ModelError, match="is this a model folder"):
        load(start)


def test_a_save_that_breaks_off_is_not_loaded(start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = retriever(start, CHUNKS)
    model.save(tmp_path)

    def full(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("lexarbor.text.retriever.save_file", full)
    with pytest.raises(LexarborError, match=r"cannot write the model folder .* no space left"):
        model.save(tmp_path)
    assert not list(tmp_path.glob(".saving-*"))
    with pytest.raises(ModelError):
        load(tmp_path)
