"""The stage `generate`, whole: from any start it learns to write questions, stops in time, and goes on when killed."""

import json
import math
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from test_pretrain import KINDS
from test_pretrain import checkpoint as papers_checkpoint
from tiny_generate import generate_recipe, generator_weights
from tiny_supervision import checkpoint, retriever, tiny
from transformers import AutoConfig, AutoModel, AutoModelForMaskedLM, AutoModelForSeq2SeqLM, AutoTokenizer

from killed_runs import killed_at
from lexarbor.supervision.folder import Asked, Pair, Passage, Supervision
from lexarbor.supervision.sampling import GeneratorSettings, Sampling
from lexarbor.supervision.texts import all_texts
from lexarbor.text.vocabulary import learn_vocabulary, save_vocabulary
from lexarbor.training import examples, generate
from lexarbor.training.examples import QuestionBatches, dev_batches, dev_pairs, examples_of
from lexarbor.training.generate import QuestionLoss, begin, dev_loss, train_generator
from lexarbor.training.generator import QuestionGenerator
from lexarbor.training.nearness import nearest_pairs
from lexarbor.training.recipes import GenerateRecipe, read_recipe
from tiny_generator import tiny_mt5

RECIPES = Path(__file__).parents[2] / "recipes"
FILES = [
    "config.json",
    "generation_config.json",
    "generator.json",
    "log.json",
    "model.safetensors",
    "recipe.yaml",
    "tokenizer.json",
    "tokenizer_config.json",
]
BODY = "embeddings.word_embeddings.weight", "encoder.layer.1.output.dense.weight"


@pytest.fixture(autouse=True)
def short_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """At a few of dev's questions: most of a tiny run would be looking."""
    monkeypatch.setattr(examples, "_DEV_BATCH", 16)
    monkeypatch.setattr(examples, "_DEV_BATCHES", 2)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def log_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "log.json").read_text(encoding="utf-8"))
    return found


def same_weights(one: Path, other: Path) -> bool:
    first, second = generator_weights(one), generator_weights(other)
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


@pytest.fixture(scope="module")
def mt5(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_mt5(tmp_path_factory.mktemp("generate") / "tiny-mt5")


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return checkpoint(tmp_path_factory.mktemp("generate") / "bert")


@pytest.mark.filterwarnings("ignore:Version v4.12.0")  # of transformers, to whoever gives labels
def test_a_fresh_generator_is_a_folder_that_others_can_load(tmp_path: Path) -> None:
    plan = generate_recipe(watching={"save_every": 1, "evaluate_every": 1})
    report = train_generator(plan, tiny(), tmp_path / "run")
    assert names(tmp_path / "run") == FILES
    assert read_recipe(tmp_path / "run" / "recipe.yaml") == plan
    model = AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "run")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "run")
    assert (model.config.model_type, model.dtype) == ("encoder-decoder", torch.float32)
    assert model.config.decoder_start_token_id == tokenizer.cls_token_id
    assert (model.generation_config.eos_token_id, model.generation_config.pad_token_id) == (
        tokenizer.sep_token_id,
        tokenizer.pad_token_id,
    )
    generator = QuestionGenerator.open(str(tmp_path / "run"))
    assert generator.settings == GeneratorSettings("question : ", True, 48, 24)
    assert len(generator.ask(tiny().articles[:2], Sampling(questions=2), seed=(0,))) == 2

    log = log_of(tmp_path / "run")
    losses = [entry["loss"] for entry in log["log"] if "loss" in entry]
    assert (report.out, report.steps, report.loss) == (tmp_path / "run", 2, losses[-1])
    assert losses[0] == pytest.approx(math.log(600), abs=0.2)  # of 600 pieces, none likelier than another
    dev = dev_batches(tiny(), dev_pairs(tiny()), tokenizer, generator.settings, tokenizer.cls_token_id)
    assert dev is not None
    with torch.no_grad():
        naive = [
            float(model(input_ids=batch["ids"], attention_mask=batch["mask"], labels=batch["labels"]).loss)
            for batch in dev
        ]
    assert report.dev_loss == log["dev_loss"] == pytest.approx(sum(naive) / len(naive), abs=1e-5)
    looks = [entry for entry in log["log"] if "eval_likelihood" in entry]
    assert [entry["step"] for entry in looks] == [1, 2]
    assert looks[1]["eval_likelihood"] == pytest.approx(math.exp(-report.dev_loss))


