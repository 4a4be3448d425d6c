"""The dense leg: articles as vectors in 8 bits, scored against a question's vector by one product."""

from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from lexarbor.errors import SearchError
from lexarbor.search.byte_product import ByteProduct
from lexarbor.text.eight_bits import to_eight_bits

THREADS = 2
"""Of one question: the sooner its answer comes."""
VECTORS, SCALES = "vectors.npy", "scales.npy"
_HALF = 64
"""A question's numbers are split into two digits to this base, so that each fits 7 bits and both together 12."""
_LARGEST_ASKED = 63 * _HALF

Floats = NDArray[np.float32]


class DenseIndex:
    """Vectors by row, scored against a question's."""

    def __init__(self, vectors: NDArray[np.int8], scales: Floats, threads: int = THREADS) -> None:
        """`vectors` (n, d), to be multiplied with `scales` (n)."""
        if vectors.ndim != 2 or not vectors.size or scales.shape != vectors.shape[:1]:
            raise SearchError(f"vectors are {vectors.shape} and scales {scales.shape}: expected (n, d) and (n)")
        self.vectors = vectors
        self.scales = scales
        self._product = ByteProduct(vectors, threads)
        self._sums = vectors.sum(axis=1, dtype=np.int32)

    @classmethod
    def build(cls, vectors: Floats) -> Self:
        """Vectors (n, d) to 8 bits, each at a scale of its own."""
        if not np.isfinite(vectors).all():
            raise SearchError("some vectors are no numbers (NaN or infinite): encode the law again")
        return cls(*to_eight_bits(vectors))

    @property
    def dimension(self) -> int:
        return int(self.vectors.shape[1])

    def scores(self, questions: Floats) -> Floats:
        """(m, d) to (m, n): the products of questions' vectors, rounded to 12 bits, and the articles' in 8."""
        if questions.ndim != 2 or questions.shape[1] != self.dimension:
            raise SearchError(f"a question's vector is {questions.shape[1:]}, those of the index are {self.dimension}")
        steps = np.abs(questions).max(axis=1, keepdims=True, initial=0) / _LARGEST_ASKED
        whole = np.round(questions / np.where(steps > 0, steps, 1)).astype(np.int32)
        high = (whole + _HALF // 2) // _HALF  # -63 … 63
        low = whole - high * _HALF  # -32 … 31
        digits = np.concatenate([high + _HALF, low + _HALF // 2]).astype(np.uint8)
        upper, lower = np.split(self._product.times(digits), 2)
        products = (upper - _HALF * self._sums) * _HALF + (lower - _HALF // 2 * self._sums)
        found: Floats = products.astype(np.float32) * self.scales * steps.astype(np.float32)
        return found

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        np.save(folder / VECTORS, self.vectors)
        np.save(folder / SCALES, self.scales)

    @classmethod
    def load(cls, folder: Path, threads: int = THREADS) -> Self:
        vectors, scales = (np.load(folder / name, allow_pickle=False) for name in (VECTORS, SCALES))
        return cls(vectors, scales, threads)
