"""A server that runs: its socket, its workers, its log."""

import os
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import uvicorn
from prometheus_client.multiprocess import mark_process_dead
from uvicorn.supervisors import Multiprocess

from lexarbor.errors import ServeError
from lexarbor.serve.app import build_app
from lexarbor.serve.heads import BoundedHeads
from lexarbor.serve.laws import Laws
from lexarbor.serve.settings import ServeSettings

APP = "lexarbor.serve.app:from_environment"
GRACE_SECONDS = 20
"""For how long answers that have begun are waited for when the server is to end."""
LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "lexarbor: %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "plain", "stream": "ext://sys.stderr"}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    # what clients send badly is theirs to mend, and some of these lines repeat bytes of it
    "loggers": {"uvicorn.error": {"level": "ERROR"}, "python_multipart": {"level": "CRITICAL"}},
}
"""Warnings and errors, to stderr. There is no line for a request: addresses and times tell who asked."""


def run(settings: ServeSettings, host: str, port: int, proxy: str | None, say: Callable[[str], None]) -> None:
    """Serve until told to end. `proxy`: the addresses whose word on who the client is counts."""
    # uvicorn raises a signal once more when all answers are given; a shell may have had the second one ignored
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with _socket(host, port) as listening:
        alone = settings.workers == 1
        config = uvicorn.Config(
            build_app(Laws(settings.index, settings.days), settings) if alone else APP,
            factory=not alone,
            host=host,
            port=port,
            workers=settings.workers,
            log_config=LOGGING,
            access_log=False,
            server_header=False,
            proxy_headers=proxy is not None,
            forwarded_allow_ips=proxy,
            http=BoundedHeads,
            timeout_graceful_shutdown=GRACE_SECONDS,
            timeout_keep_alive=15,
            timeout_worker_healthcheck=60,  # a worker may be busy without being lost
            ws="none",
        )
        shown = f"[{host}]" if ":" in host else host
        say(f"Lexarbor at http://{shown}:{listening.getsockname()[1]}{settings.root_path}/ (Ctrl-C ends it)")
        if alone:
            uvicorn.Server(config).run(sockets=[listening])
            return
        settings.hand_on()
        with tempfile.TemporaryDirectory(prefix="lexarbor-") as counted:
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = counted  # each counts in a file, whichever is asked adds them up
            _Workers(config, sockets=[listening]).run()


class _Workers(Multiprocess):
    def keep_subprocess_alive(self) -> None:
        before = {worker.pid for worker in self.processes}
        super().keep_subprocess_alive()
        for gone in before - {worker.pid for worker in self.processes}:
            mark_process_dead(gone)  # type: ignore[no-untyped-call]  # what it told of the law counts no more

    def terminate_all(self) -> None:
        for listening in self.sockets:  # else clients would go on being let in, to workers that are gone
            listening.close()
        super().terminate_all()


def _socket(host: str, port: int) -> socket.socket:
    """Bound before anything long is done: a port that is taken is told at once."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError, UnicodeError, TypeError) as error:
        number = getattr(error, "errno", None) or 0  # of those that look names up, below 0
        reason = os.strerror(number) if number > 0 else str(error)
        raise ServeError(
            f"cannot listen at {host}, port {port} ({reason}): choose others with --host and --port"
        ) from None
