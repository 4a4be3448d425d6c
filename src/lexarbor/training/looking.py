"""How a run that learns from questions is watched: dev's questions, the trainer that looks at them, the report and the
log.
"""

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from lexarbor.errors import TrainingError
from lexarbor.evaluation import MEASURES
from lexarbor.files import write_json
from lexarbor.supervision.folder import Asked, Supervised
from lexarbor.training.arguments import OnLook, WholeBatches, WholeBatchTrainer, training_arguments
from lexarbor.training.hyperparameters import Optimisation, SupervisionRecipe, Watching

logger = logging.getLogger(__name__)

Look = Callable[[], dict[str, float]]


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


def dev_questions(folder: Supervised) -> list[Asked]:
    return [one for one in folder.asked if one.split == "dev" and one.gold]


def check_looks(folder: Supervised, watching: Watching) -> None:
    """Refuse to look at what is not there, or by what is not measured."""
    if watching.evaluate_every and not dev_questions(folder):
        raise TrainingError(
            "the supervision folder has no dev questions to look at: set watching.patience and "
            "watching.evaluate_every to 0, or prepare a benchmark that has a dev split"
        )
    if watching.patience and watching.measure not in MEASURES:
        raise TrainingError(f"watching.measure is '{watching.measure}': choose one of {', '.join(MEASURES)}")


def check_units(supervision: SupervisionRecipe) -> None:
    if supervision.unit == "label" and supervision.positives > 1:
        raise TrainingError(
            f"supervision.positives is {supervision.positives}, but a unit 'label' is a question with one "
            "positive: set positives to 1, or unit to 'question'"
        )


def check_negatives(supervision: SupervisionRecipe, kinds: Iterable[str], *, found: bool) -> None:
    """Refuse or tell where hard negatives are asked for and no pair of the kinds has any (`found`)."""
    if found or supervision.negatives == "none" or not supervision.hard_negatives:
        return
    named = ", ".join(kinds)
    if not supervision.in_batch:
        raise TrainingError(
            f"supervision: no pair of the kinds {named} has hard negatives, and in_batch is false: there is nothing to "
            "tell apart; set in_batch to true or mine negatives"
        )
    logger.warning("no pair of the kinds %s has hard negatives: batches do without", named)


def question_trainer(
    objective: torch.nn.Module,
    optimisation: Optimisation,
    watching: Watching,
    batches: WholeBatches,
    *,
    steps: int,
    out: Path,
    look: Look | None,
    on_look: OnLook | None = None,
) -> WholeBatchTrainer:
    """The trainer of an objective over batches of questions; `look` gives dev's figures, where there is a dev, and
    `on_look` is told of them on the way.
    """
    arguments = training_arguments(optimisation, watching, out, steps)
    arguments.save_only_model = not watching.save_every  # the best is kept then, but nothing can be resumed
    arguments.restore_callback_states_from_checkpoint = True  # patience goes on counting
    return WholeBatchTrainer(
        objective,
        arguments,
        batches,
        unit="questions",
        per_batch=optimisation.batch_size,
        look=look if watching.evaluate_every else None,
        on_look=on_look,
        patience=watching.patience,
    )


def report_of(
    trainer: WholeBatchTrainer, watching: Watching, look: Look | None, out: Path, began: float
) -> TrainingReport:
    """What a run that ends now came to; dev is looked at once more where its last look was at other weights."""
    state = trainer.state
    losses = [entry["loss"] for entry in state.log_history if "loss" in entry]
    kept = state.global_step
    if watching.patience and state.best_global_step:
        kept = state.best_global_step
    looked = [_figures(entry) for entry in state.log_history if entry["step"] == kept]
    figures = next((found for found in looked if found), None)
    if figures is None:
        figures = look() if look is not None else {}
    seconds = round(time.perf_counter() - began, 1)
    return TrainingReport(out, state.global_step, kept, losses[-1] if losses else 0.0, figures, seconds)


def _figures(entry: dict[str, Any]) -> dict[str, float]:
    return {name.removeprefix("eval_"): value for name, value in entry.items() if name.startswith("eval_")}


def write_log(trainer: WholeBatchTrainer, report: TrainingReport, path: Path) -> None:
    told = asdict(report)
    told.pop("out")
    write_json(path, {"report": told, "log": trainer.state.log_history})
