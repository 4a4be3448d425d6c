"""The law as it stands, taken up anew when its index changes; the law of other days, prepared when it is asked for."""

import json
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from prometheus_client import REGISTRY

from lexarbor.corpus.sources import read_tiny
from lexarbor.errors import FetchError, SearchError
from lexarbor.search import Engine
from lexarbor.search.building import build_index
from lexarbor.search.lexical import tuned
from lexarbor.serve import app, laws
from lexarbor.serve.api import models
from lexarbor.serve.app import build_app
from lexarbor.serve.failures import Refusal
from lexarbor.serve.laws import Laws
from lexarbor.serve.settings import ServeSettings
from serving import refused, refused_page, shaped

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
