"""How a server is to behave: checked when it is made, handed to its workers through their environment."""

import json
import math
import os
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from lexarbor.errors import ServeError
from lexarbor.serve.app import from_environment
from lexarbor.serve.settings import MOST_QUESTIONS, VARIABLE, ServeSettings, digest

POSITIVE = (
    *("burst", "longest_question", "most_articles", "largest_body", "body_seconds"),
    *("search_seconds", "waiting", "threads", "watch_seconds", "workers"),
)


def test_the_defaults_are_sound() -> None:
    settings = ServeSettings(Path("index"))
    assert (settings.rate, settings.burst, settings.workers, settings.keys, settings.days) == (10.0, 60, 1, (), 0)
    assert settings.burst > MOST_QUESTIONS


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        *((name, value, "expected more than 0") for name in POSITIVE for value in (0, -1, math.nan, math.inf)),
        *((name, value, "expected 0 or more") for name in ("days", "rate") for value in (-1, math.nan, math.inf)),
        *(
            ("root_path", value, "expected a path like /droit, or nothing")
            for value in (
                *("droit", "/", "/droit/", "//droit", "/droit//loi", "/à", "/a b", "/a\r\nb", "/a\n", "/{a}"),
                *("/a?b", "/a#b", "/a%20b", "http://droit", '/"', "//evil.example"),
            )
        ),
    ],
)
def test_what_makes_no_sense_is_refused(name: str, value: Any, message: str) -> None:
    with pytest.raises(ServeError) as refused:
        ServeSettings(Path("index"), **{name: value})
    assert str(refused.value) == f"{name.replace('_', ' ')} is {value!r}: {message}"


@pytest.mark.parametrize("path", ["", "/droit", "/a/b", "/~moi/droit-2.0_x"])
def test_a_path_of_a_proxy_may_be_given(path: str) -> None:
    assert ServeSettings(Path("index"), root_path=path).root_path == path


def test_each_start_has_a_seal_of_its_own() -> None:
    one, other = ServeSettings(Path("index")), ServeSettings(Path("index"))
    assert one.seal != other.seal
    assert len(one.seal) >= 32
    assert one.seal not in repr(one)


def test_workers_find_the_settings_of_their_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(VARIABLE, "")
    settings = ServeSettings(
        tmp_path / "été", (digest("a key of mine"), digest("another")), 3, 0.5, 7, 100, 5, 1000, 1.5, 2.5, 9, 3,
        0.25, 2, "/droit",
    )  # fmt: skip
    settings.hand_on()
    told = os.environ[VARIABLE]
    assert json.loads(told)["keys"] == [digest("a key of mine"), digest("another")]
    assert "a key of mine" not in told
    assert ServeSettings.handed_on() == settings
    assert VARIABLE not in os.environ


def test_a_worker_serves_with_what_it_was_handed(monkeypatch: pytest.MonkeyPatch, tiny: Path) -> None:
    monkeypatch.setenv(VARIABLE, "")
    ServeSettings(tiny, (digest("a key"),), root_path="/droit").hand_on()
    client = TestClient(from_environment())
    assert client.get("/api/tree").status_code == 401
    assert client.get("/api/tree", headers={"X-API-Key": "a key"}).status_code == 200
    assert 'href="/droit/loi"' in client.get("/").text


def test_a_key_is_kept_as_its_digest() -> None:
    assert digest("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # of FIPS 180-2
