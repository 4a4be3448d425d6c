"""The model folder that search reads: no torch, no pickle, every file known by its checksum.

manifest.json           the format, the encoder's settings, where the model comes from, a checksum for each file
tokenizer.json          words to token ids, as the `tokenizers` library writes it
encoder.onnx            the first level: one text's ids (1, t) to one vector (1, d)
article_encoder.onnx    that of articles, where there are two towers
second_level.onnx       one article's chunks (1, m, d) to one vector (1, d), where articles are read by chunks
"""

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

from lexarbor.errors import LexarborError, ModelError
from lexarbor.files import flush_to_disk, folder_at, sha256, write_json
from lexarbor.text.manifests import MANIFEST, checksums_told, read_manifest, verified
from lexarbor.text.settings import EncoderSettings

FORMAT = "lexarbor-model/1"
TOKENIZER = "tokenizer.json"
ENCODER = "encoder.onnx"
ARTICLE_ENCODER = "article_encoder.onnx"
SECOND_LEVEL = "second_level.onnx"
_OTHER = "give the folder of an exported model"
_AGAIN = "export the model again, or fetch its folder again"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a model folder says of itself."""

    settings: EncoderSettings
    dimension: int
    """How many numbers a vector has."""
    special_tokens: tuple[int, int]
    """The token ids before each input ([CLS] or <s>) and after it ([SEP] or </s>)."""
    provenance: Mapping[str, Any]
    """Where the model comes from and how it was exported: for people."""


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """An opened folder: every file was there and had its checksum."""

    path: Path
    manifest: Manifest
    checksums: Mapping[str, str]
    """sha256 by file name."""

    @property
    def checksum(self) -> str:
        """Changes with anything that could change a vector: files and settings, not the provenance."""
        known = {
            "format": FORMAT,
            "settings": self.manifest.settings.as_dict(),
            "special_tokens": self.manifest.special_tokens,
            "files": dict(self.checksums),
        }
        return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()

    @property
    def size(self) -> int:
        """Bytes of all its files."""
        return sum((self.path / name).stat().st_size for name in (MANIFEST, *self.checksums))

    @classmethod
    def open(cls, path: Path) -> Self:
        """The folder, its files compared with their checksums; anything amiss is a `ModelError`."""
        values = read_manifest(path, FORMAT, what="model", other=_OTHER, again=_AGAIN)
        manifest = _checked(values, path / MANIFEST)
        told = checksums_told(path, values, again=_AGAIN)
        names = files_of(manifest.settings)
        checksums = {name: verified(path / name, told.get(name), again=_AGAIN) for name in names}
        return cls(path, manifest, checksums)


def files_of(settings: EncoderSettings) -> tuple[str, ...]:
    """The files that a model with these settings has, beside its manifest."""
    own = () if settings.shared else (ARTICLE_ENCODER,)
    second = (SECOND_LEVEL,) if settings.hierarchical else ()
    return (TOKENIZER, ENCODER, *own, *second)


@contextmanager
def writing(path: Path, manifest: Manifest) -> Iterator[Path]:
    """Yield an empty folder for the model's files; on success they take their places, the manifest last.

    Other files in the folder (a model card) stay. A crash while files are moved leaves a folder that `open` refuses.
    """
    new = not path.exists()
    building = folder_at(path) / f".building-{uuid4().hex[:8]}"
    try:
        building.mkdir()
        yield building
        checksums = {name: sha256(building / name) for name in files_of(manifest.settings)}
        for name in checksums:
            flush_to_disk(building / name)
            (building / name).replace(path / name)
        values = {
            "format": FORMAT,
            "settings": manifest.settings.as_dict(),
            "dimension": manifest.dimension,
            "special_tokens": list(manifest.special_tokens),
            "checksums": checksums,
            "provenance": dict(manifest.provenance),
        }
        write_json(path / MANIFEST, values)
        for name in {ARTICLE_ENCODER, SECOND_LEVEL} - set(checksums):  # of the model that was here before
            (path / name).unlink(missing_ok=True)
    except OSError as error:
        raise LexarborError(f"{path}: the model could not be written ({error.strerror or error})") from error
    finally:
        shutil.rmtree(building, ignore_errors=True)
        if new and not any(path.iterdir()):
            path.rmdir()


def _checked(values: Mapping[str, Any], where: Path) -> Manifest:
    settings, dimension, special = (values.get(name) for name in ("settings", "dimension", "special_tokens"))
    if not isinstance(settings, dict):
        raise ModelError(f"{where}: has no encoder settings; {_AGAIN}")
    if not _is_count(dimension) or dimension == 0:
        raise ModelError(f"{where}: its dimension is {dimension!r}, a whole number of 1 or more is needed; {_AGAIN}")
    if not isinstance(special, list) or len(special) != 2 or not all(map(_is_count, special)):
        raise ModelError(f"{where}: its special tokens are {special!r}, two token ids are needed; {_AGAIN}")
    provenance = values.get("provenance")
    return Manifest(
        EncoderSettings.from_dict(settings, str(where)),
        int(dimension or 0),
        (special[0], special[1]),
        provenance if isinstance(provenance, dict) else {},
    )


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
