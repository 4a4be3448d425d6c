"""What all stages share: the trainer's arguments from a recipe, checks before work, whole checkpoints, looks at dev."""

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from lexarbor.errors import TrainingError
from lexarbor.training.arguments import WholeBatchTrainer, check_surroundings, training_arguments
from lexarbor.training.hyperparameters import Optimisation, Watching


class Batches:
    """Batch number `i` says `i`."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, number: int) -> dict[str, torch.Tensor]:
        return {"number": torch.tensor([float(number)])}


class Recorder(torch.nn.Module):
    """Two names for one weight, as tied embeddings have; it remembers which batches it saw."""

    def __init__(self) -> None:
        super().__init__()
        self.one = torch.nn.Linear(1, 1)
        self.two = self.one
        self.seen: list[float] = []

    def forward(self, number: torch.Tensor) -> torch.Tensor:
        self.seen.append(number.item())
        loss: torch.Tensor = self.two(number).pow(2).mean()
        return loss


def trained(folder: Path, optimisation: Optimisation, watching: Watching, **options: Any) -> WholeBatchTrainer:
    arguments = training_arguments(optimisation, watching, folder, optimisation.steps)
    batches = Batches(optimisation.steps * optimisation.accumulation)
    trainer = WholeBatchTrainer(Recorder(), arguments, batches, unit="numbers", per_batch=1, **options)
    trainer.train()
    return trainer


def test_every_value_of_the_optimiser_reaches_the_trainer(tmp_path: Path) -> None:
    chosen = Optimisation(
        steps=100,
        learning_rate=2e-5,
        weight_decay=0.03,
        schedule="constant",
        warmup=0.055,
        beta1=0.8,
        beta2=0.98,
        epsilon=1e-7,
        clipping=0.5,
        accumulation=3,
        seed=7,
        precision="bf16",
    )
    arguments = training_arguments(chosen, Watching(log_every=5, save_every=20), tmp_path, 100)
    assert (arguments.max_steps, arguments.warmup_steps, arguments.learning_rate) == (100, 6, 2e-5)
    assert (arguments.adam_beta1, arguments.adam_beta2, arguments.adam_epsilon) == (0.8, 0.98, 1e-7)
    assert (arguments.weight_decay, arguments.max_grad_norm, arguments.seed) == (0.03, 0.5, 7)
    assert (arguments.gradient_accumulation_steps, arguments.per_device_train_batch_size) == (3, 1)
    assert (arguments.bf16, arguments.fp16) == (True, False)
    assert (arguments.logging_steps, arguments.save_steps, arguments.save_strategy.value) == (5, 20, "steps")
    assert arguments.lr_scheduler_type == "constant_with_warmup"


def test_biases_are_not_decayed(tmp_path: Path) -> None:
    trainer = trained(tmp_path, Optimisation(steps=1, weight_decay=0.5), Watching())
    decayed = {group["weight_decay"]: group["params"] for group in trainer.optimizer.param_groups}
    assert [tensor.shape for tensor in decayed[0.5]] == [(1, 1)]
    assert [tensor.shape for tensor in decayed[0.0]] == [(1,)]


@pytest.mark.parametrize("workers", [0, 2])
def test_batches_come_in_order_each_once(tmp_path: Path, workers: int) -> None:
    trainer = trained(tmp_path, Optimisation(steps=4, accumulation=2, workers=workers), Watching())
    assert trainer.model.seen == list(range(8))


def test_the_log_has_the_rate_and_the_last_step(tmp_path: Path) -> None:
    trainer = trained(tmp_path, Optimisation(steps=5), Watching(log_every=2))
    entries = [entry for entry in trainer.state.log_history if "loss" in entry]
    assert [entry["step"] for entry in entries] == [1, 2, 4, 5]
    assert ["numbers_per_second" in entry for entry in entries] == [False, True, True, True]


def test_nothing_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trained(tmp_path, Optimisation(steps=2), Watching(log_every=1))
    assert capsys.readouterr() == ("", "")


def test_a_bar_shows_loss_and_rate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trained(tmp_path, Optimisation(steps=3), Watching(log_every=1), bar=True)
    told = capsys.readouterr()
    assert told.out == ""
    assert "loss=" in told.err
    assert "numbers_per_second=" in told.err


def test_the_best_look_is_kept_and_patience_ends_training(tmp_path: Path) -> None:
    figures = iter([0.1, 0.5, 0.4, 0.3, 0.9])
    kept: list[torch.Tensor] = []

    def look() -> Mapping[str, float]:
        kept.append(trainer.model.one.weight.detach().clone())
        return {"recall@100": next(figures)}

    watching = Watching(evaluate_every=2, patience=2)
    arguments = training_arguments(Optimisation(steps=20, learning_rate=0.1), watching, tmp_path, 20)
    trainer = WholeBatchTrainer(Recorder(), arguments, Batches(20), unit="x", per_batch=1, look=look, patience=2)
    trainer.train()
    assert trainer.state.global_step == 8
    assert torch.equal(trainer.model.one.weight, kept[1])
    assert not torch.equal(kept[1], kept[3])


def test_a_package_that_is_not_installed_is_named_before_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(TrainingError, match="pip install wandb"):
        check_surroundings(Optimisation(steps=1), Watching(report=("wandb",)))


def test_a_precision_that_the_machine_lacks_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    check_surroundings(Optimisation(steps=1, precision="bf16"), Watching())
    with pytest.raises(TrainingError, match="fp16, which needs a GPU"):
        check_surroundings(Optimisation(steps=1, precision="fp16"), Watching())
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: False)
    with pytest.raises(TrainingError, match="bf16, which this GPU cannot do"):
        check_surroundings(Optimisation(steps=1, precision="bf16"), Watching())


def test_tensorboard_is_written(tmp_path: Path) -> None:
    trained(tmp_path, Optimisation(steps=2), Watching(log_every=1, report=("tensorboard",)))
    assert list((tmp_path / "runs").glob("events.out.tfevents.*"))


def test_tensorboard_may_be_sent_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENSORBOARD_LOGGING_DIR", str(tmp_path / "board"))
    trained(tmp_path / "run", Optimisation(steps=1), Watching(report=("tensorboard",)))
    assert list((tmp_path / "board").glob("events.out.tfevents.*"))
    assert not (tmp_path / "run" / "runs").exists()
