"""`lexarbor mcp`: the law for assistants, over the Model Context Protocol."""

import signal
from pathlib import Path

import typer

from lexarbor.cli.indexes import INDEX, open_engine
from lexarbor.cli.output import say
from lexarbor.errors import MissingExtraError


def mcp(
    folder: Path | None = INDEX,
    port: int | None = typer.Option(
        None, "--port", min=1, max=65535, help="Serve http://127.0.0.1:PORT/mcp instead of standard input and output."
    ),
) -> None:
    """Let an assistant look the law up, with citations, over the Model Context Protocol. Needs the extra `mcp`.

    It is the assistant that starts this command: see docs/python.md.
    """
    try:
        from lexarbor.assistants.server import build_server
    except ImportError as error:  # not there, or an older one
        raise MissingExtraError("serving assistants", "mcp") from error
    from lexarbor.assistants import Lookup

    lookup = Lookup(lambda day: open_engine(folder, day))
    server = build_server(lookup)
    where = f"at http://127.0.0.1:{port}/mcp" if port else "on standard input and output"
    if not port:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it at once: else it waits for a line of input
    say(f"serving assistants {where}: {len(lookup.law):,} articles, law as of {lookup.law.date or 'an unknown date'}")
    if port:
        server.run("streamable-http", port=port)
    else:
        server.run()
