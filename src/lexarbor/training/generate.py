"""The stage `generate`: an encoder-decoder that reads an article and writes a question it answers.

Learned from the pairs of a supervision folder, read the other way round: the passage in, its question out. Before the
passage stand words that say what is wanted, since titles, headings and sentences are no questions: "question : ",
"titre : ", … (`prefix_of`). The model is one of the transformers library's own classes; a BERT-type start gives both
halves of an `EncoderDecoderModel` their weights, but for the attention between them, which is fresh.

    out/                   a plain Hugging Face folder: `AutoModelForSeq2SeqLM` reads it
    out/generator.json     how it wants to be asked (`lexarbor augment`)
    out/log.json           loss and rate by step, and the loss on dev

and what every run's folder has (`lexarbor.training.runs`).
"""

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from torch.nn import functional
from transformers import EncoderDecoderModel

from lexarbor.errors import TrainingError, first_line
from lexarbor.files import write_json
from lexarbor.supervision.folder import Pair, Supervised
from lexarbor.supervision.sampling import GeneratorSettings
from lexarbor.text.settings import EncoderSettings
from lexarbor.text.towers import quietly, read_config, read_tower
from lexarbor.training.arguments import (
    WholeBatchTrainer,
    check_surroundings,
    fitting,
    from_first,
    training_arguments,
    world_size,
)
from lexarbor.training.examples import (
    GAPS,
    IGNORED,
    QUESTION,
    Examples,
    QuestionBatches,
    check_positives,
    dev_batches,
    dev_pairs,
    examples_of,
)
from lexarbor.training.fresh import fresh_start
from lexarbor.training.generator import check_lengths, is_seq2seq, read_seq2seq, read_tokenizer, write_settings
from lexarbor.training.nearness import nearest_pairs
from lexarbor.training.recipes import FRESH, LIKELIHOOD, GenerateRecipe
from lexarbor.training.runs import LOG, claim, data_checksum, finish, is_first
from lexarbor.training.token_pairs import checked_kinds

_SHORT = EncoderSettings(max_tokens=8, question_tokens=8)
"""For the half that reads: how long its texts may be is looked at when both halves are there."""


@dataclass(frozen=True, slots=True)
class GenerateReport:
    """What a run came to."""

    out: Path
    steps: int
    kept_step: int
    """The step whose weights were kept: the best on dev with `watching.patience`, else the last."""
    loss: float
    """The last that was logged, in nats a token."""
    dev_loss: float | None
    """On dev's questions, given their articles; none where the supervision folder has no dev."""
    seconds: float


def train_generator(recipe: GenerateRecipe, folder: Supervised, out: Path, *, resume: bool = False) -> GenerateReport:
    """Train by a recipe, keep the model in `out`."""
    began = time.perf_counter()
    drawn = recipe.drawn
    pairs = [pair for pair in folder.pairs if pair.kind in drawn]
    asked = dev_pairs(folder)
    check_surroundings(recipe.optimisation, recipe.watching)
    if named := drawn.keys() - {GAPS}:
        checked_kinds(folder, named)
    check_positives(folder, (*pairs, *asked))
    if recipe.watching.evaluate_every and not asked:
        raise TrainingError(
            "the supervision folder has no dev questions to look at: set watching.patience and "
            "watching.evaluate_every to 0, or prepare a benchmark that has a dev split"
        )
    checkpoint = claim(recipe, out, resume=resume, data=data_checksum(folder))
    transformers.set_seed(recipe.optimisation.seed)
    model, tokenizer = begin(recipe, folder)
    settings = GeneratorSettings(QUESTION, recipe.headings, recipe.input_tokens, recipe.question_tokens)
    check_lengths(model, settings, recipe.start)
    start_token = model.config.decoder_start_token_id
    near = _near(recipe, folder, pairs)
    examples = examples_of(folder, near, tokenizer, settings, start_token, gaps=GAPS in drawn)
    dev = dev_batches(folder, _near(recipe, folder, asked), tokenizer, settings, start_token)
    taught = QuestionLoss(model)
    trainer = _trainer(recipe, taught, examples, dev, out)
    with fitting(f"{recipe.optimisation.batch_size} passages", "lower batch_size and raise accumulation"):
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    last = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry][-1]
    found = dev_loss(taught, dev) if dev else None
    steps = trainer.state.global_step
    kept = trainer.state.best_global_step if recipe.watching.patience else None
    report = GenerateReport(out, steps, kept or steps, last, found, round(time.perf_counter() - began, 1))
    if is_first():
        with quietly():
            model.save_pretrained(out)
            tokenizer.save_pretrained(out)
        write_settings(settings, out)
        write_json(out / LOG, {"dev_loss": found, "seconds": report.seconds, "log": trainer.state.log_history})
        finish(out)
    return report


