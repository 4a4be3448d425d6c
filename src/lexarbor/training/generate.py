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

import logging
import math
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
import transformers
from torch.nn import functional
from transformers import EncoderDecoderModel

from lexarbor.errors import TrainingError, first_line
from lexarbor.files import write_json
from lexarbor.supervision.folder import Pair, Supervised
from lexarbor.supervision.sampling import GeneratorSettings
from lexarbor.supervision.texts import all_texts
from lexarbor.text.towers import quietly, read_config
from lexarbor.training.arguments import (
    WholeBatchTrainer,
    check_surroundings,
    fitting,
    training_arguments,
    world_size,
)
from lexarbor.training.examples import GAPS, IGNORED, QUESTION, QuestionBatches, dev_batches, dev_pairs, examples_of
from lexarbor.training.fresh import write_fresh
from lexarbor.training.generator import is_seq2seq, length_limit, read_seq2seq, read_tokenizer, write_settings
from lexarbor.training.nearness import nearest_pairs
from lexarbor.training.recipes import FRESH, LIKELIHOOD, GenerateRecipe
from lexarbor.training.runs import LOG, claim, data_checksum, finish, is_first
from lexarbor.training.token_pairs import checked_kinds

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class GenerateReport:
    """What a run came to."""

    out: Path
    steps: int
    loss: float
    """The last that was logged, in nats a token."""
    dev_loss: float | None
    """On dev's questions, given their articles; none where the supervision folder has no dev."""
    seconds: float


def train_generator(recipe: GenerateRecipe, folder: Supervised, out: Path, *, resume: bool = False) -> GenerateReport:
    """Train by a recipe, keep the model in `out`."""
    began = time.perf_counter()
    check_surroundings(recipe.optimisation, recipe.watching)
    drawn = {kind: share for kind, share in recipe.kinds.items() if share}
    checked_kinds(folder, drawn.keys() - {GAPS})
    checkpoint = claim(recipe, out, resume=resume, data=data_checksum(folder))
    transformers.set_seed(recipe.optimisation.seed)
    model, tokenizer = begin(recipe, folder)
    settings = GeneratorSettings(QUESTION, recipe.headings, recipe.input_tokens, recipe.question_tokens)
    start_token = model.config.decoder_start_token_id
    pairs = _near(recipe, folder, [pair for pair in folder.pairs if pair.kind in drawn])
    examples = examples_of(folder, pairs, tokenizer, settings, start_token, gaps=GAPS in drawn)
    dev = dev_batches(folder, _near(recipe, folder, dev_pairs(folder)), tokenizer, settings, start_token)
    optimisation = recipe.optimisation
    steps = optimisation.steps or math.ceil(
        optimisation.epochs
        * len(examples.sources_of.starts)
        / (optimisation.batch_size * optimisation.accumulation * world_size())
    )
    batches = QuestionBatches(
        examples,
        drawn,
        batch_size=optimisation.batch_size,
        batches=steps * optimisation.accumulation * world_size(),
        seed=optimisation.seed,
    )
    taught = QuestionLoss(model)
    trainer = WholeBatchTrainer(
        taught,
        training_arguments(optimisation, recipe.watching, out, steps),
        batches,
        unit="questions",
        per_batch=optimisation.batch_size,
        look=(lambda: {LIKELIHOOD: math.exp(-dev_loss(taught, dev))}) if dev else None,
        patience=recipe.watching.patience,
    )
    with fitting(f"{optimisation.batch_size} passages", "lower batch_size and raise accumulation"):
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    last = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry][-1]
    found = dev_loss(taught, dev) if dev else None
    report = GenerateReport(out, trainer.state.global_step, last, found, round(time.perf_counter() - began, 1))
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
        with TemporaryDirectory() as made:
            texts = [] if recipe.tokenizer else all_texts(folder)
            seed = recipe.optimisation.seed
            write_fresh(
                recipe.architecture, texts, Path(made), dropout=recipe.dropout, seed=seed, tokenizer=recipe.tokenizer
            )
            model, tokenizer = _two_halves(made), read_tokenizer(made)
    elif is_seq2seq(read_config(recipe.start)):
        model, tokenizer = read_seq2seq(recipe.start), read_tokenizer(recipe.start)
    else:
        model, tokenizer = _two_halves(recipe.start), read_tokenizer(recipe.start)
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout) and module.p:
            module.p = recipe.dropout
    for name, half in (("input_tokens", model.get_encoder()), ("question_tokens", model.get_decoder())):
        limit = length_limit(half)
        if limit is not None and getattr(recipe, name) > limit:
            raise TrainingError(f"{name} is {getattr(recipe, name)}: {recipe.start} reads {limit} tokens at most")
    return model, tokenizer


def _two_halves(start: str) -> Any:
    """An encoder and a decoder that both begin as the checkpoint `start`."""
    tokenizer = read_tokenizer(start)
    named = {"decoder_start": tokenizer.cls_token_id, "eos": tokenizer.sep_token_id, "pad": tokenizer.pad_token_id}
    if None in named.values():
        raise TrainingError(f"start is '{start}': its tokenizer has no [CLS], [SEP] or [PAD]; give a BERT-type one")
    try:
        with quietly():
            model = EncoderDecoderModel.from_encoder_decoder_pretrained(
                start, start, encoder_add_pooling_layer=False, encoder_dtype=torch.float32, decoder_dtype=torch.float32
            )
    except (OSError, ValueError, TypeError, RuntimeError, KeyError) as error:
        raise TrainingError(
            f"start is '{start}', whose weights cannot be an encoder and a decoder ({first_line(error)}): give a "
            "BERT-type checkpoint, a sequence-to-sequence model, or 'fresh'"
        ) from error
    for name, id in named.items():
        for config in (model.config, model.generation_config):
            setattr(config, f"{name}_token_id", id)
    return model
