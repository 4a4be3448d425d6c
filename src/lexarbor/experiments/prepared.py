"""What an experiment's supervision was prepared from, as it is written down beside it. Needs nothing that prepares: it
is read where models are trained, too.

    work/data/train.json    benchmark, source of the law, kinds of pairs, checksum of synthetic questions, and further
                            benchmarks whose held-out sheets were kept out
"""

import json
from pathlib import Path
from typing import Any

from lexarbor.errors import BenchmarkError
from lexarbor.experiments.lab import Lab

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


def check_lender(lab: Lab, models: Path) -> None:
    """Refuse language models that may have read what this benchmark holds out."""
    held = read_told(models / "data" / TRAIN)
    if lab.name not in (held.get("benchmark"), *held.get("also_for", ())):
        raise BenchmarkError(
            f"--models {models}: its language models read sheets that {lab.name} holds out, they were made for "
            f"{held.get('benchmark')}: leave --models out"
        )
