"""Reports on disk: Markdown, LaTeX, JSON and PNG, each with what it was made from."""

import json
import re
import subprocess
from pathlib import Path

import pytest

import lexarbor
from lexarbor.errors import LexarborError
from lexarbor.evaluation import Table
from lexarbor.experiments import running
from lexarbor.experiments.lab import Lab
from lexarbor.experiments.reports import Report, write_report
from lexarbor.experiments.revisions import revision

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


def test_without_a_checkout_the_revision_is_the_version(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))  # no git
    assert revision() == lexarbor.__version__
    monkeypatch.undo()
    monkeypatch.setattr(lexarbor, "__file__", str(tmp_path / "__init__.py"))  # git, but no checkout
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert revision() == lexarbor.__version__


def test_the_revision_is_marked_where_code_was_changed_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = tmp_path / "src" / "lexarbor"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (tmp_path / "report.md").write_text("old")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=Test", "-c", "user.email=test@example.org"]
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "Begin"]):
        subprocess.run([*git, *words], check=True)
    monkeypatch.setattr(lexarbor, "__file__", str(package / "__init__.py"))
    commit = revision()
    assert re.fullmatch("[0-9a-f]{10}", commit)
    (tmp_path / "report.md").write_text("new")  # as an experiment does
    assert revision() == commit
    (package / "search.py").touch()
    assert revision() == f"{commit}-dirty"
