from collections.abc import Callable
from pathlib import Path

import pytest
from invented import AGREEMENT, SHEETS, SPLITS, agreement_file, asked_file, sheet_file

from lexarbor.corpus import packages
from lexarbor.corpus.agreements import AGREEMENTS
from lexarbor.corpus.benchmarks import catalogue, travail, vosdroits
from lexarbor.corpus.packages import Package
from lexarbor.supervision import preparation
from npm_package import pack


@pytest.fixture
def invented(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """VosDroits and Travail over the tiny law, from packages of invented sheets and agreements."""

    def stand_in() -> None:
        folder = tmp_path / "packages"
        folder.mkdir()
        made: dict[str, dict[str, object]] = {
            vosdroits.SHEETS: {f"data/particuliers/{one.id}.json": sheet_file(one) for one in SHEETS},
            travail.SHEETS: {"data/fiches-travail.json": asked_file([("Le fourrage", "Qui paie ?", "VALARTI0012")])},
            AGREEMENTS: {"data/KALICONT1.json": agreement_file("Palefreniers", AGREEMENT)},
        }
        tarballs = {
            spec: pack(folder / f"{number}.tgz", members) for number, (spec, members) in enumerate(made.items())
        }

        def fetch(package: Package) -> Path:
            return tarballs[package.spec]

        monkeypatch.setattr(packages, "fetch", fetch)
        monkeypatch.setattr(catalogue, "written_split", SPLITS.__getitem__)
        monkeypatch.setattr(vosdroits, "LAW", "tiny")
        monkeypatch.setattr(preparation, "DEFAULT_LAW", str(_today(folder)))

    return stand_in


def _today(folder: Path) -> Path:
    """A later law, of which one article has changed."""
    path = folder / "today.jsonl"
    lines = [
        '{"kind": "law", "format": "lexarbor-law/1", "name": "today", "as_of": "2026-06-01"}',
        '{"kind": "code", "id": "C", "title": "Code des ânes"}',
        '{"kind": "article", "id": "N1", "number": "L1", "parent": "C", "text": "Les ânes votent."}',
        '{"kind": "article", "id": "N2", "number": "L2", "parent": "C", "text": '
        '"La parcelle ne peut être ni cédée ni sous-louée."}',
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
