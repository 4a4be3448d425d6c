"""Recipes: every hyper-parameter of a stage in one YAML file, checked before long work starts, saved beside the model.

stage: text                         # pretrain: masked language modelling; text: the retriever; generate: questions
start: models/pretrained            # a Hugging Face folder or name, a retriever of an earlier stage, or "fresh"
encoder: {article: first, max_tokens: 256}
loss: {temperature: 0.02}
supervision: {kinds: {gold: 1, headings: 1}}
optimisation: {batch_size: 512, steps: 300, learning_rate: 2e-4}
"""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import yaml

from lexarbor.errors import TrainingError, nearest
from lexarbor.files import replacing
from lexarbor.text.settings import EncoderSettings

FRESH = "fresh"
SCHEDULES = ("linear", "constant", "cosine")
PRECISIONS = ("fp32", "bf16", "fp16")
LOSSES = ("contrastive", "triplet")
UNITS = ("question", "label")
LIKELIHOOD = "likelihood"
"""Of a token of dev's questions, given an article that answers: the geometric mean. What a generator is judged by."""


def _choose(name: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise TrainingError(f"{name} is '{value}': choose one of {', '.join(known)}")


def _at_least(name: str, value: float, least: float) -> None:
    if not value >= least:
        raise TrainingError(f"{name} is {value}: expected {least} or more")


def _check_dropout(value: float) -> None:
    if not 0 <= value < 1:
        raise TrainingError(f"dropout is {value}: expected a part from 0 to below 1")


def _check_kinds(name: str, kinds: Mapping[str, float]) -> None:
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
            _at_least(f"architecture.{name}", getattr(self, name), 1)
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
        _choose("optimisation.schedule", self.schedule, SCHEDULES)
        _choose("optimisation.precision", self.precision, PRECISIONS)
        for name in ("batch_size", "accumulation"):
            _at_least(f"optimisation.{name}", getattr(self, name), 1)
        for name in ("steps", "epochs", "weight_decay", "warmup", "clipping", "mini_batch", "workers", "seed"):
            _at_least(f"optimisation.{name}", getattr(self, name), 0)
        if not 0 < self.learning_rate < 1:
            raise TrainingError(
                f"optimisation.learning_rate is {self.learning_rate}: expected more than 0, less than 1"
            )
        if not (0 <= self.beta1 < 1 and 0 <= self.beta2 < 1 and self.epsilon > 0 and self.warmup <= 1):
            raise TrainingError("optimisation: beta1, beta2 and warmup lie between 0 and 1, epsilon above 0")
        if bool(self.steps) == bool(self.epochs):
            raise TrainingError("optimisation: say how long, by steps or by epochs (one of them, not both)")


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
            _at_least(f"watching.{name}", getattr(self, name), 0)
        _at_least("watching.log_every", self.log_every, 1)
        for name in self.report:
            _choose("watching.report", name, ("tensorboard", "wandb"))
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
        _choose("loss.name", self.name, LOSSES)
        if not self.temperature > 0:  # the paper's search space has 0, which divides by zero
            raise TrainingError(f"loss.temperature is {self.temperature}: expected more than 0")
        _at_least("loss.margin", self.margin, 0)


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

    @property
    def drawn(self) -> dict[str, float]:
        """The kinds that have a share; 0 switches one off."""
        return {kind: share for kind, share in self.kinds.items() if share}

    def __post_init__(self) -> None:
        _check_kinds("supervision.kinds", self.kinds)
        _choose("supervision.unit", self.unit, UNITS)
        _at_least("supervision.positives", self.positives, 1)
        _at_least("supervision.hard_negatives", self.hard_negatives, 0)
        if not self.in_batch and (self.negatives == "none" or not self.hard_negatives):
            raise TrainingError(
                "supervision: without in-batch and hard negatives there is nothing to tell apart; set in_batch to true "
                "or ask for hard negatives"
            )


@dataclass(frozen=True, slots=True)
class PretrainRecipe:
    """Masked language modelling on the law's own language (the paper: "domain adaptation")."""

    stage: str = "pretrain"
    start: str = FRESH
    architecture: Architecture = field(default_factory=Architecture)
    tokenizer: str = ""
    """A folder whose tokenizer is used; else a fresh model learns its own, and a checkpoint has one."""
    block_tokens: int = 512
    """Length of the blocks that texts are packed into."""
    masked: float = 0.15
    """Part of the tokens to be guessed."""
    dropout: float = 0.1
    optimisation: Optimisation = field(default_factory=lambda: Optimisation(steps=1000))
    watching: Watching = field(default_factory=Watching)

    def __post_init__(self) -> None:
        _at_least("block_tokens", self.block_tokens, 8)
        _check_dropout(self.dropout)
        if not 0 < self.masked < 1:
            raise TrainingError(f"masked is {self.masked}: expected a part between 0 and 1")
        if self.watching.evaluate_every:
            raise TrainingError("watching.evaluate_every looks at questions of dev, which this stage does not have")
        if self.optimisation.mini_batch:
            raise TrainingError("optimisation.mini_batch is for the stage text: lower batch_size, raise accumulation")
        if self.start == FRESH and self.block_tokens > self.architecture.positions:
            longest = self.architecture.positions
            raise TrainingError(f"block_tokens is {self.block_tokens}: more than architecture.positions ({longest})")


@dataclass(frozen=True, slots=True)
class TextRecipe:
    """Contrastive learning of the dense statute retriever."""

    start: str
    """What it starts from; for a study of pre-training, "fresh" makes a BERT of `architecture` with a new tokenizer."""
    stage: str = "text"
    article_start: str = ""
    """Another checkpoint for the article tower alone, as the paper warm-starts it; needs `encoder.shared: false`."""
    architecture: Architecture = field(default_factory=Architecture)
    tokenizer: str = ""
    """Of a fresh model: a folder whose tokenizer is used; else it learns its own."""
    encoder: EncoderSettings = field(default_factory=EncoderSettings)
    dropout: float = 0.1
    loss: Loss = field(default_factory=Loss)
    supervision: SupervisionRecipe = field(default_factory=SupervisionRecipe)
    optimisation: Optimisation = field(default_factory=lambda: Optimisation(steps=300))
    watching: Watching = field(default_factory=Watching)

    def __post_init__(self) -> None:
        _check_dropout(self.dropout)
        if self.article_start and self.encoder.shared:
            raise TrainingError("article_start warm-starts a tower of its own: set encoder.shared to false")


@dataclass(frozen=True, slots=True)
class GenerateRecipe:
    """Learning to write questions from the articles that answer them."""

    start: str
    """A BERT-type checkpoint, which both halves begin from; a sequence-to-sequence model; or "fresh"."""
    stage: str = "generate"
    architecture: Architecture = field(default_factory=Architecture)
    tokenizer: str = ""
    """Of a fresh model: a folder whose tokenizer is used; else it learns its own."""
    kinds: Mapping[str, float] = field(default_factory=lambda: {"gold": 1.0})
    """Kinds of pairs by their share of a batch: the passage is read, its question written."""
    judge: str = ""
    """A trained retriever's folder; with `near`, what has little to do with its question is not learned from."""
    near: float = 1.0
    """Of each kind, the part of its questions' passages that is learned from: those that the judge finds nearest."""
    headings: bool = True
    """Whether a passage is read below its headings, where the question was not taken from them."""
    input_tokens: int = 384
    question_tokens: int = 64
    dropout: float = 0.1
    optimisation: Optimisation = field(default_factory=lambda: Optimisation(steps=1000))
    watching: Watching = field(default_factory=Watching)

    @property
    def drawn(self) -> dict[str, float]:
        """The kinds that have a share; 0 switches one off."""
        return {kind: share for kind, share in self.kinds.items() if share}

    def __post_init__(self) -> None:
        _check_kinds("kinds", self.kinds)
        _check_dropout(self.dropout)
        for name in ("input_tokens", "question_tokens"):
            _at_least(name, getattr(self, name), 8)
        if not 0 < self.near <= 1 or bool(self.judge) != (self.near < 1):
            raise TrainingError(
                f"judge is '{self.judge}', near is {self.near}: name a retriever and a part below 1, or neither"
            )
        if self.watching.patience and self.watching.measure != LIKELIHOOD:
            raise TrainingError(f"watching.measure is {self.watching.measure}: this stage is judged by {LIKELIHOOD}")
        if self.optimisation.mini_batch:
            raise TrainingError("optimisation.mini_batch is for the stage text: lower batch_size, raise accumulation")


Recipe = PretrainRecipe | TextRecipe | GenerateRecipe
STAGES: dict[str, type[PretrainRecipe] | type[TextRecipe] | type[GenerateRecipe]] = {
    "pretrain": PretrainRecipe,
    "text": TextRecipe,
    "generate": GenerateRecipe,
}


def read_recipe(path: Path, changes: Sequence[str] = ()) -> Recipe:
    """A recipe from its file; `changes` like "optimisation.seed=1" replace single values."""
    try:
        written = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise TrainingError(f"{path}: no such recipe; the shipped ones are in recipes/") from error
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise TrainingError(f"{path}: cannot be read as YAML ({' '.join(str(error).split())})") from error
    if not isinstance(written, dict):
        raise TrainingError(f"{path}: expected keys with values, e.g. `stage: text`; found {type(written).__name__}")
    for change in changes:
        _change(written, change)
    try:
        return parse_recipe(written)
    except TrainingError as error:
        raise TrainingError(f"{path}: {error}") from error


def parse_recipe(written: Mapping[str, Any]) -> Recipe:
    stage = written.get("stage")
    if not isinstance(stage, str) or stage not in STAGES:
        raise TrainingError(f"stage is {stage!r}: choose one of {', '.join(STAGES)}")
    recipe: Recipe = _build(STAGES[stage], written, "")
    return recipe


def write_recipe(recipe: Recipe, path: Path) -> None:
    """As YAML, every value spelled out."""
    with replacing(path) as temporary:
        temporary.write_text(yaml.safe_dump(as_dict(recipe), sort_keys=False, allow_unicode=True), encoding="utf-8")


def as_dict(recipe: Recipe) -> dict[str, Any]:
    plain: dict[str, Any] = _plain(asdict(recipe))
    return plain


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    return list(value) if isinstance(value, tuple) else value


def _change(written: dict[str, Any], change: str) -> None:
    name, equals, value = change.partition("=")
    if not equals or not name:
        raise TrainingError(f"'{change}' changes nothing: write it as key=value, e.g. optimisation.seed=1")
    *above, last = name.strip().split(".")
    for part in above:
        written = written.setdefault(part, {})
        if not isinstance(written, dict):
            raise TrainingError(f"'{change}': {part} holds a single value, not keys")
    try:
        written[last] = yaml.safe_load(value)
    except yaml.YAMLError as error:
        raise TrainingError(f"'{change}': the value cannot be read as YAML; put words with signs in quotes") from error


def _build(kind: Any, written: Any, place: str) -> Any:
    """A dataclass from a mapping, every key known and every value of its type."""
    if not isinstance(written, Mapping):
        raise TrainingError(f"{place.rstrip('.') or 'the recipe'}: expected keys with values, found {written!r}")
    hints = get_type_hints(kind)
    known = [part.name for part in fields(kind)]
    for key in written:
        if key not in known:
            raise TrainingError(f"unknown key '{place}{key}': {nearest(key, known)}")
    values = {key: _value(hints[key], value, f"{place}{key}") for key, value in written.items()}
    if kind in (TextRecipe, GenerateRecipe) and "start" not in values:
        raise TrainingError("'start' is missing: say what the model starts from")
    return kind(**values)


def _value(hint: Any, value: Any, place: str) -> Any:
    if is_dataclass(hint):
        return _build(hint, value, f"{place}.")
    origin = get_origin(hint)
    if origin is tuple and isinstance(value, list) and all(isinstance(item, get_args(hint)[0]) for item in value):
        return tuple(value)
    if origin is Mapping and isinstance(value, dict):
        return {str(key): _value(get_args(hint)[1], inner, f"{place}.{key}") for key, inner in value.items()}
    if origin is None:
        if hint is float and isinstance(value, int | float | str) and not isinstance(value, bool):
            with suppress(ValueError, OverflowError):
                if math.isfinite(number := float(value)):  # YAML reads 2e-5 as a word: it wants 2.0e-5
                    return number
        elif isinstance(value, hint) and (hint is bool or not isinstance(value, bool)):
            return value
    raise TrainingError(f"{place} is {value!r}: expected {getattr(hint, '__name__', 'a list')}")
