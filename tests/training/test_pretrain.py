"""Masked language modelling: exact files, the loss of the models themselves, bit-equal after a kill, refusals."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import (
    AutoModelForMaskedLM,
    AutoTokenizer,
    BertConfig,
    CamembertConfig,
    ElectraConfig,
    TrainerCallback,
    XLMRobertaConfig,
)

from lexarbor.corpus.sources import read_tiny
from lexarbor.errors import ModelError, TrainingError
from lexarbor.text.vocabulary import learn_vocabulary, save_vocabulary
from lexarbor.training.blocks import IGNORED, MaskedBlocks, Pieces, pack
from lexarbor.training.hyperparameters import Architecture, Optimisation, Watching
from lexarbor.training.pretrain import MaskedLanguageModel, pretrain, write_half
from lexarbor.training.recipes import PretrainRecipe, read_recipe

LAW = read_tiny()
TEXTS = [" > ".join(LAW.headings(article)) + "\n" + article.text for article in LAW.articles.values()]
SHAPE = Architecture(layers=2, hidden=32, heads=2, intermediate=64, positions=64, vocabulary=500)
RECIPE = PretrainRecipe(
    architecture=SHAPE,
    block_tokens=32,
    optimisation=Optimisation(batch_size=4, steps=6, learning_rate=1e-3),
    watching=Watching(log_every=2, save_every=3),
)
KINDS = {"bert": BertConfig, "camembert": CamembertConfig, "xlm-roberta": XLMRobertaConfig, "electra": ElectraConfig}
TOKENIZER = learn_vocabulary(TEXTS, 500)


def checkpoint(kind: str, folder: Path) -> Path:
    """A tiny random model of one of the paper's architectures, on disk."""
    config = KINDS[kind](
        vocab_size=TOKENIZER.get_vocab_size(),
        hidden_size=32,
        embedding_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=40,
        pad_token_id=0,
    )
    torch.manual_seed(1)
    AutoModelForMaskedLM.from_config(config).save_pretrained(folder)
    save_vocabulary(TOKENIZER, folder)
    return folder


def weights(folder: Path) -> dict[str, torch.Tensor]:
    found: dict[str, torch.Tensor] = AutoModelForMaskedLM.from_pretrained(folder).state_dict()
    return found


class Stop(TrainerCallback):
    """As a kill between two steps would."""

    def __init__(self, step: int) -> None:
        self.step = step

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.global_step == self.step:
            raise KeyboardInterrupt


def test_a_fresh_model_is_a_folder_that_others_can_load(tmp_path: Path) -> None:
    out = pretrain(RECIPE, TEXTS, tmp_path / "model")
    assert sorted(path.name for path in out.iterdir()) == [
        "config.json",
        "log.json",
        "model.safetensors",
        "recipe.yaml",
        "tokenizer.json",
        "tokenizer_config.json",
    ]
    assert read_recipe(out / "recipe.yaml") == RECIPE
    model, tokenizer = AutoModelForMaskedLM.from_pretrained(out), AutoTokenizer.from_pretrained(out)
    assert model.config.model_type == "bert"
    assert model.dtype == torch.float32
    assert model.config.vocab_size == len(tokenizer) == 500
    assert tokenizer("L'étang")["input_ids"] == TOKENIZER.encode("L'étang").ids
    log = json.loads((out / "log.json").read_text())
    assert [entry["step"] for entry in log["log"]] == [1, 2, 4, 6]
    assert log["tokens_per_second"] > 0
    assert log["log"][0]["loss"] == pytest.approx(torch.log(torch.tensor(500.0)).item(), abs=0.3)


def test_loss_falls(tmp_path: Path) -> None:
    longer = replace(RECIPE, optimisation=replace(RECIPE.optimisation, steps=60, batch_size=16, learning_rate=5e-3))
    out = pretrain(longer, TEXTS, tmp_path)
    losses = [entry["loss"] for entry in json.loads((out / "log.json").read_text())["log"]]
    assert losses[-1] < losses[0] - 0.5


