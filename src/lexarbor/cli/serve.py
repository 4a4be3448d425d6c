"""`lexarbor serve`: the web page and the HTTP API."""

import os
from pathlib import Path

import typer

from lexarbor.cli.indexes import INDEX, ready_index
from lexarbor.cli.output import say, warn_of_age
from lexarbor.errors import FetchError, MissingExtraError, ServeError

KEY_VARIABLE = "LEXARBOR_API_KEY"
SHORTEST_KEY = 16


def serve(
    host: str = typer.Option(
        "127.0.0.1", "--host", help="The address to listen at; 0.0.0.0 for all of this machine's."
    ),
    port: int = typer.Option(8000, "--port", "-p", min=0, max=65535, help="0: any that is free."),
    folder: Path | None = INDEX,
    workers: int = typer.Option(1, "--workers", "-w", min=1, help="Processes; each takes some 400 MB."),
    key_file: Path | None = typer.Option(
        None,
        "--api-key-file",
        help=f"Keys that open the API, one a line; else ${KEY_VARIABLE}; else it is open to all.",
    ),
    rate: float = typer.Option(10, "--rate", min=0, help="Requests a second for one client; 0: no limit."),
    burst: int = typer.Option(60, "--burst", min=1, help="Requests that a client may make at once."),
    days: int = typer.Option(
        8,
        "--days",
        min=0,
        help="Of how many other days the law may lie ready; prepared when people ask.",
    ),
    root_path: str = typer.Option("", "--root-path", help="Where a reverse proxy shows the server: /droit."),
    proxy: str | None = typer.Option(
        None, "--behind-proxy", help="Addresses of reverse proxies whose word on the client is taken, e.g. 127.0.0.1."
    ),
) -> None:
    """Serve the web page and the HTTP API, on this machine alone unless told otherwise. Needs the extra `serve`.

    No question is logged or kept. A new index (`lexarbor corpus update`) is taken up while the server runs.
    """
    try:
        from lexarbor.serve import app  # noqa: F401 - all that it needs
        from lexarbor.serve.running import run
    except ImportError as error:
        raise MissingExtraError("serving the page", "serve") from error
    from lexarbor.serve.settings import ServeSettings

    if proxy is not None and "*" in proxy:
        raise ServeError("--behind-proxy '*' would believe anybody on who they are: name the proxy's address")
    ours = folder is None and not os.environ.get("LEXARBOR_INDEX")
    settings = ServeSettings(
        index=_index(folder),
        keys=_keys(key_file),
        days=days if ours else 0,
        rate=rate,
        burst=burst,
        workers=workers,
        threads=min(2, max(1, (os.cpu_count() or 1) // workers)),
        root_path=root_path.rstrip("/"),
    )
    run(settings, host, port, proxy, say)


def _index(folder: Path | None) -> Path:
    """The index to serve, built where it is missing. Unlike `search`, nothing stands in for a law that is not there."""
    from lexarbor.corpus.sources import TINY
    from lexarbor.search.store import source_and_day

    try:
        where, _ = ready_index(folder)
    except FetchError as error:
        raise FetchError(
            f"{error}; to try the page with a tiny invented law: `lexarbor index --law tiny --index FOLDER`, then "
            "`lexarbor serve --index FOLDER`"
        ) from error
    source, day = source_and_day(where)
    if source != TINY:
        warn_of_age(day)
    return where


def _keys(file: Path | None) -> tuple[str, ...]:
    from lexarbor.serve.settings import digest

    if file is None:
        lines = [os.environ.pop(KEY_VARIABLE, "")]  # no process that is started has to know it
    else:
        try:
            lines = file.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise ServeError(f"{file}: the keys cannot be read ({error}); give a file of one key a line") from error
    keys = [line.strip() for line in lines if line.strip()]
    if file is not None and not keys:
        raise ServeError(f"{file}: there is no key in it; write one a line, such as `openssl rand -hex 32` makes")
    if short := next((key for key in keys if len(key) < SHORTEST_KEY), None):
        raise ServeError(f"a key of {len(short)} characters is soon guessed: take {SHORTEST_KEY} or more")
    return tuple(map(digest, keys))
