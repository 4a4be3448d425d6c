"""Indexes of the tiny law of several days, whole and damaged."""

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from lexarbor.corpus.sources import read_tiny
from lexarbor.search import Engine
from lexarbor.search.building import build_index
from lexarbor.search.lexical import tuned
from lexarbor.serve.failures import Refusal

PRESENT, EARLIER, LATER = date(2026, 1, 1), date(2016, 5, 1), date(2023, 1, 1)
FIRST, LAST = date(2015, 1, 1), date(2026, 1, 1)
QUESTION = "L113-2 du code communal de Valombre"


def indexed(folder: Path, day: date = PRESENT, source: str = "own") -> None:
    build_index(read_tiny().as_of(day), folder, source=source, settings=tuned("headings+text"))


def damage(folder: Path) -> None:
    """What the manifest tells of is there, but one byte of it has changed."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    file = folder / manifest["generation"] / "law.json"
    file.write_bytes(file.read_bytes()[:-1] + b" ")


def best(engine: Engine) -> str:
    return engine.search(QUESTION, 1).hits[0].article.id


def code_of(ask: Callable[[], Any]) -> str:
    with pytest.raises(Refusal) as found:
        ask()
    return found.value.code
