"""Texts as the encoder reads them, tokenised once: flat arrays that batches are cut from without a loop over tokens."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from typing import Any, TypedDict, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lexarbor.text import inputs
from lexarbor.text.settings import EncoderSettings

GROUP = 1 << 14
"""Tokens, padding counted, of the texts that are padded together where a recipe sets no mini-batch: so that long ones
do not stretch all the short ones beside them, and there is still enough in a group to keep a GPU busy.
"""
_AT_ONCE = 8192
_MULTIPLE = 8
"""Widths are multiples of this: what a GPU's matrix units want."""

Item = TypeVar("Item")
Encoder = Callable[[Tensor, Tensor, Tensor], Tensor]
"""What `unpacked` gives, ids, mask and counts, to vectors (texts, d)."""


class Packed(TypedDict):
    """Some texts for one pass of an encoder, sorted by length and in groups, each padded to its own longest.

    Few and plain parts, so that a batch is cheap to hand from a worker to the trainer and on to a GPU.
    """

    ids: Tensor
    """(tokens), 32-bit: the padded groups end to end."""
    lengths: Tensor
    """(chunks): the tokens of each chunk that are no padding."""
    counts: Tensor
    """(texts): how many chunks each text has."""
    order: Tensor
    """(texts): where the text that was asked for first, second, … stands among the sorted ones."""
    shapes: tuple[tuple[int, int, int], ...]
    """Of each group: texts, chunks, tokens of a chunk."""


