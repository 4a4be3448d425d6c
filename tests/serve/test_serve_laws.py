"""The law as it stands, taken up anew when its index changes."""

import threading
import time
from pathlib import Path

import pytest
from changing_laws import EARLIER, PRESENT, QUESTION, best, damage, indexed
from fastapi.testclient import TestClient
from prometheus_client import REGISTRY

from lexarbor.errors import SearchError
from lexarbor.serve import app
from lexarbor.serve.api import models
from lexarbor.serve.app import build_app
from lexarbor.serve.laws import Laws
from lexarbor.serve.settings import ServeSettings
from serving import shaped


def swaps(outcome: str) -> float:
    return REGISTRY.get_sample_value("lexarbor_index_swaps_total", {"outcome": outcome}) or 0.0


def test_there_must_be_an_index(tmp_path: Path) -> None:
    with pytest.raises(SearchError, match="no index there"):
        Laws(tmp_path / "nowhere")


def test_a_new_index_is_taken_up_while_the_old_one_goes_on_answering(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "index"
    indexed(folder, EARLIER)
    held = Laws(folder)
    old, before = held.present, swaps("done")
    assert not held.refresh()
    assert held.present is old
    indexed(folder, PRESENT)  # the generation before is swept away
    assert held.refresh()
    assert not held.refresh()
    assert (best(old), best(held.present)) == ("VALARTI0010", "VALARTI0070")
    assert (old.index.law.date, held.present.index.law.date) == (EARLIER, PRESENT)
    assert swaps("done") == before + 1
    assert REGISTRY.get_sample_value("lexarbor_articles") == 61
    assert [record.getMessage() for record in caplog.records] == ["a new index was taken up: law as of 2026-01-01"]


def test_the_swap_is_not_seen_by_those_who_ask(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    indexed(folder, EARLIER)
    held = Laws(folder)
    client = TestClient(build_app(held, ServeSettings(index=folder, rate=0)))
    ended, found = threading.Event(), []

    def ask() -> None:
        while not ended.is_set():
            told = shaped(models.AnswerTold, client.get("/api/search", params={"q": QUESTION, "k": 1}))
            found.append((told["law_as_of"], told["hits"][0]["id"]))

    asking = threading.Thread(target=ask)
    asking.start()
    indexed(folder, PRESENT)
    assert held.refresh()
    swapped = len(found)
    while len(found) < swapped + 3:
        time.sleep(0.01)
    ended.set()
    asking.join()
    assert dict.fromkeys(found) == {("2016-05-01", "VALARTI0010"): None, ("2026-01-01", "VALARTI0070"): None}


def test_an_index_that_cannot_be_opened_leaves_the_one_before(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = tmp_path / "index"
    indexed(folder)
    held = Laws(folder)
    old, before = held.present, swaps("failed")
    indexed(folder)
    damage(folder)
    assert not held.refresh()
    assert held.present is old
    assert best(held.present) == "VALARTI0070"
    assert swaps("failed") == before + 1
    assert "the index has changed and cannot be opened, the one before stays: " in caplog.text
    assert "law.json: damaged or missing" in caplog.text
    caplog.clear()
    assert not held.refresh()  # told once
    assert not caplog.records
    (folder / "manifest.json").unlink()
    assert not held.refresh()
    indexed(folder)
    assert held.refresh()
    assert held.present is not old


def test_the_server_looks_for_a_new_index_by_itself(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = tmp_path / "index"
    indexed(folder, EARLIER)
    settings = ServeSettings(index=folder, rate=0, watch_seconds=0.02)
    with TestClient(build_app(Laws(folder), settings)) as client:
        assert client.get("/api/health").json()["law_as_of"] == "2016-05-01"
        indexed(folder, PRESENT)
        until = time.monotonic() + 10
        while client.get("/api/health").json()["law_as_of"] != "2026-01-01":
            assert time.monotonic() < until
            time.sleep(0.01)


def test_what_breaks_the_watching_is_told_and_ends_nothing(
    tiny: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    looked = threading.Semaphore(0)

    def fail(self: Laws) -> bool:
        looked.release()
        raise RuntimeError("no words of it")

    monkeypatch.setattr(Laws, "refresh", fail)
    with TestClient(build_app(Laws(tiny), ServeSettings(index=tiny, watch_seconds=0.01))) as client:
        assert looked.acquire(timeout=10) and looked.acquire(timeout=10)
        assert client.get("/api/health").status_code == 200
    assert f"the index could not be looked at: RuntimeError at {__file__}, line " in caplog.text
    assert "no words of it" not in caplog.text
    assert app.__name__ in {record.name for record in caplog.records}
