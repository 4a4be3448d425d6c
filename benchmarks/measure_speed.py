"""Speed and memory of reading, indexing and searching the default law, written into results/speed.md and speed.json.

    python benchmarks/measure_speed.py

Each stage runs in a process of its own, so that its peak memory is its own. Machines differ and are shared: beside
each time stands its ratio to a fixed piece of work measured in the same run (sorting a million numbers).
"""

import json
import platform
import random
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from lexarbor.corpus.benchmarks.catalogue import build_benchmark
from lexarbor.corpus.sources import DEFAULT_LAW, read_law
from lexarbor.search.building import build_index
from lexarbor.search.engine import Engine
from lexarbor.search.lexical import tuned

RESULTS = Path(__file__).parent.parent / "results"
ASKED = 500
CEILINGS = {"read_s": 12.0, "read_mb": 2048.0, "index_s": 10.0, "question_p50_ms": 2.0, "import_s": 0.2}


def unit() -> float:
    draw = random.Random(0)
    numbers = [draw.random() for _ in range(1_000_000)]
    return seconds(lambda: sorted(numbers))


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def stage_read(folder: str) -> dict[str, float]:
    read_law(DEFAULT_LAW)  # fetched and warm in the file cache before the clock starts
    took = [seconds(lambda: read_law(DEFAULT_LAW)) for _ in range(3)]
    return {"read_s": min(took), "read_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def stage_index(folder: str) -> dict[str, float]:
    tree = read_law(DEFAULT_LAW)
    took = [
        seconds(lambda: build_index(tree, Path(folder), source=DEFAULT_LAW, settings=tuned("headings+text")))
        for _ in range(3)
    ]
    return {"index_s": min(took), "index_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def stage_search(folder: str) -> dict[str, float]:
    opening = seconds(lambda: Engine.open(folder))
    engine = Engine.open(folder)
    questions = [question.text for question in build_benchmark("vosdroits").questions.split("train")][:ASKED]
    ranked = [seconds(lambda question=question: engine.rank(question, 10)) * 1000 for question in questions]
    answered = [seconds(lambda question=question: engine.search(question, 10)) * 1000 for question in questions]
    return {
        "open_s": opening,
        "question_p50_ms": statistics.median(ranked),
        "question_p95_ms": sorted(ranked)[int(0.95 * len(ranked))],
        "answer_p50_ms": statistics.median(answered),
        "search_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def stage_import(folder: str) -> dict[str, float]:
    bare = _median_run("pass")
    return {
        "import_s": _median_run("import lexarbor") - bare,
        "import_cli_s": _median_run("import lexarbor.cli") - bare,
    }


def _median_run(code: str) -> float:
    command = [sys.executable, "-c", code]
    return statistics.median(seconds(lambda: subprocess.run(command, check=True)) for _ in range(7))


STAGES = {"read": stage_read, "index": stage_index, "search": stage_search, "import": stage_import}
LABELS = {
    "read_s": "read the default law (29,115 articles), s",
    "read_mb": "… peak memory, MB",
    "index_s": "build the index (headings + text), s",
    "index_mb": "… peak memory, MB",
    "open_s": "open the index, s",
    "question_p50_ms": "rank a question by BM25, median, ms",
    "question_p95_ms": "… 95th percentile, ms",
    "answer_p50_ms": "answer with passages, median, ms",
    "search_mb": "… peak memory, MB",
    "import_s": "`import lexarbor`, s",
    "import_cli_s": "`import lexarbor.cli`, s",
}


def main() -> None:
    figures: dict[str, float] = {"unit_s": min(unit() for _ in range(5))}
    with TemporaryDirectory() as folder:
        for name in STAGES:
            done = subprocess.run([sys.executable, __file__, name, folder], check=True, capture_output=True, text=True)
            figures |= json.loads(done.stdout)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "speed.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    lines = [
        "# Speed and memory",
        "",
        f"`make bench`, Python {platform.python_version()}, two shared cores. "
        f"The unit is {figures['unit_s']:.3f} s: sorting a million numbers in pure Python in the same run.",
        "",
        "| what | figure | at most | in units |",
        "|---|---|---|---|",
    ]
    for name, label in LABELS.items():
        scale = 0.001 if name.endswith("_ms") else 1.0
        units = "" if name.endswith("_mb") else f"{figures[name] * scale / figures['unit_s']:.3g}"
        ceiling = f"{CEILINGS[name]:g}" if name in CEILINGS else ""
        lines.append(f"| {label} | {figures[name]:.3g} | {ceiling} | {units} |")
    text = "\n".join(lines) + "\n"
    (RESULTS / "speed.md").write_text(text, encoding="utf-8")
    print(text)
    missed = [name for name, ceiling in CEILINGS.items() if figures[name] > ceiling]
    if missed:
        print(f"ceilings missed: {', '.join(missed)}", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(json.dumps(STAGES[sys.argv[1]](sys.argv[2])))
    else:
        main()
