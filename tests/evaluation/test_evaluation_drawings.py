"""Histograms, maps of points and heat maps of many cells: what is drawn, and what is refused."""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from matplotlib import image, rcParams
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from lexarbor.errors import EvaluationError, MissingExtraError
from lexarbor.evaluation import drawings
from lexarbor.evaluation.drawings import GREY, Histogram, histogram_figure, likeness_map, point_map
from lexarbor.evaluation.figures import COLOURS

PANEL = Histogram("Articles", "words", {"all": [1, 2, 3], "gold": [2]})
SQUARE = [[1.0, 0.2], [0.2, 1.0]]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures as they were when saved, to look inside them."""
    kept: list[Figure] = []
    save = drawings.save_png
    monkeypatch.setattr(drawings, "save_png", lambda figure, path: (kept.append(figure), save(figure, path)))
    return kept


def heights(patch) -> np.ndarray:  # the outline of a series, each height once
    return np.unique(patch.get_path().vertices[:, 1].round(6))


def test_each_series_of_a_histogram_is_a_share_of_itself(tmp_path: Path, drawn: list[Figure]) -> None:
    histogram_figure([PANEL], tmp_path / "x.png", title="Lengths")
    (axes,) = drawn[0].axes
    one, other = axes.patches
    assert heights(one) == pytest.approx([0, 100 / 3])
    assert heights(other) == pytest.approx([0, 100])
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["all (3)", "gold (1)"]
    assert (axes.get_title(), axes.get_xlabel(), axes.get_ylabel()) == ("Articles", "words", "share (%)")
    assert drawn[0].get_suptitle() == "Lengths"
    assert image.imread(tmp_path / "x.png").ndim == 3


def test_a_log_axis_has_round_ticks_and_the_marks_that_lie_inside(tmp_path: Path, drawn: list[Figure]) -> None:
    panel = Histogram("Articles", "tokens", {"all": [0, 3, 40, 900]}, log=True, marks=(128, 1024))
    histogram_figure([panel], tmp_path / "x.png")
    (axes,) = drawn[0].axes
    assert axes.get_xscale() == "log"
    expected = ["1", "2", "5", "10", "20", "50", "100", "200", "500"]
    assert [label.get_text() for label in axes.get_xticklabels()] == expected
    assert [line.get_xdata()[0] for line in axes.lines] == [128]
    assert [text.get_text() for text in axes.texts] == ["128"]
    assert axes.get_legend() is None  # one series needs no name


def test_a_long_log_axis_tells_powers_of_ten_alone(tmp_path: Path, drawn: list[Figure]) -> None:
    histogram_figure([Histogram("Articles", "tokens", {"all": [3, 12_000]}, log=True)], tmp_path / "x.png")
    assert [label.get_text() for label in drawn[0].axes[0].get_xticklabels()] == ["10", "100", "1,000", "10,000"]


@pytest.mark.parametrize(("panels", "shape"), [(1, (1, 1)), (2, (1, 2)), (3, (2, 2)), (4, (2, 2))])
def test_panels_stand_two_in_a_row(tmp_path: Path, drawn: list[Figure], panels: int, shape: tuple[int, int]) -> None:
    histogram_figure([PANEL] * panels, tmp_path / "x.png")
    assert len(drawn[0].axes) == panels
    assert drawn[0].axes[0].get_subplotspec().get_gridspec().get_geometry() == shape


def test_equal_numbers_have_a_histogram(tmp_path: Path, drawn: list[Figure]) -> None:
    histogram_figure([Histogram("a", "b", {"x": [7, 7]}, log=log) for log in (False, True)], tmp_path / "x.png")
    assert [heights(axes.patches[0]).max() for axes in drawn[0].axes] == pytest.approx([100, 100])


def test_a_map_colours_the_same_points_alike_in_every_panel(tmp_path: Path, drawn: list[Figure]) -> None:
    groups = ["b", "a", "b"]
    points = {"before": [[0, 0], [1, 1], [2, 2]], "after": [[5, 0], [6, 1], [7, 2]]}
    point_map(points, groups, tmp_path / "x.png")
    assert [axes.get_title() for axes in drawn[0].axes] == ["before", "after"]
    for axes, first in zip(drawn[0].axes, (0, 5), strict=True):
        large, small = axes.collections
        assert large.get_offsets().tolist() == [[first, 0], [first + 2, 2]]
        assert small.get_offsets().tolist() == [[first + 1, 1]]
        assert [to_hex(held.get_facecolor()[0]).upper() for held in (large, small)] == list(COLOURS[:2])
    assert [text.get_text() for text in drawn[0].legends[0].get_texts()] == ["b (2)", "a (1)"]


def test_more_groups_than_colours_leave_the_small_ones_grey(tmp_path: Path, drawn: list[Figure]) -> None:
    groups = [f"code {number}" for number in range(10) for _ in range(20 - number)]
    point_map({"a": np.random.default_rng(0).random((len(groups), 2))}, groups, tmp_path / "x.png")
    others, *named = drawn[0].axes[0].collections
    assert len(named) == len(COLOURS)
    assert to_hex(others.get_facecolor()[0]).upper() == GREY
    assert len(others.get_offsets()) == 13 + 12 + 11
    assert drawn[0].legends[0].get_texts()[0].get_text() == "3 others (36)"


def test_likenesses_are_drawn_without_figures_and_with_borders(tmp_path: Path, drawn: list[Figure]) -> None:
    grid = np.full((200, 200), 0.1)
    np.fill_diagonal(grid, 1)
    likeness_map(grid, tmp_path / "x.png", title="t", position_title="article", value_title="cosine", borders=[50])
    axes, bar = drawn[0].axes
    assert not axes.texts
    assert axes.images[0].get_clim() == pytest.approx((0, 0.1))  # the diagonal tells nothing of the others
    assert sorted((*line.get_xdata(), *line.get_ydata()) for line in axes.lines) == [
        (0, 1, 50.5, 50.5),
        (50.5, 50.5, 0, 1),
    ]
    assert (axes.get_xlabel(), axes.get_ylabel(), bar.get_ylabel()) == ("article", "article", "cosine")
    assert axes.images[0].get_extent() == [0.5, 200.5, 200.5, 0.5]


@pytest.mark.parametrize("grid", [[[1.0]], np.eye(3)])
def test_likenesses_of_what_has_nothing_in_common_are_drawn(tmp_path: Path, drawn: list[Figure], grid) -> None:
    likeness_map(grid, tmp_path / "x.png")
    assert drawn[0].axes[0].images[0].get_clim() == (0, 1)


def test_global_state_is_left_alone(tmp_path: Path) -> None:
    before = dict(rcParams)
    histogram_figure([PANEL], tmp_path / "a.png")
    point_map({"a": [[0, 0]]}, ["x"], tmp_path / "b.png")
    likeness_map(SQUARE, tmp_path / "c.png")
    assert dict(rcParams) == before


@pytest.mark.parametrize(
    "draw",
    [
        lambda path: histogram_figure([PANEL], path),
        lambda path: point_map({"a": [[0, 0]]}, ["x"], path),
        lambda path: likeness_map(SQUARE, path),
    ],
)
def test_without_matplotlib_the_message_says_what_to_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, draw: Callable[[Path], None]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'lexarbor\[figures\]'"):
        draw(tmp_path / "x.png")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda path: histogram_figure([], path), "no panel"),
        (lambda path: histogram_figure([Histogram("a", "b", {})], path), "'a' has no series"),
        (lambda path: histogram_figure([Histogram("a", "b", {"x": []})], path), r"'x' of 'a' has shape \(0,\)"),
        (lambda path: histogram_figure([Histogram("a", "b", {"x": [float("inf")]})], path), "finite"),
        (lambda path: point_map({}, ["x"], path), "no point"),
        (lambda path: point_map({"a": np.empty((0, 2))}, [], path), "no point"),
        (lambda path: point_map({"a": [[0, 0]]}, ["x", "y"], path), r"'a' have shape \(1, 2\); .* \(2, 2\)"),
        (lambda path: point_map({"a": [[0, float("nan")]]}, ["x"], path), "finite"),
        (lambda path: likeness_map([[0.1, 0.2]], path), r"shape \(1, 2\); expected a square"),
        (lambda path: likeness_map([[2.0]], path), "expected 0 to 1"),
        (lambda path: likeness_map([[float("nan")]], path), "expected 0 to 1"),
    ],
)
def test_what_cannot_be_drawn_is_refused(tmp_path: Path, draw: Callable[[Path], None], message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        draw(tmp_path / "x.png")
    assert not list(tmp_path.iterdir())
