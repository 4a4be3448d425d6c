"""The loss of a batch: the same with and without gradient caching, on one device and on several."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from tiny_supervision import recipe, retriever, tiny

from lexarbor.text.retriever import DenseStatuteRetriever
from lexarbor.training.batches import BatchStream
from lexarbor.training.contrastive import train_text
from lexarbor.training.hyperparameters import Loss
from lexarbor.training.losses import contrastive_loss
from lexarbor.training.mining import hard_negatives
from lexarbor.training.objective import ContrastiveObjective
from lexarbor.training.starting import set_dropout
from lexarbor.training.token_pairs import tokenise_pairs

HIERARCHICAL = {"article": "hierarchical", "max_tokens": 60, "chunk_tokens": 16, "shared": False}


def batches(model: DenseStatuteRetriever, group: int) -> BatchStream:
    supervision = recipe(supervision={"kinds": {"gold": 1, "sentence": 1}, "positives": 2}).supervision
    made = tokenise_pairs(
        tiny(), model.tokenizer, model.settings, supervision.kinds, hard_negatives(tiny(), supervision)
    )
    return BatchStream(made, supervision, batch_size=8, batches=3, seed=0, group=group)


def gradients(model: DenseStatuteRetriever, group: int, cached: bool) -> tuple[float, dict[str, torch.Tensor]]:
    objective = ContrastiveObjective(model, Loss(), cached=cached).train()
    torch.manual_seed(7)
    loss = objective(**batches(model, group)[0])
    loss.backward()
    found = {name: weight.grad.clone() for name, weight in model.named_parameters() if weight.grad is not None}
    model.zero_grad()
    return loss.item(), found


@pytest.mark.parametrize("settings", [{}, HIERARCHICAL], ids=["first", "hierarchical"])
@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_gradient_caching_changes_nothing(tmp_path: Path, settings: dict[str, object], dropout: float) -> None:
    model = retriever(tmp_path / "bert", **settings)
    set_dropout(model, dropout)
    loss, plain = gradients(model, group=5, cached=False)
    cached_loss, cached = gradients(model, group=5, cached=True)
    assert cached_loss == loss
    assert cached.keys() == plain.keys() == {name for name, _ in model.named_parameters()}
    for name in plain:
        assert torch.allclose(cached[name], plain[name], atol=1e-6), name
    if not dropout:
        other, grouped_otherwise = gradients(model, group=3, cached=True)
        assert other == pytest.approx(loss, rel=1e-5)
        assert all(torch.allclose(grouped_otherwise[name], plain[name], atol=1e-5) for name in plain)


def test_caching_keeps_vectors_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = retriever(tmp_path / "bert")
    calls: list[bool] = []
    encode_ids = model.encode_article_ids
    monkeypatch.setattr(model, "encode_article_ids", lambda *given: calls.append(True) or encode_ids(*given))
    for cached, times in ((False, 1), (True, 2)):
        calls.clear()
        gradients(model, group=5, cached=cached)
        groups = len(batches(model, group=5)[0]["passages"]["shapes"])
        assert len(calls) == times * groups > 1


def test_the_loss_is_that_of_vectors_computed_one_by_one(tmp_path: Path) -> None:
    model = retriever(tmp_path / "bert")
    stream = batches(model, group=4)
    drawn = stream.draw(1)
    with torch.no_grad():
        vectors = []
        for rows, chosen in (
            (stream.token_pairs.questions, drawn.questions),
            (stream.token_pairs.passages, drawn.passages),
        ):
            texts = [rows.ids[rows.chunk_starts[row] : rows.chunk_starts[row + 1]].astype(np.int64) for row in chosen]
            each = (model.encode_question_ids(torch.from_numpy(one)[None], torch.ones(1, len(one))) for one in texts)
            vectors.append(torch.cat(list(each)))
        masks = torch.from_numpy(drawn.positives), torch.from_numpy(drawn.negatives)
        expected = contrastive_loss(model.scores(*vectors), *masks, 0.02)
        found = ContrastiveObjective(model, Loss()).eval()(**stream[1])
    assert float(found) == pytest.approx(float(expected), rel=1e-4)


SHARED = {
    "dropout": 0.0,
    "watching": {"evaluate_every": 1, "patience": 3, "log_every": 1},
    "supervision": {"kinds": {"gold": 1, "sentence": 1}, "positives": 2},
}
OPTIMISATION = {"steps": 3, "mini_batch": 4, "clipping": 0.0}
PROCESS = """
import atexit
import sys
from pathlib import Path
from torch import distributed
sys.path.insert(0, {here!r})
from test_objective import OPTIMISATION, SHARED
from tiny_supervision import recipe, tiny
from lexarbor.training.contrastive import train_text
atexit.register(lambda: sys.stdout.write("still in a group\\n" if distributed.is_initialized() else "has parted\\n"))
train_text(recipe(**SHARED, optimisation=dict(OPTIMISATION, batch_size=4)), tiny(), Path({out!r}))
"""


def test_two_processes_learn_what_one_learns_from_the_joined_batch(tmp_path: Path) -> None:
    script = tmp_path / "process.py"
    script.write_text(PROCESS.format(here=str(Path(__file__).parent), out=str(tmp_path / "two")), encoding="utf-8")
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", str(script)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "deprecated" not in done.stderr
    assert "find_unused_parameters" not in done.stderr
    assert done.stdout.count("has parted") == 2, done.stdout  # else torch aborts now and then
    train_text(recipe(**SHARED, optimisation={**OPTIMISATION, "batch_size": 8}), tiny(), tmp_path / "one")
    one, two = (DenseStatuteRetriever.load(tmp_path / name) for name in ("one", "two"))
    for (name, expected), found in zip(one.named_parameters(), two.parameters(), strict=True):
        if "key.bias" not in name:  # its gradient is nothing but rounding, which Adam makes large
            assert torch.allclose(found, expected, atol=2e-5), name
