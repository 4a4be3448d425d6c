"""Recipes: every hyper-parameter of a stage in one YAML file, checked before long work starts, saved beside the model.

stage: text                         # pretrain: masked language modelling; text: the retriever; graph: the graph
                                    # encoder; generate: questions
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

from lexarbor.errors import GraphError, TrainingError, nearest
from lexarbor.files import replacing
from lexarbor.text.settings import EncoderSettings
from lexarbor.training.graph_recipe import GraphRecipe
from lexarbor.training.hyperparameters import (
    Architecture,
    Loss,
    Optimisation,
    SupervisionRecipe,
    Watching,
    at_least,
    check_dropout,
    check_kinds,
)

FRESH = "fresh"
LIKELIHOOD = "likelihood"
"""Of a token of dev's questions, given an article that answers: the geometric mean. What a generator is judged by."""


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
        at_least("block_tokens", self.block_tokens, 8)
        check_dropout(self.dropout)
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
        check_dropout(self.dropout)
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
        check_kinds("kinds", self.kinds)
        check_dropout(self.dropout)
        for name in ("input_tokens", "question_tokens"):
            at_least(name, getattr(self, name), 8)
        if not 0 < self.near <= 1 or bool(self.judge) != (self.near < 1):
            raise TrainingError(
                f"judge is '{self.judge}', near is {self.near}: name a retriever and a part below 1, or neither"
            )
        if self.watching.patience and self.watching.measure != LIKELIHOOD:
            raise TrainingError(f"watching.measure is {self.watching.measure}: this stage is judged by {LIKELIHOOD}")
        if self.optimisation.mini_batch:
            raise TrainingError("optimisation.mini_batch is for the stage text: lower batch_size, raise accumulation")


Recipe = PretrainRecipe | TextRecipe | GraphRecipe | GenerateRecipe
STAGES: dict[str, type[PretrainRecipe] | type[TextRecipe] | type[GraphRecipe] | type[GenerateRecipe]] = {
    "pretrain": PretrainRecipe,
    "text": TextRecipe,
    "graph": GraphRecipe,
    "generate": GenerateRecipe,
}


def read_recipe(path: Path, changes: Sequence[str] = ()) -> Recipe:
    """A recipe from its file; `changes` like "optimisation.seed=1" replace single values."""
    written = read_values(path, changes)
    try:
        return parse_recipe(written)
    except (TrainingError, GraphError) as error:
        raise TrainingError(f"{path}: {error}") from error


def read_values(path: Path, changes: Sequence[str] = ()) -> dict[str, Any]:
    """A file of keys with values, as it is written, some of them changed."""
    try:
        written = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise TrainingError(f"{path}: no such recipe; the shipped ones are in recipes/") from error
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise TrainingError(f"{path}: cannot be read as YAML ({' '.join(str(error).split())})") from error
    if not isinstance(written, dict):
        raise TrainingError(f"{path}: expected keys with values, e.g. `stage: text`; found {type(written).__name__}")
    values: dict[str, Any] = _unshared(written)
    for change in changes:
        _change(values, change)
    return values


def _unshared(value: Any) -> Any:
    """A copy in which what YAML's anchors name in several places is there as often: a change is of one place alone."""
    if isinstance(value, dict):
        return {key: _unshared(inner) for key, inner in value.items()}
    return [_unshared(inner) for inner in value] if isinstance(value, list) else value


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
    if kind is GraphRecipe and "encoder" not in values:
        raise TrainingError("'encoder' is missing: say which retriever's vectors are enriched")
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