@pytest.mark.parametrize("accumulation", [1, 2])
def test_a_run_that_was_stopped_ends_with_the_same_weights(tmp_path: Path, accumulation: int) -> None:
    recipe = replace(RECIPE, optimisation=replace(RECIPE.optimisation, accumulation=accumulation))
    straight = pretrain(recipe, TEXTS, tmp_path / "straight")
    with pytest.raises(KeyboardInterrupt):
        pretrain(recipe, TEXTS, tmp_path / "stopped", callbacks=[Stop(5)])
    assert not (tmp_path / "stopped" / "model.safetensors").exists()
    stopped = pretrain(recipe, TEXTS, tmp_path / "stopped", resume=True)
    one, other = weights(straight), weights(stopped)
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)
    losses = [
        [entry["loss"] for entry in json.loads((folder / "log.json").read_text())["log"]]
        for folder in (straight, stopped)
    ]
    assert losses[0][-1] == pytest.approx(losses[1][-1])


def test_a_run_that_was_stopped_after_its_last_step_is_finished(tmp_path: Path) -> None:
    class StopAtTheEnd(TrainerCallback):
        def on_train_end(self, *_: Any, **__: Any) -> None:
            raise KeyboardInterrupt

    straight = weights(pretrain(RECIPE, TEXTS, tmp_path / "straight"))
    with pytest.raises(KeyboardInterrupt):
        pretrain(RECIPE, TEXTS, tmp_path / "stopped", callbacks=[StopAtTheEnd()])
    stopped = weights(pretrain(RECIPE, TEXTS, tmp_path / "stopped", resume=True))
    assert all(torch.equal(straight[name], stopped[name]) for name in straight)


def test_another_seed_is_another_model(tmp_path: Path) -> None:
    one = weights(pretrain(RECIPE, TEXTS, tmp_path / "one"))
    seeded = replace(RECIPE, optimisation=replace(RECIPE.optimisation, seed=1))
    other = weights(pretrain(seeded, TEXTS, tmp_path / "other"))
    assert not any(torch.equal(one[name], other[name]) for name in one if name.endswith("query.weight"))


def test_resuming_where_nothing_is_starts(tmp_path: Path) -> None:
    assert pretrain(RECIPE, TEXTS, tmp_path / "new", resume=True) == tmp_path / "new"


@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_is_the_one_of_the_model_itself(kind: str, tmp_path: Path) -> None:
    model = AutoModelForMaskedLM.from_pretrained(checkpoint(kind, tmp_path)).eval()
    pieces = Pieces(2, 3, 4, (0, 1, 2, 3, 4), TOKENIZER.get_vocab_size())
    batches = MaskedBlocks(pack(TEXTS, TOKENIZER, pieces), pieces, block_tokens=32, batch_size=4, masked=0.15, seed=0)
    batches.count = 1
    batch = batches[0]
    labels = torch.full_like(batch["ids"], IGNORED)
    labels.view(-1)[batch["positions"]] = batch["targets"]
    projected: list[int] = []
    model.get_output_embeddings().register_forward_hook(lambda _, given, __: projected.append(given[0][..., 0].numel()))
    loss = MaskedLanguageModel(model).eval()(**batch)
    assert projected == [batches.guesses]  # not all 128 tokens
    torch.testing.assert_close(loss, model(input_ids=batch["ids"], labels=labels).loss)


@pytest.mark.parametrize("kind", KINDS)
def test_training_goes_on_from_any_of_the_papers_architectures(kind: str, tmp_path: Path) -> None:
    begin = checkpoint(kind, tmp_path / "begin")
    out = pretrain(replace(RECIPE, start=str(begin)), TEXTS, tmp_path / "out")
    before, after = weights(begin), weights(out)
    assert before.keys() == after.keys()
    assert AutoModelForMaskedLM.from_pretrained(out).config.model_type == kind
    moved = [name for name in before if not torch.equal(before[name], after[name])]
    assert any("word_embeddings" in name for name in moved)
    assert AutoTokenizer.from_pretrained(out)("congé")["input_ids"] == TOKENIZER.encode("congé").ids


