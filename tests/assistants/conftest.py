"""The tiny corpus, looked up on the day after its date."""

from collections.abc import Callable
from datetime import date

import pytest

from lexarbor.assistants import Lookup, lookup
from lexarbor.corpus.sources import read_tiny
from lexarbor.search import Engine
from lexarbor.search.building import build_index
from lexarbor.search.lexical import tuned


@pytest.fixture(autouse=True)
def set_today(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, int, int], None]:
    """Makes a day today."""

    def set_today(year: int, month: int, day: int) -> None:
        class Calendar(date):
            @classmethod
            def today(cls) -> "Calendar":
                return cls(year, month, day)

        monkeypatch.setattr(lookup, "date", Calendar)

    set_today(2026, 1, 2)
    return set_today


@pytest.fixture(scope="session")
def engines(tmp_path_factory: pytest.TempPathFactory) -> dict[date | None, Engine]:
    """Over the law as it stands, and as it stood on a day."""
    folder, earlier = tmp_path_factory.mktemp("tiny"), date(2016, 5, 1)
    for law, name in ((read_tiny(), "present"), (read_tiny().as_of(earlier), "earlier")):
        build_index(law, folder / name, source="tiny", settings=tuned("headings+text"))
    return {None: Engine.open(folder / "present"), earlier: Engine.open(folder / "earlier")}


@pytest.fixture
def library(engines: dict[date | None, Engine]) -> Lookup:
    return Lookup(engines.__getitem__)
