"""What every stage shares of the field's trainer, `transformers.Trainer`: its arguments from a recipe, batches that are
made whole by number, checkpoints, and looks at dev.

A stage makes its batches as a map-style dataset whose item `i` is the whole batch number `i`, a function of the
recipe's seed and of `i` alone. So neither the number of worker processes nor a kill and a resume changes what is
learned.
"""

import atexit
import importlib.util
import logging
import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

import torch
from safetensors.torch import load_model, save_model
from torch import distributed
from torch.utils.data import SequentialSampler
from transformers import EarlyStoppingCallback, PrinterCallback, Trainer, TrainerCallback, TrainingArguments
from transformers.integrations.integration_utils import TensorBoardCallback

from lexarbor.errors import TrainingError
from lexarbor.training.hyperparameters import Optimisation, Watching
from lexarbor.training.runs import CHECKPOINTS, TENSORBOARD, WEIGHTS, is_first

logger = logging.getLogger(__name__)

Found = TypeVar("Found")
OnLook = Callable[[int, dict[str, float]], None]
"""Told the step and dev's figures after each look on the way; what it raises ends the run."""
SCHEDULERS = {"linear": "linear", "constant": "constant_with_warmup", "cosine": "cosine"}


class WholeBatches(Protocol):
    """Item `i` is the batch number `i`: what the model's `forward` takes, by name."""

    def __len__(self) -> int: ...

    def __getitem__(self, number: int) -> Mapping[str, Any]: ...


def check_surroundings(optimisation: Optimisation, watching: Watching) -> None:
    """Refuse, before any work, what this machine or this Python lacks."""
    for package in watching.report:
        if importlib.util.find_spec(package) is None:
            raise TrainingError(
                f"watching.report names {package}, which is not installed: pip install {package}, or leave it out"
            )
    if optimisation.precision == "fp16" and not torch.cuda.is_available():
        raise TrainingError("optimisation.precision is fp16, which needs a GPU: choose fp32 or bf16 on this machine")
    if optimisation.precision == "bf16" and torch.cuda.is_available() and not torch.cuda.is_bf16_supported():
        raise TrainingError("optimisation.precision is bf16, which this GPU cannot do: choose fp16 or fp32")


def from_first(compute: Callable[[], Found]) -> Found:
    """What the first of several processes computes, for all of them: so all stop at the same step."""
    if not distributed.is_initialized():
        return compute()
    shared: list[Any] = [compute() if is_first() else None]
    distributed.broadcast_object_list(shared, src=0)
    return cast("Found", shared[0])


def world_size() -> int:
    """How many processes `torchrun` started; 1 without it."""
    return int(os.environ.get("WORLD_SIZE", "1"))


@contextmanager
def fitting(batch: str, advice: str) -> Iterator[None]:
    """Say what to do where memory ends."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:  # torch's OutOfMemoryError is a RuntimeError; on a CPU it is only that
        if not isinstance(error, MemoryError | torch.OutOfMemoryError) and "allocate memory" not in str(error):
            raise
        raise TrainingError(f"a batch of {batch} does not fit in this memory: {advice}") from error


def training_arguments(optimisation: Optimisation, watching: Watching, out: Path, steps: int) -> TrainingArguments:
    """The trainer's arguments for `steps` steps of the optimiser, of a run whose folder is `out`."""
    gpu = torch.cuda.is_available()
    if gpu:
        torch.set_float32_matmul_precision("high")  # TF32 for what stays in 32 bits; not for scores
    looks = watching.evaluate_every > 0
    saves = watching.evaluate_every if watching.patience else watching.save_every
    arguments = TrainingArguments(
        output_dir=str(out / CHECKPOINTS),
        max_steps=steps,
        per_device_train_batch_size=1,  # one item is a whole batch
        gradient_accumulation_steps=optimisation.accumulation,
        learning_rate=optimisation.learning_rate,
        weight_decay=optimisation.weight_decay,  # the trainer leaves biases and norms out
        adam_beta1=optimisation.beta1,
        adam_beta2=optimisation.beta2,
        adam_epsilon=optimisation.epsilon,
        max_grad_norm=optimisation.clipping,
        lr_scheduler_type=SCHEDULERS[optimisation.schedule],
        warmup_steps=math.ceil(optimisation.warmup * steps),
        optim="adamw_torch_fused" if gpu else "adamw_torch",
        bf16=optimisation.precision == "bf16",
        fp16=optimisation.precision == "fp16",
        use_cpu=not gpu,
        seed=optimisation.seed,
        dataloader_num_workers=optimisation.workers,
        dataloader_prefetch_factor=4 if optimisation.workers else None,
        dataloader_pin_memory=gpu,
        accelerator_config={"split_batches": False, "dispatch_batches": False, "non_blocking": gpu},
        remove_unused_columns=False,
        ddp_find_unused_parameters=False,  # all weights are used at each step
        logging_steps=watching.log_every,
        logging_first_step=True,
        logging_nan_inf_filter=False,  # it waits for the GPU at each step
        report_to=list(watching.report),
        disable_tqdm=True,  # `Progress` shows the bar
        eval_strategy="steps" if looks else "no",
        eval_steps=watching.evaluate_every if looks else None,
        save_strategy="steps" if saves else "no",
        save_steps=saves or steps,
        save_total_limit=2,
        load_best_model_at_end=bool(watching.patience),
        metric_for_best_model=watching.measure if watching.patience else None,
        greater_is_better=True if watching.patience else None,
    )
    if world_size() > 1:  # the arguments have joined the group
        atexit.register(_leave_group)
    if arguments.n_gpu > 1:  # several GPUs are for torchrun: one process must not cut whole batches up
        arguments._n_gpu = 1
    return arguments


def _leave_group() -> None:
    """Part from the other processes before Python ends: torch aborts now and then where its threads still listen, and
    `torchrun` then kills the process that is writing the model.
    """
    if distributed.is_initialized():
        distributed.destroy_process_group()


