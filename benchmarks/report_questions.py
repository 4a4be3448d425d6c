"""Tell how the generator of questions was trained, what its questions are like, and how many come back, into
results/questions.md.

    python benchmarks/report_questions.py RUNS

RUNS holds for each run of `lexarbor train generate` its folder's log.json as `generate-NAME.json`, and for each file of
questions what `lexarbor round-trip --format json` printed as `round-trip-NAME.json`. The marks are those of
results/questions-judged.jsonl, the scores those of the generator.
"""

import json
import math
import sys
from pathlib import Path
from typing import Any

from lexarbor.supervision.synthetic import read_synthetic, shipped_questions

RESULTS = Path(__file__).parent.parent / "results"
MARKS = ("french", "about", "asked")
LIKELY = -1.0
"""Of a score: what is above it reads better."""
SETS = {
    "sampled": "of all questions (before any filter)",
    "shipped": "of the questions and titles that ship",
}


def training(runs: Path) -> list[str]:
    lines = [
        "## The generator",
        "",
        "By parts: 1 recipes/generate-gaps.yaml, 2 generate.yaml, 3 generate-near.yaml; runs of one part shared a GPU.",
        "The likelihood is that of a token of dev's questions, given an article that answers: the geometric mean. Part",
        "3 looks at the nearest 30 % of dev's pairs, the others at all: their figures cannot be compared.",
        "",
        "| run | seconds, all in | steps | looks at dev: step, likelihood of a token | dev loss of what was kept |",
    ]
    lines += ["|---" * 5 + "|"]
    for path in sorted(runs.glob("generate-*.json")):
        held = json.loads(path.read_text(encoding="utf-8"))
        looks = {one["step"]: one["eval_likelihood"] for one in held["log"] if "eval_likelihood" in one}
        told = ", ".join(f"{step}: {likelihood:.3f}" for step, likelihood in looks.items())
        steps = max(one["step"] for one in held["log"])
        name = path.stem.removeprefix("generate-")
        kept = f"{held['dev_loss']:.3f} ({math.exp(-held['dev_loss']):.3f})"
        lines.append(f"| {name} | {held['seconds']:.0f} | {steps} | {told} | {kept} |")
    return [*lines, ""]


def coming_back(runs: Path) -> list[str]:
    lines = [
        "## The round trip",
        "",
        "| questions | law | asked | distinct | kept | share | by BM25 | by dense | by both |",
    ]
    lines += ["|---" * 9 + "|"]
    for path in sorted(runs.glob("round-trip-*.json")):
        told = json.loads(path.read_text(encoding="utf-8"))
        shares = (
            told["share"],
            told["share_by"]["bm25"],
            told["share_by"]["dense"],
            told["by_every_leg"] / told["asked"],
        )
        cells = [
            path.stem.removeprefix("round-trip-"),
            told["law"],
            *(f"{told[name]:,}" for name in ("asked", "distinct", "kept")),
        ]
        lines.append(f"| {' | '.join([*cells, *(f'{100 * share:.1f} %' for share in shares)])} |")
    return [*lines, ""]


def judged() -> list[str]:
    found = [json.loads(line) for line in (RESULTS / "questions-judged.jsonl").read_text(encoding="utf-8").splitlines()]
    shipped = read_synthetic(shipped_questions())
    lines = [
        "## Judged by hand",
        "",
        f"{len(shipped):,} questions and titles of {len({one.article for one in shipped}):,} articles ship.",
        "",
        "| drawn | how many | French | about the article | someone would ask | all three |",
    ]
    lines += ["|---" * 6 + "|"]
    for name, told in SETS.items():
        drawn = [one for one in found if one["set"] == name]
        likely = [one for one in drawn if one["score"] >= LIKELY]
        lines += [_row(f"100 {told}", drawn), _row(f"those among them with a score of {LIKELY:.0f} or more", likely)]
    return lines


def _row(label: str, drawn: list[dict[str, Any]]) -> str:
    shares = [sum(one[mark] for one in drawn) for mark in MARKS] + [
        sum(all(one[mark] for mark in MARKS) for one in drawn)
    ]
    return f"| {label} | {len(drawn)} | {' | '.join(f'{100 * share / len(drawn):.0f} %' for share in shares)} |"


def main(runs: Path) -> None:
    lines = ["# The synthetic questions", "", "`python benchmarks/report_questions.py RUNS`; H200, seed 0.", ""]
    lines += [*training(runs), *coming_back(runs), *judged()]
    (RESULTS / "questions.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("results/questions.md")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