def test_it_learns_questions_by_heart(tmp_path: Path) -> None:
    asked = {"Qui peut pêcher ?": "La pêche est libre.", "Quand ferme-t-il ?": "Le port ferme à minuit."}
    articles = [Passage(f"A{place}", text, ("Code", "Eaux")) for place, text in enumerate(asked.values())]
    pairs = [Pair("gold", question, (f"A{place}",)) for place, question in enumerate(asked)]
    folder = Supervision(
        articles, [], pairs, [], [Asked(one.question, "dev", one.question, one.positives) for one in pairs]
    )
    plan = generate_recipe(
        dropout=0.0, optimisation={"steps": 80, "learning_rate": 1e-2, "warmup": 0.1}, watching={"log_every": 10}
    )
    report = train_generator(plan, folder, tmp_path / "run")
    losses = [entry["loss"] for entry in log_of(tmp_path / "run")["log"] if "loss" in entry]
    assert losses[0] > 5
    assert losses[-1] < 0.1
    assert report.dev_loss is not None and report.dev_loss < 0.1
    found = QuestionGenerator.open(str(tmp_path / "run")).ask(articles, Sampling(questions=2, top_k=1), seed=(0,))
    assert [[one.question for one in some] for some in found] == [[question] * 2 for question in asked]
    assert all(one.score > -0.1 for some in found for one in some)


@pytest.mark.filterwarnings("ignore:Version v4.12.0")
@pytest.mark.parametrize("kind", ["mt5", "bert"])
def test_the_loss_is_the_one_of_the_model_itself(mt5: Path, bert: Path, kind: str) -> None:
    plan = generate_recipe(start=str(mt5 if kind == "mt5" else bert))
    model, tokenizer = begin(plan, tiny())
    short = Passage("A1", "La pêche est libre.")
    folder = Supervision([short, tiny().articles[0]])
    pairs = [Pair("gold", "Qui ?", ("A1",)), Pair("gold", "Le port ferme-t-il ?", (tiny().articles[0].id,))]
    held = examples_of(
        folder, pairs, tokenizer, GeneratorSettings("", True, 48, 60), model.config.decoder_start_token_id
    )
    batches = QuestionBatches(held, {"gold": 1}, batch_size=8, batches=16, seed=0)
    batch = next(batch for batch in batches if (batch["mask"] == 0).any() and (batch["labels"] == -100).any())
    model.eval()
    with torch.no_grad():
        own = model(input_ids=batch["ids"], attention_mask=batch["mask"], labels=batch["labels"]).loss
        torch.testing.assert_close(QuestionLoss(model)(**batch), own)


def test_dev_is_looked_at_without_dropout(bert: Path) -> None:
    model, tokenizer = begin(generate_recipe(start=str(bert), dropout=0.5), tiny())
    dev = dev_batches(tiny(), dev_pairs(tiny()), tokenizer, GeneratorSettings("", True, 48, 24), tokenizer.cls_token_id)
    assert dev is not None
    taught = QuestionLoss(model).train()
    assert dev_loss(taught, dev) == dev_loss(taught, dev)
    assert taught.training


def killed(number: int) -> AbstractContextManager[None]:
    """Of the batches that are learned from: those of dev are larger."""
    return killed_at(QuestionBatches, number, where=lambda batches: batches.batch_size == 4)


