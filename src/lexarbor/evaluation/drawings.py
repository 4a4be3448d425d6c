"""Further figures as PNG files, made as in `figures`: histograms, maps of points, heat maps of many cells."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lexarbor.errors import EvaluationError
from lexarbor.evaluation.figures import COLOURS, TICKS, blank_figure, label_axes, save_png

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_BINS, FEWEST_BINS = 40, 10
MOST_TICKS = 9
"""Round numbers that have room below a panel's log axis; where there are more, powers of ten alone are told."""
GREY = "#AAAAAA"
"""Of the groups that have no colour of their own."""
BRIGHTEST = 99.5
"""The percentile where a heat map's colours end: a few nearly equal texts would leave all others in one shade."""

Numbers = NDArray[np.float64]


class Histogram(NamedTuple):
    """One panel: how large the numbers of each series are."""

    title: str
    below: str
    series: Mapping[str, ArrayLike]
    log: bool = False
    """A log axis; what is under 1 is drawn as 1."""
    marks: Sequence[float] = ()
    """Where dotted lines stand."""


def histogram_figure(panels: Sequence[Histogram], path: str | Path, *, title: str = "") -> None:
    """Draw panels, two in a row, each series as a share of itself: large and small ones can be compared."""
    if not panels:
        raise EvaluationError("no panel to draw a histogram of; expected at least one")
    checked = [_series(panel) for panel in panels]
    rows = -(-len(panels) // 2)
    figure = blank_figure("the histogram", (5.4 * min(len(panels), 2), 3.7 * rows + (0.4 if title else 0)))
    for number, (panel, series) in enumerate(zip(panels, checked, strict=True), start=1):
        _draw_histogram(figure.add_subplot(rows, min(len(panels), 2), number), panel, series)
    figure.suptitle(title, fontsize=14)
    save_png(figure, Path(path))


def _draw_histogram(axes: "Axes", panel: Histogram, series: Mapping[str, Numbers]) -> None:
    together = np.concatenate(list(series.values()))
    low, high = float(together.min()), float(together.max())
    # the fewer numbers, the wider the bins: most would stand empty otherwise
    smallest = min(values.size for values in series.values())
    bins = int(np.clip(2 * smallest**0.5, FEWEST_BINS, MOST_BINS))
    edges = np.geomspace(low, high + 1, bins + 1) if panel.log else _even_edges(low, high, bins)
    for number, (name, values) in enumerate(series.items()):
        # filled first, outlines above: where series overlap, both are seen
        share = np.full(values.size, 100 / values.size)
        look = {"fill": True, "alpha": 0.45} if number == 0 else {"fill": False, "linewidth": 2}
        colour = COLOURS[number % len(COLOURS)]
        label = f"{name} ({values.size:,})"
        axes.hist(values, edges.tolist(), weights=share, histtype="step", color=colour, label=label, **look)
    if panel.log:
        ticks = [tick for tick in TICKS if low <= tick <= high]
        if len(ticks) > MOST_TICKS:
            ticks = [tick for tick in ticks if str(tick).startswith("1")]
        axes.set_xscale("log")
        axes.set_xticks(ticks, labels=[f"{tick:,}" for tick in ticks])
        axes.minorticks_off()
    else:
        axes.locator_params(axis="x", integer=True)
    for mark in panel.marks:
        if low < mark < high:
            axes.axvline(mark, color="0.25", linestyle=":", linewidth=1.2)
            axes.annotate(
                f"{mark:g}",
                (mark, 1),
                xycoords=("data", "axes fraction"),
                xytext=(2, -1),
                textcoords="offset points",
                fontsize=8,
                va="top",
                color="0.25",
            )
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(y=0.14)  # room for the names of the marks
    label_axes(axes, panel.title, panel.below, "share (%)")
    if len(series) > 1:
        axes.legend(fontsize=9, frameon=False, loc="best")


def _even_edges(low: float, high: float, bins: int) -> Numbers:
    """Bins of whole widths: whole numbers would fall into others unevenly, and some of them stand out."""
    width = max(1, int(np.ceil((high - low + 1) / bins)))
    return np.arange(low, high + width + 1, width) - 0.5


def _series(panel: Histogram) -> dict[str, Numbers]:
    found = {name: np.asarray(values, dtype=np.float64) for name, values in panel.series.items()}
    for name, values in found.items():
        if values.ndim != 1 or not values.size or not np.isfinite(values).all():
            raise EvaluationError(
                f"the series {name!r} of {panel.title!r} has shape {values.shape}; expected one or more finite numbers"
            )
    if not found:
        raise EvaluationError(f"the histogram {panel.title!r} has no series; expected at least one")
    return {name: np.maximum(values, 1) for name, values in found.items()} if panel.log else found


def point_map(panels: Mapping[str, ArrayLike], groups: Sequence[str], path: str | Path, *, title: str = "") -> None:
    """Draw the same points, (n, 2) in each panel, side by side, coloured by their group.

    The largest groups have colours of their own, as many as colour-blind readers tell apart; others are grey.
    """
    drawn = {name: _points(name, points, len(groups)) for name, points in panels.items()}
    if not drawn or not groups:
        raise EvaluationError("no point to draw a map of; expected at least one, in at least one panel")
    sizes = Counter(groups)
    largest = sorted(sizes, key=lambda group: (-sizes[group], group))
    colours = dict(zip(largest, COLOURS, strict=False))
    figure = blank_figure("the map", (5.6 * len(drawn), 6.0))
    of_group = np.array(groups)
    dot = float(np.clip(9000 / len(groups), 8, 40))
    for number, (name, points) in enumerate(drawn.items(), start=1):
        axes = figure.add_subplot(1, len(drawn), number)
        others = ~np.isin(of_group, list(colours))
        if others.any():
            told = f"{len(sizes) - len(colours)} others ({others.sum():,})"
            axes.scatter(points[others, 0], points[others, 1], s=dot, color=GREY, linewidths=0, label=told)
        for group in colours:  # the largest first: small groups are not covered
            axes.scatter(
                points[of_group == group, 0],
                points[of_group == group, 1],
                s=dot,
                color=colours[group],
                linewidths=0,
                alpha=0.8,
                label=f"{group} ({sizes[group]:,})",
            )
        low, high = points.min(axis=0), points.max(axis=0)
        centre, reach = (low + high) / 2, 0.53 * float((high - low).max()) or 1.0
        axes.set(xticks=[], yticks=[], xlim=centre[0] + [-reach, reach], ylim=centre[1] + [-reach, reach])
        axes.set_aspect("equal")
        axes.spines[:].set_color("0.8")
        label_axes(axes, name, "", "")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=2, fontsize=11, frameon=False, markerscale=(60 / dot) ** 0.5
    )
    figure.suptitle(title, fontsize=14)
    save_png(figure, Path(path))


