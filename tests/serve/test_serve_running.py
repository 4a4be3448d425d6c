"""How a server is started: its socket, what it says, and that it logs no request."""

import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from uvicorn.supervisors import Multiprocess

from lexarbor.serve.guard import Guard
from lexarbor.serve.heads import MOST_BYTES, BoundedHeads
from lexarbor.serve.running import APP, LOGGING, run
from lexarbor.serve.settings import VARIABLE, ServeSettings
from serving import running


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, uvicorn.Config, socket.socket]]]:
    """By which class servers were started, how, and where they listen; none is."""
    found: list[tuple[str, uvicorn.Config, socket.socket]] = []

    def serve(self: uvicorn.Server, sockets: list[socket.socket]) -> None:
        found.append(("one", self.config, *(one.dup() for one in sockets)))

    def supervise(self: Multiprocess) -> None:
        assert Path(os.environ["PROMETHEUS_MULTIPROC_DIR"]).is_dir()
        found.append(("many", self.config, *(one.dup() for one in self.sockets)))

    monkeypatch.setattr(uvicorn.Server, "run", serve)
    monkeypatch.setattr(Multiprocess, "run", supervise)
    monkeypatch.setattr(uvicorn.Config, "configure_logging", lambda self: None)
    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", "")
    yield found
    for _, _, listening in found:
        listening.close()


def test_no_request_is_logged_and_nobody_is_believed_about_who_asks(started: list[Any], tiny: Path) -> None:
    said: list[str] = []
    settings = ServeSettings(tiny)
    run(settings, "127.0.0.1", 0, None, said.append)
    ((kind, config, listening),) = started
    assert (kind, type(config.app), config.factory) == ("one", Guard, False)
    assert said == [f"Lexarbor at http://127.0.0.1:{listening.getsockname()[1]}/ (Ctrl-C ends it)"]
    assert (config.access_log, config.server_header, config.proxy_headers) == (False, False, False)
    assert config.log_config == LOGGING
    assert LOGGING["root"]["level"] == "WARNING"
    assert config.timeout_graceful_shutdown
    assert not os.environ[VARIABLE]  # nothing is handed on where there are no workers


def test_a_proxy_that_is_named_is_believed(started: list[Any], tiny: Path) -> None:
    run(ServeSettings(tiny), "127.0.0.1", 0, "10.0.0.1", lambda _: None)
    ((_, config, _),) = started
    assert (config.proxy_headers, config.forwarded_allow_ips) == (True, "10.0.0.1")


def test_workers_share_one_socket(started: list[Any], tiny: Path) -> None:
    said: list[str] = []
    run(ServeSettings(tiny, workers=2, root_path="/droit"), "127.0.0.1", 0, None, said.append)
    ((kind, config, listening),) = started
    assert (kind, config.workers, config.app, config.factory) == ("many", 2, APP, True)
    assert said == [f"Lexarbor at http://127.0.0.1:{listening.getsockname()[1]}/droit/ (Ctrl-C ends it)"]
    assert not Path(os.environ["PROMETHEUS_MULTIPROC_DIR"]).exists()  # what was counted goes with the server


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6")
def test_an_ipv6_address_is_told_as_browsers_take_it(started: list[Any], tiny: Path) -> None:
    said: list[str] = []
    try:
        run(ServeSettings(tiny), "::1", 0, None, said.append)
    except Exception:
        pytest.skip("no IPv6 here")
    ((_, _, listening),) = started
    assert said == [f"Lexarbor at http://[::1]:{listening.getsockname()[1]}/ (Ctrl-C ends it)"]


def test_a_head_without_an_end_ends_the_connection(tiny: Path) -> None:
    with running("serve", "--index", tiny) as server, socket.create_connection(("127.0.0.1", server.port)) as client:
        client.settimeout(20)
        with suppress(ConnectionError):
            client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nX-Long: " + b"a" * (4 * MOST_BYTES))
        with suppress(ConnectionError):
            assert client.recv(100) == b""


def test_a_head_that_never_comes_ends_the_connection(tiny: Path) -> None:
    fast = "import lexarbor.serve.heads as heads; heads.SECONDS = 0.2"
    with running("serve", "--index", tiny, before=fast) as server:
        for sent in (b"", b"GET / HT"):
            with socket.create_connection(("127.0.0.1", server.port)) as client:
                client.settimeout(20)
                client.sendall(sent)
                assert client.recv(100) == b""
        with socket.create_connection(("127.0.0.1", server.port)) as client:
            client.settimeout(20)
            client.sendall(b"GET /api/health HTTP/1.1\r\nHost: a\r\n\r\n")
            assert client.recv(100).startswith(b"HTTP/1.1 200")


def test_a_body_that_nobody_reads_is_not_waited_for(tiny: Path) -> None:
    with running("serve", "--index", tiny) as server, socket.create_connection(("127.0.0.1", server.port)) as client:
        client.settimeout(20)
        client.sendall(b"GET /api/health HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n")
        told = b""
        while piece := client.recv(10_000):
            told += piece
        assert told.startswith(b"HTTP/1.1 200")
        assert b"\r\nconnection: close\r\n" in told


class Unread:
    """A connection whose client takes some of an answer, and then no more."""

    def __init__(self, *left: int) -> None:
        self.left, self.ended, self.clocks = list(left), "", 0
        self.transport = self.loop = self

    def get_write_buffer_size(self) -> int:
        return self.left.pop(0)

    def call_later(self, seconds: float, look: Any) -> None:
        self.clocks += 1
        look()

    def is_closing(self) -> bool:
        return False

    def abort(self) -> None:
        self.ended = "cut off"

    def close(self) -> None:
        self.ended = "closed"


@pytest.mark.parametrize(
    ("left", "ended", "clocks"), [((0,), "closed", 0), ((9, 5, 0), "closed", 2), ((9, 5, 5), "cut off", 2)]
)
def test_an_answer_that_is_not_read_is_given_up(left: tuple[int, ...], ended: str, clocks: int) -> None:
    connection = Unread(*left)
    protocol = BoundedHeads.__new__(BoundedHeads)
    protocol.__dict__.update(transport=connection, loop=connection, _unread=0)
    protocol.timeout_keep_alive_handler()
    assert (connection.ended, connection.clocks) == (ended, clocks)