class QuestionLoss(torch.nn.Module):
    """A sequence-to-sequence model whose output is the loss of a batch, in nats a token."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: torch.Tensor, mask: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        before = self.model.prepare_decoder_input_ids_from_labels(labels)
        told = self.model(input_ids=ids, attention_mask=mask, decoder_input_ids=before).logits
        return functional.cross_entropy(told.float().flatten(0, 1), labels.flatten(), ignore_index=IGNORED)


def _trainer(
    recipe: GenerateRecipe, taught: QuestionLoss, examples: Examples, dev: QuestionBatches | None, out: Path
) -> WholeBatchTrainer:
    optimisation, watching = recipe.optimisation, recipe.watching
    at_once = optimisation.accumulation * world_size()
    steps = optimisation.steps or math.ceil(
        optimisation.epochs * (len(examples.sources_of.starts) - 1) / (optimisation.batch_size * at_once)
    )
    arguments = training_arguments(optimisation, watching, out, steps)
    arguments.save_only_model = not watching.save_every  # the best is kept then, but nothing can be resumed
    arguments.restore_callback_states_from_checkpoint = True  # patience goes on counting
    return WholeBatchTrainer(
        taught,
        arguments,
        QuestionBatches(
            examples, recipe.drawn, batch_size=optimisation.batch_size, batches=steps * at_once, seed=optimisation.seed
        ),
        unit="questions",
        per_batch=optimisation.batch_size,
        look=(lambda: {LIKELIHOOD: math.exp(-from_first(lambda: dev_loss(taught, dev)))}) if dev else None,
        patience=watching.patience,
    )


@torch.no_grad()
def dev_loss(taught: QuestionLoss, dev: QuestionBatches) -> float:
    """The mean over batches of equal size."""
    device = next(taught.parameters()).device
    was = taught.training
    taught.eval()
    losses = [
        float(taught(**{name: value.to(device) for name, value in dev[number].items()})) for number in range(len(dev))
    ]
    taught.train(was)
    return sum(losses) / len(losses)


def _near(recipe: GenerateRecipe, folder: Supervised, pairs: list[Pair]) -> list[Pair]:
    if not recipe.judge or not pairs:
        return pairs
    return nearest_pairs(folder, pairs, Path(recipe.judge), recipe.near)


def begin(recipe: GenerateRecipe, folder: Supervised) -> tuple[Any, Any]:
    """The model at step 0, and its tokenizer."""
    if recipe.start == FRESH:
        with fresh_start(recipe, folder) as made:
            model, tokenizer = _two_halves(made), read_tokenizer(made)
    elif is_seq2seq(read_config(recipe.start)):
        model, tokenizer = read_seq2seq(recipe.start), read_tokenizer(recipe.start)
    else:
        model, tokenizer = _two_halves(recipe.start), read_tokenizer(recipe.start)
    _set_dropout(model, recipe.dropout)
    return model, tokenizer


def _set_dropout(model: Any, rate: float) -> None:
    """Between layers; inside attention no more than the checkpoint has there, often nothing."""
    for name, module in model.named_modules():
        inside = any(word in name.lower() for word in ("attention", "attn")) and "output" not in name
        holder = "p" if isinstance(module, torch.nn.Dropout) else "dropout"  # a number in T5's attention, BART's layers
        held = getattr(module, holder, None)
        if isinstance(held, int | float):
            setattr(module, holder, min(held, rate) if inside else rate)


def _two_halves(start: str) -> Any:
    """An encoder and a decoder that both begin as the checkpoint `start`."""
    tower = read_tower(start, _SHORT)
    named = {"decoder_start": "cls", "eos": "sep", "pad": "pad"}
    try:
        with quietly():
            model = EncoderDecoderModel.from_encoder_decoder_pretrained(
                None, start, encoder_model=tower.model, decoder_dtype=torch.float32
            )
    except (OSError, ValueError, TypeError, RuntimeError, KeyError) as error:
        raise TrainingError(
            f"start is '{start}', whose weights cannot be an encoder and a decoder ({first_line(error)}): give a "
            "BERT-type checkpoint, a sequence-to-sequence model, or 'fresh'"
        ) from error
    for name, token in named.items():
        for config in (model.config, model.generation_config):
            setattr(config, f"{name}_token_id", getattr(tower.tokenizer, f"{token}_token_id"))
    return model
