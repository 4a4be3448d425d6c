"""Figures: written whole, without touching matplotlib's global state."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from matplotlib import image, rcParams
from matplotlib.figure import Figure
from PIL import Image

from lexarbor.errors import LexarborError, MissingExtraError
from lexarbor.evaluation import check_drawing, figures, heat_map, recall_figure

CURVE = np.linspace(0.1, 0.9, 500)
GRID = [[0.1, 0.4, 0.3], [0.2, float("nan"), 0.25]]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures as they were when saved, to look inside them."""
    kept: list[Figure] = []
    save = figures.save_png
    monkeypatch.setattr(figures, "save_png", lambda figure, path: (kept.append(figure), save(figure, path)))
    return kept


def test_recall_curves_are_labelled_and_told_apart(tmp_path: Path, drawn: list[Figure]) -> None:
    systems = {f"system {number}": CURVE for number in range(28)}
    recall_figure(systems, tmp_path / "curve.png", title="Recall")
    (axes,) = drawn[0].axes
    assert axes.get_xscale() == "log"
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("k, articles retrieved", "R@k, mean recall (%)")
    assert [text.get_text() for text in drawn[0].legends[0].get_texts()] == list(systems)
    assert len({(line.get_color(), line.get_linestyle()) for line in axes.lines}) == 28
    assert np.allclose(axes.lines[0].get_xydata()[[0, -1]], [[1, 10], [500, 90]])


@pytest.mark.parametrize("size", [1, 3, 500])
def test_recall_curves_of_any_depth_give_a_png(tmp_path: Path, size: int) -> None:
    recall_figure({"bm25": CURVE[:size]}, str(tmp_path / "curve.png"))
    assert image.imread(tmp_path / "curve.png").shape[:2] == (690, 1200)
    assert [path.name for path in tmp_path.iterdir()] == ["curve.png"]


def test_the_heat_map_frames_the_best_cell_and_prints_the_figures(tmp_path: Path, drawn: list[Figure]) -> None:
    heat_map(
        GRID,
        ["1", "2"],
        ["0.1", "0.2", "0.3"],
        "BM25",
        tmp_path / "map.png",
        row_title="k1",
        value_title="mAP",
    )
    axes, bar = drawn[0].axes
    assert [text.get_text() for text in axes.texts] == ["10.0", "40.0", "30.0", "20.0", "25.0"]
    assert axes.patches[0].get_xy() == (0.5, -0.5)
    assert (axes.get_ylabel(), bar.get_ylabel(), axes.get_title()) == ("k1", "mAP (%)", "BM25")
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0.1", "0.2", "0.3"]
    assert image.imread(tmp_path / "map.png").ndim == 3


def test_a_large_heat_map_prints_no_figure_and_fewer_labels(tmp_path: Path, drawn: list[Figure]) -> None:
    grid = np.random.default_rng(0).random((60, 40))
    heat_map(
        grid,
        [f"{row}" for row in range(60)],
        [f"{column}" for column in range(40)],
        "t",
        tmp_path / "map.png",
    )
    assert not drawn[0].axes[0].texts
    assert len(drawn[0].axes[0].get_xticklabels()) == 14
    assert max(drawn[0].get_size_inches()) <= 12


def test_global_state_is_left_alone(tmp_path: Path) -> None:
    before = dict(rcParams)
    recall_figure({"bm25": CURVE}, tmp_path / "curve.png")
    heat_map(GRID, ["1", "2"], ["a", "b", "c"], "t", tmp_path / "map.png")
    assert dict(rcParams) == before


def test_the_room_is_entered_without_matplotlib() -> None:
    code = "import sys, lexarbor.evaluation; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("draw", "what"),
    [
        (lambda path: recall_figure({"bm25": CURVE}, path), "the recall curve"),
        (lambda path: heat_map(GRID, ["1", "2"], ["a", "b", "c"], "t", path), "the heat map"),
    ],
)
def test_without_matplotlib_the_message_says_what_to_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, draw: Callable[[Path], None], what: str
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=rf"{what} needs .* pip install 'lexarbor\[figures\]'"):
        draw(tmp_path / "figure.png")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda path: recall_figure({}, path), "no system to draw"),
        (lambda path: recall_figure({"x": []}, path), r"curve of 'x' has shape \(0,\)"),
        (lambda path: recall_figure({"x": [0.1, 1.1]}, path), "curve of 'x' leaves the range"),
        (lambda path: recall_figure({"x": [float("nan")]}, path), "curve of 'x' leaves the range"),
        (lambda path: heat_map(GRID, ["1"], ["a"], "t", path), r"shape \(2, 3\); expected \(1, 1\)"),
        (lambda path: heat_map([[float("nan")]], ["1"], ["a"], "t", path), "without a single figure"),
        (lambda path: heat_map([[56.9]], ["1"], ["a"], "t", path), "not percent"),
        (lambda path: recall_figure({"x": CURVE}, path / "absent" / "x.png"), "cannot write .*No such file"),
    ],
)
def test_what_cannot_be_drawn_is_refused(tmp_path: Path, draw: Callable[[Path], None], message: str) -> None:
    with pytest.raises(LexarborError, match=message):
        draw(tmp_path)
    assert not list(tmp_path.iterdir())


def test_what_could_not_be_drawn_is_told_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_drawing(tmp_path / "figure.png")
    with pytest.raises(LexarborError, match="there is no folder"):
        check_drawing(tmp_path / "absent" / "figure.png")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match="lexarbor\\[figures\\]"):
        check_drawing(tmp_path / "figure.png")


def test_a_colour_that_is_rare_stays_as_it_is(tmp_path: Path) -> None:
    """The frame around the best cell, in a picture of few colours."""
    heat_map(np.linspace(0, 1, 400).reshape(20, 20), list("abcdefghijklmnopqrst"), ["x"] * 20, "", tmp_path / "map.png")
    drawn = Image.open(tmp_path / "map.png")
    assert drawn.mode == "P"
    assert (0xD5, 0x5E, 0x00) in {colour for _, colour in drawn.convert("RGB").getcolors(1 << 24)}
