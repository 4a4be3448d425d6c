"""How long all experiments take on the tiny corpus: by the command, in an empty work folder, and in the tests. Writes
results/experiments.md.

    make setup
    .venv/bin/python benchmarks/measure_experiments.py
"""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from lexarbor.experiments.catalogue import EXPERIMENTS
from measure_speed import seconds

ROOT = Path(__file__).parent.parent
TESTS = "tests/experiments/test_every_experiment.py"


def main() -> None:
    with TemporaryDirectory() as temporary:
        environment = {**os.environ, "LEXARBOR_CACHE": f"{temporary}/cache", "HF_HUB_OFFLINE": "1"}

        def run(*command: str) -> float:
            work = [sys.executable, *command]
            return seconds(lambda: subprocess.run(work, cwd=ROOT, env=environment, check=True, capture_output=True))

        call = "from lexarbor.cli import main; main()"
        command = run("-c", call, "experiment", "all", "-b", "tiny", "-o", f"{temporary}/results")
        tests = run("-m", "pytest", "-q", TESTS)
    lines = [
        "# All experiments on the tiny corpus",
        "",
        "`python benchmarks/measure_experiments.py`: nothing prepared, trained or encoded before; two shared cores.",
        "",
        "| what | measured |",
        "|---|---|",
        f"| `lexarbor experiment all -b tiny`, {len(EXPERIMENTS)} experiments (under 120 s) | {command:.0f} s |",
        f"| every experiment in the tests, {TESTS}, in one process (under 120 s) | {tests:.0f} s |",
    ]
    (ROOT / "results" / "experiments.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
