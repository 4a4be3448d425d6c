"""The stage `text`: contrastive learning of the dense statute retriever (the paper's section 3.1, "Contrastive
learning" and "Negatives"), by the field's own trainer.

    out/                a retriever's folder: `DenseStatuteRetriever.load` reads it
    out/log.json        loss, rate and dev figures by step

and what every run's folder has (`lexarbor.training.runs`).
"""

import logging
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple, cast

import torch
from transformers import set_seed

from lexarbor.errors import TrainingError
from lexarbor.evaluation import MEASURES
from lexarbor.files import write_json
from lexarbor.supervision.folder import Asked, Supervised
from lexarbor.supervision.folds import left_out
from lexarbor.text.retriever import DenseStatuteRetriever
from lexarbor.training.arguments import (
    WholeBatchTrainer,
    check_surroundings,
    fitting,
    from_first,
    training_arguments,
    world_size,
)
from lexarbor.training.batches import BatchStream, steps_of
from lexarbor.training.mining import hard_negatives
from lexarbor.training.objective import ContrastiveObjective
from lexarbor.training.ranking import Dev
from lexarbor.training.recipes import TextRecipe
from lexarbor.training.runs import LOG, claim, data_checksum, finish, is_first
from lexarbor.training.starting import start
from lexarbor.training.token_pairs import TokenPairs, checked_kinds, tokenise_pairs
from lexarbor.training.tokens import to_device

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """What a run came to."""

    out: Path
    steps: int
    """Steps made, also by the runs that this one went on from."""
    kept_step: int
    """The step whose weights were kept: the best on dev with `watching.patience`, else the last."""
    loss: float
    """The last that was logged: a mean over `watching.log_every` steps."""
    dev: dict[str, float]
    """Figures of what was kept, by measure; none where the supervision folder has no dev questions."""
    seconds: float


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
) -> TrainingReport:
    """Train by a recipe, keep the model in `out`. With `resume`, a run that was stopped goes on from its last
    checkpoint, if it wrote one, and ends with the same weights.
    `tokenised`, of a recipe with the same inputs and at least these kinds, spares reading them again.
    """
    began = time.perf_counter()
    check(recipe, folder)
    negatives = hard_negatives(folder, recipe.supervision)  # a file of them may be amiss: before the folder is claimed
    checkpoint = claim(recipe, out, resume=resume, data=data_checksum(folder))
    set_seed(recipe.optimisation.seed)
    retriever = start(recipe, folder)
    token_pairs, dev = tokenised or tokenise(recipe, folder, retriever, negatives)
    token_pairs = token_pairs.without(left_out(folder, recipe.supervision.fold, recipe.supervision.folds))
    _check_negatives(recipe, token_pairs)
    stream, steps = batches(recipe, token_pairs)
    objective = ContrastiveObjective(retriever, recipe.loss, cached=recipe.optimisation.mini_batch > 0)
    trainer = _trainer(recipe, objective, stream, dev, steps, out)
    advice = "set optimisation.mini_batch (e.g. 64) or lower batch_size"
    with fitting(f"{recipe.optimisation.batch_size} questions", advice):
        try_largest(trainer, objective, stream)
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    report = _report(recipe, trainer, dev, out, began)
    if is_first():
        retriever.save(out)
        _write_log(trainer, report, out / LOG)
        finish(out)
    return report


def tokenise(
    recipe: TextRecipe, folder: Supervised, retriever: DenseStatuteRetriever, negatives: Mapping[int, Sequence[str]]
) -> Tokenised:
    """What a recipe learns from and is looked at by, tokenised for its encoder."""
    token_pairs = tokenise_pairs(folder, retriever.tokenizer, recipe.encoder, recipe.supervision.drawn, negatives)
    dev = dev_questions(folder)
    return Tokenised(token_pairs, Dev(retriever, folder.articles, dev) if dev else None)


def dev_questions(folder: Supervised) -> list[Asked]:
    return [one for one in folder.asked if one.split == "dev" and one.gold]


