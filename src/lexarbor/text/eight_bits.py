"""Vectors in 8 bits: a quarter of the bytes, each vector at a scale of its own."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LARGEST = 127


class EightBits(NamedTuple):
    """Vectors that are `numbers` times `scales`."""

    numbers: NDArray[np.int8]
    """(n, d)"""
    scales: NDArray[np.float32]
    """(n)"""


def to_eight_bits(vectors: NDArray[np.floating]) -> EightBits:
    """Vectors (n, d), rounded; one of zeros stays so."""
    scales = (np.abs(vectors).max(axis=1, initial=0) / LARGEST).astype(np.float32)
    numbers = np.round(vectors / np.where(scales > 0, scales, 1)[:, None]).astype(np.int8)
    return EightBits(numbers, scales)
