"""What an import costs: nothing heavy is loaded before it is needed."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["lexarbor", "lexarbor.cli"])
def test_importing_loads_no_arrays_and_no_search(module: str) -> None:
    code = f"import sys, {module}; print(*sorted(name.split('.')[0] for name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert not {"numpy", "bm25s", "scipy", "matplotlib", "spacy"} & set(done.stdout.split())
