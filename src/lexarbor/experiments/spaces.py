"""What hyper-parameters are searched among: the two spaces of the paper's appendix "G-DSR Hyperparameter Tuning", and
one for models that are smaller than the paper's.

Of the paper's temperatures 0 is left out: the loss divides by it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from lexarbor.errors import TrainingError, nearest

Value = str | int | float
Choices = Mapping[str, tuple[Value, ...]]
"""By a recipe's key, e.g. "optimisation.batch_size", the values to try."""

LABELS = {
    "optimisation.batch_size": "Batch size",
    "optimisation.learning_rate": "Learning rate",
    "optimisation.weight_decay": "Weight decay",
    "encoder.chunk_tokens": "Max chunk length",
    "encoder.max_tokens": "Max document length",
    "encoder.chunk_pooling": "Pooling strategy",
    "encoder.similarity": "Similarity function",
    "loss.temperature": "Temperature",
    "graph.layers": "Layers",
}
"""What the paper calls a recipe's key."""
_WORDS = {"dot": "dot-product", "euclidean": "L2"}
"""What the paper calls a recipe's word, where it differs."""


@dataclass(frozen=True)
class Space:
    """Values to choose among, and what the paper chose."""

    stage: str
    """Of the recipes that the values are for: "text" or "graph"."""
    choices: Choices
    papers: Mapping[str, Value]
    """The paper's own choice, by the same keys (its table of training hyper-parameters)."""
    always: Mapping[str, Value] = field(default_factory=dict)
    """Values without which the choices would mean nothing."""

    @property
    def size(self) -> int:
        """How many recipes there are to try."""
        found = 1
        for values in self.choices.values():
            found *= len(values)
        return found

    def recipe_values(self, chosen: Mapping[str, Value]) -> dict[str, Any]:
        """Values by key as a recipe nests them, to be laid over one: {"loss": {"temperature": 0.1}}."""
        for key, value in chosen.items():
            if value not in self.choices.get(key, ()):
                raise TrainingError(f"{key}={value} is not in the space: {nearest(key, list(self.choices))}")
        found: dict[str, Any] = {}
        for key, value in chain(self.always.items(), chosen.items()):
            *above, last = key.split(".")
            place = found
            for part in above:
                place = place.setdefault(part, {})
            place[last] = value
        return found


_DSR: Choices = {
    "optimisation.batch_size": (8, 16, 24, 32),
    "optimisation.learning_rate": (5e-5, 4e-5, 3e-5, 2e-5, 1e-5),
    "optimisation.weight_decay": (0.0, 0.1, 0.01, 0.001),
    "encoder.chunk_tokens": (64, 128, 256, 512),
    "encoder.max_tokens": (1024, 2048),
    "encoder.chunk_pooling": ("mean", "max"),
    "encoder.similarity": ("dot", "cosine", "euclidean"),
    "loss.temperature": (0.1, 0.01, 0.001),
}
_DSR_PAPERS: Mapping[str, Value] = {
    "optimisation.batch_size": 24,
    "optimisation.learning_rate": 2e-5,
    "optimisation.weight_decay": 0.01,
    "encoder.chunk_tokens": 128,
    "encoder.max_tokens": 1024,
    "encoder.chunk_pooling": "max",
    "encoder.similarity": "cosine",
    "loss.temperature": 0.01,
}
# Chunks repeat nothing of one another, as in the paper: any of these lengths then fits in any document length.
_CHUNKED: Mapping[str, Value] = {"encoder.article": "hierarchical", "encoder.overlap": 0}

SPACES: dict[str, Space] = {
    "dsr": Space("text", _DSR, _DSR_PAPERS, _CHUNKED),
    "wide": Space(  # small models that start from little pre-training learn at higher rates, and fit more in a batch
        "text",
        {
            **_DSR,
            "optimisation.batch_size": (32, 64, 128, 256),
            "optimisation.learning_rate": (5e-5, 1e-4, 2e-4, 4e-4),
        },
        _DSR_PAPERS,
        _CHUNKED,
    ),
    "lge": Space(
        "graph",
        {
            "optimisation.batch_size": (8, 16, 32, 64, 128, 256, 512),
            "optimisation.learning_rate": (2e-2, 2e-3, 2e-4, 2e-5, 2e-6),
            "optimisation.weight_decay": (0.0, 0.1, 0.01, 0.001),
            "graph.layers": (1, 2, 3, 4),
        },
        {
            "optimisation.batch_size": 512,
            "optimisation.learning_rate": 2e-4,
            "optimisation.weight_decay": 0.1,
            "graph.layers": 3,
        },
    ),
}


def space_of(name: str) -> Space:
    if name not in SPACES:
        raise TrainingError(f"unknown space '{name}': {nearest(name, list(SPACES))}")
    return SPACES[name]


def told(key: str, value: Value) -> str:
    """A value as the paper writes it: 2e-5, L2."""
    if isinstance(value, float):
        return f"{value:.0e}".replace("e-0", "e-") if key.endswith("learning_rate") else f"{value:g}"
    return _WORDS.get(str(value), str(value))
