"""Figures as PNG files: recall curves and heat maps. matplotlib is imported here and in `drawings`, and late.

Figures are made without pyplot, so that the caller's backend, open figures and settings are left alone.
"""

from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lexarbor.errors import EvaluationError, MissingExtraError
from lexarbor.evaluation.tables import percent
from lexarbor.files import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which colour-blind readers tell apart; with 4 dashes, 28 systems differ.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
DASHES = ("-", "--", "-.", ":")
TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
DOTS_PER_INCH = 150
CELL_INCHES = (0.56, 0.36)  # width and height in which "100.0" can be read at 8 points
LARGEST_INCHES = (12.0, 9.0)


def recall_figure(curves: Mapping[str, ArrayLike], path: str | Path, *, title: str = "") -> None:
    """Draw R@k against k on a log axis, one line a system; a curve is what `recall_curve` returns."""
    drawn = {system: _curve(system, values) for system, values in curves.items()}
    if not drawn:
        raise EvaluationError("no system to draw a recall curve of; expected at least one")
    # the legend stands beside the axes: long names must not squeeze them
    width = 5.6 + 0.085 * max(map(len, drawn))
    figure = blank_figure("the recall curve", (max(8.0, width + 1.6), 4.6))
    axes = figure.add_subplot()
    for number, (system, recall) in enumerate(drawn.items()):
        axes.plot(
            np.arange(1, recall.size + 1),
            100 * recall,
            label=system,
            color=COLOURS[number % len(COLOURS)],
            linestyle=DASHES[number % len(DASHES)],
            linewidth=2,
        )
    depth = max(recall.size for recall in drawn.values())
    ticks = [k for k in TICKS if k <= depth]
    axes.set_xscale("log")
    axes.set_xticks(ticks, labels=[str(k) for k in ticks])
    axes.minorticks_off()
    axes.set(xlim=(1, max(depth, 2)), ylim=(0, 100))
    axes.grid(color="0.88")
    axes.spines[["top", "right"]].set_visible(False)
    label_axes(axes, title, "k, articles retrieved", "R@k, mean recall (%)")
    # Beside the axes: a curve may pass anywhere inside them.
    figure.legend(loc="outside right upper", fontsize=11, frameon=False, handlelength=3)
    save_png(figure, Path(path))


def heat_map(
    values: ArrayLike,
    row_labels: Sequence[str],
    column_labels: Sequence[str],
    title: str,
    path: str | Path,
    *,
    row_title: str = "",
    column_title: str = "",
    value_title: str = "",
) -> None:
    """Draw fractions over a grid in percent, the best cell (the first, if several) framed; NaN is left grey.

    Figures are printed in the cells as long as they can be read there.
    """
    grid = _grid(values, len(row_labels), len(column_labels))
    rows, columns = grid.shape
    width, height = 2.2 + CELL_INCHES[0] * columns, 1.4 + CELL_INCHES[1] * rows
    legible = width <= LARGEST_INCHES[0] and height <= LARGEST_INCHES[1]
    figure = blank_figure(
        "the heat map", (min(max(width, 5.5), LARGEST_INCHES[0]), min(max(height, 3.4), LARGEST_INCHES[1]))
    )
    axes = figure.add_subplot()
    axes.set_facecolor("0.85")
    image = axes.imshow(100 * np.ma.masked_invalid(grid), cmap="viridis", aspect="auto")
    figure.colorbar(image, ax=axes).set_label(f"{value_title} (%)" if value_title else "%", fontsize=12)
    # Where cells had to shrink, only every second label, or third, has room.
    every = -(-columns // 16), -(-rows // 22)
    slant = 45 if any(len(label) > 5 for label in column_labels) else 0
    axes.set_xticks(range(0, columns, every[0]), labels=column_labels[:: every[0]], rotation=slant)
    axes.set_yticks(range(0, rows, every[1]), labels=row_labels[:: every[1]])
    label_axes(axes, title, column_title, row_title)
    best_row, best_column = divmod(int(np.nanargmax(grid)), columns)
    if legible:
        _print_values(axes, grid)
    _frame(axes, best_row, best_column)
    save_png(figure, Path(path))


def check_drawing(path: str | Path) -> None:
    """Refuse before a long computation what could only be refused after it: no matplotlib, no such folder."""
    blank_figure("drawing a figure", (1.0, 1.0))
    folder = Path(path).parent
    if not folder.is_dir():
        raise EvaluationError(f"cannot draw {path}: there is no folder {folder}; make it first")


def blank_figure(what: str, inches: tuple[float, float]) -> "Figure":
    """A figure to draw on, whose parts make room for each other; `what` is told where matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine
    except ImportError as error:
        raise MissingExtraError(what, "figures") from error
    return Figure(figsize=inches, dpi=DOTS_PER_INCH, layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1))


def label_axes(axes: "Axes", title: str, below: str, beside: str) -> None:
    """A title and the names of both axes, in the sizes that all figures have."""
    axes.set_title(title, fontsize=14, pad=10)
    axes.set_xlabel(below, fontsize=12)
    axes.set_ylabel(beside, fontsize=12)
    axes.tick_params(labelsize=11)


def _print_values(axes: "Axes", grid: NDArray[np.float64]) -> None:
    low, high = np.nanmin(grid), np.nanmax(grid)
    for (row, column), value in np.ndenumerate(grid):
        if np.isfinite(value):
            dark = value < low + 0.6 * (high - low)  # viridis goes from dark to light
            colour = "white" if dark else "black"
            axes.text(column, row, percent(value), ha="center", va="center", fontsize=9, color=colour)


def _frame(axes: "Axes", row: int, column: int) -> None:
    from matplotlib.patches import Rectangle

    corner = (column - 0.5, row - 0.5)
    axes.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor="#D55E00", linewidth=3, clip_on=False, zorder=3))


def _curve(system: str, values: ArrayLike) -> NDArray[np.float64]:
    curve = np.asarray(values, dtype=np.float64)
    if curve.ndim != 1 or curve.size == 0:
        raise EvaluationError(f"the curve of {system!r} has shape {curve.shape}; expected one recall for each k")
    if not ((curve >= 0) & (curve <= 1)).all():
        raise EvaluationError(f"the curve of {system!r} leaves the range of a recall; expected 0 to 1")
    return curve


def _grid(values: ArrayLike, rows: int, columns: int) -> NDArray[np.float64]:
    grid = np.asarray(values, dtype=np.float64)
    if grid.shape != (rows, columns):
        raise EvaluationError(f"a grid of shape {grid.shape}; expected {(rows, columns)}, as its labels")
    finite = grid[np.isfinite(grid)]
    if not finite.size:
        raise EvaluationError("a heat map without a single figure; expected at least one")
    if finite.min() < 0 or finite.max() > 1:
        raise EvaluationError("a heat map whose figures leave the range of a fraction; expected 0 to 1, not percent")
    return np.where(np.isfinite(grid), grid, np.nan)


def save_png(figure: "Figure", path: Path) -> None:
    """With 256 colours, which are enough for lines and maps, a rare one among them (a frame) kept as it is: a third of
    the bytes, and results are committed.
    """
    from PIL import Image  # comes with matplotlib

    drawn = BytesIO()
    figure.savefig(drawn, format="png")
    few = Image.open(drawn).convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    with replacing(path) as temporary:
        few.save(temporary, format="PNG", optimize=True, dpi=(DOTS_PER_INCH, DOTS_PER_INCH))
