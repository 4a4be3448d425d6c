"""How large the models of an experiment are, and how long they learn: `paper`, `small` or `tiny`, a file each."""

from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from lexarbor.errors import LexarborError, TrainingError, nearest

SCALES = ("paper", "small", "tiny")
OF_BENCHMARK = {"tiny": "tiny", "bsard": "paper"}
"""By benchmark, the scale unless one is named: BSARD comes from the hub, and so can the paper's language model."""

PARTS = ("models", "fresh", "text", "augmented", "dpr", "dpr_start", "flat", "graph", "hearing", "seeds", "tuning")
"""What a scale may have: a change of anything else would change nothing."""

TOLD = {"models": ("texts", "recipe"), "tuning": ("trials", "looks", "set")}
"""By part of a scale that holds several, what each of them has."""
WHOLE = ("kinds", "heard_at_first", "gathered_at_first")
"""Keys whose values are replaced as a whole: a kind that is left out must be gone."""
MOST_SEEDS = 100
TEXTS = ("general", "law")
"""What a language model reads: French that is no statute, or the law."""
CHANGED_FOR = {
    "vosdroits-disjoint": (
        "hearing.gathered_at_first="
        "{contains: -0.36, within: 15.33, next: 0.24, previous: -0.06, cites: 0.37, cited: 0.32}",
        "hearing.heard_at_first={contains: 0.3, next: 0.22, previous: 0.4, cites: 0.64}",
    )
}
"""By benchmark, changes of any scale: what our graph encoder begins with was found on train questions, and those of
vosdroits stand in this one's test (results/hearing.md, results/hearing-disjoint.md).
"""

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
    _check_number("seeds", values["seeds"], MOST_SEEDS)
    for search, told in values["tuning"].items():
        for key in ("trials", "looks"):
            _check_number(f"tuning.{search}.{key}", told[key])
    _check_recipes(values)
    return values


def _check_number(name: str, value: Any, most: int | None = None) -> None:
    if type(value) is not int or value < 1 or value > (most or value):  # a bool is an int too
        up_to = f" to {most}" if most else " or more"
        raise TrainingError(f"{name} is {value!r}: give a whole number of 1{up_to}")


def _check_recipes(values: Values) -> None:
    """Refuse values that no recipe could have, whichever experiment reads them."""
    from lexarbor.training.recipes import parse_recipe

    recipes: Values = {part: values[part] for part in ("text", "dpr_start") if part in values}
    recipes["flat"] = {**values["text"], "encoder": values["flat"]}
    recipes |= {part: {**values[part], "encoder": "@retriever"} for part in ("graph", "hearing")}  # a job says which
    for name, model in values["models"].items():
        check_texts(name, model["texts"])
        recipes[f"models.{name}"] = model["recipe"]
    for name, recipe in recipes.items():
        try:
            parse_recipe(recipe)
        except LexarborError as error:
            raise TrainingError(f"{name}: {error}") from error


def check_texts(model: str, texts: str) -> None:
    if texts not in TEXTS:
        raise TrainingError(f"the texts of '{model}' are '{texts}': {nearest(texts, TEXTS)}")


def _check_change(held: Values, change: str) -> None:
    """Refuse a change of what the scale does not have: it would change nothing. What a recipe does not have is refused
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
    above: Any = held.get(part)
    for name in below:
        above = above.get(name) if isinstance(above, Mapping) else None
    if isinstance(above, Mapping) and not (below and below[-1] in WHOLE):
        name = ".".join((part, *below))
        example = f", e.g. {name}.{next(iter(above))}=…" if above else ""
        raise TrainingError(f"'{change}': {name} has keys of its own; name one{example}")


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