def test_attention_gets_no_mask(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A mask, even of ones, would keep flash attention away."""
    given: list[Any] = []
    real = torch.nn.functional.scaled_dot_product_attention

    def seen(*arguments: Any, **options: Any) -> torch.Tensor:
        given.append(options.get("attn_mask"))
        return real(*arguments, **options)

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", seen)
    pretrain(RECIPE, TEXTS, tmp_path)
    assert given == [None] * 12  # two layers, six steps


@pytest.mark.parametrize(("kind", "longest"), [("bert", 40), ("camembert", 39)])
def test_a_block_longer_than_the_model_reads_is_refused(kind: str, longest: int, tmp_path: Path) -> None:
    begin = str(checkpoint(kind, tmp_path / "begin"))
    with pytest.raises(TrainingError, match=f"reads {longest} tokens at most"):
        pretrain(replace(RECIPE, start=begin, block_tokens=longest + 1), TEXTS, tmp_path / "out")
    pretrain(replace(RECIPE, start=begin, block_tokens=longest), TEXTS, tmp_path / "fits")


def test_a_given_tokenizer_is_used(tmp_path: Path) -> None:
    save_vocabulary(learn_vocabulary(TEXTS, 300), tmp_path / "tokenizer")
    out = pretrain(replace(RECIPE, tokenizer=str(tmp_path / "tokenizer")), TEXTS, tmp_path / "out")
    assert (out / "tokenizer.json").read_bytes() == (tmp_path / "tokenizer" / "tokenizer.json").read_bytes()
    assert AutoModelForMaskedLM.from_pretrained(out).config.vocab_size == 300


def test_epochs_say_how_long(tmp_path: Path) -> None:
    recipe = replace(RECIPE, optimisation=replace(RECIPE.optimisation, steps=0, epochs=0.5, batch_size=32))
    out = pretrain(recipe, TEXTS, tmp_path)
    log = json.loads((out / "log.json").read_text())
    blocks = -(-log["stream_tokens"] // 31)
    assert log["log"][-1]["step"] == -(-blocks // 64)


def test_a_checkpoint_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="nowhere/model: neither a folder nor a checkpoint"):
        pretrain(replace(RECIPE, start="nowhere/model"), TEXTS, tmp_path / "out")
    with pytest.raises(ModelError, match=r"tokenizer\.json"):
        pretrain(replace(RECIPE, tokenizer=str(tmp_path)), TEXTS, tmp_path / "other")


def test_a_folder_with_something_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(TrainingError, match="is not empty"):
        pretrain(RECIPE, TEXTS, tmp_path)


def test_resuming_with_another_recipe_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        pretrain(RECIPE, TEXTS, tmp_path, callbacks=[Stop(4)])
    with pytest.raises(TrainingError, match="begun with another masked"):
        pretrain(replace(RECIPE, masked=0.3), TEXTS, tmp_path, resume=True)


def test_a_finished_model_is_not_trained_again(tmp_path: Path) -> None:
    out = pretrain(RECIPE, TEXTS, tmp_path / "model")
    before = (out / "model.safetensors").read_bytes(), (out / "log.json").read_bytes()
    with pytest.raises(TrainingError, match="has finished"):
        pretrain(RECIPE, TEXTS, out, resume=True)
    assert before == ((out / "model.safetensors").read_bytes(), (out / "log.json").read_bytes())


def test_resuming_where_nothing_is_kept_or_another_has_its_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="save_every is 0"):
        pretrain(replace(RECIPE, watching=Watching()), TEXTS, tmp_path / "new", resume=True)
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(TrainingError, match="no run's"):
        pretrain(RECIPE, TEXTS, tmp_path, resume=True)


def test_resuming_with_other_data_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        pretrain(RECIPE, TEXTS, tmp_path, callbacks=[Stop(4)], data="abc")
    with pytest.raises(TrainingError, match="begun with other data"):
        pretrain(RECIPE, TEXTS[:3], tmp_path, resume=True, data="abd")
    pretrain(RECIPE, TEXTS, tmp_path, resume=True, data="abc")


def test_what_tensorboard_reads_stays_when_a_run_has_finished(tmp_path: Path) -> None:
    out = pretrain(replace(RECIPE, watching=replace(RECIPE.watching, report=("tensorboard",))), TEXTS, tmp_path)
    assert list((out / "runs").glob("events.out.tfevents.*"))
    assert not (out / "checkpoints").exists()


def test_a_batch_that_does_not_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(MaskedLanguageModel, "forward", full)
    with pytest.raises(TrainingError) as caught:
        pretrain(RECIPE, TEXTS, tmp_path)
    assert str(caught.value) == (
        "a batch of 4 blocks does not fit in this memory: lower batch_size and raise accumulation"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_dropout_inside_attention_is_off_in_training_and_the_checkpoints_own_afterwards(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rates: set[float] = set()
    real = torch.nn.functional.scaled_dot_product_attention

    def seen(*arguments: Any, **options: Any) -> torch.Tensor:
        rates.add(options.get("dropout_p", 0.0))
        return real(*arguments, **options)

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", seen)
    out = pretrain(replace(RECIPE, start=str(checkpoint(kind, tmp_path / "begin"))), TEXTS, tmp_path / "out")
    assert rates == {0.0}
    config = json.loads((out / "config.json").read_text())
    assert config["attention_probs_dropout_prob"] == 0.1


def changed(begin: Path, **weights: torch.Tensor | None) -> Path:
    """A checkpoint some of whose weights, by the ends of their names, are others or gone."""
    held = load_file(begin / "model.safetensors")
    for end, weight in weights.items():
        for name in [name for name in held if name.endswith(end.replace("__", "."))]:
            held.pop(name)
            if weight is not None:
                held[name] = weight.clone()
    save_file(held, begin / "model.safetensors", metadata={"format": "pt"})
    return begin


def test_a_checkpoint_that_is_not_whole_is_refused(tmp_path: Path) -> None:
    torn = changed(checkpoint("bert", tmp_path / "torn"), query__weight=None)
    with pytest.raises(ModelError, match="2 weights are missing"):
        pretrain(replace(RECIPE, start=str(torn)), TEXTS, tmp_path / "one")
    other = changed(checkpoint("bert", tmp_path / "other"), query__weight=torch.zeros(3, 3))
    with pytest.raises(ModelError, match="2 weights are of another size"):
        pretrain(replace(RECIPE, start=str(other)), TEXTS, tmp_path / "two")
    pickled = checkpoint("bert", tmp_path / "pickled")
    torch.save(load_file(pickled / "model.safetensors"), pickled / "pytorch_model.bin")
    (pickled / "model.safetensors").unlink()
    with pytest.raises(TrainingError, match="cannot be loaded"):
        pretrain(replace(RECIPE, start=str(pickled)), TEXTS, tmp_path / "three")


def test_a_head_that_is_missing_is_made_and_told_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    headless = changed(checkpoint("bert", tmp_path / "headless"), transform__dense__weight=None)
    pretrain(replace(RECIPE, start=str(headless)), TEXTS, tmp_path / "out")
    assert "has no head for masked language modelling" in caplog.text


def test_nothing_to_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="no text"):
        pretrain(RECIPE, [], tmp_path)


def test_a_half_is_half_as_large(tmp_path: Path) -> None:
    whole = checkpoint("bert", tmp_path / "whole")
    write_half(whole, tmp_path / "half")
    size = (tmp_path / "half" / "model.safetensors").stat().st_size
    assert size < 0.6 * (whole / "model.safetensors").stat().st_size
    assert AutoTokenizer.from_pretrained(tmp_path / "half")("congé")["input_ids"] == TOKENIZER.encode("congé").ids
    one, other = weights(whole), weights(tmp_path / "half")
    assert all(torch.allclose(one[name].float(), other[name].float(), atol=1e-3) for name in one)
