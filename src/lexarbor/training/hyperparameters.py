"""The parts that recipes share, each value checked where it is set: the shape of a fresh model, how weights move, what
is watched, the loss, what is learned from.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lexarbor.errors import TrainingError

SCHEDULES = ("linear", "constant", "cosine")
PRECISIONS = ("fp32", "bf16", "fp16")
LOSSES = ("contrastive", "triplet")
UNITS = ("question", "label")


def choose(name: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise TrainingError(f"{name} is '{value}': choose one of {', '.join(known)}")


def at_least(name: str, value: float, least: float) -> None:
    if not value >= least:
        raise TrainingError(f"{name} is {value}: expected {least} or more")


def check_dropout(value: float) -> None:
    if not 0 <= value < 1:
        raise TrainingError(f"dropout is {value}: expected a part from 0 to below 1")


def check_kinds(name: str, kinds: Mapping[str, float]) -> None:
    if not kinds or any(not share >= 0 for share in kinds.values()) or not sum(kinds.values()):
        raise TrainingError(f"{name} is {dict(kinds)}: expected kinds with shares, e.g. {{gold: 1}}")


@dataclass(frozen=True, slots=True)
class Architecture:
    """A fresh BERT; read where `start` is "fresh", and by `lexarbor train vocabulary`."""

    layers: int = 6
    hidden: int = 384
    heads: int = 6
    intermediate: int = 1536
    positions: int = 1024
    vocabulary: int = 16384
    """Pieces of the tokenizer that is learned from the texts."""

    def __post_init__(self) -> None:
        for name in ("layers", "hidden", "heads", "intermediate", "positions", "vocabulary"):
            at_least(f"architecture.{name}", getattr(self, name), 1)
        if self.hidden % self.heads:
            raise TrainingError(f"architecture.hidden is {self.hidden}: it must be a multiple of heads ({self.heads})")


@dataclass(frozen=True, slots=True)
class Optimisation:
    """How the weights move: AdamW, as the paper's table of hyper-parameters names its parts."""

    batch_size: int = 512
    """Questions (for pretrain: blocks of text) of one step on one device; `accumulation` multiplies it."""
    steps: int = 0
    """Steps of the optimiser; 0 where `epochs` says how long."""
    epochs: float = 0.0
    learning_rate: float = 1e-4
    weight_decay: float = 0.01
    schedule: str = "linear"
    warmup: float = 0.05
    """Part of all steps in which the rate climbs to its peak."""
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    clipping: float = 1.0
    """Largest norm of the gradient; 0 leaves it as it is."""
    precision: str = "fp32"
    accumulation: int = 1
    mini_batch: int = 0
    """Texts, or chunks of a hierarchical encoder, that are in memory with their activations at a time (gradient
    caching); 0: all of a batch."""
    seed: int = 0
    workers: int = 0
    """Processes that prepare batches."""

    def __post_init__(self) -> None:
        choose("optimisation.schedule", self.schedule, SCHEDULES)
        choose("optimisation.precision", self.precision, PRECISIONS)
        for name in ("batch_size", "accumulation"):
            at_least(f"optimisation.{name}", getattr(self, name), 1)
        for name in ("steps", "epochs", "weight_decay", "warmup", "clipping", "mini_batch", "workers", "seed"):
            at_least(f"optimisation.{name}", getattr(self, name), 0)
        if not 0 < self.learning_rate < 1:
            raise TrainingError(
                f"optimisation.learning_rate is {self.learning_rate}: expected more than 0, less than 1"
            )
        if not (0 <= self.beta1 < 1 and 0 <= self.beta2 < 1 and self.epsilon > 0 and self.warmup <= 1):
            raise TrainingError("optimisation: beta1, beta2 and warmup lie between 0 and 1, epsilon above 0")
        if bool(self.steps) == bool(self.epochs):
            raise TrainingError("optimisation: say how long, by steps or by epochs (one of them, the other 0)")


@dataclass(frozen=True, slots=True)
class Watching:
    """What is written and looked at on the way."""

    evaluate_every: int = 0
    """Steps between looks at dev; 0: at the end only."""
    patience: int = 0
    """Looks without a better figure after which training stops and the best is kept; 0: the last is kept."""
    measure: str = "recall@100"
    save_every: int = 0
    """Steps between checkpoints to resume from; 0: none. With `patience`, a checkpoint is kept at each look."""
    log_every: int = 10
    report: tuple[str, ...] = ()
    """"tensorboard", "wandb"."""

    def __post_init__(self) -> None:
        for name in ("evaluate_every", "patience", "save_every"):
            at_least(f"watching.{name}", getattr(self, name), 0)
        at_least("watching.log_every", self.log_every, 1)
        for name in self.report:
            choose("watching.report", name, ("tensorboard", "wandb"))
        if self.patience and not self.evaluate_every:
            raise TrainingError("watching.patience needs watching.evaluate_every: say how often dev is looked at")


@dataclass(frozen=True, slots=True)
class Loss:
    """What is made small. `contrastive` is the paper's equation (loss); `triplet` its ablation."""

    name: str = "contrastive"
    temperature: float = 0.02
    margin: float = 1.0
    """Of the triplet loss."""
    several_positives: bool = True
    """Whether every known positive in a batch counts as one; else the drawn one alone, and the others are masked."""

    def __post_init__(self) -> None:
        choose("loss.name", self.name, LOSSES)
        if not self.temperature > 0:  # the paper's search space has 0, which divides by zero
            raise TrainingError(f"loss.temperature is {self.temperature}: expected more than 0")
        at_least("loss.margin", self.margin, 0)


@dataclass(frozen=True, slots=True)
class SupervisionRecipe:
    """What is learned from: kinds of pairs by their share of a batch, and where hard negatives come from."""

    kinds: Mapping[str, float] = field(default_factory=lambda: {"gold": 1.0})
    positives: int = 1
    """Passages drawn for a question of a batch, as far as it has them."""
    unit: str = "question"
    """What an epoch counts: each question once, or each question with each of its positives (the paper)."""
    negatives: str = "bm25"
    """"bm25" (those of the supervision folder), "none", or a file written by `lexarbor train mine`."""
    hard_negatives: int = 1
    """Hard negatives of each question in a batch, drawn from its list."""
    in_batch: bool = True
    """Whether the other passages of a batch are negatives too; else a question's hard negatives alone."""
    mask_known: bool = True
    """Whether a known positive of a question is never its negative; False repeats the published code."""
    folds: int = 0
    """Parts that the train sheets are cut into, so that a graph can learn from what its retriever has not seen."""
    fold: int = 0
    """The part, 1 to `folds`, that this run leaves out with all that is near it; 0 learns from all."""

    @property
    def drawn(self) -> dict[str, float]:
        """The kinds that have a share; 0 switches one off."""
        return {kind: share for kind, share in self.kinds.items() if share}

    def __post_init__(self) -> None:
        check_kinds("supervision.kinds", self.kinds)
        choose("supervision.unit", self.unit, UNITS)
        at_least("supervision.positives", self.positives, 1)
        at_least("supervision.hard_negatives", self.hard_negatives, 0)
        if not 0 <= self.fold <= self.folds or self.folds == 1:
            raise TrainingError(
                f"supervision.fold is {self.fold}, supervision.folds is {self.folds}: cut into 2 parts or more, and "
                "leave one of them out; or set both to 0"
            )
        if not self.in_batch and (self.negatives == "none" or not self.hard_negatives):
            raise TrainingError(
                "supervision: without in-batch and hard negatives there is nothing to tell apart; set in_batch to true "
                "or ask for hard negatives"
            )
