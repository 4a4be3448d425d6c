"""Jobs: the models that experiments train, each once, whatever tables it stands in.

    work/data/train/             supervision, as `lexarbor train prepare` writes it; train+dev beside it
    work/models/JOB/             what a job writes: a tokenizer, a language model, a retriever, a graph encoder
    work/rankings/JOB.npz        the best articles for each asked question, of a retriever or graph encoder
    work/rankings/JOB.json       its parameters, seconds and figures on dev
    work/made/JOB.json           what it was trained from: recipe, revision, checksums of supervision and its beginning
    work/failed/JOB.txt          why it could not be trained

A recipe names what another job writes as "@JOB". Needs no torch.
"""

import hashlib
import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from lexarbor.errors import LexarborError, TrainingError, nearest
from lexarbor.experiments.revisions import revision
from lexarbor.experiments.scales import check_texts
from lexarbor.files import folder_at, sha256, sha256_of_files, write_json

VOCABULARY = "vocabulary"
NAMING_MODELS = ("start", "article_start", "tokenizer")
"""Keys of a recipe that name a model: one of the hub, or a folder, which may be outside the work folder."""
LENT = ""
"""For the checksum of the supervision of a model that was copied from another work folder: it is not this one's."""


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
    trained: bool = True
    """Whether a retriever learns anything before it ranks."""

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
        found: dict[str, Any] = placed(self.recipe, work)
        return found

    def folder(self, work: Path) -> Path:
        return model_folder(work, self.key)

    def is_done(self, work: Path) -> bool:
        if self.ranks:
            return facts_path(work, self.key).is_file()
        last = "tokenizer.json" if self.stage == VOCABULARY else "log.json"
        return (self.folder(work) / last).is_file()

    def refusal(self, work: Path) -> str:
        """Why what lies there under this name is another than is asked for: trained by another recipe, from other
        supervision, or from a model that was trained again since. A table must not tell of it as this one. Empty where
        nothing speaks against it.
        """
        if not self.is_done(work):
            return ""
        made = read_made(work, self.key)
        held, wanted = _flat(made["recipe"]), _flat(self._whole())
        other = next((name for name in {**wanted, **held} if held.get(name) != wanted.get(name)), None)
        if other is not None:
            return (
                f"'{self.key}' was trained with another {other} than is asked for now ({held.get(other)}, not "
                f"{wanted.get(other)})"
            )
        now = self._made(work)
        for need in (self.needs & made["from"].keys()) - now["from"].keys():
            raise TrainingError(
                f"'{self.key}' began from '{need}', and {made_path(work, need)} is missing: copy it too"
            )
        for need, known in made["from"].items():  # a folder that is not here now says nothing
            if now["from"].get(need, known) != known:
                return f"'{self.key}' began from '{need}', which was trained again since"
        if made["data"] != LENT and now["data"] and made["data"] != now["data"]:
            return f"'{self.key}' learned from other supervision than lies in {work}/data now"
        return ""

    def check_recipe(self) -> None:
        """Refuse a recipe that cannot be read, before anything is trained."""
        self._whole()

    def begin(self, work: Path, **otherwise: str) -> None:
        """Write down what this job is trained from, before it is, and that this is another run than any before: no two
        give the same weights on a GPU, so what begins from it is to be trained again too.
        """
        folder_at(made_path(work, self.key).parent)
        run = {"run": uuid4().hex, "revision": revision()}
        made = {"recipe": self._whole(), **self._made(work), **run, **otherwise}
        write_json(made_path(work, self.key), made)

    def _whole(self) -> dict[str, Any]:
        """The recipe with every value, jobs named as jobs; and what is read."""
        if self.texts:
            check_texts(self.key, self.texts)
        if self.stage == VOCABULARY:
            return {**self.recipe, "texts": self.texts}
        from lexarbor.training.recipes import as_dict, parse_recipe

        try:
            found = as_dict(parse_recipe(self.recipe))
        except LexarborError as error:
            raise TrainingError(f"the recipe of '{self.key}': {error}") from error
        return {**found, "texts": self.texts} if self.texts else found

    def _made(self, work: Path) -> dict[str, Any]:
        """Checksums of what it is made from: its supervision, how each model that it begins from was made, and the
        content of folders elsewhere.
        """
        manifest = data_manifest(work, self.data)
        needs = {need: made_path(work, need) for need in sorted(self.needs)}
        named = {name: Path(name) for key in NAMING_MODELS if isinstance(name := self.recipe.get(key), str) and name}
        folders = {name: path for name, path in named.items() if path.is_dir()}
        return {
            "from": {need: sha256(path) for need, path in needs.items() if path.is_file()}
            | {name: sha256_of_files(path, path.rglob("*")) for name, path in folders.items()},
            "data": sha256(manifest) if manifest.is_file() else "",
        }

    def made_from(self, work: Path) -> str:
        """One checksum of what it is made from; empty where some of that is not there."""
        made = self._made(work)
        there = made["data"] and self.needs <= made["from"].keys()
        return hashlib.sha256(json.dumps(made).encode()).hexdigest() if there else ""

    def goes_on(self, work: Path) -> bool:
        """Whether what a stopped call left of it may be gone on from: it was begun alike, and keeps checkpoints."""
        from lexarbor.training.runs import RECIPE

        keeps = self.stage == "pretrain" and self.recipe.get("watching", {}).get("save_every")
        begun = made_path(work, self.key).is_file() and (self.folder(work) / RECIPE).is_file()
        if not (keeps and begun):
            return False
        held, now = read_made(work, self.key), {"recipe": self._whole(), **self._made(work)}
        return {key: held.get(key) for key in now} == now

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


