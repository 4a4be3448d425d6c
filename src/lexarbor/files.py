"""Files that appear whole or not at all (written beside their place, then renamed into it), their checksums, and
whether a place can be written to; and where what ships lies.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from typing import Any
from uuid import uuid4

from lexarbor.errors import LexarborError


def shipped_path(name: str) -> Path:
    """Where a file or folder lies that comes with the package; it need not be there."""
    return Path(str(files("lexarbor"))) / "shipped" / name


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path in the same folder: on success it becomes `path`, on failure it is removed.

    An old file stays as it was until the last moment; a link is followed. What is no plain file (a device, a pipe, a
    folder) is never replaced. What the disk refuses is a `LexarborError`.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        raise LexarborError(f"cannot write {path}: it is no plain file; give the name of a file")
    temporary = path.parent / f".{path.name}.{uuid4().hex[:8]}.tmp"
    try:
        yield temporary
        flush_to_disk(temporary)
        temporary.replace(path)
    except OSError as error:
        raise LexarborError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def write_json(path: Path, content: Any) -> None:
    """Write a file of JSON, for people to read too."""
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def flush_to_disk(path: Path) -> None:
    """Wait until the disk holds a file's content: else a power cut could keep a new name and lose what it names."""
    with path.open("r+b") as file:
        os.fsync(file.fileno())


_AT_ONCE = 2**24
"""Bytes: the larger a piece, the more rarely a thread that takes a checksum beside other work needs Python's lock."""


def sha256(path: Path) -> str:
    """A file's checksum, in hexadecimal."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        while some := file.read(_AT_ONCE):
            found.update(some)
    return found.hexdigest()


def sha256_of_files(folder: Path, paths: Iterable[Path]) -> str:
    """One checksum of files in a folder, by their names and contents; what is no file says nothing."""
    files = {path.relative_to(folder).as_posix(): sha256(path) for path in paths if path.is_file()}
    return hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()


def folder_at(path: Path) -> Path:
    """The folder at a path, made where it is missing."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LexarborError(f"cannot make the folder {path}: {error.strerror or error}") from error
    return path


def check_folder(path: Path) -> None:
    """Refuse, before long work, a folder that is none, or that could not be made or written in; nothing is made yet."""
    nearest = next(place for place in (path, *path.absolute().parents) if place.exists())
    if not nearest.is_dir():
        what = "is" if nearest == path else f"{nearest} is"
        raise LexarborError(f"{path}: {what} a file; give the name of a folder")
    if not os.access(nearest, os.W_OK):
        raise LexarborError(f"{path}: nothing may be written in {nearest}; give another folder")


def check_file(path: Path) -> None:
    """Refuse, before long work, a file that could not be written; nothing is written yet."""
    if path.exists() and not path.is_file():
        raise LexarborError(f"cannot write {path}: it is no plain file; give the name of a file")
    if not path.absolute().parent.is_dir():
        raise LexarborError(f"cannot write {path}: there is no folder {path.parent}; make it first")
    if not os.access(path.absolute().parent, os.W_OK):
        raise LexarborError(f"{path}: nothing may be written in {path.parent}; give another folder")
