"""What users install: the wheel, in an empty environment outside the checkout."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.real
def test_the_wheel_searches_the_tiny_corpus_in_an_empty_environment(tmp_path: Path) -> None:
    # by way of the source distribution, so that what an earlier build left in the checkout is not packed
    _run([sys.executable, "-m", "build", "--outdir", str(tmp_path / "dist"), str(ROOT)], tmp_path)
    (wheel,) = (tmp_path / "dist").glob("lexarbor-*.whl")
    held = zipfile.ZipFile(wheel).namelist()
    assert "lexarbor/corpus/tiny/law.jsonl" in held
    assert "lexarbor/corpus/benchmarks/ids/vosdroits.json" in held
    assert {"encoder.onnx", "manifest.json", "tokenizer.json"} <= {
        Path(name).name for name in held if "/shipped/" in name
    }
    assert not [name for name in held if name.startswith(("tests", "benchmarks"))]

    _run([sys.executable, "-m", "venv", str(tmp_path / "empty")], tmp_path)
    bin = tmp_path / "empty" / "bin"
    constraints = str(ROOT / "constraints.txt")
    _run([str(bin / "python"), "-m", "pip", "install", "--quiet", "--constraint", constraints, str(wheel)], tmp_path)
    command = str(bin / "lexarbor")
    _run([command, "index", "--law", "tiny"], tmp_path)
    answer = json.loads(_run([command, "search", "Mon voisin fait du bruit la nuit", "-f", "json"], tmp_path))
    assert answer["law_as_of"] == "2026-01-01"
    assert answer["hits"]
    benchmark = ["--benchmark", "tiny", "--split", "test", "--format", "json"]
    systems = json.loads(_run([command, "evaluate", *benchmark], tmp_path))["systems"]
    assert set(systems["bm25"]) == {"all", "seen", "unseen", "partial"}
    dense = json.loads(_run([command, "evaluate", *benchmark, "--systems", "dsr"], tmp_path))["systems"]
    assert dense["dsr"]["all"]["recall@10"] > 0
    assert not list((tmp_path / "empty").rglob("torch"))


def _run(command: list[str], folder: Path) -> str:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("LEXARBOR_", "PYTHON"))}
    environment = inherited | {"LEXARBOR_CACHE": str(folder / "cache"), "HOME": os.environ.get("HOME", str(folder))}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout
