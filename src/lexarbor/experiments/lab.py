"""What an experiment is run with: a benchmark, where its models lie, at which scale they are trained."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lexarbor.corpus.benchmarks.catalogue import Benchmark, build_benchmark
from lexarbor.errors import BenchmarkError
from lexarbor.experiments.scales import CHANGED_FOR, MOST_SEEDS, Values, check_scale, read_scale, scale_of

Step = Callable[[int, int], None]
"""Told how many of how many parts are done."""
TRAIN_ON = ("train", "train+dev")
MOST_WORKERS = 64


def silent(done: int, total: int) -> None:
    """A step that nobody waits for."""


SHIPPED_FOR = "vosdroits"
"""The benchmark that the shipped synthetic questions may be used on: their generator has learned from its train."""


@dataclass(frozen=True)
class Lab:
    """An experiment's surroundings. The benchmark is built when it is first asked for."""

    name: str
    """The benchmark's."""
    work: Path
    """Supervision, models, rankings and trials: what a stopped experiment goes on from."""
    source: str | None = None
    """Where the benchmark's law is read from, unless it is the usual place."""
    split: str = ""
    """The questions that rows are scored on; an experiment's own choice (`asked`) where none is named."""
    scale: str = ""
    """`paper`, `small` or `tiny`: how large models are and how long they learn; that of the benchmark unless named."""
    train_on: str = "train"
    """`train`, or `train+dev` for final figures, as the paper's appendix on tuning has it."""
    seeds: int = 0
    """How many, where an experiment has several; its own number unless given."""
    workers: int = 1
    """Processes that train side by side."""
    trials: int = 0
    """Of a search; its own number unless given."""
    questions: Path | None = None
    """Synthetic questions, unless they are the shipped ones."""
    models: Path | None = None
    """Another experiment's work folder, whose vocabulary and language models are taken."""
    hub: bool = False
    """Whether rows whose models come from the Hugging Face hub are run too."""
    starts: tuple[str, ...] = ()
    """Further language models to start from, for the ablation of these: names on the hub, or folders."""
    changes: tuple[str, ...] = ()
    """Values of the scale that are changed, e.g. "text.optimisation.steps=50"."""
    on_step: Step = silent

    def __post_init__(self) -> None:
        if self.train_on not in TRAIN_ON:
            raise BenchmarkError(f"--train-on is '{self.train_on}': write train, or train+dev for final figures")
        for name in ("seeds", "trials"):
            if getattr(self, name) < 0:
                raise BenchmarkError(f"--{name} is {getattr(self, name)}: give how many, or 0 for the usual number")
        if self.seeds > MOST_SEEDS:
            raise BenchmarkError(f"--seeds is {self.seeds}: {MOST_SEEDS} at the most")
        if not 1 <= self.workers <= MOST_WORKERS:
            raise BenchmarkError(f"--workers is {self.workers}: from one process to {MOST_WORKERS} can train")
        check_scale(self.scale_name)

    @cached_property
    def benchmark(self) -> Benchmark:
        return build_benchmark(self.name, self.source)

    @cached_property
    def values(self) -> Values:
        """The scale's, with what is changed of it."""
        return read_scale(self.scale_name, (*CHANGED_FOR.get(self.name, ()), *self.changes))

    @property
    def scale_name(self) -> str:
        return self.scale or scale_of(self.name)

    @property
    def augments(self) -> bool:
        """Whether there are synthetic questions."""
        return self.questions is not None or self.name == SHIPPED_FOR

    def asked(self, usual: str) -> str:
        """The split to score on: the one that was named, the usual one, or the last where that is missing."""
        splits = self.benchmark.questions.splits
        if self.split and self.split not in splits:
            raise BenchmarkError(f"{self.name} has no split '{self.split}': choose one of {', '.join(splits)}")
        return self.split or (usual if usual in splits else list(splits)[-1])
