"""BM25's two parameters over the paper's grid (appendix "BM25 Hyperparameter Tuning"), as an experiment."""

from lexarbor.evaluation import MEASURES, Cell, Table, heat_map
from lexarbor.experiments.bm25_grid import tune_bm25 as try_grid
from lexarbor.experiments.lab import Lab
from lexarbor.experiments.reports import Report
from lexarbor.experiments.systems import PAPERS_BM25, PAPERS_FIELD

MEASURE = "recall@200"
BEST = 10


def tune_bm25(lab: Lab) -> Report:
    """The grid on dev; the paper chose by R@200 as well."""
    split = lab.asked("dev")
    grid = try_grid(lab.benchmark, PAPERS_FIELD, split=split, measure=MEASURE, on_step=lab.on_step)
    best, label = grid.best(), MEASURES[MEASURE].label
    cells = sorted(
        (-float(grid.values[row, column]), k1, b) for row, k1 in enumerate(grid.k1) for column, b in enumerate(grid.b)
    )
    papers = next((-value for value, k1, b in cells if (k1, b) == PAPERS_BM25), None)
    told = f"Best of {len(cells)}: k1 = {best.k1:g}, b = {best.b:g}, {label} {-100 * cells[0][0]:.1f} %"
    if papers is not None:
        told += f"; with the paper's k1 = {PAPERS_BM25[0]:g} and b = {PAPERS_BM25[1]:g}: {100 * papers:.1f} %"
    title = f"BM25 over articles' text, {lab.name} {split}"
    best_cells: list[list[Cell]] = [[f"{k1:g}", f"{b:g}", -value] for value, k1, b in cells[:BEST]]
    table = Table(f"The {BEST} best of the grid", ["k1", "b", label], best_cells)
    return Report(
        title,
        [table],
        [f"{told}."],
        {
            "": lambda path: heat_map(
                grid.values, [f"{k1:g}" for k1 in grid.k1], [f"{b:g}" for b in grid.b], title, path,
                row_title="k1", column_title="b", value_title=label,
            )
        },
        {"grid": [{"k1": k1, "b": b, MEASURE: -value} for value, k1, b in cells]},
    )  # fmt: skip
