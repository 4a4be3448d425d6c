"""Documentation says what is so."""

import importlib.util
import os
import re
import signal
import subprocess
from pathlib import Path
from types import ModuleType
from urllib.request import urlopen

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_of_commands_is_their_own_help() -> None:
    assert (ROOT / "docs" / "cli.md").read_text(encoding="utf-8") == load(ROOT / "docs" / "write_cli.py").page()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_make_targets_exist(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    assert set(re.findall(r"^make ([a-z-]+)", page.read_text(encoding="utf-8"), re.M)) <= targets


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 200


def test_bare_make_lists_its_targets() -> None:
    listed = subprocess.run(["make"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for target in ("setup", "ask", "test", "test-all", "check"):
        assert re.search(rf"^  make {target}\s+\S", listed, re.M)


def test_what_the_readme_shows_in_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lexarbor.corpus import read_law
    from lexarbor.search.building import build_index
    from lexarbor.search.lexical import BM25Settings

    build_index(read_law("tiny"), tmp_path / "index", source="tiny", settings=BM25Settings())
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(block.replace("/path/to/index", str(tmp_path / "index")), {})


@pytest.mark.real
def test_make_serve_opens_the_page() -> None:
    command = ["make", "--silent", "serve", "PORT=0"]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True) as server:
        assert server.stderr is not None
        said = ""
        while "(Ctrl-C ends it)" not in said:
            line = server.stderr.readline()
            assert line, said
            said += line
        try:
            address = re.search(r"http://\S+/", said)
            assert address
            with urlopen(address[0], timeout=60) as page:
                assert "Lexarbor" in page.read().decode()
        finally:
            os.killpg(server.pid, signal.SIGINT)


@pytest.mark.real
def test_what_the_readme_shows_in_a_shell_runs() -> None:
    blocks = re.findall(r"```bash\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    lines = [
        line for block in blocks for line in block.splitlines() if line and line not in ("make test", "make serve")
    ]
    assert len(lines) > 5
    for line in lines:
        done = subprocess.run(
            ["bash", "-c", f'PATH="{ROOT}/.venv/bin:$PATH"; {line}'], cwd=ROOT, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{line}: {done.stderr}"
        assert done.stdout.strip(), line
