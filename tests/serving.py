"""What the tests of the server share: how answers are read, and servers in processes of their own."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient
from pydantic import BaseModel

from lexarbor.serve.api import models
from lexarbor.serve.failures import KINDS

CANARY = "Xanthocanari"
"""A word that stands nowhere else."""
QUESTION = f"Mon employeur {CANARY} peut-il me licencier ?"
JSON = {"content-type": "application/json"}
Serving = Callable[..., TestClient]
"""Makes a client of the application with some settings."""
COMMAND = "from lexarbor.cli import main; main()"


def shaped(model: type[BaseModel], response: Any, status: int = 200) -> Any:
    """An answer of the API, which has the shape that is told of it: nothing is missing, nothing is told beside it."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    read = model.model_validate_json(response.content, strict=True)
    told = response.json()
    assert read.model_dump(mode="json", exclude_unset=True) == told
    return told


def refused(response: Any, code: str) -> dict[str, Any]:
    """What the API tells of a refusal, which is of this kind and in the one shape."""
    error: dict[str, Any] = shaped(models.Error, response, KINDS[code].status)["error"]
    assert error["code"] == code
    return error


def refused_page(response: Any, code: str) -> str:
    """The page that tells a refusal."""
    assert response.status_code == KINDS[code].status, response.text
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    page: str = response.text
    assert page.startswith("<!doctype html>")
    return page


class Server:
    """`lexarbor serve` at a free port; what it has said is known when it has ended."""

    def __init__(self, process: "subprocess.Popen[str]", said: list[str], url: str) -> None:
        self.process, self.url = process, url
        self.out, self.err = "", "".join(said)

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1].split("/")[0])

    def end(self, signal: int) -> int:
        """Its exit code."""
        self.process.send_signal(signal)
        return self.ended()

    def ended(self) -> int:
        out, err = self.process.communicate(timeout=30)
        self.out, self.err = self.out + out, self.err + err
        return self.process.returncode


@contextmanager
def running(*arguments: str | Path, before: str = "", folder: Path | None = None, **variables: str) -> Iterator[Server]:
    """A server that listens. `before`: a line of Python that its process runs first; `folder`: the one it starts in."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("LEXARBOR_", "CI"))}
    process = subprocess.Popen(
        [sys.executable, "-c", f"{before}\n{COMMAND}", *map(str, arguments), "--port", "0"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder,
        env=environment | variables,
    )  # fmt: skip
    try:
        assert process.stderr is not None
        said: list[str] = []
        for line in process.stderr:
            said.append(line)
            if found := re.match(r"Lexarbor at (http://\S+) \(Ctrl-C ends it\)\n", line):
                break
        else:
            raise AssertionError(f"no server: {''.join(said)}")
        yield Server(process, said, found[1])
    finally:
        if process.poll() is None:
            process.terminate()
            process.communicate(timeout=30)
