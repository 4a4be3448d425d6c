"""`torchrun` on one machine: processes share the batches out and learn what one learns from all of them."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from lexarbor.corpus.sources import read_tiny
from lexarbor.supervision.folder import Passage, Supervision, write_supervision

RECIPES = Path(__file__).parents[2] / "recipes"


@pytest.mark.real
def test_two_processes_learn_what_one_learns_from_twice_as_many_batches(tmp_path: Path) -> None:
    law = read_tiny()
    articles = [Passage(one.id, one.text, tuple(law.headings(one))) for one in law.articles.values()]
    write_supervision(Supervision(articles), tmp_path / "data")
    given = ["-m", "lexarbor.training", "pretrain", "--recipe", str(RECIPES / "pretrain-tiny.yaml")]
    given += ["--data", str(tmp_path / "data"), "--set", "optimisation.steps=6", "--set", "dropout=0"]
    one = [sys.executable, *given, "--out", str(tmp_path / "one"), "--set", "optimisation.accumulation=2"]
    two = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", *given]
    for command in (one, [*two, "--out", str(tmp_path / "two")]):
        subprocess.run(command, check=True, capture_output=True, timeout=300)
    first, second = (load_file(tmp_path / name / "model.safetensors") for name in ("one", "two"))
    assert first.keys() == second.keys()
    for name in first:
        torch.testing.assert_close(first[name], second[name])
