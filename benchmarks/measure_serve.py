"""The server under load and abuse: real servers on loopback, over the index of the cache.

    python benchmarks/measure_serve.py                       all of it, some 20 minutes; writes results/serve.md
    python benchmarks/measure_serve.py --only load,bait      some parts; what the others found before is kept

Needs the extras `serve` and `browser` (schemathesis) and `pip install psutil`. Clients and server share the machine's
cores, and machines are shared: the engine alone is measured in the same run.
"""

import argparse
import asyncio
import itertools
import json
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import psutil

from lexarbor.cli.indexes import folder_of
from lexarbor.search import Engine
from lexarbor.search.store import open_index
from serve_abuse import ABUSES, abused, try_baits
from serve_load import HOST, Ask, Line, elsewhere, form, once, request, search
from serve_report import report

HERE = Path(__file__).parent
RESULTS = HERE.parent / "results"
CLIENTS = 64
PAUSE = 0.25
"""Seconds from an answer to a client's next question, where it draws breath."""
WARM = 10_000
"""Requests before memory is looked at: caches fill, pages of the index are read."""
EXAMPLES = 50
"""Of schemathesis, for each operation."""


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


class Server:
    """A real one, on any free port, over the index of the cache."""

    def __init__(self, *options: str, workers: int = 2, rate: float | None = 0) -> None:
        limit = [] if rate is None else ["--rate", str(rate)]
        self._workers = workers
        self._command = [
            *(sys.executable, "-c", "from lexarbor.cli import main; main()", "serve", "--port", "0", "--days", "0"),
            *("--workers", str(workers), *limit, *options),
        ]

    def __enter__(self) -> "Server":
        self._log = tempfile.TemporaryFile("w+")
        self._process = subprocess.Popen(self._command, stderr=self._log, stdout=subprocess.DEVNULL)
        try:
            self._wait()
        except BaseException:
            self._process.kill()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            say("the server did not end when told to")
            for worker in self.workers:
                worker.kill()
            self._process.kill()

    def log(self) -> list[str]:
        """What it has told on stderr."""
        return Path(f"/proc/self/fd/{self._log.fileno()}").read_text(encoding="utf-8").splitlines()

    def _wait(self) -> None:
        """Until every worker has answered."""
        until = time.monotonic() + 120
        while not (told := re.search(r"http://127\.0\.0\.1:(\d+)", "\n".join(self.log()))):
            if self._process.poll() is not None or time.monotonic() > until:
                sys.exit("the server did not start: " + "\n".join(self.log()[-5:]))
            time.sleep(0.1)
        self.port = int(told[1])
        while not asyncio.run(self._all_answer()):
            if time.monotonic() > until:
                sys.exit("a worker has answered nothing for two minutes")

    async def _all_answer(self) -> bool:
        lines = [Line(self.port) for _ in range(16)]
        try:
            await asyncio.gather(*(line.__aenter__() for line in lines))
            await asyncio.gather(*(line.exchange(request("GET", "/api/health")) for line in lines))
            return len(self.workers) == self._workers and all(self.connections())
        finally:
            for line in lines:
                line.writer.close()

    @property
    def workers(self) -> list[psutil.Process]:
        server = psutil.Process(self._process.pid)
        if self._workers == 1:
            return [server]
        return [child for child in server.children() if "spawn_main" in " ".join(child.cmdline())]

    def connections(self) -> list[int]:
        """How many each worker holds."""
        return [
            sum(one.status == psutil.CONN_ESTABLISHED for one in worker.net_connections("tcp"))
            for worker in self.workers
        ]

    def megabytes(self) -> list[float]:
        """The memory of each worker."""
        return [round(worker.memory_info().rss / 1e6, 1) for worker in self.workers]

    def look(self) -> dict[str, float]:
        return {"connections": sum(self.connections()), "mb": sum(self.megabytes())}

    def cpu(self) -> float:
        """Seconds of work that the workers have done."""
        return sum(sum(worker.cpu_times()[:2]) for worker in self.workers)


