"""What the paper's systems are trained from, as jobs: each with all that it begins from, at one scale."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lexarbor.errors import TrainingError
from lexarbor.experiments.jobs import VOCABULARY, Job, distinct
from lexarbor.experiments.lab import Lab
from lexarbor.experiments.scales import Values, merged

DPR_START = "dpr-start"
FRESH = "fresh"
"""A start from nothing, as recipes name it."""


@dataclass(frozen=True)
class Plan:
    """Jobs of one scale and one part of the questions to learn from."""

    scale: Values
    data: str = "train"
    asked: tuple[str, ...] = ()

    @classmethod
    def of(cls, lab: Lab, asked: Iterable[str] = ()) -> "Plan":
        return cls(lab.values, lab.train_on, tuple(asked))

    def text(self, name: str, seed: int, *changes: Mapping[str, Any]) -> Job:
        """A retriever: the scale's DSR, with some values changed."""
        recipe = merged(self.scale["text"], *changes, {"optimisation": {"seed": seed}})
        return Job(self._key(name, seed), recipe, self.data, asked=self.asked)

    def dpr(self, seed: int) -> Job:
        """DPR: two flat towers that have learned from general pairs, then from the benchmark's gold."""
        recipe = {**self.scale["text"], "encoder": self.scale["flat"], **self._dpr_begins()}
        return Job(self._key("dpr", seed), merged(recipe, {"optimisation": {"seed": seed}}), self.data)

    def zero_shot(self) -> list[Job]:
        """DPR before it learns from gold, where it comes from the hub as it is; else what it begins from is that."""
        if "dpr" not in self.scale:
            return []
        recipe = {**self.scale["text"], "encoder": self.scale["flat"], **self._dpr_begins()}
        return [Job("dpr-untrained", recipe, trained=False)]  # over train's folder, whatever others learn from

    def graph(self, name: str, retriever: Job, *changes: Mapping[str, Any], ours: bool = False) -> Job:
        """A graph encoder over a retriever, of the same seed: the paper's or ours."""
        base, seed = self.scale["hearing" if ours else "graph"], retriever.recipe["optimisation"]["seed"]
        recipe = merged(base, *changes, {"encoder": f"@{retriever.key}", "optimisation": {"seed": seed}})
        return Job(self._key(name, seed), recipe, self.data, asked=self.asked)

    @property
    def augmented(self) -> Mapping[str, Any]:
        """What augmentation changes in a retriever's recipe."""
        found: Mapping[str, Any] = self.scale["augmented"]
        return found

    @property
    def adapted(self) -> Mapping[str, Any]:
        """What domain-adaptive pre-training changes: the article tower begins from the law's language model."""
        return {"article_start": "@law"}

    def from_model(self, name: str) -> Mapping[str, Any]:
        """What changes where both towers begin from another language model: one of the scale's, or from nothing."""
        return {"start": FRESH, **self.scale["fresh"]} if name == FRESH else {"start": f"@{name}"}

    def complete(self, jobs: Sequence[Job]) -> list[Job]:
        """The jobs in order, each after those that it begins from."""
        found: dict[str, Job] = {}
        own = {job.key: job for job in distinct(jobs)}

        def add(job: Job) -> None:
            for need in sorted(job.needs):
                if need not in found:
                    add(own[need] if need in own else self._shared(need))
            found.setdefault(job.key, job)

        for job in own.values():
            add(job)
        return list(found.values())

    def _shared(self, key: str) -> Job:
        """What several systems begin from: learned once, from train alone, whatever the seed."""
        models: Mapping[str, Any] = self.scale["models"]
        if key == DPR_START and "dpr_start" in self.scale:
            return Job(key, self.scale["dpr_start"])
        if key == VOCABULARY:
            general = models["general"]
            shape = {"stage": VOCABULARY, "architecture": general["recipe"]["architecture"]}
            return Job(key, shape, texts=general["texts"])
        if key not in models:
            raise TrainingError(f"the scale has no language model '{key}': choose among {', '.join(models)}")
        return Job(key, models[key]["recipe"], texts=models[key]["texts"])

    def _dpr_begins(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.scale.get("dpr", {"start": f"@{DPR_START}"})
        return found

    def _key(self, name: str, seed: int) -> str:
        return f"{name}-{seed}" + ("" if self.data == "train" else "-final")
