"""`torchrun` on one machine: processes share the batches out and learn what one learns from all of them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from tiny_graph import encoder, tiny_law
from tiny_supervision import tiny

from lexarbor.corpus.sources import read_tiny
from lexarbor.graph.model_folder import GraphModelFolder
from lexarbor.supervision.folder import Passage, Supervision, write_supervision
from lexarbor.training.recipes import read_recipe

RECIPES = Path(__file__).parents[2] / "recipes"


def trained(stage: str, recipe: str, folder: Path, *changes: str) -> tuple[Path, Path]:
    """Folders of the same run by one process, which makes `changes`, and by two that share them out."""
    given = ["-m", "lexarbor.training", stage, "--recipe", str(RECIPES / recipe), "--data", str(folder / "data")]
    given += ["--set", "graph.dropout=0" if stage == "graph" else "dropout=0", "--set", "optimisation.steps=6"]
    several = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    more = [word for change in changes for word in ("--set", change)]
    for command in (
        [sys.executable, *given, *more, "--out", str(folder / "one")],
        [*several, *given, "--out", str(folder / "two")],
    ):
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, cwd=folder)
        assert done.returncode == 0, done.stderr
        assert "deprecated" not in done.stderr
    return folder / "one", folder / "two"


@pytest.mark.real
def test_two_processes_learn_what_one_learns_from_twice_as_many_batches(tmp_path: Path) -> None:
    law = read_tiny()
    articles = [Passage(one.id, one.text, tuple(law.headings(one))) for one in law.articles.values()]
    write_supervision(Supervision(articles), tmp_path / "data")
    one, two = trained("pretrain", "pretrain-tiny.yaml", tmp_path, "optimisation.accumulation=2")
    first, second = (load_file(folder / "model.safetensors") for folder in (one, two))
    assert first.keys() == second.keys()
    for name in first:
        torch.testing.assert_close(first[name], second[name])


@pytest.mark.real
def test_two_processes_learn_what_one_learns_from_a_batch_twice_as_large(tmp_path: Path) -> None:
    write_supervision(tiny(), tmp_path / "data")
    recipe = read_recipe(RECIPES / "dsr-tiny.yaml")
    one, two = trained(
        "text", "dsr-tiny.yaml", tmp_path, f"optimisation.batch_size={2 * recipe.optimisation.batch_size}"
    )
    first, second = (load_file(folder / "encoder" / "model.safetensors") for folder in (one, two))
    assert first.keys() == second.keys()
    for name in first:
        if "key.bias" not in name:  # its gradient is nothing but rounding, which Adam makes large
            torch.testing.assert_close(first[name], second[name], rtol=0, atol=2e-5)
    reports = [json.loads((folder / "log.json").read_text(encoding="utf-8"))["report"] for folder in (one, two)]
    assert reports[0]["dev"] == pytest.approx(reports[1]["dev"])
    assert sorted(path.name for path in two.iterdir()) == sorted(path.name for path in one.iterdir())


@pytest.mark.real
def test_two_processes_learn_to_write_what_one_learns_from_twice_as_many_batches(tmp_path: Path) -> None:
    write_supervision(tiny(), tmp_path / "data")
    one, two = trained("generate", "generate-tiny.yaml", tmp_path, "optimisation.accumulation=2")
    first, second = (load_file(folder / "model.safetensors") for folder in (one, two))
    assert first.keys() == second.keys()
    for name in first:
        if "key.bias" not in name:  # its gradient is nothing but rounding, which Adam makes large
            torch.testing.assert_close(first[name], second[name], rtol=0, atol=2e-5)
    losses = [json.loads((folder / "log.json").read_text(encoding="utf-8"))["dev_loss"] for folder in (one, two)]
    assert losses[0] == pytest.approx(losses[1], abs=1e-4)
    assert sorted(path.name for path in two.iterdir()) == sorted(path.name for path in one.iterdir())


@pytest.mark.real
def test_two_processes_learn_a_graph_as_one_learns_from_twice_as_many_batches(tmp_path: Path) -> None:
    write_supervision(tiny_law(), tmp_path / "data")
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "tiny-onnx").symlink_to(encoder())
    one, two = trained("graph", "lge-tiny.yaml", tmp_path, "optimisation.accumulation=2")
    first, second = (GraphModelFolder.open(folder).weights for folder in (one, two))
    assert first.keys() == second.keys()
    for name in first:
        assert first[name] == pytest.approx(second[name], abs=1e-3)  # kept in 16 bits
    reports = [json.loads((folder / "log.json").read_text(encoding="utf-8"))["report"] for folder in (one, two)]
    assert reports[0]["dev"] == pytest.approx(reports[1]["dev"])
