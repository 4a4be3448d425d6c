"""Supervision for an experiment's jobs: prepared once where the law is, read where they are trained."""

import shutil
from pathlib import Path

from lexarbor.errors import BenchmarkError
from lexarbor.experiments.expansion import shipped_questions
from lexarbor.experiments.lab import Lab
from lexarbor.files import folder_at
from lexarbor.supervision.folder import Supervision, SupervisionFolder, write_supervision
from lexarbor.supervision.preparation import prepare
from lexarbor.supervision.weak import KINDS

TRAIN = "train"
LEARNED = ("gold", "synthetic")
"""Kinds that final models learn from: what stands below them has learned from train alone."""
ALSO_FOR = {"vosdroits": ("vosdroits-disjoint",)}
"""By benchmark, those that its language models serve as well (`--models`): their held-out sheets are kept out too."""
ANY = "headings"
"""A kind of weak pairs that every law has, for a scale that names none."""


def prepare_data(lab: Lab) -> list[Path]:
    """The supervision folders that are missing: that of train, and the one that models learn from if it is another."""
    return [_prepared(lab, name) for name in dict.fromkeys((TRAIN, lab.train_on))]


def _prepared(lab: Lab, name: str) -> Path:
    folder = lab.work / "data" / name
    if (folder / "manifest.json").is_file():
        _check_prepared(lab, folder)
        return folder
    wanted = lab.values.get("dpr_start", {}).get("supervision", {}).get("kinds", {})
    building = folder_at(folder.parent) / f".{name}"
    shutil.rmtree(building, ignore_errors=True)
    found = prepare(
        lab.name,
        building,
        kinds=tuple(kind for kind in wanted if kind in KINDS) or (ANY,),
        synthetic=[lab.questions or shipped_questions()] if lab.augments else [],
        learn_from=name.split("+"),
        source=lab.source,
        also_for=ALSO_FOR.get(lab.name, ()) if name == TRAIN else (),
        on_step=lab.on_step,
    )
    if name != TRAIN:
        slim = _of_gold(found)
        shutil.rmtree(building)
        write_supervision(slim, building)
    shutil.rmtree(folder, ignore_errors=True)
    building.rename(folder)
    return folder


def _check_prepared(lab: Lab, folder: Path) -> None:
    """Refuse what was prepared for another benchmark, or without the questions that are wanted now."""
    facts = SupervisionFolder.open(folder).facts
    if facts.get("benchmark") != lab.name:
        raise BenchmarkError(
            f"{folder}: was prepared from the benchmark '{facts.get('benchmark')}', not from '{lab.name}': give "
            "another --work"
        )
    if lab.augments and not facts.get("synthetic"):
        raise BenchmarkError(
            f"{folder}: was prepared without synthetic questions: remove it to have them learned from, or leave "
            "--questions out"
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