def _points(name: str, points: ArrayLike, size: int) -> Numbers:
    found = np.asarray(points, dtype=np.float64)
    if found.shape != (size, 2) or not np.isfinite(found).all():
        raise EvaluationError(f"the points of {name!r} have shape {found.shape}; expected finite numbers, {(size, 2)}")
    return found


def likeness_map(
    values: ArrayLike,
    path: str | Path,
    *,
    title: str = "",
    position_title: str = "",
    value_title: str = "",
    borders: Sequence[int] = (),
) -> None:
    """Draw how like each thing is to each other, in [0, 1], as a square without printed figures; both axes count from
    1. `borders`: positions, from 0, before which a new division begins: lines beside the square.
    """
    grid = np.asarray(values, dtype=np.float64)
    if grid.ndim != 2 or grid.shape[0] != grid.shape[1] or not grid.size:
        raise EvaluationError(f"likenesses of shape {grid.shape}; expected a square of one or more")
    if not (np.isfinite(grid).all() and grid.min() > -1e-6 and grid.max() < 1 + 1e-6):
        raise EvaluationError("likenesses that leave their range; expected 0 to 1")
    size = len(grid)
    apart = grid[~np.eye(size, dtype=bool)]
    brightest = float(np.percentile(apart, BRIGHTEST)) if apart.size else 1.0
    figure = blank_figure("the heat map", (8.2, 7.0))
    axes = figure.add_subplot()
    image = axes.imshow(
        grid,
        cmap="magma_r",
        vmin=0,
        vmax=brightest or 1.0,
        interpolation="nearest",
        extent=(0.5, size + 0.5, size + 0.5, 0.5),
    )
    figure.colorbar(image, ax=axes, extend="max", shrink=0.9).set_label(value_title, fontsize=12)
    for border in borders:
        for line in (axes.axvline, axes.axhline):
            line(border + 0.5, color="#0072B2", linewidth=0.6, alpha=0.7)
    label_axes(axes, title, position_title, position_title)
    save_png(figure, Path(path))
