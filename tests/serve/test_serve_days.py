"""The law of other days, prepared when it is asked for."""

import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from changing_laws import EARLIER, FIRST, LAST, LATER, PRESENT, QUESTION, best, code_of, damage, indexed
from fastapi.testclient import TestClient

from lexarbor.errors import FetchError
from lexarbor.search import Engine
from lexarbor.serve import laws
from lexarbor.serve.api import models
from lexarbor.serve.app import build_app
from lexarbor.serve.failures import Refusal
from lexarbor.serve.laws import Laws
from lexarbor.serve.settings import ServeSettings
from serving import refused, refused_page, shaped


class Days:
    """Laws over an index of the tiny law that passes for that of the French codes, and what was prepared of it."""

    def __init__(self, folder: Path, cache: Path, most: int) -> None:
        self.cache = cache
        self.prepared: list[date] = []
        self.free, self.begun = threading.Event(), threading.Semaphore(0)
        self.free.set()
        self.error: Exception | None = None
        self.laws = Laws(folder, most, self.prepare)

    def prepare(self, day: date) -> None:
        self.prepared.append(day)
        self.begun.release()
        assert self.free.wait(10)
        if self.error:
            raise self.error
        indexed(self.cache / f"index-{day}", day)

    def done(self) -> None:
        """Waits until nothing is being prepared."""
        for thread in threading.enumerate():
            if thread.name.startswith("preparing "):
                thread.join(10)
                assert not thread.is_alive()


@pytest.fixture(scope="session")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("own") / "index"
    indexed(folder)
    return folder


@pytest.fixture
def days(own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Days]]:
    made: list[Days] = []
    (tmp_path / "cache").mkdir()
    monkeypatch.setattr(laws, "snapshots", lambda: {"old": FIRST, "new": LAST})

    def days(most: int = 8) -> Days:
        made.append(Days(own, tmp_path / "cache", most))
        return made[-1]

    yield days
    for one in made:
        one.free.set()
        one.done()


def test_the_law_as_it_stands_is_that_of_its_own_day(days: Callable[..., Days]) -> None:
    held = days().laws
    assert held.days == (FIRST, LAST)
    assert held.of(None) is held.present
    assert held.of(PRESENT) is held.present
    assert held.held_days() == []


@pytest.mark.parametrize("day", [date(2014, 12, 31), date(2026, 1, 2), date.min, date.max])
def test_a_day_that_no_snapshot_tells_of_is_refused(days: Callable[..., Days], day: date) -> None:
    found = days()
    with pytest.raises(Refusal, match="ask for a day from 2015-01-01 to 2026-01-01") as refusal:
        found.laws.of(day)
    assert refusal.value.code == "day_not_held"
    assert found.prepared == []


def test_where_no_day_may_be_prepared_there_is_one(own: Path, tiny: Path) -> None:
    for held in (Laws(own, 0), Laws(tiny, 8)):
        assert held.days is None
        with pytest.raises(Refusal, match="one day alone is held here, that of 2026-01-01"):
            held.of(EARLIER)


def test_a_day_is_prepared_once_and_then_held(days: Callable[..., Days], caplog: pytest.LogCaptureFixture) -> None:
    found = days()
    assert code_of(lambda: found.laws.of(EARLIER)) == "preparing"
    found.done()
    engine = found.laws.of(EARLIER)
    assert engine.index.law.date == EARLIER
    assert best(engine) == "VALARTI0010"
    assert found.laws.of(EARLIER) is engine
    assert found.prepared == [EARLIER]
    assert found.laws.held_days() == [EARLIER]
    assert Laws(found.laws._index, 8, found.prepare).of(EARLIER).index.law.date == EARLIER  # by another worker
    assert found.prepared == [EARLIER]
    assert not caplog.records