@pytest.mark.parametrize("accumulation", [1, 2])
def test_a_killed_run_goes_on_bit_for_bit(tmp_path: Path, accumulation: int) -> None:
    plan = generate_recipe(
        kinds={"gold": 1, "sentence": 1, "gaps": 1},
        optimisation={"steps": 6, "accumulation": accumulation},
        watching={"save_every": 3, "evaluate_every": 2},
    )
    straight = train_generator(plan, tiny(), tmp_path / "straight")
    with killed(5 * accumulation):
        train_generator(plan, tiny(), tmp_path / "killed")
    assert names(tmp_path / "killed") == ["checkpoints", "recipe.yaml"]
    assert names(tmp_path / "killed" / "checkpoints") == ["checkpoint-3"]
    resumed = train_generator(plan, tiny(), tmp_path / "killed", resume=True)
    assert same_weights(tmp_path / "straight", tmp_path / "killed")
    assert replace(resumed, out=straight.out, seconds=0) == replace(straight, seconds=0)
    assert names(tmp_path / "killed") == FILES
    logs = [
        [
            {name: value for name, value in entry.items() if not name.endswith(("second", "runtime"))}
            for entry in log_of(tmp_path / name)["log"]
            if "train_loss" not in entry
        ]
        for name in ("straight", "killed")
    ]
    assert logs[0] == logs[1]


def test_another_seed_is_another_model_and_workers_make_none(tmp_path: Path) -> None:
    for name, changes in (("one", {}), ("workers", {"workers": 2}), ("seed", {"seed": 1})):
        train_generator(generate_recipe(optimisation=changes), tiny(), tmp_path / name)
    assert same_weights(tmp_path / "one", tmp_path / "workers")
    assert not same_weights(tmp_path / "one", tmp_path / "seed")


def test_the_callers_seed_does_not_matter(bert: Path, tmp_path: Path) -> None:
    for seed in (1, 2):
        torch.manual_seed(seed)
        train_generator(generate_recipe(start=str(bert)), tiny(), tmp_path / str(seed))
    assert same_weights(tmp_path / "1", tmp_path / "2")


@pytest.mark.parametrize("kind", KINDS)
def test_both_halves_begin_as_any_of_the_papers_architectures(kind: str, tmp_path: Path) -> None:
    start = papers_checkpoint(kind, tmp_path / "start")
    plan = generate_recipe(start=str(start), input_tokens=39)
    model, _ = begin(plan, tiny())
    held = AutoModel.from_pretrained(start).state_dict()
    halves = model.encoder.state_dict(), model.decoder.base_model.state_dict()
    assert held.keys() - halves[0].keys() <= {"pooler.dense.weight", "pooler.dense.bias"}
    for name in halves[0]:
        assert torch.equal(halves[0][name], held[name])
        assert torch.equal(halves[1][name], held[name])
    between = halves[1].keys() - halves[0].keys()
    assert between and all("crossattention" in name for name in between)
    weights = "encoder.layer.0.crossattention.self.query.weight", "encoder.layer.1.crossattention.self.query.weight"
    assert not torch.equal(*(halves[1][name] for name in weights))

    train_generator(plan, tiny(), tmp_path / "out")
    assert names(tmp_path / "out") == FILES
    trained = AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "out")
    for half in (trained.encoder.state_dict(), trained.decoder.base_model.state_dict()):
        assert not any(torch.equal(half[name], held[name]) for name in BODY)
    assert trained.encoder.config.model_type == kind


def test_the_decoder_guesses_as_the_pretrained_model_did(bert: Path) -> None:
    model, tokenizer = begin(generate_recipe(start=str(bert)), tiny())
    whole = AutoModelForMaskedLM.from_pretrained(bert)
    for one, other in (("cls.predictions.transform.dense.weight", True), ("cls.predictions.bias", True)):
        assert torch.equal(model.decoder.state_dict()[one], whole.state_dict()[one]) == other
    assert model.decoder.get_output_embeddings().weight is model.decoder.get_input_embeddings().weight
    assert model.encoder.get_input_embeddings().weight is not model.decoder.get_input_embeddings().weight
    assert len(tokenizer) == model.config.decoder.vocab_size


def test_a_sequence_to_sequence_model_goes_on(mt5: Path, tmp_path: Path) -> None:
    for name, rate in (("still", 1e-30), ("moved", 1e-2)):
        plan = generate_recipe(start=str(mt5), kinds={"gold": 1, "gaps": 0}, optimisation={"learning_rate": rate})
        train_generator(plan, tiny(), tmp_path / name)
    assert same_weights(mt5, tmp_path / "still")
    before, after = generator_weights(mt5), generator_weights(tmp_path / "moved")
    assert not [name for name in before if before[name].dim() > 1 and torch.equal(before[name], after[name])]
    assert names(tmp_path / "moved") == FILES
    assert AutoConfig.from_pretrained(tmp_path / "moved").model_type == "mt5"
    assert QuestionGenerator.open(str(tmp_path / "moved")).settings.prefix == "question : "
    words = "Le port ferme à minuit."
    ids = [AutoTokenizer.from_pretrained(folder)(words)["input_ids"] for folder in (mt5, tmp_path / "moved")]
    assert ids[0] == ids[1]


