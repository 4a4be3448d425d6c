"""`lexarbor serve`, as people start and end it."""

import os
import shutil
import signal
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from lexarbor.cli.serve import SHORTEST_KEY
from lexarbor.errors import FetchError
from lexarbor.serve import running as starting
from lexarbor.serve.settings import ServeSettings, digest
from serving import running

KEY, OTHER = "3f2a9c1b7d5e4f60", "a0b1c2d3e4f5061728394a5b"
SLOW = """
import time
from lexarbor.search.engine import Engine
search = Engine.search
def slow(self, question, *others, **more):
    if "lent" in question:
        print("begun", flush=True)
        time.sleep(0.5)
    return search(self, question, *others, **more)
Engine.search = slow
"""
"""An engine that takes its time over some questions, and says when it has begun."""
Started = list[tuple[ServeSettings, str, int, str | None]]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Started:
    """With what servers were started; none is."""
    found: Started = []

    def run(settings: ServeSettings, host: str, port: int, proxy: str | None, say: Any) -> None:
        found.append((settings, host, port, proxy))

    monkeypatch.setattr(starting, "run", run)
    monkeypatch.delenv("LEXARBOR_API_KEY", raising=False)
    return found


def refused(lexarbor: Callable[..., Any], *arguments: str | Path) -> str:
    """What is told of a server that is not started: one line."""
    done = lexarbor("serve", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("lexarbor: ") and done.err.count("\n") == 1
    told: str = done.err.removeprefix("lexarbor: ").strip()
    return told


def test_by_default_it_serves_this_machine_alone(lexarbor: Callable[..., Any], index: Path, started: Started) -> None:
    assert lexarbor("serve", "--index", index) == (0, "", "")
    ((settings, host, port, proxy),) = started
    assert (host, port, proxy) == ("127.0.0.1", 8000, None)
    assert settings == ServeSettings(index, seal=settings.seal)


def test_the_options_reach_the_server(
    lexarbor: Callable[..., Any], index: Path, started: Started, tmp_path: Path
) -> None:
    (tmp_path / "keys").write_text(f"  {KEY}\n\n{OTHER}\r\n", encoding="utf-8")
    options = (
        *("--host", "::1", "--port", "8080", "--workers", "3", "--api-key-file", tmp_path / "keys", "--rate", "0.5"),
        *("--burst", "7", "--days", "5", "--root-path", "/droit/", "--behind-proxy", "10.0.0.1"),
    )
    assert lexarbor("serve", "--index", index, *options).code == 0
    ((settings, host, port, proxy),) = started
    assert (host, port, proxy) == ("::1", 8080, "10.0.0.1")
    assert settings.keys == (digest(KEY), digest(OTHER))
    assert (settings.workers, settings.rate, settings.burst, settings.root_path) == (3, 0.5, 7, "/droit")
    assert settings.days == 0  # an index of one's own is of one day


def test_a_key_may_come_from_the_environment(
    lexarbor: Callable[..., Any], index: Path, started: Started, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LEXARBOR_API_KEY", f" {KEY} ")
    (tmp_path / "keys").write_text(OTHER, encoding="utf-8")
    lexarbor("serve", "--index", index)
    lexarbor("serve", "--index", index, "--api-key-file", tmp_path / "keys")
    monkeypatch.setenv("LEXARBOR_API_KEY", "")
    lexarbor("serve", "--index", index)
    assert [settings.keys for settings, *_ in started] == [(digest(KEY),), (digest(OTHER),), ()]
    monkeypatch.setenv("LEXARBOR_API_KEY", "secret")
    told = refused(lexarbor, "--index", index)
    assert told == f"a key of 6 characters is soon guessed: take {SHORTEST_KEY} or more"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "the keys cannot be read"),
        (b"", "there is no key in it; write one a line, such as `openssl rand -hex 32` makes"),
        (b" \n\n", "there is no key in it"),
        (b"\xff\xfe\x00", "the keys cannot be read"),
        (f"{KEY}\nhunter2hunter2!\n".encode(), "a key of 15 characters is soon guessed: take 16 or more"),
    ],
)
def test_keys_that_cannot_be_used_are_told(
    lexarbor: Callable[..., Any], index: Path, started: Started, tmp_path: Path, content: bytes | None, message: str
) -> None:
    if content is not None:
        (tmp_path / "keys").write_bytes(content)
    told = refused(lexarbor, "--index", index, "--api-key-file", tmp_path / "keys")
    assert message in told
    assert "hunter2" not in told and KEY not in told  # never the key itself
    assert message.startswith("a key of ") or str(tmp_path / "keys") in told
    assert not started


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--port", "65536"), "'--port'"),
        (("--port", "http"), "'--port'"),
        (("--workers", "0"), "'--workers'"),
        (("--rate", "-1"), "'--rate'"),
        (("--rate", "inf"), "rate is inf: expected 0 or more"),
        (("--burst", "0"), "'--burst'"),
        (("--days", "-1"), "'--days'"),
        (("--root-path", "droit"), "root path is 'droit': expected a path like /droit, or nothing"),
        (("--root-path", "/{droit}"), "root path is '/{droit}': expected a path like /droit, or nothing"),
    ],
)
def test_wrong_options_are_told(
    lexarbor: Callable[..., Any], index: Path, started: Started, options: tuple[str, ...], message: str
) -> None:
    assert message in refused(lexarbor, "--index", index, *options)
    assert not started


