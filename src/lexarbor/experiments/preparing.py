"""Supervision for an experiment's jobs: prepared once where the law is, read where they are trained."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lexarbor.errors import BenchmarkError
from lexarbor.experiments.lab import Lab
from lexarbor.experiments.prepared import TRAIN, check_origin, origin_path, questions_checksum, read_origin
from lexarbor.experiments.processes import locked
from lexarbor.files import folder_at, write_json
from lexarbor.supervision.folder import Supervision, SupervisionFolder, write_supervision
from lexarbor.supervision.preparation import prepare
from lexarbor.supervision.synthetic import shipped_questions
from lexarbor.supervision.weak import KINDS

LEARNED = ("gold", "synthetic")
"""Kinds that final models learn from: what stands below them has learned from train alone."""
ALSO_FOR = {"vosdroits": ("vosdroits-disjoint",)}
"""By benchmark, those that its language models serve as well (`--models`): their held-out sheets are kept out too."""
GIVEN_AS = {
    "benchmark": "--benchmark",
    "source": "--source",
    "questions": "--questions",
    "kinds": "--scale, or --set, of other weak pairs",
    "also_for": "version of Lexarbor, which kept other benchmarks' sheets out",
}
"""By what a folder's origin holds, how a person says it."""
ANY = "headings"
"""A kind of weak pairs that every law has, for a scale that names none."""


def prepare_data(lab: Lab) -> list[Path]:
    """The supervision folders that are missing: that of train, and the one that models learn from if it is another. Of
    several calls one prepares, the others wait.
    """
    with locked(folder_at(lab.work / "locks") / "data.lock"):
        return [_prepared(lab, name) for name in dict.fromkeys((TRAIN, lab.train_on))]


def _prepared(lab: Lab, name: str) -> Path:
    folder = lab.work / "data" / name
    wanted = _made_from(lab, name)
    if (folder / "manifest.json").is_file():
        check_origin(lab)
        _check_prepared(folder, wanted)
        return folder
    building = folder_at(folder.parent) / f".{name}"
    shutil.rmtree(building, ignore_errors=True)
    found = prepare(
        lab.name,
        building,
        kinds=wanted["kinds"],
        synthetic=[lab.questions or shipped_questions()] if lab.augments else [],
        learn_from=name.split("+"),
        source=lab.source,
        also_for=wanted["also_for"],
        on_step=lab.on_step,
    )
    if name != TRAIN:
        slim = _of_gold(found)
        shutil.rmtree(building)
        write_supervision(slim, building)
    shutil.rmtree(folder, ignore_errors=True)
    write_json(origin_path(folder), wanted)
    building.rename(folder)
    return folder


def _made_from(lab: Lab, name: str) -> dict[str, Any]:
    """What a supervision folder is prepared from."""
    weak = lab.values.get("dpr_start", {}).get("supervision", {}).get("kinds", {})
    return {
        "benchmark": lab.name,
        "source": lab.source,
        "kinds": [kind for kind in weak if kind in KINDS] or [ANY],
        "questions": questions_checksum(lab),
        "also_for": list(ALSO_FOR.get(lab.name, ())) if name == TRAIN else [],
    }


def _check_prepared(folder: Path, wanted: Mapping[str, Any]) -> None:
    """Refuse what was prepared from something else than is asked for now."""
    held = read_origin(folder)
    for name, value in wanted.items():
        if held.get(name) != value:
            raise BenchmarkError(
                f"{folder}: was prepared with another {GIVEN_AS[name]} ({held.get(name)}, not {value}): give another "
                "--work"
            )


def _of_gold(folder: SupervisionFolder) -> Supervision:
    """What a final model reads, without the passages that language models were made from."""
    pairs = [pair for pair in folder.pairs if pair.kind in LEARNED]
    return Supervision(
        folder.articles,
        pairs=pairs,
        asked=folder.asked,
        facts=folder.facts,
        sections=folder.sections,
        graph=folder.graph,
    )