def test_what_a_run_wrote_can_be_started_from(tmp_path: Path) -> None:
    train_generator(generate_recipe(), tiny(), tmp_path / "one")
    still = generate_recipe(start=str(tmp_path / "one"), kinds={"sentence": 1}, optimisation={"learning_rate": 1e-30})
    train_generator(still, tiny(), tmp_path / "two")
    assert same_weights(tmp_path / "one", tmp_path / "two")
    configs = [json.loads((tmp_path / name / "config.json").read_text()) for name in ("one", "two")]
    assert configs[0] == configs[1]


def test_a_given_tokenizer_is_used(tmp_path: Path) -> None:
    save_vocabulary(learn_vocabulary(all_texts(tiny()), 400), tmp_path / "words")
    train_generator(generate_recipe(tokenizer=str(tmp_path / "words")), tiny(), tmp_path / "run")
    assert AutoConfig.from_pretrained(tmp_path / "run").decoder.vocab_size == 400
    held = [json.loads((tmp_path / name / "tokenizer.json").read_text())["model"] for name in ("words", "run")]
    assert held[0] == held[1]


@pytest.mark.parametrize("rate", [0.0, 0.05, 0.3])
def test_dropout_is_the_recipes_and_inside_attention_no_more_than_the_checkpoints(
    mt5: Path, bert: Path, tmp_path: Path, rate: float
) -> None:
    """`bert` has none at all, the paper's checkpoint and mT5 have 0.1 everywhere."""
    for start, inside in ((bert, 0.0), (papers_checkpoint("bert", tmp_path), min(rate, 0.1))):
        model, _ = begin(generate_recipe(start=str(start), dropout=rate, input_tokens=39), tiny())
        found = {name: module.p for name, module in model.named_modules() if isinstance(module, torch.nn.Dropout)}
        assert len(found) == 2 * (1 + 3 * 2) + 2 * 2  # two halves; attention to the other half is the decoder's alone
        for name, held in found.items():
            assert held == (inside if "attention.self" in name else rate)
    model, _ = begin(generate_recipe(start=str(mt5), dropout=rate), tiny())
    assert {module.p for module in model.modules() if isinstance(module, torch.nn.Dropout)} == {rate}
    attention = {module.dropout for name, module in model.named_modules() if name.endswith("Attention")}
    assert attention == {min(rate, 0.1)}


def test_only_what_a_judge_finds_near_is_learned_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    retriever(tmp_path / "bert").save(tmp_path / "judge")
    learned: list[list[Pair]] = []
    looked: list[list[Pair]] = []
    monkeypatch.setattr(
        generate,
        "examples_of",
        lambda folder, pairs, *more, **how: learned.append(pairs) or examples_of(folder, pairs, *more, **how),
    )
    monkeypatch.setattr(
        generate, "dev_batches", lambda folder, pairs, *more: looked.append(pairs) or dev_batches(folder, pairs, *more)
    )
    plan = generate_recipe(kinds={"gold": 1, "headings": 1, "gaps": 1}, judge=str(tmp_path / "judge"), near=0.4)
    train_generator(plan, tiny(), tmp_path / "run")
    drawn = [pair for pair in tiny().pairs if pair.kind in ("gold", "headings")]
    assert learned == [nearest_pairs(tiny(), drawn, tmp_path / "judge", 0.4)]
    assert len(learned[0]) < len(drawn)
    assert looked == [nearest_pairs(tiny(), dev_pairs(tiny()), tmp_path / "judge", 0.4)]
    assert not (tmp_path / "run" / "judge").exists()


