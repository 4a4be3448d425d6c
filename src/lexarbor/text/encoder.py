"""The encoder for use: questions and articles to vectors on a CPU, with onnxruntime and tokenizers alone.

**One text a run.** The shipped model is quantised dynamically: each matrix of activations gets one scale, taken from
its largest number. In a batch that number could come from a neighbour, and a text's vector would change with its
company. So each run reads one text (of a hierarchical model: one chunk), without padding and without a mask, on one
thread; `threads` says how many runs go on at once. A vector then depends on its text alone, to the last bit.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from lexarbor.errors import ModelError, first_line
from lexarbor.text.folder import ARTICLE_ENCODER, ENCODER, SECOND_LEVEL, TOKENIZER, ModelFolder
from lexarbor.text.inputs import cut_article, cut_question
from lexarbor.text.settings import EncoderSettings

THREADS = 2

Vector = NDArray[np.float32]


class TextEncoder:
    """A model folder, ready to encode. It may be used by several threads at once."""

    def __init__(self, folder: ModelFolder, threads: int | None = None) -> None:
        """`threads`: how many texts are encoded at once."""
        self.folder = folder
        self.threads = THREADS if threads is None else threads
        if self.threads < 1:
            raise ModelError(f"{self.threads} threads cannot encode anything: give 1 or more")
        self._tokenizer = _tokenizer(folder.path / TOKENIZER)
        self._questions = self._articles = self._session(ENCODER)
        if not self.settings.shared:
            self._articles = self._session(ARTICLE_ENCODER)
        self._second_level = self._session(SECOND_LEVEL) if self.settings.hierarchical else None

    @classmethod
    def open(cls, folder: str | Path, threads: int | None = None) -> Self:
        """The model in a folder, its checksums verified before anything is loaded."""
        return cls(ModelFolder.open(Path(folder)), threads)

    @property
    def settings(self) -> EncoderSettings:
        return self.folder.manifest.settings

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        return self.folder.manifest.dimension

    @property
    def checksum(self) -> str:
        """Two encoders with the same checksum give the same vectors: a key to keep vectors by."""
        return self.folder.checksum

    def encode_questions(self, texts: Iterable[str]) -> Vector:
        """Questions to vectors (n, d), of length 1 where the similarity is the cosine."""
        return self._each(self._question, texts)

    def encode_articles(self, inputs: Iterable[str]) -> Vector:
        """Articles, each as `inputs.article_input` writes it, to vectors (n, d)."""
        return self._each(self._article, inputs)

    def _each(self, encode: Callable[[str], Vector], texts: Iterable[str]) -> Vector:
        rows = list(texts)
        if len(rows) < 2 or self.threads == 1:  # a question alone needs no pool
            vectors = [encode(text) for text in rows]
        else:
            with ThreadPoolExecutor(self.threads) as pool:
                vectors = list(pool.map(encode, rows))
        return np.array(vectors, dtype=np.float32).reshape(len(vectors), self.dimension)

    def _question(self, text: str) -> Vector:
        ids = cut_question(self._ids(text), self.settings, *self.folder.manifest.special_tokens)
        return self._finished(self._run(self._questions, ids))

    def _article(self, text: str) -> Vector:
        chunks = cut_article(self._ids(text), self.settings, *self.folder.manifest.special_tokens)
        vectors = [self._run(self._articles, ids) for ids in chunks]
        if self._second_level is None:
            return self._finished(vectors[0])
        found: list[Vector] = self._second_level.run(None, {"chunks": np.stack(vectors, axis=1)})  # (1, m, d)
        return self._finished(found[0])

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(_whole(text), add_special_tokens=False).ids
        return ids

    def _run(self, session: onnxruntime.InferenceSession, ids: list[int]) -> Vector:
        """Token ids to a raw vector (1, d)."""
        vector: Vector = session.run(None, {"ids": np.array([ids], dtype=np.int64)})[0]
        return vector

    def _finished(self, vector: Vector) -> Vector:
        """(1, d) to (d), at length 1 where vectors are compared by their cosine."""
        vector = vector[0]
        if self.settings.similarity != "cosine":
            return vector
        return vector / max(np.float32(np.sqrt(vector @ vector)), np.finfo(np.float32).tiny)

    def _session(self, name: str) -> onnxruntime.InferenceSession:
        path = self.folder.path / name
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            session = onnxruntime.InferenceSession(
                path.read_bytes(),
                options,
                providers=["CPUExecutionProvider"],
                # measured: the fused kernel takes several times as long as the addition and normalisation it replaces
                disabled_optimizers=["SkipLayerNormFusion"],
            )
        except Exception as error:  # onnxruntime's errors have no common ancestor but this
            raise ModelError(
                f"{path}: onnxruntime {onnxruntime.__version__} cannot run it ({first_line(error)}); "
                "install a newer onnxruntime, or export the model again"
            ) from error
        width = session.get_outputs()[0].shape[-1]
        if width != self.dimension:
            raise ModelError(
                f"{path}: gives vectors of {width} numbers where the manifest says {self.dimension}; "
                "export the model again"
            )
        return session


def _tokenizer(path: Path) -> Any:
    try:
        tokenizer = Tokenizer.from_str(path.read_text(encoding="utf-8"))
    except Exception as error:  # the tokenizers library raises plain exceptions
        raise ModelError(
            f"{path}: the tokenizers library cannot read it ({first_line(error)}); "
            "install a newer tokenizers, or export the model again"
        ) from error
    # cutting is ours: a tokenizer that was trained may still carry the lengths of its training
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _whole(text: str) -> str:
    """The text with half characters (lone surrogates), which have no UTF-8, as U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