@dataclass(frozen=True, eq=False)
class TokenRows:
    """One row for each text; a row is one chunk or several, special tokens in place."""

    ids: NDArray[Any]
    """(tokens) of all chunks, end to end."""
    chunk_starts: NDArray[np.int64]
    """(chunks + 1): where each chunk begins in `ids`, and where the last one ends."""
    row_starts: NDArray[np.int64]
    """(rows + 1): where each row's chunks begin in `chunk_starts`."""
    padding: int

    @classmethod
    def of(cls, rows: Iterable[Sequence[Sequence[int]]], padding: int, vocabulary: int) -> "TokenRows":
        """From the chunks of each text."""
        kind = id_type(vocabulary)
        parts: list[NDArray[Any]] = []
        lengths: list[int] = []
        counts: list[int] = []
        for some in by_many(rows):
            counts += [len(row) for row in some]
            lengths += [len(chunk) for row in some for chunk in row]
            parts.append(np.fromiter(chain.from_iterable(chunk for row in some for chunk in row), dtype=kind))
        ids = np.concatenate(parts) if parts else np.zeros(0, kind)
        return cls(ids, starts_of(lengths), starts_of(counts), padding)

    def __len__(self) -> int:
        return len(self.row_starts) - 1

    @cached_property
    def chunk_counts(self) -> NDArray[np.int64]:
        return np.diff(self.row_starts)

    @cached_property
    def chunk_lengths(self) -> NDArray[np.int64]:
        return np.diff(self.chunk_starts)

    @cached_property
    def longest(self) -> NDArray[np.int64]:
        """The tokens of each row's longest chunk."""
        return np.maximum.reduceat(self.chunk_lengths, self.row_starts[:-1]) if len(self) else self.chunk_counts

    def row(self, number: int) -> NDArray[Any]:
        """The ids of a row, all its chunks end to end."""
        first, after = self.row_starts[number], self.row_starts[number + 1]
        return self.ids[self.chunk_starts[first] : self.chunk_starts[after]]

    def pack(self, rows: NDArray[np.integer[Any]], size: int = 0) -> Packed:
        """These rows, grouped; a group is whole rows of at most `size` chunks together (unless it is given, of `GROUP`
        tokens), or a single row.
        """
        by_length = np.lexsort((self.longest[rows], self.chunk_counts[rows]))
        sorted_rows = rows[by_length]
        order = np.empty(len(rows), dtype=np.int64)
        order[by_length] = np.arange(len(rows))
        counts = self.chunk_counts[sorted_rows]
        numbers = ranges(self.row_starts[sorted_rows], counts)  # of all chunks
        lengths = self.chunk_lengths[numbers]
        flat, shapes = [], []
        for texts, chunks, width in _groups(counts, self._widths[sorted_rows], size):
            group = self._padded(numbers[chunks], width)
            flat.append(group.ravel())
            shapes.append((texts.stop - texts.start, *group.shape))
        return Packed(
            ids=torch.from_numpy(np.concatenate(flat)),
            lengths=torch.from_numpy(lengths),
            counts=torch.from_numpy(counts),
            order=torch.from_numpy(order),
            shapes=tuple(shapes),
        )

    @cached_property
    def _widths(self) -> NDArray[np.int64]:
        """What each row's chunks are padded to at the least."""
        widths: NDArray[np.int64] = -(-self.longest // _MULTIPLE) * _MULTIPLE
        return np.minimum(widths, np.int64(self.longest.max(initial=0)))

    def _padded(self, chunks: NDArray[np.int64], width: int) -> NDArray[np.int32]:
        """(chunks, width)"""
        lengths = self.chunk_lengths[chunks]
        places = np.arange(width)
        # past the end of a chunk stands the next one, past the last nothing
        taken = self.ids.take(self.chunk_starts[chunks][:, None] + places, mode="clip").astype(np.int32)
        taken[places >= lengths[:, None]] = self.padding
        return taken


def _groups(counts: NDArray[np.int64], widths: NDArray[np.int64], size: int) -> Iterator[tuple[slice, slice, int]]:
    """Of texts with these chunk counts and widths: the texts and the chunks of each group, and how wide it is."""
    start = done = 0
    while start < len(counts):
        chunks, wide = np.cumsum(counts[start:]), np.maximum.accumulate(widths[start:])
        texts = max(int(np.searchsorted(chunks if size else chunks * wide, size or GROUP, side="right")), 1)
        after = done + int(chunks[texts - 1])
        yield slice(start, start + texts), slice(done, after), int(wide[texts - 1])
        start, done = start + texts, after


def unpacked(packed: Packed) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """The groups of some packed texts, on the device where they lie: ids and mask (chunks, tokens), counts (texts)."""
    tokens = chunks = texts = 0
    widest = max(width for *_, width in packed["shapes"])
    places = torch.arange(widest, device=packed["ids"].device)
    present = places < packed["lengths"].unsqueeze(1)  # (all chunks, widest)
    for held, rows, width in packed["shapes"]:
        ids = packed["ids"][tokens : tokens + rows * width].view(rows, width).long()
        mask = present[chunks : chunks + rows, :width].long()
        yield ids, mask, packed["counts"][texts : texts + held]
        tokens, chunks, texts = tokens + rows * width, chunks + rows, texts + held


def to_device(packed: Packed, device: torch.device) -> Packed:
    """The same texts on another device."""
    return Packed(
        ids=packed["ids"].to(device),
        lengths=packed["lengths"].to(device),
        counts=packed["counts"].to(device),
        order=packed["order"].to(device),
        shapes=packed["shapes"],
    )


def ranges(starts: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """start, start + 1, … for each start, as many as its count, end to end."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - (ends - counts), counts) + np.arange(total)


def starts_of(counts: Sequence[int]) -> NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(counts, dtype=np.int64))).astype(np.int64)


def question_rows(texts: Sequence[str], tokenizer: Any, settings: EncoderSettings) -> TokenRows:
    """Questions as the query encoder reads them."""
    return _rows(texts, tokenizer, lambda ids, first, last: [inputs.cut_question(ids, settings, first, last)])


def article_rows(texts: Sequence[str], tokenizer: Any, settings: EncoderSettings) -> TokenRows:
    """Articles, as `inputs.article_input` wrote them, as the article encoder reads them."""
    return _rows(texts, tokenizer, lambda ids, first, last: inputs.cut_article(ids, settings, first, last))


def _rows(texts: Sequence[str], tokenizer: Any, cut: Callable[[list[int], int, int], list[list[int]]]) -> TokenRows:
    backend = uncut(tokenizer.backend_tokenizer)
    first, last = tokenizer.cls_token_id, tokenizer.sep_token_id
    rows = (
        cut(encoding.ids, first, last)
        for some in by_many(texts)
        for encoding in backend.encode_batch_fast(some, add_special_tokens=False)
    )
    return TokenRows.of(rows, tokenizer.pad_token_id, 1 + max(tokenizer.get_vocab().values()))


def id_type(vocabulary: int) -> np.dtype[Any]:
    """The smallest numbers that hold the ids of so many tokens."""
    return np.dtype(np.uint16 if vocabulary <= 1 << 16 else np.int32)


def uncut(tokenizer: Any) -> Any:
    """The tokenizer without the lengths that it may still carry from its training: cutting is ours."""
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def by_many(items: Iterable[Item]) -> Iterator[list[Item]]:
    """A few thousand at a time: python's lists of numbers are large."""
    left = iter(items)
    while some := list(islice(left, _AT_ONCE)):
        yield some
