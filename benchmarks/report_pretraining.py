"""The loss of masked language modelling by step, into results/pretraining.md.

    python benchmarks/report_pretraining.py "recipes/pretrain.yaml=models/pretrain" …

Each argument names a run for the reader, and its folder.
"""

import json
import sys
from pathlib import Path

RESULTS = Path(__file__).parent.parent / "results"
POINTS = 10


def row(name: str, folder: Path) -> str:
    """One run: how long it took, and some of its losses, the last among them."""
    told = json.loads((folder / "log.json").read_text(encoding="utf-8"))
    losses = [(entry["step"], entry["loss"]) for entry in told["log"] if "loss" in entry]
    shown = losses[:: -max(1, len(losses) // POINTS)][::-1]
    curve = ", ".join(f"{step:,}: {loss:.2f}" for step, loss in shown)
    rate = f"{told['tokens_per_second'] / 1e6:.1f}M"
    return f"| {name} | {told['device']} | {told['seconds']:.0f} | {rate} | {curve} |"


def main(runs: list[str]) -> None:
    lines = [
        "# Pre-training",
        "",
        "`python benchmarks/report_pretraining.py NAME=FOLDER …`: masked language modelling, the mean loss over the",
        "steps before each one.",
        "",
        "| run | device | seconds | tokens a second | step: loss |",
        "|---|---|---|---|---|",
    ]
    lines += [row(name, Path(folder)) for name, _, folder in (run.rpartition("=") for run in runs)]
    (RESULTS / "pretraining.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("results/pretraining.md")


if __name__ == "__main__":
    if not sys.argv[1:] or not all("=" in run for run in sys.argv[1:]):
        sys.exit(__doc__)
    main(sys.argv[1:])
