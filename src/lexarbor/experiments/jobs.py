"""Jobs: the models that experiments train, each once, whatever tables it stands in.

    work/data/train/             supervision, as `lexarbor train prepare` writes it; train+dev beside it
    work/models/JOB/             what a job writes: a tokenizer, a language model, a retriever, a graph encoder
    work/rankings/JOB.npz        the best articles for each asked question, of a retriever or graph encoder
    work/rankings/JOB.json       its recipe, parameters, seconds and figures on dev
    work/failed/JOB.txt          why it could not be trained

A recipe names what another job writes as "@JOB". Needs no torch.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lexarbor.errors import LexarborError, TrainingError, nearest

VOCABULARY = "vocabulary"
TEXTS = ("general", "law")
PLACES = ("start", "article_start", "tokenizer", "encoder", "folds")
"""Where they hold a word, keys of a recipe that name folders: these may lie elsewhere when work goes on."""


@dataclass(frozen=True)
class Job:
    """One model to train."""

    key: str
    recipe: Mapping[str, Any]
    """With "@JOB" where it names what another job writes."""
    data: str = "train"
    """The supervision folder below work/data."""
    texts: str = ""
    """Of a vocabulary or a language model: what it reads, one of TEXTS."""
    asked: tuple[str, ...] = ()
    """The splits whose questions are ranked for afterwards; all that the folder has where none is named."""

    @property
    def stage(self) -> str:
        return str(self.recipe["stage"])

    @property
    def needs(self) -> set[str]:
        """The jobs whose output it begins from."""
        return set(_named(self.recipe))

    @property
    def ranks(self) -> bool:
        """Whether it ends with a ranking."""
        return self.stage in ("text", "graph")

    def written(self, work: Path) -> dict[str, Any]:
        """Its recipe, with folders for jobs."""
        found: dict[str, Any] = _placed(self.recipe, work)
        return found

    def folder(self, work: Path) -> Path:
        return model_folder(work, self.key)

    def is_done(self, work: Path) -> bool:
        if self.ranks:
            return facts_path(work, self.key).is_file()
        last = "tokenizer.json" if self.stage == VOCABULARY else "log.json"
        return (self.folder(work) / last).is_file()

    def check(self, work: Path) -> None:
        """Refuse what was trained under this name by another recipe: a table must not tell of it as this one."""
        if not self.ranks or not self.is_done(work):
            return
        from lexarbor.training.recipes import as_dict, parse_recipe

        held = _flat(read_facts(work, self.key)["recipe"])
        wanted = _flat(as_dict(parse_recipe(self.written(work))))
        different = next((name for name in {**wanted, **held} if held.get(name) != wanted.get(name)), None)
        if different is not None:
            raise TrainingError(
                f"{facts_path(work, self.key)}: trained with another {different} than is asked for now "
                f"({held.get(different)}, not {wanted.get(different)}): give another --work, or remove the file to "
                "train it again"
            )

    def failure(self, work: Path) -> str:
        """Why it could not be trained; empty where it could, or was not tried."""
        try:
            return failed_path(work, self.key).read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            return ""


def model_folder(work: Path, key: str) -> Path:
    return work / "models" / key


def ranking_path(work: Path, key: str) -> Path:
    return work / "rankings" / f"{key}.npz"


def facts_path(work: Path, key: str) -> Path:
    return work / "rankings" / f"{key}.json"


def failed_path(work: Path, key: str) -> Path:
    return work / "failed" / f"{key}.txt"


def read_facts(work: Path, key: str) -> dict[str, Any]:
    """What is known of a job that has ended."""
    try:
        facts: dict[str, Any] = json.loads(facts_path(work, key).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise LexarborError(f"{facts_path(work, key)}: cannot be read ({error}); remove it and run again") from error
    return facts


def distinct(jobs: Iterable[Job]) -> list[Job]:
    """Each job once, in order; two that differ under one key are a mistake in an experiment."""
    found: dict[str, Job] = {}
    for job in jobs:
        if found.setdefault(job.key, job) != job:
            raise TrainingError(f"two jobs are called '{job.key}' and differ: give one of them another name")
    return list(found.values())


def only(jobs: Sequence[Job], keys: Iterable[str]) -> list[Job]:
    """Some of the jobs, and those that they begin from."""
    held = {job.key: job for job in jobs}
    wanted, left = set(), list(keys)
    while left:
        key = left.pop()
        if key not in held:
            raise TrainingError(f"no job is called '{key}': {nearest(key, list(held))}")
        if key not in wanted:
            wanted.add(key)
            left += held[key].needs
    return [job for job in jobs if job.key in wanted]


def _flat(recipe: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """A recipe's values by their whole name; not those that name folders, which may lie elsewhere now."""
    found: dict[str, Any] = {}
    for key, value in recipe.items():
        if isinstance(value, Mapping):
            found |= _flat(value, f"{above}{key}.")
        elif above or key not in PLACES:
            found[f"{above}{key}"] = value
    return found


def _named(value: Any) -> Iterable[str]:
    if isinstance(value, str) and value.startswith("@"):
        yield value[1:]
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _named(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _named(inner)


def _placed(value: Any, work: Path) -> Any:
    if isinstance(value, str) and value.startswith("@"):
        return str(model_folder(work, value[1:]))
    if isinstance(value, Mapping):
        return {key: _placed(inner, work) for key, inner in value.items()}
    return [_placed(inner, work) for inner in value] if isinstance(value, list | tuple) else value
