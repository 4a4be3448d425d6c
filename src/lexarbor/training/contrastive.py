"""The stage `text`: contrastive learning of the dense statute retriever (the paper's section 3.1, "Contrastive
learning" and "Negatives"), by the field's own trainer.

    out/                a retriever's folder: `DenseStatuteRetriever.load` reads it
    out/log.json        loss, rate and dev figures by step

and what every run's folder has (`lexarbor.training.runs`).
"""

import os
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import torch
from transformers import set_seed

from lexarbor.supervision.folder import Supervised
from lexarbor.supervision.folds import left_out
from lexarbor.text.retriever import DenseStatuteRetriever
from lexarbor.training.arguments import (
    OnLook,
    WholeBatchTrainer,
    check_surroundings,
    fitting,
    from_first,
    world_size,
)
from lexarbor.training.batches import BatchStream
from lexarbor.training.drawing import steps_of
from lexarbor.training.looking import (
    TrainingReport,
    check_looks,
    check_negatives,
    check_units,
    dev_questions,
    question_trainer,
    report_of,
    write_log,
)
from lexarbor.training.mining import hard_negatives
from lexarbor.training.objective import ContrastiveObjective
from lexarbor.training.ranking import Dev
from lexarbor.training.recipes import TextRecipe
from lexarbor.training.runs import LOG, claim, data_checksum, finish, is_first
from lexarbor.training.starting import start
from lexarbor.training.token_pairs import TokenPairs, checked_kinds, tokenise_pairs
from lexarbor.training.tokens import to_device


class Tokenised(NamedTuple):
    """Supervision and dev questions as the encoder reads them: the same for every run of a study with its inputs."""

    token_pairs: TokenPairs
    dev: Dev | None


def train_text(
    recipe: TextRecipe,
    folder: Supervised,
    out: Path,
    *,
    resume: bool = False,
    tokenised: Tokenised | None = None,
    on_look: OnLook | None = None,
) -> TrainingReport:
    """Train by a recipe, keep the model in `out`. With `resume`, a run that was stopped goes on from its last
    checkpoint, if it wrote one, and ends with the same weights.
    `tokenised`, of a recipe with the same inputs and at least these kinds, spares reading them again.
    `on_look` is told the step and dev's figures after each look on the way (`watching.evaluate_every`); what it raises
    ends the run, and `out` is left as a run's that has not finished.
    """
    began = time.perf_counter()
    check(recipe, folder)
    negatives = hard_negatives(folder, recipe.supervision)  # a file of them may be amiss: before the folder is claimed
    checkpoint = claim(recipe, out, resume=resume, data=data_checksum(folder))
    set_seed(recipe.optimisation.seed)
    retriever = start(recipe, folder)
    token_pairs, dev = tokenised or tokenise(recipe, folder, retriever, negatives)
    token_pairs = token_pairs.without(left_out(folder, recipe.supervision.fold, recipe.supervision.folds))
    check_negatives(recipe.supervision, token_pairs.kinds, found=bool(len(token_pairs.negatives.values)))
    stream, steps = batches(recipe, token_pairs)
    objective = ContrastiveObjective(retriever, recipe.loss, cached=recipe.optimisation.mini_batch > 0)
    looks = partial(look, dev, objective) if dev is not None else None
    if recipe.optimisation.workers:
        # they are forked after tokenising, which is done by then: no need for its library to warn
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    trainer = question_trainer(
        objective, recipe.optimisation, recipe.watching, stream, steps=steps, out=out, look=looks, on_look=on_look
    )
    advice = "set optimisation.mini_batch (e.g. 64) or lower batch_size"
    with fitting(f"{recipe.optimisation.batch_size} questions", advice):
        try_largest(trainer, objective, stream)
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    report = report_of(trainer, recipe.watching, looks, out, began)
    if is_first():
        retriever.save(out)
        write_log(trainer, report, out / LOG)
        finish(out)
    return report


def tokenise(
    recipe: TextRecipe,
    folder: Supervised,
    retriever: DenseStatuteRetriever,
    negatives: Mapping[int, Sequence[str]],
    *,
    dev: bool = True,
) -> Tokenised:
    """What a recipe learns from and, unless `dev` is to be left out, is looked at by, tokenised for its encoder."""
    token_pairs = tokenise_pairs(folder, retriever.tokenizer, recipe.encoder, recipe.supervision.drawn, negatives)
    asked = dev_questions(folder) if dev else []
    return Tokenised(token_pairs, Dev(retriever, folder.articles, asked) if asked else None)


def check(recipe: TextRecipe, folder: Supervised) -> None:
    """Refuse what cannot be trained, before any long work."""
    check_surroundings(recipe.optimisation, recipe.watching)
    checked_kinds(folder, recipe.supervision.drawn)
    check_units(recipe.supervision)
    check_looks(folder, recipe.watching)


def batches(recipe: TextRecipe, token_pairs: TokenPairs) -> tuple[BatchStream, int]:
    """All batches of a run, and how many steps they make."""
    optimisation, devices = recipe.optimisation, world_size()
    questions = optimisation.batch_size * optimisation.accumulation * devices
    steps = optimisation.steps or steps_of(optimisation.epochs, [token_pairs], recipe.supervision, questions)
    stream = BatchStream(
        token_pairs,
        recipe.supervision,
        batch_size=optimisation.batch_size,
        batches=steps * optimisation.accumulation,
        seed=optimisation.seed,
        several_positives=recipe.loss.several_positives,
        devices=devices,
        group=optimisation.mini_batch,
    )
    return stream, steps


def try_largest(trainer: WholeBatchTrainer, objective: ContrastiveObjective, stream: BatchStream) -> None:
    """One pass, forward and back, over the largest batch there can be: what does not fit is known at once."""
    device = trainer.args.device
    gpus = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(gpus), trainer.accelerator.autocast():
        batch = stream.largest()
        objective.train()
        loss = objective(
            to_device(batch["questions"], device),
            to_device(batch["passages"], device),
            batch["positives"].to(device),
            batch["negatives"].to(device),
        )
        loss.backward()
        objective.zero_grad(set_to_none=True)


def look(dev: Dev, objective: ContrastiveObjective) -> dict[str, float]:
    """Dev's figures, the same for all processes."""
    return from_first(lambda: dev.figures(objective.retriever))