def questions() -> list[str]:
    """Everyday questions, all different, shuffled."""
    lines = (HERE.parent / "recipes" / "everyday.jsonl").read_text(encoding="utf-8").splitlines()
    found = list(dict.fromkeys(question for line in lines for question in json.loads(line)["questions"]))
    random.Random(7).shuffle(found)
    return found


def run_load(
    server: Server, asks: list[Ask], clients: int = CLIENTS, seconds: float | None = None, pause: float = 0
) -> dict[str, Any]:
    """A load from a process of its own, and what it cost."""
    before, connections = server.cpu(), [0]

    async def loaded() -> dict[str, Any]:
        nonlocal connections
        plan = elsewhere(port=server.port, asks=asks, clients=clients, seconds=seconds, pause=pause)
        loading = asyncio.create_task(plan)
        await asyncio.wait([loading], timeout=(seconds or 6) / 2)
        connections = server.connections()
        return await loading

    found = asyncio.run(loaded())
    times = found["times"]
    if found["failures"]:
        say(f"  {found['failures']}; the server's last words: {server.log()[-3:]}")
    return {
        "requests": len(times),
        "per_second": len(times) / found["seconds"],
        **percentiles(times),
        "failures": found["failures"],
        "client_cpu": found["cpu"],
        "server_ms": 1000 * (server.cpu() - before) / len(times),
        "connections": connections,
    }


def percentiles(times: list[float]) -> dict[str, float]:
    return {f"p{at}": float(np.percentile(times, at)) for at in (50, 95, 99)} | {"max": max(times)}


def ids() -> tuple[list[str], list[str]]:
    """Articles, and codes and sections, shuffled."""
    law = open_index(folder_of(None)).law
    found = sorted(law.articles), [*sorted(law.codes), *sorted(law.sections)]
    for some in found:
        random.Random(7).shuffle(some)
    return found


def ask_engine(seconds: float) -> dict[str, float]:
    """The engine alone, in one thread of a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--engine", str(seconds)], stdout=subprocess.PIPE, text=True, check=True
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def engine_alone(seconds: float) -> dict[str, float]:
    engine = Engine.open(folder_of(None))
    asked = questions()[::-1]
    for question in asked[-50:]:
        engine.search(question, 10)
    began, worked, count = time.perf_counter(), time.process_time(), 0
    while time.perf_counter() < began + seconds:
        engine.search(asked[count], 10)
        count += 1
    took = time.perf_counter() - began
    return {"per_second": count / took, "ms": 1000 * (time.process_time() - worked) / count}


def part_load(options: argparse.Namespace) -> dict[str, Any]:
    """64 clients; the engine alone before and after, as what else the machine does changes."""
    seconds = options.seconds
    searches = [Ask(search(question, k=10)) for question in questions()]
    pages = [Ask(form(question)) for question in questions()]
    articles = [Ask(request("GET", f"/article/{id}")) for id in ids()[0]]
    found: dict[str, Any] = {"seconds": seconds, "engine": [ask_engine(5)]}
    with Server() as server:
        found["search"] = _warm_and_loaded(server, searches, seconds)
        found["pause"] = run_load(server, searches[::-1], seconds=seconds, pause=PAUSE)
        found["engine"].append(ask_engine(5))
    with Server() as server:
        found["page"] = _warm_and_loaded(server, pages, seconds / 3)
        found["article"] = _warm_and_loaded(server, articles, seconds / 3)
    with Server(workers=1) as server:
        found["one worker"] = _warm_and_loaded(server, searches, seconds / 3)
    found["engine"].append(ask_engine(5))
    return found


def _warm_and_loaded(server: Server, asks: list[Ask], seconds: float) -> dict[str, Any]:
    """What each worker does but once, with the first request of a kind, is done before; no question is asked twice."""
    run_load(server, asks[-200:], 16)
    return run_load(server, asks[:-200], seconds=seconds)


def part_memory(options: argparse.Namespace) -> dict[str, Any]:
    """Searches, pages and errors of all kinds; the workers' memory as they go on."""
    articles, places = ids()
    mixed = _mixture(questions(), articles, places)
    with Server() as server:
        run_load(server, list(itertools.islice(mixed, WARM)), 16)
        found: dict[str, Any] = {
            "mb": [server.megabytes()],
            "failures": Counter(),
            "step": options.requests // 10,
            "warm": WARM,
        }
        began = time.perf_counter()
        for _ in range(10):
            done = run_load(server, list(itertools.islice(mixed, found["step"])), 16)
            found["failures"].update(done["failures"])
            found["mb"].append(server.megabytes())
            say(f"  {found['mb'][-1]}")
        found["per_second"] = 10 * found["step"] / (time.perf_counter() - began)
    return found


