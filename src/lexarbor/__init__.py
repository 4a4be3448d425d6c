"""Lexarbor: ask a legal question in everyday words, get the statutory articles that govern it."""

import os

# onnxruntime tells its makers of its use, and keeps a number for this machine, unless it is told not to before it is
# imported. Whatever imports Lexarbor first imports this.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

__version__ = "0.1.0"