def check(recipe: TextRecipe, folder: Supervised) -> None:
    """Refuse what cannot be trained, before any long work."""
    check_surroundings(recipe.optimisation, recipe.watching)
    checked_kinds(folder, recipe.supervision.drawn)
    if recipe.supervision.unit == "label" and recipe.supervision.positives > 1:
        raise TrainingError(
            f"supervision.positives is {recipe.supervision.positives}, but a unit 'label' is a question with one "
            "positive: set positives to 1, or unit to 'question'"
        )
    if recipe.watching.evaluate_every and not dev_questions(folder):
        raise TrainingError(
            "the supervision folder has no dev questions to look at: set watching.patience and "
            "watching.evaluate_every to 0, or prepare a benchmark that has a dev split"
        )
    if recipe.watching.patience and recipe.watching.measure not in MEASURES:
        raise TrainingError(f"watching.measure is '{recipe.watching.measure}': choose one of {', '.join(MEASURES)}")


def batches(recipe: TextRecipe, token_pairs: TokenPairs) -> tuple[BatchStream, int]:
    """All batches of a run, and how many steps they make."""
    optimisation, devices = recipe.optimisation, world_size()
    questions = optimisation.batch_size * optimisation.accumulation * devices
    steps = optimisation.steps or steps_of(optimisation.epochs, token_pairs, recipe.supervision, questions)
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


def _check_negatives(recipe: TextRecipe, token_pairs: TokenPairs) -> None:
    supervision = recipe.supervision
    if supervision.negatives == "none" or not supervision.hard_negatives or len(token_pairs.negatives.values):
        return
    if not supervision.in_batch:
        raise TrainingError(
            f"supervision: no pair of the kinds {', '.join(token_pairs.kinds)} has hard negatives, and in_batch is "
            "false: there is nothing to tell apart; set in_batch to true or mine negatives"
        )
    logger.warning("no pair of the kinds %s has hard negatives: batches do without", ", ".join(token_pairs.kinds))


def _trainer(
    recipe: TextRecipe,
    objective: ContrastiveObjective,
    stream: BatchStream,
    dev: Dev | None,
    steps: int,
    out: Path,
) -> WholeBatchTrainer:
    optimisation, watching = recipe.optimisation, recipe.watching
    if optimisation.workers:
        # they are forked after tokenising, which is done by then: no need for its library to warn
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    arguments = training_arguments(optimisation, watching, out, steps)
    arguments.save_only_model = not watching.save_every  # the best is kept then, but nothing can be resumed
    arguments.restore_callback_states_from_checkpoint = True  # patience goes on counting
    return WholeBatchTrainer(
        objective,
        arguments,
        stream,
        unit="questions",
        per_batch=optimisation.batch_size,
        look=(lambda: look(dev, objective)) if dev is not None and watching.evaluate_every else None,
        patience=watching.patience,
    )


def look(dev: Dev, objective: ContrastiveObjective) -> dict[str, float]:
    """Dev's figures, the same for all processes."""
    return from_first(lambda: dev.figures(objective.retriever))


def _report(recipe: TextRecipe, trainer: WholeBatchTrainer, dev: Dev | None, out: Path, began: float) -> TrainingReport:
    state = trainer.state
    losses = [entry["loss"] for entry in state.log_history if "loss" in entry]
    kept = state.global_step
    if recipe.watching.patience and state.best_global_step:
        kept = state.best_global_step
    looked = [_figures(entry) for entry in state.log_history if entry["step"] == kept]
    figures = next((found for found in looked if found), None)
    if figures is None:
        objective = cast(ContrastiveObjective, trainer.model)
        figures = look(dev, objective) if dev is not None else {}
    seconds = round(time.perf_counter() - began, 1)
    return TrainingReport(out, state.global_step, kept, losses[-1] if losses else 0.0, figures, seconds)


def _figures(entry: dict[str, Any]) -> dict[str, float]:
    return {name.removeprefix("eval_"): value for name, value in entry.items() if name.startswith("eval_")}


def _write_log(trainer: WholeBatchTrainer, report: TrainingReport, path: Path) -> None:
    told = asdict(report)
    told.pop("out")
    write_json(path, {"report": told, "log": trainer.state.log_history})
