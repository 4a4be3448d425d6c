"""Which code is running: written down beside each model when it is trained, and on each report when it is made."""

import subprocess
from pathlib import Path

import lexarbor


def revision() -> str:
    """The commit of the checkout that runs, marked where its code was changed since (other files may be: the reports
    themselves are); else the version.
    """
    try:
        _git("ls-files", "--error-unmatch", "__init__.py")  # an installed copy may lie inside another's checkout
        commit, changed = _git("rev-parse", "--short=10", "HEAD"), _git("status", "--porcelain", "--", ".")
    except (OSError, subprocess.SubprocessError):
        return lexarbor.__version__
    return f"{commit}-dirty" if changed else commit


def _git(*words: str) -> str:
    """What git answers where Lexarbor's code lies."""
    command = ["git", "-C", str(Path(lexarbor.__file__).parent), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout.strip()
