"""The folder of a trained graph encoder: no torch, no pickle, every file known by its checksum.

manifest.json   the format, the settings, the text encoder that it is for, where it comes from, a checksum for each file
weights.npz     the learned numbers in 16 bits, by the names of `lexarbor.graph.weights`
"""

import hashlib
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np

from lexarbor.errors import ModelError
from lexarbor.files import folder_at, replacing, sha256, write_json
from lexarbor.graph.settings import GraphSettings
from lexarbor.graph.weights import Weights, check_weights
from lexarbor.text.manifests import MANIFEST, checksums_told, read_manifest, verified

FORMAT = "lexarbor-lge/1"
WEIGHTS = "weights.npz"
_OTHER = "give the folder of a trained graph encoder"
_AGAIN = "train the graph encoder again, or fetch its folder again"


@dataclass(frozen=True, slots=True)
class GraphModelFolder:
    """An opened folder: every file was there and had its checksum."""

    path: Path
    settings: GraphSettings
    dimension: int
    """How many numbers a vector has."""
    encoder: str
    """The checksum of the text encoder whose vectors it was trained on."""
    provenance: Mapping[str, Any]
    """Where the model comes from and how it was trained: for people."""
    weights: Weights = field(repr=False)
    checksums: Mapping[str, str]
    """sha256 by file name."""

    @property
    def checksum(self) -> str:
        """Changes with anything that could change a vector: files, settings and the text encoder."""
        known = {
            "format": FORMAT,
            "settings": self.settings.as_dict(),
            "encoder": self.encoder,
            "files": dict(self.checksums),
        }
        return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()

    @classmethod
    def open(cls, path: Path) -> Self:
        """The folder, its files compared with their checksums; anything amiss is a `ModelError`."""
        values = read_manifest(path, FORMAT, what="graph encoder", other=_OTHER, again=_AGAIN)
        where = path / MANIFEST
        settings, dimension, encoder = (values.get(name) for name in ("settings", "dimension", "encoder"))
        if not isinstance(settings, dict):
            raise ModelError(f"{where}: has no settings; {_AGAIN}")
        if type(dimension) is not int or dimension < 1:
            raise ModelError(
                f"{where}: its dimension is {dimension!r}, a whole number of 1 or more is needed; {_AGAIN}"
            )
        if not isinstance(encoder, str) or not encoder:
            raise ModelError(f"{where}: its encoder is {encoder!r}, and should be a checksum; {_AGAIN}")
        told = checksums_told(path, values, again=_AGAIN)
        checksum = verified(path / WEIGHTS, told.get(WEIGHTS), again=_AGAIN)
        read = GraphSettings.from_dict(settings, str(where))
        weights = _read_weights(path / WEIGHTS)
        check_weights(weights, read, dimension, str(path / WEIGHTS), _AGAIN)
        provenance = values.get("provenance")
        provenance = provenance if isinstance(provenance, dict) else {}
        return cls(path, read, dimension, encoder, provenance, weights, {WEIGHTS: checksum})


def write_model(
    path: Path,
    settings: GraphSettings,
    dimension: int,
    encoder: str,
    weights: Weights,
    provenance: Mapping[str, Any] | None = None,
) -> None:
    """Write the folder; other files in it stay. A crash on the way leaves a folder that `open` refuses.

    `weights`: as `LegislativeGraphEncoder.to_arrays` gives them. `encoder`: the checksum of the text encoder whose
    vectors they were trained on. Equal models give equal bytes.
    """
    check_weights(weights, settings, dimension, "the graph encoder to be written", "give the weights of these settings")
    if not encoder:
        raise ModelError("a graph encoder is of use with one text encoder alone: give that one's checksum")
    folder_at(path)
    with replacing(path / WEIGHTS) as temporary, temporary.open("wb") as file:
        rounded: dict[str, Any] = {name: np.asarray(held, dtype=np.float16) for name, held in weights.items()}
        np.savez(file, **rounded)
    values = {
        "format": FORMAT,
        "settings": settings.as_dict(),
        "dimension": dimension,
        "encoder": encoder,
        "checksums": {WEIGHTS: sha256(path / WEIGHTS)},
        "provenance": dict(provenance or {}),
    }
    write_json(path / MANIFEST, values)


def _read_weights(path: Path) -> Weights:
    try:
        with np.load(path, allow_pickle=False) as held:
            return {name: held[name] for name in held.files}
    except (OSError, ValueError, EOFError, TypeError, zipfile.BadZipFile) as error:  # TypeError: one array, no archive
        raise ModelError(f"{path}: holds no weights that can be read ({error}); {_AGAIN}") from error
