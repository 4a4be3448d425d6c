"""What measure_serve.py found, as Markdown."""

import os
import platform
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

SLOWEST, FEWEST = 400.0, 100.0
"""Floors of the load: p95 in ms, requests a second."""
FLAT = 0.05
"""What counts as flat: by how much memory may grow from warm-up to the end."""
Found = dict[str, Any]


def report(found: Found) -> str:
    lines = [
        "# The server under load and abuse",
        "",
        *_prose(
            "`python benchmarks/measure_serve.py`: real servers (`lexarbor serve --workers 2 --rate 0 --days 0`) on",
            f"loopback over the default law, on {_machine()}. Clients run on the same cores, which are shared with",
            "others: read ratios to the engine alone first.",
        ),
    ]
    for name, told in (("load", _load), ("memory", _memory), ("abuse", _abuse), ("bait", _bait), ("fuzz", _fuzz)):
        if name in found:
            lines += ["", *told(found[name])]
    return "\n".join(lines) + "\n"


def _machine() -> str:
    models = (line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name"))
    model = next(models, ": a processor").partition(": ")[2]
    return f"{os.cpu_count()} cores ({model}), Python {platform.python_version()}"


def _prose(*parts: str) -> list[str]:
    return textwrap.wrap(" ".join(parts), 118, break_on_hyphens=False)


def _met(met: bool) -> str:
    return "met" if met else "**missed**"


def _counted(counts: dict[str, Any]) -> str:
    return ", ".join(f"{what}: {count:,}" for what, count in sorted(counts.items())) or "none"


ROWS = {
    "search": "searches by the API, 2 workers",
    "pause": "the same, each client drawing breath for 0.25 s before its next question",
    "one worker": "the first, 1 worker",
    "page": "results pages, 2 workers (the form, and the page that it leads to)",
    "article": "article pages, 2 workers",
}


def _load(found: Found) -> Iterator[str]:
    alone = float(np.mean([one["per_second"] for one in found["engine"]]))
    cost = float(np.mean([one["ms"] for one in found["engine"]]))
    main = found["search"]
    errors = sum(sum(found[row]["failures"].values()) for row in ROWS)
    yield "## Load"
    yield ""
    yield from _prose(
        f"{found['day']}. 64 clients, each on a connection that is kept and with its next question as soon as it has",
        f"an answer, for {found['seconds']:.0f} s (the first two rows) or a third of that; all questions different",
        "(recipes/everyday.jsonl), k = 10. So a mean latency is 64 divided by the requests a second: 400 ms at 160.",
        "Work: processor time of the workers for one request.",
    )
    yield ""
    yield "| what | requests | a second | × engine | p50 | p95 | p99 | max | errors | work | client's share of a core |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
    for row, what in ROWS.items():
        one = found[row]
        took = " | ".join(f"{one[at]:.0f} ms" for at in ("p50", "p95", "p99", "max"))
        yield (
            f"| {what} | {one['requests']:,} | {one['per_second']:.0f} | {one['per_second'] / alone:.2f} | {took} | "
            f"{sum(one['failures'].values())} | {one['server_ms']:.1f} ms | {one['client_cpu']:.0%} |"
        )
    yield f"| the engine alone, one thread | | {alone:.0f} | 1 | | | | | | {cost:.1f} ms | |"
    yield ""
    runs = ", ".join(f"{one['per_second']:.0f}" for one in found["engine"])
    shared = " and ".join(map(str, main["connections"]))
    yield from _prose(
        f"The engine alone was asked before, between and after: {runs} a second. Connections by worker: {shared}."
    )
    yield ""
    yield "| floor | measured | |"
    yield "|---|---|---|"
    yield f"| no error | {errors} | {_met(errors == 0)} |"
    for row, how in (("search", "without a pause"), ("pause", "with 0.25 s")):
        slow, fast = found[row]["p95"], found[row]["per_second"]
        yield f"| p95 of searches at most {SLOWEST:.0f} ms, {how} | {slow:.0f} ms | {_met(slow <= SLOWEST)} |"
        yield f"| at least {FEWEST:.0f} searches a second, {how} | {fast:.0f} | {_met(fast >= FEWEST)} |"


def _memory(found: Found) -> Iterator[str]:
    sums = [sum(one) for one in found["mb"]]
    grown, half = sums[-1] - sums[0], sums[-1] - sums[len(sums) // 2]
    wrong = sum(found["failures"].values())
    yield "## Memory"
    yield ""
    yield from _prose(
        f"{found['day']}. {10 * found['step']:,} requests after a warm-up of {found['warm']:,}, by 16 clients:",
        "searches, results pages, articles, headings, and errors of nine kinds",
        f"({found['per_second']:.0f} requests a second). Resident memory in MB.",
    )
    yield ""
    yield "| requests | " + " | ".join(f"{at * found['step']:,}" for at in range(len(sums))) + " |"
    yield "|---" * (len(sums) + 1) + "|"
    for at in range(len(found["mb"][0])):
        yield f"| worker {at + 1} | " + " | ".join(f"{one[at]:.0f}" for one in found["mb"]) + " |"
    yield ""
    yield "| floor | measured | |"
    yield "|---|---|---|"
    flat = f"{grown:+.1f} MB of {sums[0]:.0f} ({grown / sums[0]:+.1%}); in the second half {half:+.1f} MB"
    yield f"| flat: at most {FLAT:.0%} more at the end | {flat} | {_met(grown <= FLAT * sums[0])} |"
    yield f"| no status but the one expected | {_counted(found['failures'])} | {_met(wrong == 0)} |"


def _abuse(found: Found) -> Iterator[str]:
    yield "## Abuse"
    yield ""
    yield from _prose(
        f"{found['day']}. A gentle client asks 5 searches a second, each on a new connection and from another address",
        "than the abusers. The last row has the default rate limit, the others none. Cut off: the connection was",
        "closed before an answer could be read. Held: connections that the server still has two seconds before the",
        "end, and how much memory the abuse has added to both workers by then.",
    )
    yield ""
    yield "| abusers | they are told | gentle p95 before | during | max | gentle errors | held |"
    yield "|---|---|---|---|---|---|---|"
    wrong = 0
    for what, one in found.items():
        if what == "day":
            continue
        failures = one["before"]["failures"] | one["during"]["failures"]
        wrong += sum(failures.values())
        before, during = one["before"]["times"], one["during"]["times"]
        looked, held = one["looked"]
        yield (
            f"| {one['clients']} × {what} | {_counted(one['told'])} | {np.percentile(before, 95):.0f} ms | "
            f"{np.percentile(during, 95):.0f} ms | {max(during):.0f} ms | {_counted(failures)} | "
            f"{held['connections']:.0f}, {held['mb'] - looked['mb']:+.0f} MB |"
        )
    yield ""
    yield f"Floor: the gentle client sees no error: {_met(wrong == 0)}."


def _bait(found: Found) -> Iterator[str]:
    yield "## Bait"
    yield ""
    yield from _prose(
        f"{found['day']}. {found['baits']} strings that would be script, elements or headers if they were not",
        f"escaped, each at {found['places']} places (questions, filters, days, ids, paths, names of fields, headers)",
        f"of API and page. {found['tried']:,} answers looked at ({_counted(found['statuses'])}). Inert: no element",
        "or attribute that a harmless page has not, no script but ours, no address but ours and https ones; no bait",
        "in a header; no status 500.",
    )
    yield ""
    harmful = found["harmful"]
    yield f"Inert: {found['tried'] - len(harmful):,} of {found['tried']:,}: {_met(not harmful)}."
    yield from [""] if harmful else []
    for where, wrong in list(harmful.items())[:20]:
        yield f"- `{where}`: {', '.join(wrong)}"


def _fuzz(found: Found) -> Iterator[str]:
    yield "## schemathesis"
    yield ""
    yield from _prose(
        f"{found['day']}. `schemathesis run --checks all --max-examples 50` over the {found['operations']} operations",
        f"of the OpenAPI: {found['cases']:,} cases; {found['failed']:.0f} answers of status 500:",
        f"{_met(not found['failed'])}.",
    )
    yield ""
    yield "Other findings:" if found["failures"] else "No other finding."
    yield from [""] if found["failures"] else []
    for title, operations in found["failures"].items():
        yield f"- {title}: {', '.join(operations)}"
