"""What cannot learn to write questions is refused before long work, in one sentence that says what to do."""

import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_generate import generate_recipe
from tiny_supervision import checkpoint, refused_by, tiny
from transformers import AutoTokenizer, DistilBertConfig, DistilBertForMaskedLM

from lexarbor.errors import TrainingError
from lexarbor.supervision.folder import Passage, Supervision, write_supervision
from lexarbor.training import generate
from lexarbor.training.generate import QuestionLoss, train_generator
from lexarbor.training.recipes import GenerateRecipe, parse_recipe, write_recipe
from tiny_generator import tiny_mt5


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"near": 0.3}, "judge is '', near is 0.3: name a retriever and a part below 1, or neither"),
        ({"judge": "models/dsr"}, "judge is 'models/dsr', near is 1.0: name a retriever and a part below 1"),
        ({"judge": "models/dsr", "near": 0}, "near is 0.0"),
        ({"judge": "models/dsr", "near": 1.5}, "near is 1.5"),
        ({"judge": "models/dsr", "near": ".nan"}, "near is '.nan': expected float"),
        (
            {"watching": {"patience": 2, "evaluate_every": 5}},
            "watching.measure is recall@100: this stage is judged by likelihood",
        ),
        ({"watching": {"patience": 2, "measure": "likelihood"}}, "watching.patience needs watching.evaluate_every"),
        ({"optimisation": {"mini_batch": 8}}, "optimisation.mini_batch is for the stage text: lower batch_size, raise"),
        ({"optimisation": {"epochs": 1}}, "by steps or by epochs"),
        ({"kinds": {}}, "kinds is {}: expected kinds with shares, e.g. {gold: 1}"),
        ({"kinds": {"gold": 0, "gaps": 0}}, "kinds is {'gold': 0.0, 'gaps': 0.0}: expected kinds with shares"),
        ({"kinds": {"gold": -1}}, "kinds is {'gold': -1.0}"),
        ({"kinds": {"gold": "many"}}, "kinds.gold is 'many': expected float"),
        ({"kinds": ["gold"]}, "kinds is ['gold']"),
        ({"dropout": 1}, "dropout is 1.0: expected a part from 0 to below 1"),
        ({"input_tokens": 7}, "input_tokens is 7: expected 8 or more"),
        ({"question_tokens": 7}, "question_tokens is 7: expected 8 or more"),
        ({"headings": "no"}, "headings is 'no': expected bool"),
        ({"supervision": {"kinds": {"gold": 1}}}, "unknown key 'supervision'"),
        ({"question_token": 9}, "unknown key 'question_token': did you mean 'question_tokens'?"),
    ],
)
def test_a_recipe_that_cannot_be_meant_is_refused(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(TrainingError) as found:
        generate_recipe(**changes)
    assert told in str(found.value)
    assert "\n" not in str(found.value)


def test_a_recipe_says_what_it_starts_from() -> None:
    with pytest.raises(TrainingError, match="'start' is missing: say what the model starts from"):
        parse_recipe({"stage": "generate"})
    assert GenerateRecipe("x", kinds={"gold": 1.0, "gaps": 0.0}).drawn == {"gold": 1.0}


refused = partial(refused_by, train_generator)


@pytest.fixture
def no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is loaded or made before what is wrong is told."""

    def begun(*_: Any) -> None:
        raise AssertionError("long work began")

    monkeypatch.setattr(generate, "begin", begun)


@pytest.fixture
def bert(tmp_path: Path) -> Path:
    return checkpoint(tmp_path / "bert")


@pytest.mark.usefixtures("no_model")
def test_supervision_that_lacks_what_the_recipe_names(tmp_path: Path) -> None:
    told = refused(generate_recipe(kinds={"gold": 1, "gilded": 1}), tiny(), tmp_path)
    assert told.startswith("the supervision folder has no pairs of the kind 'gilded': choose among gold, headings")
    assert "holds no questions" in refused(generate_recipe(), replace(tiny(), pairs=[]), tmp_path)
    no_dev = replace(tiny(), asked=[replace(one, split="test", gold=()) for one in tiny().asked])
    for watching in ({"evaluate_every": 1}, {"evaluate_every": 1, "patience": 1, "measure": "likelihood"}):
        told = refused(generate_recipe(watching=watching), no_dev, tmp_path)
        assert "no dev questions to look at: set watching.patience and watching.evaluate_every to 0" in told
    lost = replace(tiny(), pairs=[replace(tiny().pairs[0], positives=("Z9",))])
    assert "a pair of the kind 'gold' names the passage 'Z9'" in refused(generate_recipe(), lost, tmp_path)
    lost = replace(tiny(), asked=[replace(tiny().asked[0], gold=("Z8",))])
    assert "names the passage 'Z8', which the supervision folder does not" in refused(generate_recipe(), lost, tmp_path)
    half = generate_recipe(optimisation={"precision": "fp16"})
    if not torch.cuda.is_available():
        assert "precision is fp16, which needs a GPU" in refused(half, tiny(), tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("no_model")
def test_folders_that_are_not_this_runs(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").touch()
    assert "is not empty" in refused(generate_recipe(), tiny(), tmp_path / "other")
    assert "save_every is 0" in refused(generate_recipe(), tiny(), tmp_path / "new", resume=True)
    saving = generate_recipe(watching={"save_every": 1})
    assert "no run's" in refused(saving, tiny(), tmp_path / "other", resume=True)
    write_recipe(saving, tmp_path / "other" / "recipe.yaml")
    changed = replace(saving, question_tokens=9)
    assert "was begun with another question_tokens" in refused(changed, tiny(), tmp_path / "other", resume=True)
    (tmp_path / "other" / "log.json").touch()
    assert "has finished" in refused(saving, tiny(), tmp_path / "other", resume=True)


@pytest.mark.usefixtures("no_model")
def test_a_run_is_not_resumed_with_other_data(tmp_path: Path) -> None:
    saving = generate_recipe(watching={"save_every": 1})
    one = write_supervision(tiny(), tmp_path / "one")
    other = write_supervision(replace(tiny(), texts=["Un texte de plus."]), tmp_path / "other")
    with pytest.raises(AssertionError, match="long work began"):
        train_generator(saving, one, tmp_path / "run")
    assert "was begun with other data" in refused(saving, other, tmp_path / "run", resume=True)


def test_lengths_above_what_a_model_reads(tmp_path: Path, bert: Path) -> None:
    for verb, name in (("reads", "input_tokens"), ("writes", "question_tokens")):
        told = refused(generate_recipe(**{name: 65}), tiny(), tmp_path / f"fresh-{name}")
        assert told == f"fresh: {verb} at most 64 tokens, but {name} is 65: lower it"
        told = refused(generate_recipe(start=str(bert), **{name: 65}), tiny(), tmp_path / name)
        assert told == f"{bert}: {verb} at most 64 tokens, but {name} is 65: lower it"
    longest = generate_recipe(start=str(bert), input_tokens=64, question_tokens=64)
    folder = replace(tiny(), asked=[])  # no look at dev, which takes longer
    assert train_generator(longest, folder, tmp_path / "longest").steps == 2
    unending = generate_recipe(start=str(tiny_mt5(tmp_path / "mt5")), input_tokens=200, question_tokens=80)
    assert train_generator(unending, folder, tmp_path / "unending").steps == 2


def test_gaps_without_a_mask(tmp_path: Path) -> None:
    plan = generate_recipe(start=str(tiny_mt5(tmp_path / "mt5")), kinds={"gold": 1, "gaps": 1})
    told = refused(plan, tiny(), tmp_path / "run")
    assert told == "kinds names 'gaps', but the tokenizer has no mask: leave it out, or set it to 0"


def test_gaps_without_a_text(tmp_path: Path) -> None:
    silent = Supervision([Passage("A1", " ", ("Code",))], texts=["Un texte pour le vocabulaire."])
    told = refused(generate_recipe(kinds={"gaps": 1}), silent, tmp_path / "run")
    assert told == "the supervision folder holds no text to make gaps in: write it again from another law"


def test_starts_that_cannot_be_read(tmp_path: Path, bert: Path) -> None:
    def told(start: Path | str, name: str) -> str:
        return refused(generate_recipe(start=str(start)), tiny(), tmp_path / name)

    assert "/no/where: there is no such folder" in told("/no/where", "1")
    assert "neither a folder nor a checkpoint that the Hugging Face hub gives" in told("nobody/nothing", "2")
    held = load_file(bert / "model.safetensors")
    queries = [name for name in held if name.endswith("query.weight")]
    for number, other in (("3", None), ("4", torch.zeros(3, 3))):
        torn = Path(shutil.copytree(bert, tmp_path / f"torn-{number}"))
        changed = {} if other is None else {name: other.clone() for name in queries}
        kept = {name: weight for name, weight in held.items() if name not in queries} | changed
        save_file(kept, torn / "model.safetensors", {"format": "pt"})
        expected = "2 weights are missing" if other is None else "2 weights are of another size"
        assert expected in told(torn, number)
    (torn / "model.safetensors").write_bytes(b"\0")
    assert f"{torn}: its weights cannot be read" in told(torn, "5")
    (torn / "tokenizer.json").unlink()
    assert "tokenizer" in told(torn, "6")
    (tmp_path / "empty").mkdir()
    assert "no config.json in this folder" in told(tmp_path / "empty", "7")


def test_a_tokenizer_without_the_signs_of_bert(tmp_path: Path, bert: Path) -> None:
    unsigned = Path(shutil.copytree(bert, tmp_path / "unsigned"))
    tokenizer = AutoTokenizer.from_pretrained(bert)
    tokenizer.cls_token = None
    tokenizer.save_pretrained(unsigned)
    told = refused(generate_recipe(start=str(unsigned)), tiny(), tmp_path / "run")
    assert told == f"{unsigned}: its tokenizer has no cls_token; give a BERT-type checkpoint"


def test_an_architecture_that_cannot_decode(tmp_path: Path, bert: Path) -> None:
    config = DistilBertConfig(vocab_size=600, dim=32, n_layers=1, n_heads=2, hidden_dim=32, max_position_embeddings=64)
    DistilBertForMaskedLM(config).save_pretrained(tmp_path / "distil")
    AutoTokenizer.from_pretrained(bert).save_pretrained(tmp_path / "distil")
    told = refused(generate_recipe(start=str(tmp_path / "distil")), tiny(), tmp_path / "run")
    assert told.startswith(f"start is '{tmp_path / 'distil'}', whose weights cannot be an encoder and a decoder (")
    assert told.endswith("give a BERT-type checkpoint, a sequence-to-sequence model, or 'fresh'")


def test_a_judge_that_is_not_there(tmp_path: Path) -> None:
    plan = generate_recipe(judge=str(tmp_path / "none"), near=0.5)
    assert "no encoder settings to read" in refused(plan, tiny(), tmp_path / "run")


@pytest.mark.parametrize("error", [torch.OutOfMemoryError("CUDA out of memory"), MemoryError()])
def test_a_batch_that_does_not_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(QuestionLoss, "forward", full)
    assert refused(generate_recipe(), tiny(), tmp_path) == (
        "a batch of 4 passages does not fit in this memory: lower batch_size and raise accumulation"
    )
