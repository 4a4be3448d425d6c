"""What trains an experiment's models runs on a machine that cannot search, draw or speak: it imports none of that."""

import subprocess
import sys
from pathlib import Path

import pytest

from lexarbor.experiments.jobs import data_manifest
from lexarbor.experiments.lab import Lab
from lexarbor.experiments.prepared import origin_path, questions_checksum
from lexarbor.files import write_json
from lexarbor.supervision.folder import Supervision, write_supervision

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


def without(lines: list[str]) -> str:
    """What a process prints that has none of ABSENT."""
    lines = [f"import sys; sys.modules.update(dict.fromkeys({ABSENT}))", *lines]  # None: as if it were not installed
    found = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    return found.stdout


def test_the_training_half_needs_nothing_that_a_gpu_machine_lacks() -> None:
    lines = [f"import lexarbor.experiments.{name}" for name in NEEDED]
    lines += [
        "from pathlib import Path",
        "from lexarbor.experiments.lab import Lab",
        "from lexarbor.experiments.catalogue import EXPERIMENTS",
        "lab = Lab('vosdroits', Path('nowhere'))",
        "print(sum(len(one.jobs(lab)) for one in EXPERIMENTS.values() if one.jobs))",
    ]
    assert int(without(lines)) > 50


@pytest.mark.parametrize("benchmark", ["vosdroits", "tiny"])
def test_it_is_called_there_from_the_check_of_what_was_prepared_to_the_jobs(benchmark: str, tmp_path: Path) -> None:
    """All but what a job does itself; vosdroits has the questions that ship."""
    manifest = data_manifest(tmp_path, "train")
    write_supervision(Supervision([]), manifest.parent)
    lab = Lab(benchmark, tmp_path)
    write_json(origin_path(manifest.parent), {"benchmark": benchmark, "questions": questions_checksum(lab)})
    call = f"main(['main', 'gnns', '--benchmark', '{benchmark}', '--work', '{tmp_path}', '--seeds', '1'])"
    printed = without(
        [
            "import lexarbor.experiments.running as running",
            "running.train_all = lambda jobs, work, **how: print(len(jobs)) or {}",
            "from lexarbor.experiments.__main__ import main",
            f"sys.exit({call})",
        ]
    )
    assert int(printed) > 10
