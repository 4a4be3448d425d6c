"""What a search came to: the best values, what each value is worth, every trial."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lexarbor.errors import TrainingError
from lexarbor.evaluation import MEASURES, Cell, Table
from lexarbor.evaluation.figures import COLOURS, blank_figure, label_axes, save_png
from lexarbor.experiments.reports import Report
from lexarbor.experiments.searches import Search, at_work, is_repeat, open_study
from lexarbor.experiments.spaces import LABELS, told

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

SHOWN = ("recall@100", "recall@200", "recall@500")
"""Measures of the table of the best trials."""
SPAN = 25
"""Points below the best that the figure shows."""
BEST = 10
"""How many trials it has."""
KINDS = ("complete", "pruned", "refused", "stopped", "running", "repeated")
"""What becomes of trials: to the end; given up below the median; not to be trained; killed with their process; not over
yet, or cut off with the machine; drawn a second time, and not trained again."""


def best(search: Search, work: Path) -> dict[str, Any]:
    """The recipe values of the best trial, nested as a recipe has them, to be laid over one."""
    return search.values.recipe_values(_best(search, trials_of(search, work)).params)


def report(search: Search, work: Path) -> Report:
    """Tables, a figure and all trials of a search that has been run, whole or in part."""
    trials = trials_of(search, work)
    first = _best(search, trials)
    counts = {kind: sum(kind_of(trial) == kind for trial in trials) for kind in KINDS}
    label, papers = MEASURES[search.measure].label, search.values.papers
    same = sum(first.params[key] == papers[key] for key in papers)
    paragraphs = [
        f"Bayesian search (Optuna's TPE; trials below the median of the others are given up) over the space "
        f"`{search.space}` of {search.values.size} recipes, by {label} on dev: {counts['complete']} trials went to the "
        f"end, {counts['pruned']} were given up on the way, {counts['refused']} could not be trained, "
        f"{counts['stopped']} were stopped with their process, {counts['running']} had not ended when this was "
        f"written; {counts['repeated']} more drew a recipe that had been tried, and were not trained again.",
        f"The best is trial {first.number}; {same} of its {len(papers)} values are the paper's.",
    ]
    if "loss.temperature" in papers:
        paragraphs.append("The paper's temperature 0 is left out: the loss divides by it.")
    told_trials = [_told(trial) for trial in trials]
    return Report(
        f"Search for hyper-parameters: {search.name}",
        [_values_table(search, first), _best_table(search, trials), _held_table(search, trials)],
        paragraphs,
        {"trials": lambda path: draw_trials(search.name, search.measure, told_trials, path)},
        {
            "search": {**search.known_by(), "trials": search.trials, "looks": search.looks, "seed": search.seed},
            "counts": counts,
            "best": search.values.recipe_values(first.params),
            "trials": told_trials,
        },
    )


def kind_of(trial: "FrozenTrial") -> str:
    """One of KINDS."""
    if is_repeat(trial):
        return "repeated"
    if "refused" in trial.user_attrs:
        return "refused"
    return {"COMPLETE": "complete", "PRUNED": "pruned", "FAIL": "stopped"}.get(trial.state.name, "running")


def draw_trials(name: str, measure: str, told: Sequence[Mapping[str, Any]], path: Path) -> None:
    """The measure by trial, from what programs are told of these: those given up are hollow, where they were then; a
    line has the best until then.
    """
    ended = [(one["trial"], 100 * one["value"]) for one in told if one["kind"] == "complete"]
    looked = [one for one in told if one["kind"] == "pruned" and one["looks"]]
    given_up = [(one["trial"], 100 * one["looks"][max(one["looks"], key=int)]) for one in looked]
    figure = blank_figure("the figure of the trials", (8.0, 4.6))
    axes = figure.add_subplot()
    axes.scatter(*_columns(ended), color=COLOURS[0], label="to the end", zorder=3)
    axes.scatter(*_columns(given_up), facecolors="none", edgecolors=COLOURS[0], label="given up", zorder=3)
    best_until = [max(value for _, value in ended[: place + 1]) for place in range(len(ended))]
    last = max(number for number, _ in (*ended, *given_up))
    numbers = [*(number for number, _ in ended), last]
    axes.step(numbers, [*best_until, best_until[-1]], where="post", color=COLOURS[1], linewidth=2, label="best so far")
    axes.locator_params(axis="x", integer=True)
    floor, along = max(best_until[-1] - SPAN, 0), "trial"
    if fewer := sum(value < floor for _, value in (*ended, *given_up)):
        axes.set_ylim(bottom=floor)  # those that learned nothing would press all others together
        along += f" (below {floor:.0f} %: {fewer} more)"
    axes.grid(color="0.88")
    axes.spines[["top", "right"]].set_visible(False)
    label_axes(axes, f"Trials of {name}", along, f"{MEASURES[measure].label} on dev (%)")
    figure.legend(loc="outside right upper", fontsize=11, frameon=False)
    save_png(figure, path)


def trials_of(search: Search, work: Path) -> "list[FrozenTrial]":
    """All trials so far."""
    if not search.file(work, ".journal").is_file():
        raise TrainingError(
            f"the search '{search.name}' has no trials below {work}: run it first, without --only report"
        )
    with at_work(search, work):  # what a killed process left half written is cut off first: opening adds a line
        return open_study(search, work).get_trials(deepcopy=False)


def _best(search: Search, trials: "Sequence[FrozenTrial]") -> "FrozenTrial":
    """Of equals the first."""
    ended = _complete(trials)
    if not ended:
        refused = next((one.user_attrs["refused"] for one in trials if "refused" in one.user_attrs), "none was refused")
        raise TrainingError(f"no trial of the search '{search.name}' went to its end ({refused}): run it on")
    return _ranked(ended)[0]


def _complete(trials: "Sequence[FrozenTrial]") -> "list[FrozenTrial]":
    return [trial for trial in trials if kind_of(trial) == "complete"]


def _ranked(ended: "Sequence[FrozenTrial]") -> "list[FrozenTrial]":
    return sorted(ended, key=lambda trial: (-(trial.value or 0.0), trial.number))


def _columns(points: Sequence[tuple[int, float]]) -> tuple[list[int], list[float]]:
    return [number for number, _ in points], [value for _, value in points]


def _values_table(search: Search, first: "FrozenTrial") -> Table:
    space = search.values
    rows: list[list[Cell]] = [
        [
            LABELS[key],
            ", ".join(told(key, value) for value in values),
            told(key, space.papers[key]),
            told(key, first.params[key]),
        ]
        for key, values in space.choices.items()
    ]
    return Table("What was searched", ["Hyper-parameter", "Values", "The paper's", "Best here"], rows)


def _best_table(search: Search, trials: "Sequence[FrozenTrial]") -> Table:
    keys = list(search.values.choices)
    measures = list(dict.fromkeys((*SHOWN, search.measure)))
    rows: list[list[Cell]] = []
    for trial in _ranked(_complete(trials))[:BEST]:
        figures: Mapping[str, float] = trial.user_attrs["figures"]
        rows.append(
            [
                trial.number,
                *(told(key, trial.params[key]) for key in keys),
                *(figures.get(measure) for measure in measures),
                str(trial.user_attrs["seconds"]),
            ]
        )
    columns = ["Trial", *(LABELS[key] for key in keys), *(MEASURES[name].label for name in measures), "Seconds"]
    return Table(f"The {len(rows)} best trials, on dev", columns, rows)


def _held_table(search: Search, trials: "Sequence[FrozenTrial]") -> Table:
    """For each value, the best of the trials that have it."""
    rows: list[list[Cell]] = []
    tried = [trial for trial in trials if kind_of(trial) in ("complete", "pruned")]
    for key, values in search.values.choices.items():
        for value in values:
            having = [trial for trial in tried if trial.params.get(key) == value]
            ended = _ranked(_complete(having))
            rows.append([LABELS[key], told(key, value), len(having), len(ended), ended[0].value if ended else None])
    label = MEASURES[search.measure].label
    columns = ["Hyper-parameter", "Value", "Trials", "To the end", f"Best {label}"]
    return Table("Best with each value held fixed, on dev", columns, rows, group="Hyper-parameter")


def _told(trial: "FrozenTrial") -> dict[str, Any]:
    """A trial for programs."""
    return {
        "trial": trial.number,
        "kind": kind_of(trial),
        "value": trial.value if kind_of(trial) == "complete" else None,
        "values": trial.params,
        "looks": {str(look): value for look, value in trial.intermediate_values.items()},
        **trial.user_attrs,
    }
