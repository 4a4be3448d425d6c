"""Writes docs/cli.md from the command line's own help: `make docs`. A test compares the two."""

import html
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parent / "cli.md"


def page() -> str:
    command = [sys.executable, "-m", "typer", "lexarbor.cli.app", "utils", "docs", "--name", "lexarbor"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8")
    return html.unescape(done.stdout).strip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
