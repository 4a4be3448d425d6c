"""No word of a question is kept or told anywhere: a canary is sent through every door of a real server, then looked
for in all that it says and writes.

Answers may hold it: that is what was asked for.
"""

import re
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from lexarbor.serve.settings import digest
from serving import CANARY, QUESTION, Server, running

BROKEN = f"{CANARY} casse"
KEY = "3f2a9c1b7d5e4f60a1b2c3d4"
BREAKING = """
from lexarbor.search.engine import Engine
search = Engine.search
def breaking(self, question, *others, **more):
    if "casse" in question:
        raise RuntimeError(question)
    return search(self, question, *others, **more)
Engine.search = breaking
"""
"""An engine that fails on some questions, and says which."""

Door = tuple[str, str, dict[str, Any]]
FORM = {"content-type": "application/x-www-form-urlencoded"}
JSON = {"content-type": "application/json"}
NAMING = dict.fromkeys(
    ("Referer", "User-Agent", "Cookie", "X-Question", "Range", "If-None-Match", "Accept-Language", "Origin"), QUESTION
)
BODIES: list[tuple[str, bytes, dict[str, str]]] = [
    ("/api/search", f'{{"question": "{CANARY}'.encode(), JSON),
    ("/api/search", f'{{"question": 1, "{CANARY}": "{CANARY}"}}'.encode(), JSON),
    ("/api/search", b"\xff\xfe" + QUESTION.encode(), JSON),
    ("/api/search", QUESTION.encode(), {"content-type": CANARY}),
    ("/api/search", QUESTION.encode() * 20_000, JSON),
    ("/recherche", QUESTION.encode() * 20_000, FORM),
    ("/recherche", f"q={CANARY}&k={CANARY}".encode(), FORM),
    ("/recherche", f"q={CANARY}&as_of={CANARY}".encode(), FORM),
    ("/recherche", f"{CANARY}={CANARY}".encode(), FORM),
    ("/recherche", f"--x\r\n{CANARY}\r\n".encode(), {"content-type": "multipart/form-data; boundary=x"}),
    (
        "/recherche",
        f'--x\r\nContent-Disposition: form-data; name="q"; filename="{CANARY}"\r\n\r\n{CANARY}\r\n--x--\r\n'.encode(),
        {"content-type": "multipart/form-data; boundary=x"},
    ),
    ("/recherche", QUESTION.encode(), {"content-type": f"multipart/form-data; {CANARY}"}),
]
DOORS: list[Door] = [
    ("GET", "/api/search", {"params": {"q": QUESTION, "explain": "true"}}),
    ("GET", "/api/search", {"params": {"q": f"L1 {CANARY} et L999-9 du code communal de Valombre"}}),
    ("POST", "/api/search", {"json": {"question": QUESTION}}),
    ("POST", "/api/search", {"json": {"questions": [QUESTION, f"{CANARY} ?"]}}),
    ("GET", "/recherche", {"params": {"q": QUESTION}}),
    ("GET", "/en/search", {"params": {"q": QUESTION}}),
    ("POST", "/recherche", {"data": {"q": QUESTION}}),
    ("POST", "/en/search", {"files": {"q": (None, QUESTION)}}),
    ("GET", "/api/search", {"params": {"q": QUESTION * 100}}),
    ("POST", "/api/search", {"json": {"question": QUESTION * 100}}),
    ("GET", "/recherche", {"params": {"q": QUESTION * 100}}),
    ("POST", "/recherche", {"data": {"q": QUESTION * 100}}),
    ("GET", "/api/search", {"params": {"q": QUESTION, CANARY: CANARY}}),
    *(("GET", "/api/search", {"params": {"q": "a", name: CANARY}}) for name in ("k", "code", "under", "as_of")),
    *(("GET", "/recherche", {"params": {"q": "a", name: CANARY}}) for name in ("k", "code", "as_of")),
    *(
        ("GET", f"{path}{QUESTION}", {})
        for path in (
            *("/", "/en/", "/api/", "/api/search/", "/api/articles/", "/api/tree/", "/article/", "/loi/"),
            *("/recherche/", "/static/", "/loi?as_of=", "/?", "/api/health?", "/metrics?", "/en?"),
        )
    ),
    ("GET", f"/api/articles/{CANARY}/related", {}),
    ("GET", f"/{CANARY * 2000}", {}),
    *((method, "/api/search", {"params": {"q": QUESTION}}) for method in ("PUT", "DELETE", "OPTIONS", "HEAD", CANARY)),
    ("PATCH", "/recherche", {"params": {"q": QUESTION}}),
    *(("GET", path, {"headers": NAMING}) for path in ("/", "/api/tree", "/api/nowhere", "/static/style.css")),
    *(("POST", path, {"content": content, "headers": headers}) for path, content, headers in BODIES),
]
"""All the ways in which a question, or a piece of one, can reach the server."""
RAW = [
    f"GET /{QUESTION} HTTP/1.1\r\nHost: x\r\n\r\n",
    f"{CANARY} {CANARY} {CANARY}\r\n\r\n",
    f"GET / HTTP/1.1\r\nHost: x\r\n{CANARY}\r\n\r\n",
    f"GET / HTTP/1.1\r\nHost: x\r\nX: a\x00{CANARY}\r\n\r\n",
    f"POST /api/search HTTP/1.1\r\nHost: x\r\nContent-Length: {CANARY}\r\n\r\n{CANARY}",
    f"POST /recherche HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n{CANARY}",
    f"POST /api/search HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n{CANARY}",  # and then it hangs up
    f"GET /?q={CANARY} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: upgrade\r\nOrigin: {CANARY}\r\n\r\n",
    f"GET /?q={CANARY} HTTP/1.1\r\nHost: x\r\nUpgrade: {CANARY}\r\nConnection: upgrade\r\n\r\n",
]
"""What no client of HTTP sends."""