def scripted(losses: list[float], monkeypatch: pytest.MonkeyPatch) -> list[dict[str, torch.Tensor]]:
    """Looks at dev that find these losses; gives the weights that were looked at."""
    seen: list[dict[str, torch.Tensor]] = []

    def found(taught: QuestionLoss, _: Any) -> float:
        seen.append({name: weight.detach().clone() for name, weight in taught.model.named_parameters()})
        return losses[len(seen) - 1]

    monkeypatch.setattr(generate, "dev_loss", found)
    return seen


PATIENT = {"evaluate_every": 1, "patience": 2, "measure": "likelihood"}


def test_patience_stops_and_keeps_the_likeliest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = scripted([5.0, 4.0, 4.5, 4.0, 1.0], monkeypatch)
    report = train_generator(generate_recipe(optimisation={"steps": 9}, watching=PATIENT), tiny(), tmp_path / "run")
    assert (report.steps, report.dev_loss, len(seen)) == (4, 1.0, 5)  # the last is the look at what is kept
    kept = generator_weights(tmp_path / "run")
    assert all(torch.equal(kept[name], seen[1][name]) and torch.equal(seen[4][name], seen[1][name]) for name in seen[1])
    assert not torch.equal(
        seen[3]["encoder.embeddings.word_embeddings.weight"], kept["encoder.embeddings.word_embeddings.weight"]
    )
    assert names(tmp_path / "run") == FILES


def test_patience_goes_on_counting_after_a_kill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = generate_recipe(optimisation={"steps": 9}, watching={**PATIENT, "save_every": 1})
    scripted([4.0, 4.5], monkeypatch)
    with killed(3):
        train_generator(plan, tiny(), tmp_path / "run")
    seen = scripted([4.6, 1.0, 0.5], monkeypatch)
    report = train_generator(plan, tiny(), tmp_path / "run", resume=True)
    assert (report.steps, len(seen)) == (3, 2)


@pytest.mark.parametrize(("save_every", "whole"), [(0, False), (1, True)])
def test_only_states_that_can_be_resumed_are_written_whole(tmp_path: Path, save_every: int, whole: bool) -> None:
    plan = generate_recipe(optimisation={"steps": 4}, watching={**PATIENT, "save_every": save_every})
    with killed(2):
        train_generator(plan, tiny(), tmp_path / "run")
    assert (tmp_path / "run" / "checkpoints" / "checkpoint-1" / "optimizer.pt").exists() == whole


def test_steps_of_epochs_count_pairs(tmp_path: Path) -> None:
    assert tiny().kinds()["gold"] == 12
    for epochs, batch, accumulation, steps in ((1, 6, 1, 2), (1, 5, 1, 3), (2, 4, 3, 2), (0.1, 12, 1, 1)):
        plan = generate_recipe(
            optimisation={"steps": 0, "epochs": epochs, "batch_size": batch, "accumulation": accumulation}
        )
        out = tmp_path / f"{epochs}-{batch}"
        assert train_generator(plan, tiny(), out).steps == steps


def test_gaps_need_no_questions(tmp_path: Path) -> None:
    plan = generate_recipe(kinds={"gaps": 1, "gold": 0}, optimisation={"steps": 0, "epochs": 1, "batch_size": 8})
    bare = Supervision([*tiny().articles[:15], Passage("Z1", " ")])
    assert train_generator(plan, bare, tmp_path / "run").steps == 2


def test_without_dev_there_is_no_loss_on_it(tmp_path: Path) -> None:
    report = train_generator(generate_recipe(), replace(tiny(), asked=[]), tmp_path / "run")
    assert report.dev_loss is None
    assert log_of(tmp_path / "run")["dev_loss"] is None


def test_the_recipe_for_a_cpu_learns_in_seconds(tmp_path: Path) -> None:
    plan = read_recipe(RECIPES / "generate-tiny.yaml")
    assert isinstance(plan, GenerateRecipe)
    report = train_generator(plan, tiny(), tmp_path / "run")
    log = log_of(tmp_path / "run")["log"]
    losses = [entry["loss"] for entry in log if "loss" in entry]
    assert losses[-1] < losses[0] - 0.5
    looks = [entry["eval_likelihood"] for entry in log if "eval_likelihood" in entry]
    assert report.dev_loss is not None
    assert looks[1] == pytest.approx(math.exp(-report.dev_loss)) and looks[1] > looks[0]
