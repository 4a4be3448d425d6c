"""An encoder for tests of what is done with vectors."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from lexarbor.text.settings import EncoderSettings


@dataclass
class Toy:
    """Spells out a hash, and remembers what articles it was asked for."""

    settings: EncoderSettings = field(default_factory=EncoderSettings)
    checksum: str = "ab" * 32
    dimension: int = 4
    asked: list[str] = field(default_factory=list)

    def encode_articles(self, inputs: Iterable[str]) -> NDArray[np.float32]:
        texts = list(inputs)
        self.asked += texts
        return _hashed(texts)

    def encode_questions(self, texts: Iterable[str]) -> NDArray[np.float32]:
        return _hashed(texts)


def _hashed(texts: Iterable[str]) -> NDArray[np.float32]:
    rows = [list(sha256(text.encode("utf-8", "surrogatepass")).digest()[:4]) for text in texts]
    return np.array(rows, dtype=np.float32).reshape(-1, 4)
