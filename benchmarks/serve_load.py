"""HTTP/1.1 by hand: a load that is cheap to make, and clients that behave badly. For measure_serve.py.

python benchmarks/serve_load.py < PLAN      runs a plan in a process of its own, prints what came of it as JSON
"""

import asyncio
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import urlencode

HOST = "127.0.0.1"
PATIENCE = 30.0
"""Seconds after which an answer that has not come is an error."""


class Ask(NamedTuple):
    """One request, and the status that is expected."""

    raw: bytes
    status: int = 200


class Reply(NamedTuple):
    status: int
    head: bytes
    body: bytes

    def header(self, name: bytes) -> bytes:
        """A header's value; empty where there is none."""
        at = self.head.lower().find(b"\r\n" + name + b": ")
        return self.head[at + len(name) + 4 :].partition(b"\r\n")[0] if at >= 0 else b""


def request(method: str, path: str, body: bytes = b"", kind: str = "application/json", more: bytes = b"") -> bytes:
    """A request as it is sent. `more`: further header lines, each with its end."""
    of_body = f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n" if method == "POST" else ""
    return f"{method} {path} HTTP/1.1\r\nHost: {HOST}\r\n{of_body}".encode() + more + b"\r\n" + body


def search(question: str, **how: Any) -> bytes:
    return request("POST", "/api/search", json.dumps({"question": question} | how).encode())


def form(question: str) -> bytes:
    return request("POST", "/recherche", urlencode({"q": question}).encode(), "application/x-www-form-urlencoded")


class Line:
    """One connection that is kept alive."""

    def __init__(self, port: int, source: str = HOST) -> None:
        self._port, self._source = port, source

    async def __aenter__(self) -> "Line":
        self.reader, self.writer = await asyncio.open_connection(HOST, self._port, local_addr=(self._source, 0))
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.close()

    async def exchange(self, raw: bytes) -> Reply:
        self.writer.write(raw)
        return await asyncio.wait_for(self.reply(), PATIENCE)

    async def reply(self) -> Reply:
        head = await self.reader.readuntil(b"\r\n\r\n")
        reply = Reply(int(head[9:12]), head, b"")
        return reply._replace(body=await self.reader.readexactly(int(reply.header(b"content-length") or 0)))


async def once(port: int, raw: bytes, source: str = HOST) -> Reply:
    """One request on a connection of its own."""
    async with Line(port, source) as line:
        return await line.exchange(raw)


async def load(port: int, asks: list[Ask], clients: int, seconds: float | None, pause: float) -> dict[str, Any]:
    """Clients that ask, each `pause` seconds after it has its answer, until the time is over or, without one, all is
    asked.

    A redirection is followed, and is part of the answer's time.
    """
    times: list[float] = []
    failures: Counter[str] = Counter()
    left = iter(asks)
    began = time.perf_counter()
    until = began + (seconds or float("inf"))
    await asyncio.gather(*(_client(port, left, until, pause, times, failures) for _ in range(clients)))
    took = time.perf_counter() - began
    if seconds and next(left, None) is None:
        failures["questions ran out"] += 1
    return {"times": times, "failures": failures, "seconds": took, "cpu": time.process_time() / took}


async def _client(
    port: int, left: Iterator[Ask], until: float, pause: float, times: list[float], failures: Counter[str]
) -> None:
    await asyncio.sleep(random.random() * pause)
    while time.perf_counter() < until:
        try:
            async with Line(port) as line:
                for ask in left:
                    asked = time.perf_counter()
                    reply = await line.exchange(ask.raw)
                    if reply.status == 303:
                        reply = await line.exchange(request("GET", reply.header(b"location").decode()))
                    times.append(1000 * (time.perf_counter() - asked))
                    if reply.status != ask.status or not reply.body:
                        failures[f"status {reply.status}"] += 1
                    if time.perf_counter() >= until:
                        return
                    if b"\r\nconnection: close" in reply.head:
                        break
                    if pause:
                        await asyncio.sleep(pause)
                else:
                    return
        except (OSError, EOFError, TimeoutError, ValueError) as error:
            failures[type(error).__name__] += 1


async def gentle(port: int, asks: list[Ask], source: str) -> dict[str, Any]:
    """A client that asks five times a second, each time on a new connection."""
    times: list[float] = []
    failures: Counter[str] = Counter()

    async def one(ask: Ask) -> None:
        began = time.perf_counter()
        try:
            status = (await once(port, ask.raw, source)).status
        except (OSError, EOFError, TimeoutError) as error:
            failures[type(error).__name__] += 1
            return
        times.append(1000 * (time.perf_counter() - began))
        if status != ask.status:
            failures[f"status {status}"] += 1

    asking = []
    for ask in asks:
        asking.append(asyncio.create_task(one(ask)))
        await asyncio.sleep(0.2)
    await asyncio.gather(*asking)
    return {"times": times, "failures": failures}


async def elsewhere(**plan: Any) -> dict[str, Any]:
    """What comes of a plan, run in a process of its own: `gentle` where it has a source, else `load`."""
    plan["asks"] = [(ask.raw.decode("latin-1"), ask.status) for ask in plan["asks"]]
    process = await asyncio.create_subprocess_exec(
        sys.executable, __file__, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    told, _ = await process.communicate(json.dumps(plan).encode())
    found: dict[str, Any] = json.loads(told)
    return found


if __name__ == "__main__":
    plan = json.load(sys.stdin)
    plan["asks"] = [Ask(raw.encode("latin-1"), status) for raw, status in plan["asks"]]
    print(json.dumps(asyncio.run(gentle(**plan) if "source" in plan else load(**plan))))
