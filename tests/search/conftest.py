"""Indexes of the tiny corpus."""

from pathlib import Path

import pytest

from lexarbor.corpus.sources import read_tiny
from lexarbor.search import Engine
from lexarbor.search.building import build_index
from lexarbor.search.lexical import tuned
from lexarbor.search.store import open_index
from toy_encoder import Toy


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of words alone."""
    folder = tmp_path_factory.mktemp("tiny") / "index"
    build_index(read_tiny(), folder, source="tiny", settings=tuned("headings+text"))
    return folder


@pytest.fixture(scope="module")
def whole(hybrid: Path) -> Engine:
    """An engine with all legs."""
    return Engine.open(hybrid)


@pytest.fixture(scope="module")
def everyday_engine(everyday: Path) -> Engine:
    """An engine with everyday questions, words and a toy's vectors."""
    return Engine(open_index(everyday), encoder=Toy())  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def engine(folder: Path) -> Engine:
    return Engine.open(str(folder))
