"""How large the models of an experiment are, and how long they learn: `paper`, `small` or `tiny`, a file each."""

from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from lexarbor.errors import TrainingError, nearest

SCALES = ("paper", "small", "tiny")
OF_BENCHMARK = {"tiny": "tiny", "bsard": "paper"}
"""By benchmark, the scale unless one is named: BSARD comes from the hub, and so can the paper's language model."""

PARTS = ("models", "fresh", "text", "augmented", "dpr", "dpr_start", "flat", "graph", "hearing", "seeds", "tuning")
"""What a scale may have: a change of anything else would change nothing."""

WHOLE = ("kinds", "heard_at_first", "gathered_at_first")
"""Keys whose values are replaced as a whole: a kind that is left out must be gone."""

Values = dict[str, Any]


def read_scale(name: str, changes: Sequence[str] = ()) -> Values:
    """A scale's values: `models`, the recipes of each stage, `seeds` and `tuning`."""
    from lexarbor.training.recipes import read_values

    check_scale(name)
    for change in changes:
        if (part := change.partition("=")[0].partition(".")[0]) not in PARTS:
            raise TrainingError(f"'{change}': a scale has no '{part}'; {nearest(part, PARTS)}")
    return read_values(Path(str(files("lexarbor.experiments.scales"))) / f"{name}.yaml", changes)


def check_scale(name: str) -> None:
    if name not in SCALES:
        raise TrainingError(f"unknown scale '{name}': {nearest(name, SCALES)}")


def scale_of(benchmark: str) -> str:
    return OF_BENCHMARK.get(benchmark, "small")


def merged(values: Mapping[str, Any], *changes: Mapping[str, Any]) -> Values:
    """Values with others laid over them, key by key at every depth but for those of WHOLE."""
    found = dict(values)
    for change in changes:
        for key, value in change.items():
            below = found.get(key)
            if isinstance(below, Mapping) and isinstance(value, Mapping) and key not in WHOLE:
                value = merged(below, value)
            found[key] = value
    return found
