"""The revision: the commit of the code that runs, or the version."""

import re
import subprocess
from pathlib import Path

import pytest

import lexarbor
from lexarbor.experiments.revisions import revision


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