def _mixture(asked: list[str], articles: list[str], places: list[str]) -> Iterator[Ask]:
    def get(path: str, status: int = 200) -> Ask:
        return Ask(request("GET", path), status)

    for at in itertools.count():
        question, article, place = asked[at % len(asked)], articles[at % len(articles)], places[at % len(places)]
        yield Ask(search(question, k=1 + at % 5))
        yield get(f"/article/{article}")
        yield Ask(search(question[::-1], k=3))
        yield get(f"/loi/{place}")
        yield Ask(form(question))
        yield get(f"/api/articles/{article}/related")
        yield get(f"/api/tree/{place}")
        yield (
            get(f"/article/{at}", 404), get(f"/api/{at}", 404), get(f"/{at}", 404), get(f"/recherche/{at}", 410),
            get(f"/loi?as_of={at}", 422), Ask(search(" "), 422), Ask(search(question, k=101 + at), 422),
            Ask(request("POST", "/api/search", b"{" * 999), 422), Ask(request("POST", "/loi", b"x"), 405),
        )[at % 9]  # fmt: skip


def part_abuse(options: argparse.Namespace) -> dict[str, Any]:
    """A gentle client beside clients that behave badly, one kind after the other."""
    found: dict[str, Any] = {}
    for limited in (False, True):
        with Server(rate=None if limited else 0) as server:
            for abuse in (one for one in ABUSES if one.limited == limited):
                say(f"  {abuse.clients} × {abuse.what}")
                told = asyncio.run(abused(server.port, abuse, questions(), server.look))
                found[abuse.what] = told | {"clients": abuse.clients}
    return found


def part_bait(options: argparse.Namespace) -> dict[str, Any]:
    """What would be script or a header if it were not escaped."""
    with Server() as server:
        return asyncio.run(try_baits(server.port))


def part_fuzz(options: argparse.Namespace) -> dict[str, Any]:
    """What schemathesis makes of the OpenAPI."""
    with Server() as server, tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        address = f"http://{HOST}:{server.port}/api/openapi.json"
        command = [
            *(str(Path(sys.executable).with_name("schemathesis")), "run", address, "--checks", "all", "--seed", "7"),
            *("--max-examples", str(EXAMPLES), "--continue-on-failure", "--no-color"),
            *("--report", "json", "--report-json-path", str(report)),
        ]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
        if not report.exists():
            sys.exit(f"schemathesis: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        told = json.loads(report.read_text(encoding="utf-8"))
        counted = asyncio.run(once(server.port, request("GET", "/metrics"))).body.decode()
    if told["failures"]:
        say(done.stdout)
    return {
        "cases": told["test_cases"]["generated"],
        "operations": told["operations"]["tested"],
        "failed": sum(map(float, re.findall(r'lexarbor_requests_total{.*status="500".*} (\S+)', counted))),
        "failures": {one["title"]: one["operations"] for one in told["failures"]},
    }


PARTS = {"load": part_load, "memory": part_memory, "abuse": part_abuse, "bait": part_bait, "fuzz": part_fuzz}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60, help="of the load of searches; a third for the others")
    parser.add_argument("--requests", type=int, default=50_000, help="over which memory is looked at")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, parted by commas")
    parser.add_argument("--engine", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.engine:
        print(json.dumps(engine_alone(options.engine)))
        return
    kept = RESULTS / "serve.json"
    found = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    for name in options.only.split(","):
        say(name)
        found[name] = PARTS[name](options) | {"day": str(date.today())}
        kept.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (RESULTS / "serve.md").write_text(report(found), encoding="utf-8")
    print("results/serve.md")


if __name__ == "__main__":
    main()
