"""The command line, run in this process or as users run it."""

import os
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import NamedTuple

import pytest

from lexarbor.cli import main, output
from lexarbor.corpus.sources import read_tiny
from lexarbor.search.building import build_index
from lexarbor.search.lexical import tuned


class Done(NamedTuple):
    """What a command left: its exit code, stdout and stderr."""

    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def day(monkeypatch: pytest.MonkeyPatch) -> None:
    """The day after the tiny corpus's date, for ever."""

    class Calendar(date):
        @classmethod
        def today(cls) -> "Calendar":
            return cls(2026, 1, 2)

    monkeypatch.setattr(output, "date", Calendar)


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of its own, wide tables, no colours."""
    monkeypatch.setenv("LEXARBOR_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("LEXARBOR_INDEX", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setenv("COLUMNS", "300")


@pytest.fixture
def kept(tmp_path: Path, vector_cache: Path) -> None:
    """A cache that has the vectors of the tiny corpus already, once some test has encoded it."""
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "vectors").symlink_to(vector_cache)


@pytest.fixture
def lexarbor(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """`main()` with these arguments."""

    def run(*arguments: str | Path) -> Done:
        monkeypatch.setattr(sys, "argv", ["lexarbor", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Done(ended.value.code, out, err)

    return run


@pytest.fixture
def shell() -> Callable[..., Done]:
    """A line of bash in which `lexarbor` is the installed command."""

    def run(line: str, **variables: str | Path) -> Done:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = os.environ | {name: str(value) for name, value in variables.items()} | {"PATH": path}
        done = subprocess.run(["bash", "-c", line], env=environment, capture_output=True, text=True, timeout=120)
        return Done(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture(scope="session")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of the tiny corpus by words alone."""
    folder = tmp_path_factory.mktemp("shared") / "index"
    build_index(read_tiny(), folder, source="tiny", settings=tuned("headings+text"))
    return folder