class WholeBatchTrainer(Trainer):
    """The field's trainer over batches that come whole; `model(**batch)` is the loss, one number.

    `look`, where given, is called every `watching.evaluate_every` steps and gives figures by name, e.g. "recall@100";
    with `watching.patience` training stops on them and the best weights are put back. `on_look` is told of them, in
    each process.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        arguments: TrainingArguments,
        batches: WholeBatches,
        *,
        unit: str,
        per_batch: float,
        look: Callable[[], Mapping[str, float]] | None = None,
        on_look: OnLook | None = None,
        patience: int = 0,
        callbacks: Sequence[TrainerCallback] = (),
        bar: bool | None = None,
    ) -> None:
        super().__init__(
            model=model,
            args=arguments,
            train_dataset=batches,
            data_collator=_only,
            eval_dataset=[] if look else None,
            callbacks=[*callbacks, *([EarlyStoppingCallback(patience)] if patience else [])],
        )
        self.remove_callback(PrinterCallback)  # it prints
        self.add_callback(Progress(sys.stderr.isatty() if bar is None else bar))
        self.add_callback(BestOfMovedRun())
        for callback in self.callback_handler.callbacks:
            if isinstance(callback, TensorBoardCallback) and callback.logging_dir is None:
                # by default below the checkpoints, which are gone when the run has finished
                callback.logging_dir = str(Path(str(arguments.output_dir)).parent / TENSORBOARD)
        self._look, self._on_look = look, on_look
        self._rate_name = f"{unit}_per_second"
        self._units_per_step = per_batch * arguments.gradient_accumulation_steps * arguments.world_size
        self._logged_at = (-1, time.perf_counter())

    @property
    def _module(self) -> torch.nn.Module:
        assert self.model is not None
        return self.model

    def _get_train_sampler(self, *_: Any, **__: Any) -> SequentialSampler:
        return SequentialSampler(self.train_dataset)  # type: ignore[arg-type]

    def compute_loss(self, model: Any, inputs: Any, *_: Any, **__: Any) -> torch.Tensor:
        loss: torch.Tensor = model(**inputs)
        return loss

    def log(self, logs: dict[str, float], *arguments: Any, **options: Any) -> None:
        """As the trainer does, with the rate since the last log."""
        if "loss" in logs:
            step, now = self.state.global_step, time.perf_counter()
            before, then = self._logged_at
            # the first log after a start: how many steps lie in it is not known after a resume, and the rate would
            # count the model's compilation
            if before >= 0:
                logs[self._rate_name] = round((step - before) * self._units_per_step / max(now - then, 1e-9), 1)
            self._logged_at = (step, now)
        super().log(logs, *arguments, **options)

    def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:
        assert self._look is not None
        self._module.eval()
        with torch.no_grad():
            found = dict(self._look())
        figures = {f"eval_{name}": value for name, value in found.items()}
        self.log(dict(figures))
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, figures)
        step, _now = self._logged_at
        self._logged_at = (step if step < 0 else self.state.global_step, time.perf_counter())  # looking is not training
        if self._on_look is not None:
            self._on_look(self.state.global_step, found)
        return figures

    # Weights go in and out through safetensors' own way for models, which knows tied weights.

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        folder = Path(str(output_dir or self.args.output_dir))
        folder.mkdir(parents=True, exist_ok=True)
        save_model(self._module, str(folder / WEIGHTS))

    def _load_from_checkpoint(self, resume_from_checkpoint: str, model: Any = None) -> None:
        _load_weights(self._module if model is None else model, Path(resume_from_checkpoint))

    def _load_best_model(self) -> None:
        _load_weights(self._module, Path(str(self.state.best_model_checkpoint)))


class BestOfMovedRun(TrainerCallback):
    """A checkpoint names the best one by the path it had then: the run's folder may have been moved before a resume."""

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if not (args.load_best_model_at_end and state.best_global_step):
            return
        best = Path(args.output_dir) / f"checkpoint-{state.best_global_step}"
        if not (best / WEIGHTS).is_file():
            raise TrainingError(f"{best}, the best checkpoint until now, is not there: put it back, or start anew")
        state.best_model_checkpoint = str(best)


class Progress(TrainerCallback):
    """A bar with loss and rate where a person looks; else a line in the log for each entry."""

    def __init__(self, shown: bool) -> None:
        self.shown = shown
        self.bar: Any = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if self.shown and state.is_world_process_zero:
            from tqdm import tqdm  # type: ignore[import-untyped]

            self.bar = tqdm(total=state.max_steps, initial=state.global_step, unit="step", file=sys.stderr)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        control.should_log |= state.global_step >= state.max_steps  # the last loss is not left out
        if self.bar is not None:
            self.bar.update(state.global_step - self.bar.n)

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        if not state.is_world_process_zero:
            return
        told = {name: f"{value:.4g}" for name, value in (logs or {}).items() if isinstance(value, int | float)}
        if self.bar is not None:
            self.bar.set_postfix({name: told[name] for name in told if name == "loss" or name.endswith("_second")})
        else:
            logger.info("step %d of %d: %s", state.global_step, state.max_steps, told)

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if self.bar is not None:
            self.bar.close()
            self.bar = None


def _only(items: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The data loader's list of one batch, opened."""
    (batch,) = items
    return batch


def _load_weights(model: torch.nn.Module, checkpoint: Path) -> None:
    try:
        load_model(model, checkpoint / WEIGHTS)
    except (OSError, RuntimeError) as error:
        found = " ".join(str(error).split())[:200]
        raise TrainingError(f"{checkpoint}: its weights do not fit this model ({found}); start anew") from error
