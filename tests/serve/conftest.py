"""The application over the tiny corpus, asked without a socket."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from lexarbor.corpus.sources import read_tiny
from lexarbor.corpus.tree import LawTree
from lexarbor.search.building import build_index
from lexarbor.search.lexical import tuned
from lexarbor.serve.app import build_app
from lexarbor.serve.laws import Laws
from lexarbor.serve.settings import ServeSettings


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of its own, and nothing from the environment."""
    monkeypatch.setenv("LEXARBOR_CACHE", str(tmp_path / "cache"))
    for name in ("LEXARBOR_INDEX", "LEXARBOR_API_KEY", "LEXARBOR_SERVE", "PROMETHEUS_MULTIPROC_DIR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of the tiny corpus by words alone. Not to be written to."""
    folder = tmp_path_factory.mktemp("served") / "index"
    build_index(read_tiny(), folder, source="tiny", settings=tuned("headings+text"))
    return folder


@pytest.fixture(scope="session")
def laws(tiny: Path) -> Laws:
    return Laws(tiny)


@pytest.fixture
def law(laws: Laws) -> LawTree:
    return laws.present.index.law


@pytest.fixture(scope="session")
def serving(laws: Laws, tiny: Path) -> Callable[..., TestClient]:
    """A client of the application over some laws with some settings; as much may be asked as one likes."""

    def serving(over: Laws = laws, /, **settings: Any) -> TestClient:
        app = build_app(over, ServeSettings(index=tiny, **({"rate": 0.0} | settings)))
        return TestClient(app, follow_redirects=False)

    return serving


@pytest.fixture(scope="session")
def client(serving: Callable[..., TestClient]) -> TestClient:
    return serving()
