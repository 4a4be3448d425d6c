"""What an experiment's supervision was prepared from, as it is written down beside it. Needs nothing that prepares: it
is read where models are trained, too.

    work/data/train.json    benchmark, source of the law, kinds of pairs, checksum of synthetic questions, and further
                            benchmarks whose held-out sheets were kept out
"""

import json
from pathlib import Path
from typing import Any

from lexarbor.errors import BenchmarkError
from lexarbor.experiments.lab import SHIPPED_FOR, Lab
from lexarbor.files import sha256
from lexarbor.supervision.synthetic import shipped_questions

TRAIN = "train"


def told_at(folder: Path) -> Path:
    """Where it is told of a supervision folder."""
    return folder.with_name(f"{folder.name}.json")


def read_told(folder: Path) -> dict[str, Any]:
    """What a supervision folder was prepared from."""
    try:
        found: dict[str, Any] = json.loads(told_at(folder).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BenchmarkError(
            f"{folder}: what it was prepared from is not told there ({told_at(folder)} cannot be read); give another "
            "--work"
        ) from error
    return found


def check_told(lab: Lab) -> None:
    """Refuse supervision that lies there and is another benchmark's, or has other synthetic questions."""
    for name in dict.fromkeys((TRAIN, lab.train_on)):
        folder = lab.work / "data" / name
        if not told_at(folder).is_file():
            continue
        held = read_told(folder)
        if held.get("benchmark") != lab.name:
            raise BenchmarkError(
                f"{folder}: was prepared for the benchmark {held.get('benchmark')}, not {lab.name}: give another "
                "--work, or --benchmark"
            )
        if held.get("questions") != questions_of(lab):
            other = "other synthetic questions" if held.get("questions") else "no synthetic questions"
            raise BenchmarkError(
                f"{folder}: was prepared with {other}: give another --work, or the --questions of then"
            )


def check_generator(lab: Lab) -> None:
    """Refuse the shipped questions where their generator has learned from what is held out, whatever their file is."""
    if lab.questions is None or lab.name == SHIPPED_FOR:
        return
    if lab.questions.is_file() and sha256(lab.questions) == sha256(shipped_questions()):
        raise BenchmarkError(
            f"--questions {lab.questions}: these come with Lexarbor, by a generator that has learned from sheets of "
            f"{SHIPPED_FOR}'s train, which {lab.name} may hold out: write others with `lexarbor augment`"
        )


def questions_of(lab: Lab) -> str | None:
    """The checksum of the synthetic questions that an experiment has."""
    return sha256(lab.questions or shipped_questions()) if lab.augments else None


def check_lender(lab: Lab, models: Path) -> None:
    """Refuse language models that may have read what this benchmark holds out."""
    if not told_at(models / "data" / TRAIN).is_file():
        raise BenchmarkError(
            f"--models {models}: no experiment has worked there; give the --work of one, or leave it out"
        )
    held = read_told(models / "data" / TRAIN)
    if lab.name not in (held.get("benchmark"), *held.get("also_for", ())):
        raise BenchmarkError(
            f"--models {models}: its language models read sheets that {lab.name} holds out, they were made for "
            f"{held.get('benchmark')}: leave --models out"
        )
