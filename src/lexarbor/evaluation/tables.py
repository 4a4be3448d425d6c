"""Tables of results: what stands in them, apart from how they are drawn (see `rendering`).

A float is a fraction, printed in percent with one decimal; an integer or a text is printed as it is; None, a
figure that does not exist, is printed as a dash. Other numbers (a p-value, milliseconds) come as text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TypeAlias

from lexarbor.errors import EvaluationError
from lexarbor.evaluation.measures import MEASURES
from lexarbor.evaluation.strata import STRATA

Cell: TypeAlias = str | int | float | None
Results: TypeAlias = Mapping[str, Mapping[str, Mapping[str, float]]]
"""System to stratum to measure to its mean."""


@dataclass(frozen=True)
class Table:
    """A title, named columns, rows of as many cells, and notes to print under them."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()
    group: str | None = None
    """The column whose value parts the rows in groups: a rule between them, a best figure in each."""

    def __post_init__(self) -> None:
        if self.group is not None and self.group not in self.columns:
            raise EvaluationError(f"no column {self.group!r} to group by; there are: {', '.join(self.columns)}")
        for number, row in enumerate(self.rows, start=1):
            if len(row) != len(self.columns):
                raise EvaluationError(
                    f"table {self.title!r}, row {number}: {len(row)} cells; expected {len(self.columns)}"
                )
            for column, cell in zip(self.columns, row, strict=True):
                if isinstance(cell, float) and not isfinite(cell):
                    raise EvaluationError(
                        f"table {self.title!r}, row {number}: {column} is {cell}; expected a fraction or None"
                    )

    def groups(self) -> list[list[int]]:
        """Return the row numbers of each run of rows with one value in the group column, in order."""
        groups: list[list[int]] = []
        column = None if self.group is None else list(self.columns).index(self.group)
        for number, row in enumerate(self.rows):
            same = number > 0 and (column is None or row[column] == self.rows[number - 1][column])
            if same:
                groups[-1].append(number)
            else:
                groups.append([number])
        return groups

    def best(self) -> set[tuple[int, int]]:
        """Return (row, column) of each column's best fraction in each group, ties as printed included."""
        return {
            place
            for rows in self.groups()
            for column in range(len(self.columns))
            for place in self._best_of(rows, column)
        }

    def _best_of(self, rows: Sequence[int], column: int) -> list[tuple[int, int]]:
        figures = {row: cell for row in rows if isinstance(cell := self.rows[row][column], float)}
        if len(figures) < 2:  # alone, it beats nothing
            return []
        top = percent(max(figures.values()))
        if top == percent(0):  # none found anything
            return []
        return [(row, column) for row, figure in figures.items() if percent(figure) == top]


def percent(fraction: float) -> str:
    """Return a fraction in percent with one decimal, without a sign on zero: 0.4567 is "45.7"."""
    text = f"{100 * fraction:.1f}"
    return "0.0" if text == "-0.0" else text


def results_table(
    results: Results,
    *,
    title: str = "Results",
    measures: Sequence[str] | None = None,
    strata: Sequence[str] = STRATA,
    notes: Sequence[str] = (),
) -> Table:
    """Return the standard table: strata one under the other, in each a row per system, a column per measure.

    Systems keep the order they come in; measures that are not asked for are all those that any system has. A
    stratum that no system has is left out, and a figure that is missing is a dash.
    """
    given = {name for system in results.values() for means in system.values() for name in means}
    shown = [name for name in MEASURES if name in given] if measures is None else list(measures)
    unknown = next((name for name in shown if name not in MEASURES), None)
    if unknown is not None:
        raise EvaluationError(f"unknown measure {unknown!r}; expected one of: {', '.join(MEASURES)}")
    rows: list[list[Cell]] = []
    for stratum in strata:
        for system, means in results.items():
            if any(other.get(stratum) for other in results.values()):
                figures = means.get(stratum, {})
                rows.append([stratum, system, *(figures.get(name) for name in shown)])
    columns = ["Stratum", "System", *(MEASURES[name].label for name in shown)]
    return Table(title, columns, rows, notes, group="Stratum")
