"""Reports on disk: Markdown, LaTeX, JSON and PNG, each with what it was made from."""

import json
from pathlib import Path

import pytest

from lexarbor.errors import LexarborError
from lexarbor.evaluation import Table
from lexarbor.experiments import running
from lexarbor.experiments.lab import Lab
from lexarbor.experiments.reports import Report, write_report

FACTS = {
    "command": "lexarbor experiment main",
    "benchmark": "tiny",
    "train_on": "train",
    "recipes": {"text": {"dropout": 0.1}},
}
TABLES = [
    Table("First", ["Model", "R@100"], [["one", 0.25], ["two", 0.5]], ["a note"]),
    Table("Second", ["Model", "Seeds"], [["one", 2]]),
]


def drawing(path: Path) -> None:
    path.write_bytes(b"\x89PNG of " + path.name.encode())


def test_a_report_is_written_in_every_form(tmp_path: Path) -> None:
    report = Report("A title", TABLES, ["What was found."], {"recall": drawing, "": drawing}, {"rows": [1]})
    out = tmp_path / "new" / "results"
    written = write_report(report, "main-tiny", out, FACTS)
    names = ["main-tiny.md", "main-tiny.tex", "main-tiny.json", "main-tiny-recall.png", "main-tiny.png"]
    assert written == [out / name for name in names]
    assert sorted(path.name for path in out.iterdir()) == sorted(names)
    markdown = (out / "main-tiny.md").read_text(encoding="utf-8")
    assert markdown.startswith(
        "# A title\n\n`lexarbor experiment main` (benchmark: tiny; train on: train).\n\nWhat was found.\n\n**First**\n"
    )
    assert "| two | **50.0** |" in markdown
    assert markdown.index("**First**") < markdown.index("a note") < markdown.index("**Second**")
    assert markdown.endswith("\n![recall](main-tiny-recall.png)\n\n![A title](main-tiny.png)\n")
    latex = (out / "main-tiny.tex").read_text(encoding="utf-8")
    assert latex.count("\\begin{tabular}") == 2
    assert "\\textbf{50.0}" in latex
    assert json.loads((out / "main-tiny.json").read_text(encoding="utf-8")) == {
        "title": "A title",
        **FACTS,
        "tables": [
            {"title": "First", "columns": ["Model", "R@100"], "rows": [["one", 0.25], ["two", 0.5]]},
            {"title": "Second", "columns": ["Model", "Seeds"], "rows": [["one", 2]]},
        ],
        "rows": [1],
    }
    assert (out / "main-tiny-recall.png").read_bytes() == b"\x89PNG of main-tiny-recall.png"


def test_what_has_no_table_has_no_latex(tmp_path: Path) -> None:
    written = write_report(Report("A figure", figures={"": drawing}), "map", tmp_path, {"command": "typed"})
    assert [path.name for path in written] == ["map.md", "map.json", "map.png"]
    assert (tmp_path / "map.md").read_text(encoding="utf-8") == "# A figure\n\n`typed`.\n\n![A figure](map.png)\n"


def test_what_cannot_be_drawn_leaves_the_old_report_as_it_was(tmp_path: Path) -> None:
    write_report(Report("Old"), "main", tmp_path, {"command": "typed"})

    def broken(path: Path) -> None:
        raise LexarborError("no matplotlib")

    with pytest.raises(LexarborError, match="no matplotlib"):
        write_report(Report("New", TABLES, figures={"": broken}), "main", tmp_path, {"command": "typed"})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["main.json", "main.md"]
    assert (tmp_path / "main.md").read_text(encoding="utf-8").startswith("# Old\n")


def told_of(rows: dict[str, int], trials: int = 0) -> Report:
    """Rows by label and number of seeds."""
    data = {"rows": [{"label": label, "seeds": [{}] * seeds} for label, seeds in rows.items()], "trials": [{}] * trials}
    return Report("A title", TABLES, data=data)


@pytest.mark.parametrize(
    ("now", "lost"),
    [
        (told_of({"DSR": 2, "BM25": 0}, 9), r"'BM25'"),
        (told_of({"BM25": 1}, 9), r"'DSR'"),
        (told_of({"DSR": 1, "BM25": 1}, 9), r"2 seeds of 'DSR', not 1"),
        (told_of({"DSR": 2, "BM25": 1}, 8), r"9 trials, not 8"),
        (Report("A title"), r"'DSR', 'BM25', 9 trials, not 0"),
    ],
)
def test_a_report_that_tells_of_more_stays(now: Report, lost: str, tmp_path: Path) -> None:
    write_report(told_of({"DSR": 2, "BM25": 1, "of the hub": 0}, 9), "main", tmp_path, {"command": "typed"})
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(
        LexarborError, match=rf"main\.md tells of more than this run can \({lost}\): give another --out"
    ):
        write_report(now, "main", tmp_path, {"command": "typed again"})
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
    write_report(now, "other", tmp_path, {"command": "typed again"})


@pytest.mark.parametrize("content", ["", "[]", '{"rows": [1]}', '{"rows": [{"label": "DSR"}]}'])
def test_a_report_of_as_much_or_more_takes_the_place_of_one(content: str, tmp_path: Path) -> None:
    (tmp_path / "main.json").write_text(content, encoding="utf-8")
    for seeds in (1, 1, 2):
        write_report(told_of({"DSR": seeds}), "main", tmp_path, {"command": "typed"})
    assert len(json.loads((tmp_path / "main.json").read_text(encoding="utf-8"))["rows"][0]["seeds"]) == 2


def test_files_of_a_report_appear_together_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "main.json").mkdir()
    with pytest.raises(LexarborError, match=r"cannot write .*main\.json: it is no plain file"):
        write_report(Report("New", TABLES), "main", tmp_path, {"command": "typed"})
    assert [path.name for path in tmp_path.iterdir()] == ["main.json"]


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LexarborError, match="cannot make the folder"):
        write_report(Report("A title"), "main", tmp_path / "file", FACTS)


def test_what_a_report_is_made_from(tmp_path: Path) -> None:
    lab = Lab("tiny", tmp_path, changes=("seeds=7",))
    trained = running.facts(lab, "main", "typed")
    assert list(trained) == ["command", "benchmark", "revision", "scale", "train_on", "recipes"]
    assert (trained["scale"], trained["recipes"]["seeds"]) == ("tiny", 7)
    assert list(running.facts(lab, "dataset", "typed")) == ["command", "benchmark", "revision"]