def test_one_day_is_prepared_at_a_time(days: Callable[..., Days]) -> None:
    found, other = days(), days()
    found.free.clear()
    for _ in range(3):
        assert code_of(lambda: found.laws.of(EARLIER)) == "preparing"
    assert found.begun.acquire(timeout=10)
    for held in (found.laws, other.laws):  # another worker does not begin either
        for day in (LATER, EARLIER):
            assert code_of(lambda held=held, day=day: held.of(day)) == "preparing"
    assert (found.prepared, other.prepared) == ([EARLIER], [])
    found.free.set()
    found.done()
    assert other.laws.of(EARLIER).index.law.date == EARLIER
    assert code_of(lambda: other.laws.of(LATER)) == "preparing"
    other.done()
    assert (found.prepared, other.prepared) == ([EARLIER], [LATER])


@pytest.mark.parametrize("error", [FetchError("npm was not found"), OSError(28, "No space left on device")])
def test_a_day_that_cannot_be_prepared_is_told_and_not_tried_again_at_once(
    days: Callable[..., Days], error: Exception, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = days()
    found.error = error
    assert code_of(lambda: found.laws.of(EARLIER)) == "preparing"
    found.done()
    for _ in range(2):
        assert code_of(lambda: found.laws.of(EARLIER)) == "day_failed"
    assert found.prepared == [EARLIER]
    assert f"the law of 2016-05-01 could not be prepared: {error}" in caplog.text
    found.error = None
    assert code_of(lambda: found.laws.of(LATER)) == "preparing"  # others may do
    found.done()
    now = time.monotonic()
    monkeypatch.setattr(laws.time, "monotonic", lambda: now + laws.FAILED_SECONDS)
    assert code_of(lambda: found.laws.of(EARLIER)) == "preparing"
    found.done()
    assert found.laws.of(EARLIER).index.law.date == EARLIER


def test_a_day_whose_index_is_damaged_is_told_as_one_that_failed(
    days: Callable[..., Days], caplog: pytest.LogCaptureFixture
) -> None:
    found = days()
    indexed(found.cache / f"index-{EARLIER}", EARLIER)
    damage(found.cache / f"index-{EARLIER}")
    for _ in range(2):
        assert code_of(lambda: found.laws.of(EARLIER)) == "day_failed"
    assert caplog.text.count("law.json: damaged or missing") == 1
    assert found.laws.of(None) is found.laws.present


def test_an_index_of_a_day_that_this_version_cannot_read_is_built_anew(days: Callable[..., Days]) -> None:
    found = days(1)
    indexed(found.cache / f"index-{EARLIER}", EARLIER)
    manifest = found.cache / f"index-{EARLIER}" / "manifest.json"
    manifest.write_text(manifest.read_text(encoding="utf-8").replace("lexarbor-index/", "lexarbor-index/0"))
    assert code_of(lambda: found.laws.of(EARLIER)) == "preparing"
    found.done()
    assert found.laws.of(EARLIER).index.law.date == EARLIER


def test_a_cache_that_cannot_be_written_is_told_as_a_day_that_failed(
    days: Callable[..., Days], caplog: pytest.LogCaptureFixture
) -> None:
    found = days()
    found.cache.rmdir()
    assert code_of(lambda: found.laws.of(EARLIER)) == "day_failed"
    assert "the law of 2016-05-01 could not be prepared: " in caplog.text
    assert found.prepared == []


def test_no_more_days_are_prepared_than_may_be(days: Callable[..., Days]) -> None:
    found = days(2)
    for day in (LATER, EARLIER):
        assert code_of(lambda day=day: found.laws.of(day)) == "preparing"
        found.done()
    with pytest.raises(Refusal, match="no further day is prepared; held: 2016-05-01, 2023-01-01") as refusal:
        found.laws.of(date(2020, 1, 1))
    assert refusal.value.code == "day_not_prepared"
    assert found.prepared == [LATER, EARLIER]
    assert {found.laws.of(day).index.law.date for day in (LATER, EARLIER)} == {LATER, EARLIER}
    (found.cache / "index-tiny").mkdir()  # of no day
    assert found.laws.held_days() == [EARLIER, LATER]


def test_few_days_stay_open(days: Callable[..., Days], monkeypatch: pytest.MonkeyPatch) -> None:
    found = days()
    third = date(2020, 1, 1)
    for day in (EARLIER, LATER, third):
        indexed(found.cache / f"index-{day}", day)
    opened: list[Path] = []
    open_engine = laws._opened

    def counted(folder: Path) -> Engine:
        opened.append(folder)
        return open_engine(folder)

    monkeypatch.setattr(laws, "_opened", counted)
    assert laws.KEPT_DAYS == 2
    for day in (EARLIER, LATER, EARLIER, third, EARLIER, LATER, third):
        assert found.laws.of(day).index.law.date == day
    assert [folder.name for folder in opened] == [f"index-{day}" for day in (EARLIER, LATER, third, LATER, third)]
    assert found.prepared == []


def test_those_who_ask_for_another_day_are_told_to_come_back(days: Callable[..., Days], own: Path) -> None:
    found = days(1)
    client = TestClient(build_app(found.laws, ServeSettings(index=own, days=1, rate=0)))
    found.free.clear()
    for path in (
        "search?q=maire&",
        "articles/VALARTI0010?",
        "articles/VALARTI0010/related?",
        "tree?",
        "tree/VALTEXT01?",
    ):
        response = client.get(f"/api/{path}as_of=2016-05-01")
        refused(response, "preparing")
        assert response.headers["retry-after"] == "15"
    found.free.set()
    found.done()
    told = shaped(models.AnswerTold, client.get("/api/search", params={"q": QUESTION, "k": 1, "as_of": "2016-05-01"}))
    assert (told["law_as_of"], told["hits"][0]["id"]) == ("2016-05-01", "VALARTI0010")
    posted = client.post("/api/search", json={"questions": [QUESTION], "k": 1, "as_of": "2016-05-01"})
    assert posted.json() == {"answers": [told]}
    article = shaped(models.ArticleTold, client.get("/api/articles/VALARTI0010?as_of=2016-05-01"))
    assert (article["law_as_of"], article["end"]) == ("2016-05-01", "2022-07-01")
    refused(client.get("/api/tree?as_of=2020-01-01"), "day_not_prepared")
    assert client.get("/api/version").json()["days"] == ["2016-05-01"]


def test_people_who_ask_for_another_day_are_told_to_come_back(days: Callable[..., Days], own: Path) -> None:
    found = days(1)
    client = TestClient(build_app(found.laws, ServeSettings(index=own, days=1, rate=0)))
    found.free.clear()
    sealed = client.post("/recherche", data={"q": QUESTION, "as_of": "2016-05-01"}, follow_redirects=False)
    paths = ("/loi?", "/en/law/VALTEXT01?", "/article/VALARTI0010?", f"/recherche?q={QUESTION}&")
    asked = [*(f"{path}as_of=2016-05-01" for path in paths), sealed.headers["location"]]
    pages = [client.get(path) for path in asked]
    for page in pages:
        refused_page(page, "preparing")
    assert [page.headers.get("retry-after") for page in pages] == ["15"] * 5
    found.free.set()
    found.done()
    assert [client.get(path).status_code for path in asked] == [200] * 5


def test_a_day_is_prepared_by_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []

    def run(command: list[str], **how: Any) -> "subprocess.CompletedProcess[str]":
        commands.append(command)
        assert how["stdin"] == subprocess.DEVNULL
        return subprocess.CompletedProcess(command, codes.pop(), "", said)

    monkeypatch.setattr(subprocess, "run", run)
    codes, said = [2, 2, 0], "reading\nlexarbor: the last words\n"
    laws._prepare(EARLIER)
    assert commands[0][-3:] == ["index", "--as-of", "2016-05-01"]
    with pytest.raises(Exception, match=r"^lexarbor: the last words$"):
        laws._prepare(EARLIER)
    said = ""
    with pytest.raises(Exception, match=r"^exit code 2$"):
        laws._prepare(EARLIER)