def test_a_port_that_is_taken_is_told(lexarbor: Callable[..., Any], index: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        told = refused(lexarbor, "--index", index, "--port", str(port))
    assert told.startswith(f"cannot listen at 127.0.0.1, port {port} (Address already in use")
    assert told.endswith("): choose others with --host and --port")


@pytest.mark.parametrize("host", ["256.0.0.1", "192.0.2.1", "2001:db8::1", "a..b", "é..è"])
def test_an_address_that_is_not_ours_is_told(lexarbor: Callable[..., Any], index: Path, host: str) -> None:
    told = refused(lexarbor, "--index", index, "--host", host, "--port", "0")
    assert told.startswith(f"cannot listen at {host}, port 0 (")
    assert told.endswith("): choose others with --host and --port")


def test_without_an_index_or_the_extra_it_says_what_to_do(
    lexarbor: Callable[..., Any], index: Path, started: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert refused(lexarbor, "--index", "nowhere") == "nowhere: no index there; build one with `lexarbor index`"
    for name in [name for name in sys.modules if name.startswith("lexarbor.serve")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "fastapi", None)
    told = refused(lexarbor, "--index", index)
    assert told == "serving the page needs an optional dependency: pip install 'lexarbor[serve]'"
    assert not started


@pytest.mark.usefixtures("kept")
def test_nothing_stands_in_for_a_law_that_cannot_be_fetched(
    lexarbor: Callable[..., Any], started: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> Path:
        raise FetchError("npm was not found: install Node.js")

    monkeypatch.setattr("lexarbor.corpus.packages.fetch", fail)
    done = lexarbor("serve")
    assert (done.code, done.out) == (2, "")
    assert "npm was not found: install Node.js; to try the page with a tiny invented law: `lexarbor" in done.err
    assert not started


def test_days_are_prepared_where_the_index_is_the_caches(
    lexarbor: Callable[..., Any], index: Path, started: Started, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached = tmp_path / "cache" / "index"
    shutil.copytree(index, cached)
    assert lexarbor("serve", "--days", "3").code == 0
    assert lexarbor("serve", "--days", "3", "--index", str(cached)).code == 0
    monkeypatch.setenv("LEXARBOR_INDEX", str(cached))
    assert lexarbor("serve", "--days", "3").code == 0
    assert [settings.days for settings, *_ in started] == [3, 0, 0]


@pytest.mark.skipif(os.name == "nt", reason="signals are of POSIX")
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_it_ends_when_the_answers_that_have_begun_are_given(index: Path, tmp_path: Path, sent: int, code: int) -> None:
    options = ("serve", "--index", index, "--root-path", "/droit")
    with running(*options, before=SLOW, TMPDIR=str(tmp_path), ORT_DISABLE_TELEMETRY="1") as server:
        assert server.url == f"http://127.0.0.1:{server.port}/droit/"
        root = f"http://127.0.0.1:{server.port}"
        answers: list[httpx.Response] = []

        def ask() -> None:
            answers.append(httpx.get(f"{root}/api/search", params={"q": "un maire lent", "k": 1}, timeout=20))

        asking = threading.Thread(target=ask)
        assert 'href="/droit/loi"' in httpx.get(f"{root}/").text
        asking.start()
        assert server.process.stdout is not None
        assert server.process.stdout.readline() == "begun\n"
        ended = server.end(sent)
        asking.join(20)
    assert [answer.status_code for answer in answers] == [200]
    assert answers[0].json()["hits"]
    assert server.out == ""
    assert server.err.count("\n") == 1  # where it was
    assert ended == code
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{root}/api/health")
