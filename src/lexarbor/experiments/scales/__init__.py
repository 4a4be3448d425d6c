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

TOLD = {"models": ("texts", "recipe"), "tuning": ("trials", "looks", "set")}
"""By part of a scale that holds several, what each of them has."""
WHOLE = ("kinds", "heard_at_first", "gathered_at_first")
"""Keys whose values are replaced as a whole: a kind that is left out must be gone."""

Values = dict[str, Any]


def read_scale(name: str, changes: Sequence[str] = ()) -> Values:
    """A scale's values: `models`, the recipes of each stage, `seeds` and `tuning`."""
    from lexarbor.training.recipes import read_values

    check_scale(name)
    path = Path(str(files("lexarbor.experiments.scales"))) / f"{name}.yaml"
    held = read_values(path)
    for change in changes:
        _check_change(held, change)
    values = read_values(path, changes)
    if type(values["seeds"]) is not int or values["seeds"] < 1:  # a bool is an int too
        raise TrainingError(f"seeds is {values['seeds']!r}: give a whole number of 1 or more")
    return values


def _check_change(held: Values, change: str) -> None:
    """Refuse a change of what the scale does not have: it would change nothing. What stands in a recipe is checked
    where that is read.
    """
    if "=" not in change:
        raise TrainingError(f"'{change}' changes nothing: write KEY=VALUE, e.g. text.optimisation.epochs=2")
    part, *below = change.partition("=")[0].strip().split(".")
    if part not in PARTS:
        raise TrainingError(f"'{change}': a scale has no '{part}'; {nearest(part, PARTS)}")
    for name, known in zip(below, (held[part], TOLD[part]) if part in TOLD else (), strict=False):
        if name not in known:
            raise TrainingError(f"'{change}': {part} has no '{name}'; {nearest(name, list(known))}")
    above = held.get(part)
    if part in TOLD and len(below) == 1:
        above = held[part][below[0]]
    elif below:
        return
    if isinstance(above, Mapping):
        name = ".".join((part, *below))
        raise TrainingError(f"'{change}': {name} has keys of its own; name one, e.g. {name}.{next(iter(above))}=…")


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
