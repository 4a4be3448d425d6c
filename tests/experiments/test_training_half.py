"""What trains an experiment's models runs on a machine that cannot search, draw or speak: it imports none of that."""

import subprocess
import sys

ABSENT = ("bm25s", "Stemmer", "onnxruntime", "typer", "rich", "matplotlib", "sklearn", "spacy")
NEEDED = (
    "__main__",
    "running",
    "catalogue",
    "workers",
    "prepared",
    "tune_models",
    "searches",
    "trials",
    "main_table",
    "ablations",
)


def test_the_training_half_needs_nothing_that_a_gpu_machine_lacks() -> None:
    lines = [f"import sys; sys.modules.update(dict.fromkeys({ABSENT}))"]  # None: as if it were not installed
    lines += [f"import lexarbor.experiments.{name}" for name in NEEDED]
    lines += [
        "from pathlib import Path",
        "from lexarbor.experiments.lab import Lab",
        "from lexarbor.experiments.catalogue import EXPERIMENTS",
        "lab = Lab('vosdroits', Path('nowhere'))",
        "print(sum(len(one.jobs(lab)) for one in EXPERIMENTS.values() if one.jobs))",
    ]
    found = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert int(found.stdout) > 50
