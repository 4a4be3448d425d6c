"""The command line: thin commands over the rooms. Results go to stdout, everything else to stderr."""

from lexarbor.cli.app import main

__all__ = ["main"]
