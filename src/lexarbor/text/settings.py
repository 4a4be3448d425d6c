"""How texts become vectors: the settings that training chooses and that every later reader of the model needs."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import ceil
from pathlib import Path
from typing import Any, Self

from lexarbor.errors import ModelError, TrainingError
from lexarbor.files import write_json
from lexarbor.text.manifests import settings_from

ARTICLES = ("first", "hierarchical")
POOLINGS = ("cls", "mean")
CHUNK_POOLINGS = ("mean", "max")
SIMILARITIES = ("cosine", "dot", "euclidean")
SPECIAL_TOKENS = 2
"""One before each input ([CLS] or <s>) and one after it ([SEP] or </s>)."""


@dataclass(frozen=True, slots=True)
class EncoderSettings:
    """The dense statute retriever's settings; the paper's section "Dense Statute Retriever" names them.

    The paper's own are `article="hierarchical", max_tokens=1024, pooling="cls", chunk_pooling="max", shared=False,
    headings=False`; its authors' code has `overlap=12`.
    """

    article: str = "first"
    """`first`: one pass over the first `max_tokens`. `hierarchical`: chunks, each read alone, then a second level over
    them.
    """
    max_tokens: int = 256
    """What is read of an article. `first`: tokens, the two special ones counted. `hierarchical`: tokens of the text,
    the special ones not counted, nor those that a chunk repeats.
    """
    chunk_tokens: int = 128
    """`hierarchical` only: the tokens of a full chunk, its two special ones counted."""
    overlap: int = 0
    """`hierarchical` only: how many tokens of the text a chunk repeats of the one before."""
    question_tokens: int = 64
    """What is read of a question, the two special tokens counted."""
    headings: bool = True
    """Whether an article's headings are read before its text."""
    pooling: str = "mean"
    """How the tokens of a question or a chunk become one vector: the first one's (`cls`) or their `mean`."""
    chunk_pooling: str = "mean"
    """`hierarchical` only: how the chunks of an article become one vector, `mean` or `max`."""
    similarity: str = "cosine"
    """How a question is compared with an article: `cosine`, `dot`, or `euclidean`, which is 1 / (1 + distance)."""
    shared: bool = True
    """One tower reads questions and articles, or each has its own."""

    def __post_init__(self) -> None:
        for name, known in _WORDS.items():
            found = getattr(self, name)
            if found not in known:
                raise TrainingError(f"the encoder's {name} is {found!r}: choose one of {', '.join(known)}")
        for name in ("headings", "shared"):
            if not isinstance(getattr(self, name), bool):
                raise TrainingError(f"the encoder's {name} is {getattr(self, name)!r}: write true or false")
        for name, least in (("max_tokens", 3), ("chunk_tokens", 3), ("question_tokens", 3), ("overlap", 0)):
            found = getattr(self, name)
            if not isinstance(found, int) or isinstance(found, bool) or found < least:
                raise TrainingError(f"the encoder's {name} is {found!r}: give a whole number of {least} or more")
        if self.hierarchical:
            self._check_chunks()

    def _check_chunks(self) -> None:
        if self.overlap >= self.chunk_content:
            raise TrainingError(
                f"a chunk of {self.chunk_tokens} tokens holds {self.chunk_content} of the text and cannot repeat "
                f"{self.overlap} of the chunk before: lower overlap or raise chunk_tokens"
            )
        if self.max_tokens < self.chunk_content:
            raise TrainingError(
                f"max_tokens is {self.max_tokens}, less than the {self.chunk_content} tokens of the text in one "
                f"chunk of {self.chunk_tokens}: raise max_tokens or lower chunk_tokens"
            )

    @property
    def hierarchical(self) -> bool:
        """Whether there is a second level."""
        return self.article == "hierarchical"

    @property
    def chunk_content(self) -> int:
        """How many tokens of the text a full chunk holds."""
        return self.chunk_tokens - SPECIAL_TOKENS

    @property
    def article_tokens(self) -> int:
        """The longest input that the first level reads of an article, special tokens counted."""
        return self.chunk_tokens if self.hierarchical else self.max_tokens

    @property
    def max_chunks(self) -> int:
        """The most chunks an article can have: 1 + ⌈(max_tokens - c) / (c - overlap)⌉ with c = chunk_tokens - 2.

        1,024 tokens in chunks of 128 are 9 chunks, with an overlap of 12 too, as in the authors' code; without overlap
        the ninth holds only 16 tokens, and 1,008 tokens are exactly 8.
        """
        if not self.hierarchical:
            return 1
        return 1 + ceil((self.max_tokens - self.chunk_content) / (self.chunk_content - self.overlap))

    def as_dict(self) -> dict[str, Any]:
        """What `from_dict` reads; words, numbers and truth values only."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], where: str = "the encoder's settings") -> Self:
        """The settings of a saved model. A key that is missing has its default, so that folders written before a
        setting existed stay readable; a key that is not known, or an impossible value, is a `ModelError`.
        """
        return settings_from(cls, values, where, TrainingError)

    def write(self, path: Path) -> None:
        """Save as JSON."""
        write_json(path, self.as_dict())

    @classmethod
    def read(cls, path: Path) -> Self:
        """The settings in a JSON file that `write` made."""
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ModelError(f"{path}: no encoder settings to read ({error}); is this a model folder?") from error
        if not isinstance(values, dict):
            raise ModelError(f"{path}: holds a {type(values).__name__}, settings are a JSON object")
        return cls.from_dict(values, str(path))


_WORDS = {
    "article": ARTICLES,
    "pooling": POOLINGS,
    "chunk_pooling": CHUNK_POOLINGS,
    "similarity": SIMILARITIES,
}
