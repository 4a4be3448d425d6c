"""The manifest of a folder that holds a model: JSON of a named format, which tells settings and a checksum for each
file.
"""

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lexarbor.errors import LexarborError, ModelError, nearest
from lexarbor.files import sha256

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

MANIFEST = "manifest.json"

Settings = TypeVar("Settings", bound="DataclassInstance")


def settings_from(
    kind: type[Settings], values: Mapping[str, Any], where: str, refusal: type[LexarborError]
) -> Settings:
    """A dataclass of settings from what a folder tells of them. A key that is missing has its default; one that is not
    known, or a value that the class answers with `refusal`, is a `ModelError`.
    """
    known = [field.name for field in fields(kind)]
    for key in values:
        if key not in known:
            raise ModelError(f"{where}: unknown setting '{key}'; {nearest(key, known)}")
    try:
        return kind(**values)
    except refusal as error:
        raise ModelError(f"{where}: {error}") from error


def read_manifest(path: Path, format: str, *, what: str, other: str, again: str) -> dict[str, Any]:
    """What a folder's manifest holds. For a person: `what` should be there, what to do where it is not, or is of
    another format (`other`), and where it cannot be read (`again`).
    """
    try:
        values = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ModelError(f"{path}: no {what} there, it has no {MANIFEST}; {other}") from error
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(f"{path / MANIFEST}: cannot be read ({error}); {again}") from error
    found = values.get("format") if isinstance(values, dict) else type(values).__name__
    if not isinstance(values, dict) or found != format:
        raise ModelError(
            f"{path / MANIFEST}: its format is {found!r}, this version reads {format!r}; {other} that it wrote"
        )
    return values


def checksums_told(path: Path, values: dict[str, Any], *, again: str) -> dict[str, Any]:
    """The checksums in a manifest, by file name."""
    told = values.get("checksums")
    if not isinstance(told, dict):
        raise ModelError(f"{path / MANIFEST}: has no checksums; {again}")
    return told


def verified(path: Path, told: object, *, again: str) -> str:
    """A file's checksum, which must be the one that is told."""
    try:
        found = sha256(path)
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror}), the model is not whole; {again}") from error
    if found != told:
        raise ModelError(f"{path}: damaged or exchanged, its checksum is not the manifest's; {again}")
    return found
