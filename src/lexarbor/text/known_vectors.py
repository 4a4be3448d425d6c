"""Vectors that come with a model, so that its law need not be encoded again: in 8 bits, each known by what was read.

manifest.json   the format, the encoder whose vectors they are, a checksum for each file
keys.npy        of each vector, 64 bits of the key that `lexarbor.text.vector_cache` knows it by
vectors.npy     one row each, 8-bit integers
scales.npy      what each row is to be multiplied with
"""

from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lexarbor.errors import ModelError
from lexarbor.files import folder_at, replacing, sha256, write_json
from lexarbor.text.eight_bits import to_eight_bits
from lexarbor.text.manifests import MANIFEST, checksums_told, read_manifest, verified
from lexarbor.text.vector_cache import Vector, VectorCache

FORMAT = "lexarbor-known-vectors/1"
SHIPPED = "vectors"
"""The folder under `lexarbor/shipped` of those of the default law."""
_KEYS, _VECTORS, _SCALES = "keys.npy", "vectors.npy", "scales.npy"
_AGAIN = "fetch the folder again, or leave it out: the law is then encoded, which takes minutes"


class KnownVectors:
    """Looks vectors up by what the encoder read."""

    def __init__(
        self, encoder: str, keys: NDArray[np.uint64], vectors: NDArray[np.int8], scales: NDArray[np.float32]
    ) -> None:
        """`encoder`: the checksum of the encoder whose vectors (n, d) they are, in the order of the `keys` (n)."""
        self.encoder = encoder
        self._cache = VectorCache(Path(), encoder, vectors.shape[1])
        self._rows = {key: row for row, key in enumerate(keys.tolist())}
        self._vectors, self._scales = vectors, scales

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Those in a folder, its checksums verified."""
        values = read_manifest(
            folder, FORMAT, what="vectors", other="give the folder of vectors in 8 bits", again=_AGAIN
        )
        told = checksums_told(folder, values, again=_AGAIN)
        for name in (_KEYS, _VECTORS, _SCALES):
            verified(folder / name, told.get(name), again=_AGAIN)
        try:
            keys, vectors, scales = (np.load(folder / name, allow_pickle=False) for name in (_KEYS, _VECTORS, _SCALES))
        except ValueError as error:
            raise ModelError(f"{folder}: holds no vectors that can be read ({error}); {_AGAIN}") from error
        if vectors.ndim != 2 or not len(keys) == len(vectors) == len(scales):
            raise ModelError(
                f"{folder}: {keys.shape} keys, {vectors.shape} vectors and {scales.shape} scales do not fit; {_AGAIN}"
            )
        return cls(str(values.get("encoder")), keys, vectors, scales)

    def __len__(self) -> int:
        return len(self._rows)

    def read(self, texts: Iterable[str]) -> dict[str, Vector]:
        """The vectors that are known, of those of some texts."""
        found: dict[str, Vector] = {}
        for text in texts:
            row = self._rows.get(_short(self._cache.key(text)))
            if row is not None:
                found[text] = self._vectors[row] * self._scales[row]
        return found


def write_known(folder: Path, encoder: str, vectors: Mapping[str, Vector], facts: Mapping[str, Any]) -> None:
    """Write the vectors of some texts, by text; `encoder` is the checksum of the one that made them, `facts` are for
    people. The manifest comes last: after a crash the checksums do not fit.
    """
    stacked = np.stack(list(vectors.values()))
    cache = VectorCache(Path(), encoder, stacked.shape[1])
    keys = np.array([_short(cache.key(text)) for text in vectors], dtype=np.uint64)
    numbers, scales = to_eight_bits(stacked)
    order = np.argsort(keys)  # equal vectors give equal bytes, in whatever order they came
    folder_at(folder)
    for name, array in ((_KEYS, keys), (_VECTORS, numbers), (_SCALES, scales)):
        with replacing(folder / name) as temporary, temporary.open("wb") as file:
            np.save(file, array[order], allow_pickle=False)
    checksums = {name: sha256(folder / name) for name in (_KEYS, _VECTORS, _SCALES)}
    write_json(
        folder / MANIFEST, {"format": FORMAT, "encoder": encoder, "vectors": len(keys), **facts, "checksums": checksums}
    )


def shipped_vectors() -> KnownVectors | None:
    """Those that come with Lexarbor; None where this copy has none."""
    folder = Path(str(files("lexarbor"))) / "shipped" / SHIPPED
    return KnownVectors.open(folder) if (folder / MANIFEST).is_file() else None


def _short(key: bytes) -> int:
    return int.from_bytes(key[:8], "big")
