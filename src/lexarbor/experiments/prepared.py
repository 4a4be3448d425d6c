"""What an experiment's supervision was prepared from, as it is written down beside it. Needs nothing that prepares: it
is read where models are trained, too.

    work/data/train.json    benchmark, source of the law, kinds of pairs, checksum of synthetic questions, and further
                            benchmarks whose held-out sheets were kept out
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

from lexarbor.errors import BenchmarkError, TrainingError
from lexarbor.experiments.jobs import data_manifest
from lexarbor.experiments.lab import SHIPPED_FOR, Lab
from lexarbor.files import sha256
from lexarbor.supervision.folder import SupervisionFolder
from lexarbor.supervision.synthetic import read_synthetic, shipped_questions

TRAIN = "train"
USUAL = "its usual place"
SHARED_BY_CHANCE = 0.1
"""So large a part of two generators' questions about one article may be the same."""


def origin_path(folder: Path) -> Path:
    """Where the origin of a supervision folder is told."""
    return folder.with_name(f"{folder.name}.json")


def read_origin(folder: Path) -> dict[str, Any]:
    """What a supervision folder was prepared from."""
    try:
        found: dict[str, Any] = json.loads(origin_path(folder).read_text(encoding="utf-8"))
        if not isinstance(found, dict):
            raise ValueError(f"expected a JSON object, found {type(found).__name__}")
    except (OSError, ValueError) as error:
        raise BenchmarkError(
            f"{folder}: what it was prepared from is not told there ({origin_path(folder)} cannot be read: {error}); "
            "give another --work"
        ) from error
    return found


def check_origin(lab: Lab) -> None:
    """Refuse supervision that lies there and is damaged or another benchmark's, or has other synthetic questions."""
    for name in dict.fromkeys((TRAIN, lab.train_on)):
        folder = lab.work / "data" / name
        if not origin_path(folder).is_file():
            continue
        held = read_origin(folder)
        if held.get("benchmark") != lab.name:
            raise BenchmarkError(
                f"{folder}: was prepared for the benchmark {held.get('benchmark')}, not {lab.name}: give another "
                "--work, or --benchmark"
            )
        if held.get("questions") != questions_checksum(lab):
            other = "other synthetic questions" if held.get("questions") else "no synthetic questions"
            raise BenchmarkError(
                f"{folder}: was prepared with {other}: give another --work, or the --questions of then"
            )
        if data_manifest(lab.work, name).exists():  # rankings alone may have been copied here
            _check_whole(folder)


def _check_whole(folder: Path) -> None:
    try:
        SupervisionFolder.open(folder).verify()
    except TrainingError as error:
        raise BenchmarkError(
            f"{folder}: is damaged, or of another version of Lexarbor: remove it, and the same command prepares it "
            "again where the law is (what was trained from it stays); or copy it again"
        ) from error


def check_source(lab: Lab) -> None:
    """Refuse to tell of models beside another law than they have learned from."""
    folder = lab.work / "data" / TRAIN
    if origin_path(folder).is_file() and (held := read_origin(folder).get("source")) != lab.source:
        raise BenchmarkError(
            f"{folder}: was prepared from the law at {held or USUAL}, not {lab.source or USUAL}: give the --source of "
            "then, or another --work"
        )


def check_generator(lab: Lab) -> None:
    """Refuse the shipped questions where their generator has learned from what is held out, however they are packed,
    filtered or mixed. (Two generators may ask the same now and then.)
    """
    if lab.questions is None or lab.name == SHIPPED_FOR or not lab.questions.is_file():
        return
    given = {(one.article, one.question) for one in read_synthetic(lab.questions)}
    shared = given & _shipped()
    if len(shared) > SHARED_BY_CHANCE * len(given):
        raise BenchmarkError(
            f"--questions {lab.questions}: {len(shared)} of them come with Lexarbor, by a generator that has "
            f"learned from sheets of {SHIPPED_FOR}'s train, which {lab.name} may hold out: write others with `lexarbor "
            "augment`"
        )


@cache
def _shipped() -> frozenset[tuple[str, str]]:
    """Articles and what was asked about them, of the questions that come with Lexarbor. Read once, in a second: each
    part of an experiment asks for them.
    """
    return frozenset((one.article, one.question) for one in read_synthetic(shipped_questions()))


def questions_checksum(lab: Lab) -> str | None:
    """The checksum of the synthetic questions that an experiment has."""
    return sha256(lab.questions or shipped_questions()) if lab.augments else None


def check_lender(lab: Lab, models: Path) -> None:
    """Refuse language models that may have read what this benchmark holds out."""
    if not origin_path(models / "data" / TRAIN).is_file():
        raise BenchmarkError(
            f"--models {models}: no experiment has worked there; give the --work of one, or leave it out"
        )
    held = read_origin(models / "data" / TRAIN)
    if lab.name not in (held.get("benchmark"), *held.get("also_for", ())):
        raise BenchmarkError(
            f"--models {models}: its language models read sheets that {lab.name} holds out, they were made for "
            f"{held.get('benchmark')}: leave --models out"
        )