def holds(what: str | bytes) -> bool:
    text = what.decode("utf-8", "replace") if isinstance(what, bytes) else what
    return CANARY.lower() in text.lower()


class Place:
    """All that a server can write to, made anew."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.variables = {}
        for name in ("TMPDIR", "HOME", "LEXARBOR_CACHE", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"):
            (folder / name).mkdir()
            self.variables[name] = str(folder / name)
        self.start = folder / "start"
        self.start.mkdir()

    def left(self) -> list[str]:
        """What lies there."""
        return [str(path.relative_to(self.folder)) for path in self.folder.glob("*/**/*")]

    def check(self) -> None:
        for path in self.folder.rglob("*"):
            assert not holds(path.name)
            assert not (path.is_file() and holds(path.read_bytes())), path


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "place").mkdir()
    return Place(tmp_path / "place")


def ask(server: Server, doors: list[Door], **headers: str) -> Iterator[httpx.Response]:
    """What is answered; only success may hold the canary, and no header ever."""
    with httpx.Client(base_url=server.url, timeout=20) as client:
        for method, path, more in doors:
            more = {**more, "headers": {**more.get("headers", {}), **headers}}
            response = client.request(method, path, **more)
            assert response.status_code < 400 or not holds(response.content), (method, path)
            for name, value in response.headers.multi_items():
                assert not holds(name + value), (method, path)
            yield response


def send_raw(server: Server) -> None:
    for sent in RAW:
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
            connection.sendall(sent.encode())
            if "Content-Length: 99" in sent:
                continue
            connection.shutdown(socket.SHUT_WR)
            answered = b""
            while piece := connection.recv(65536):
                answered += piece
        assert not holds(answered), sent


def test_a_real_server_keeps_and_tells_no_word_of_a_question(tiny: Path, place: Place) -> None:
    serve = ("--verbose", "serve", "--index", tiny, "--rate", "0")
    with running(*serve, before=BREAKING, folder=place.start, **place.variables) as server:
        answers = list(ask(server, DOORS))
        statuses = {response.status_code for response in answers}
        assert statuses >= {200, 303, 400, 404, 405, 410, 413, 422}
        assert 500 not in statuses
        sealed = [("GET", one.headers["location"], {}) for one in answers if one.status_code == 303]
        assert sum(holds(one.content) for one in ask(server, sealed)) >= 2
        broken: list[Door] = [
            ("GET", "/api/search", {"params": {"q": BROKEN}}),
            ("POST", "/api/search", {"json": {"questions": ["a", BROKEN]}}),
            ("GET", "/recherche", {"params": {"q": BROKEN}}),
        ]
        assert [response.status_code for response in ask(server, broken)] == [500] * 3
        send_raw(server)
        (metrics,) = ask(server, [("GET", "/metrics", {})])
        assert not holds(metrics.content)
        assert 'lexarbor_requests_total{method="GET",route="/api/search",status="200"}' in metrics.text
        place.check()
        server.end(signal.SIGTERM)
    place.check()
    assert server.out == ""
    assert not holds(server.err)
    told = server.err.splitlines()
    assert sum(line.startswith("lexarbor: RuntimeError at <string>, line ") for line in told) == 3
    assert "127.0.0.1" not in "".join(told[1:])  # nor who asked
    assert "Traceback" not in server.err
    assert not holds(b"".join(path.read_bytes() for path in tiny.rglob("*") if path.is_file()))
    assert place.left() == []  # nothing at all stays behind, of us or of any library


def test_nor_do_two_workers_that_need_a_key(tiny: Path, place: Place, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text(f"{KEY}\n", encoding="utf-8")
    serve = ("serve", "--index", tiny, "--rate", "0", "--workers", "2", "--api-key-file", keys)
    with running(*serve, folder=place.start, **place.variables) as server:
        refused = list(
            ask(server, [("GET", "/api/search", {"params": {"q": QUESTION}})], authorization=f"Bearer {CANARY}")
        )
        assert [response.status_code for response in refused] == [401]
        asked = [door for door in DOORS if door[1] in ("/api/search", "/recherche", "/en/search", f"/{QUESTION}")]
        answers = list(ask(server, asked, authorization=f"Bearer {KEY}"))
        sealed = [("GET", one.headers["location"], {}) for one in answers if one.status_code == 303]
        # whichever worker is asked opens what the other has closed
        assert {one.status_code for one in ask(server, [one for one in sealed if len(one[1]) > 9] * 4)} == {200}
        (metrics,) = ask(server, [("GET", "/metrics", {})], authorization=f"Bearer {KEY}")
        assert not holds(metrics.content)
        assert 'lexarbor_requests_total{method="GET",route="other",status="401"} 1.0' in metrics.text
        assert any(re.search("lexarbor-.*/counter_[0-9]+.db", path) for path in place.left())  # what workers count
        place.check()
        environments = [environment(pid) for pid in (server.process.pid, *children(server.process.pid))]
        assert len(environments) >= 3
        assert not any(holds(found) or KEY.encode() in found for found in environments)
        assert sum(digest(KEY).encode() in found for found in environments) >= 2
        assert server.end(signal.SIGTERM) == 0
    place.check()
    assert server.out == ""
    assert not holds(server.err)
    assert "Traceback" not in server.err
    assert "127.0.0.1" not in "".join(server.err.splitlines()[1:])
    assert place.left() == []


def children(pid: int) -> list[int]:
    told = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    return [int(one) for one in told.split()]


def environment(pid: int) -> bytes:
    return b"".join(Path(f"/proc/{pid}/{name}").read_bytes() for name in ("environ", "cmdline"))
