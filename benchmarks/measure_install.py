"""From nothing to an answer: how long the first and the next `make ask` take, what an install weighs. Writes
results/install.md.

    python benchmarks/measure_install.py

Clones this checkout's last commit into an empty folder, with a home of its own and no virtual environment; needs the
registries of Python and npm packages.
"""

import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from measure_speed import seconds

ROOT = Path(__file__).parent.parent
QUESTION = "Puis-je être licencié pendant un arrêt maladie ?"
NPM = "nodejs"
"""Packages of this name carry npm, and are optional."""


def megabytes(folder: Path) -> tuple[float, float]:
    """Of all that is installed in a virtual environment, and of it without the optional npm."""
    sizes = {path: path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink()}
    npm = sum(size for path, size in sizes.items() if NPM in str(path.relative_to(folder)))
    return sum(sizes.values()) / 1e6, (sum(sizes.values()) - npm) / 1e6


def main() -> None:
    with TemporaryDirectory() as temporary:
        clone, home = Path(temporary) / "lexarbor", Path(temporary) / "home"
        home.mkdir()
        subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
        own = ("LEXARBOR", "VIRTUAL_ENV", "HF_", "PYTHONPATH")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(own)}
        paths = [path for path in os.environ["PATH"].split(os.pathsep) if "venv" not in path]
        environment = {**kept, "HOME": str(home), "PATH": os.pathsep.join(paths)}

        def ask(*command: str) -> float:
            return seconds(lambda: subprocess.run(command, cwd=clone, env=environment, check=True, capture_output=True))

        first = ask("make", "ask", f"Q={QUESTION}")
        after = sorted(ask(".venv/bin/lexarbor", "search", QUESTION) for _ in range(5))[2]
        whole, base = megabytes(clone / ".venv")
    lines = [
        "# From nothing to an answer",
        "",
        "`python benchmarks/measure_install.py`: a fresh clone, a home of its own, two shared cores.",
        "",
        "| what | measured |",
        "|---|---|",
        f"| the first `make ask`, with installs (under 4 minutes) | {first:.0f} s |",
        f"| the next question by the command line, median of five (under 1 s) | {after:.2f} s |",
        f"| the virtual environment; without the optional npm (under 350 MB) | {whole:.0f} MB; {base:.0f} MB |",
    ]
    (ROOT / "results" / "install.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
