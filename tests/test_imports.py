"""What an import costs: nothing heavy is loaded before it is needed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("module", ["lexarbor", "lexarbor.cli"])
def test_importing_loads_no_arrays_and_no_search(module: str) -> None:
    code = f"import sys, {module}; print(*sorted(name.split('.')[0] for name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert not {"numpy", "bm25s", "scipy", "matplotlib", "spacy"} & set(done.stdout.split())


def test_nothing_is_reported_to_the_makers_of_onnxruntime(tmp_path: Path) -> None:
    """It would keep a number for the machine in the cache of the home folder, and report to them."""
    code = "from lexarbor.text.shipped import open_shipped; open_shipped().encode_questions(['Un toutou ?'])"
    kept_out = ("CI", "ORT_DISABLE_TELEMETRY")
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    environment = {name: value for name, value in os.environ.items() if name not in kept_out}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment | home)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
