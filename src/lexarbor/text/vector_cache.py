"""Vectors kept by what they were made from, in files that are only ever added to.

    cache/6f1c09ab52d3e847-3f2a9c1b.vectors

One file for each process that wrote, named by its encoder: a line that says what it is, then records of one size:
the key (sha256), the vector, a checksum of both. A process killed while writing leaves at most one half record, at the
end of its own file; a record whose checksum does not fit is as if it were not there.
"""

import hashlib
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from lexarbor.errors import LexarborError
from lexarbor.files import flush_to_disk, folder_at

HEADER = b"lexarbor-vector-cache/1\n"
_KEY, _CHECK = 32, 4
_NUMBER = np.dtype("<f4")

Vector = NDArray[np.float32]


class VectorCache:
    """The vectors that one encoder has made, in a folder that may hold those of others too."""

    def __init__(self, folder: Path, encoder_checksum: str, dimension: int) -> None:
        self.folder = folder
        self._encoder = encoder_checksum
        self._body = _KEY + dimension * _NUMBER.itemsize

    def key(self, text: str) -> bytes:
        """What a vector is known by: the encoder and the exact text it read."""
        return hashlib.sha256(f"{self._encoder}\n{text}".encode("utf-8", "surrogatepass")).digest()

    def read(self, texts: Iterable[str]) -> dict[str, Vector]:
        """The vectors that are kept, of those of some texts."""
        wanted = {self.key(text): text for text in texts}
        found: dict[str, Vector] = {}
        try:
            for path in sorted(self.folder.glob(f"{self._encoder[:16]}-*.vectors")):
                for record in self._records(path.read_bytes()):
                    if (text := wanted.get(bytes(record[:_KEY]))) is not None:
                        found[text] = np.frombuffer(record[_KEY:], dtype=_NUMBER)
        except OSError as error:
            raise LexarborError(
                f"{self.folder}: kept vectors cannot be read ({error.strerror or error}); name another folder"
            ) from error
        return found

    def _records(self, content: bytes) -> Iterator[memoryview]:
        """Keys with their vectors, of whole records alone."""
        if not content.startswith(HEADER):  # killed before the first line was written, or no file of ours
            return
        size = self._body + _CHECK
        view = memoryview(content)
        for start in range(len(HEADER), len(content) - size + 1, size):
            body = view[start : start + self._body]
            if zlib.crc32(body).to_bytes(_CHECK, "little") == view[start + self._body : start + size]:
                yield body

    @contextmanager
    def adding(self) -> Iterator["Addition"]:
        """A new file to write vectors to."""
        path = folder_at(self.folder) / f"{self._encoder[:16]}-{uuid4().hex[:8]}.vectors"
        with _telling(self.folder):
            file = path.open("xb")
        try:
            addition = Addition(file, self)
            addition.put(HEADER)
            yield addition
            with _telling(self.folder):
                flush_to_disk(path)
        finally:
            with suppress(OSError):  # what could not be written has been told
                file.close()


class Addition:
    """A file of kept vectors that is being written."""

    def __init__(self, file: BinaryIO, cache: VectorCache) -> None:
        self._file = file
        self._cache = cache

    def write(self, vectors: Mapping[str, Vector]) -> None:
        """Keep vectors of texts; once this returns, the death of this process does not lose them."""
        bodies = (self._cache.key(text) + vector.astype(_NUMBER).tobytes() for text, vector in vectors.items())
        self.put(b"".join(body + zlib.crc32(body).to_bytes(_CHECK, "little") for body in bodies))

    def put(self, content: bytes) -> None:
        """Add bytes to the file, as they are."""
        with _telling(self._cache.folder):
            self._file.write(content)
            self._file.flush()


@contextmanager
def _telling(folder: Path) -> Iterator[None]:
    """What the disk refuses, as an error for a person."""
    try:
        yield
    except OSError as error:
        raise LexarborError(
            f"{folder}: vectors cannot be kept ({error.strerror or error}); what is written stays: make room or "
            "name another folder, and start again"
        ) from error
