from pathlib import Path

import pytest
from light_training import finish, on_bench, pretend_prepared


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A work folder whose supervision passes for prepared."""
    return pretend_prepared(tmp_path / "work", "train", "train+dev")


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The jobs that a trainer without models was given, in order."""
    return on_bench(monkeypatch, finish)