def made_path(work: Path, key: str) -> Path:
    return work / "made" / f"{key}.json"


def data_manifest(work: Path, data: str) -> Path:
    return work / "data" / data / "manifest.json"


def failed_path(work: Path, key: str) -> Path:
    return work / "failed" / f"{key}.txt"


def read_facts(work: Path, key: str) -> dict[str, Any]:
    """What is known of a job that has ended."""
    return _read(work, key, facts_path(work, key), ("seconds", "steps", "parameters", "device", "articles"))


def read_made(work: Path, key: str) -> dict[str, Any]:
    """What a job was trained from."""
    return _read(work, key, made_path(work, key), ("recipe", "from", "data"))


def _read(work: Path, key: str, path: Path, fields: Sequence[str]) -> dict[str, Any]:
    """An object that a file of a job holds, with these fields at the least."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(found, dict) or not found.keys() >= set(fields):
            raise ValueError(f"expected an object with {', '.join(fields)}")
    except (OSError, ValueError) as error:
        raise LexarborError(
            f"{path}: cannot be read ({error}); copy it again, or remove {to_remove(work, key)} and train '{key}' again"
        ) from error
    return found


def to_remove(work: Path, key: str) -> Path:
    """What is removed for a job to be trained again: what tells that it has ended."""
    facts = facts_path(work, key)
    return facts if facts.is_file() else model_folder(work, key)


def check_jobs(jobs: Sequence[Job], work: Path) -> None:
    """Refuse what lies there and is another than is asked for, all at once, with what began from it: so that a person
    removes it in one go.
    """
    refused = {job.key: why for job in jobs if (why := job.refusal(work))}
    if not refused:
        return
    done, again = [job for job in jobs if job.is_done(work)], set(refused)
    for _ in done:  # jobs stand in any order, and no chain of them is longer
        again |= {job.key for job in done if job.needs & again}
    places = [str(to_remove(work, job.key)) for job in done if job.key in again]
    raise TrainingError(
        f"{next(iter(refused.values()))}: give another --work, or remove what is to be trained again: "
        f"rm -r {shlex.join(places)}"
    )


def order_of(articles: Sequence[str]) -> str:
    """A checksum of articles' ids in order: rows of a ranking mean nothing without it."""
    return hashlib.sha256("\n".join(articles).encode()).hexdigest()


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
    """A recipe's values by their whole name."""
    found: dict[str, Any] = {}
    for key, value in recipe.items():
        found |= _flat(value, f"{above}{key}.") if isinstance(value, Mapping) else {f"{above}{key}": value}
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


def placed(value: Any, work: Path) -> Any:
    """What a recipe holds, with folders for "@JOB"."""
    if isinstance(value, str) and value.startswith("@"):
        return str(model_folder(work, value[1:]))
    if isinstance(value, Mapping):
        return {key: placed(inner, work) for key, inner in value.items()}
    return [placed(inner, work) for inner in value] if isinstance(value, list | tuple) else value
