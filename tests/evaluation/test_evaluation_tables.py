"""What stands in a table."""

import pytest

from lexarbor.errors import EvaluationError
from lexarbor.evaluation import Table, results_table
from lexarbor.evaluation.tables import percent

RESULTS = {
    "bm25": {
        "all": {"map": 0.168, "recall@100": 0.493},
        "seen": {"map": 0.2, "recall@100": 0.6},
        "unseen": {},
    },
    "g-dsr": {"all": {"recall@100": 0.843, "map": 0.471}, "unseen": {}},
}


@pytest.mark.parametrize(
    ("fraction", "expected"),
    [(0.4567, "45.7"), (1.0, "100.0"), (0.0, "0.0"), (-0.0001, "0.0"), (-0.031, "-3.1")],
)
def test_percent(fraction: float, expected: str) -> None:
    assert percent(fraction) == expected


def test_the_results_table_has_strata_systems_and_measures_in_order() -> None:
    table = results_table(RESULTS, title="VosDroits", notes=["one seed"])
    assert list(table.columns) == ["Stratum", "System", "R@100", "mAP"]
    assert table.rows == [
        ["all", "bm25", 0.493, 0.168],
        ["all", "g-dsr", 0.843, 0.471],
        ["seen", "bm25", 0.6, 0.2],
        ["seen", "g-dsr", None, None],
    ]
    assert (table.title, table.notes, table.group) == ("VosDroits", ["one seed"], "Stratum")


def test_the_results_table_of_chosen_measures_and_strata() -> None:
    table = results_table(RESULTS, measures=["map", "mrp"], strata=["all"])
    assert list(table.columns) == ["Stratum", "System", "mAP", "mRP"]
    assert table.rows == [["all", "bm25", 0.168, None], ["all", "g-dsr", 0.471, None]]


def test_the_best_of_each_column_and_group() -> None:
    table = Table(
        "t",
        ["stratum", "count", "x", "y"],
        [["all", 9, 0.5, 0.1], ["all", 3, 0.50001, None], ["all", 1, 0.4, 0.3], ["seen", 1, 0.1, 0.2]],
        group="stratum",
    )
    assert table.groups() == [[0, 1, 2], [3]]
    assert table.best() == {(0, 2), (1, 2), (2, 3)}  # 50.0 twice; a row alone beats nothing


def test_nothing_is_best_where_none_found_anything() -> None:
    table = Table("t", ["x", "y"], [[0.0, 0.0], [0.0004, 0.1]])
    assert table.best() == {(1, 1)}  # 0.04 % is printed 0.0


def test_a_table_without_groups_or_rows() -> None:
    assert Table("t", ["x"], [[0.1], [0.2]]).best() == {(1, 0)}
    assert Table("t", ["x"], []).groups() == []


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(EvaluationError, match="table 't', row 2: 1 cells; expected 2"):
        Table("t", ["x", "y"], [[1, 2], [1]])
    with pytest.raises(EvaluationError, match="row 1: x is nan; expected a fraction or None"):
        Table("t", ["x"], [[float("nan")]])
    with pytest.raises(EvaluationError, match="no column 'z' to group by; there are: x"):
        Table("t", ["x"], [], group="z")
    with pytest.raises(EvaluationError, match="unknown measure 'mrr'; expected one of: recall@10"):
        results_table(RESULTS, measures=["mrr"])
