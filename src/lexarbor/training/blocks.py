"""Blocks of text with tokens to guess: what masked language modelling reads.

All texts are one long stream of tokens, each text closed by a separator. A block is the opening token and the next
`block_tokens - 1` of the stream: no padding, so no attention mask either. Each pass over the stream begins at another
place of it and takes its blocks in another order.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import torch
from tokenizers import Tokenizer
from torch.utils.data import Dataset

from lexarbor.errors import TrainingError
from lexarbor.training.tokens import by_many, id_type, uncut

IGNORED = -100
_ORDER, _GUESSES = 0, 1  # the two uses of the seed
_TO_MASK, _TO_RANDOM = 0.8, 0.9  # of the tokens to guess: 80 % hidden, 10 % another token, 10 % left (BERT)


@dataclass(frozen=True, slots=True)
class Pieces:
    """The ids of a vocabulary that packing and masking name."""

    opening: int
    """[CLS] or <s>."""
    separator: int
    mask: int
    special: tuple[int, ...]
    size: int


def pack(texts: Sequence[str], tokenizer: Tokenizer, pieces: Pieces) -> np.ndarray:
    """The stream of all texts' tokens."""
    kind = id_type(pieces.size)
    parts = [np.fromiter(ids, dtype=kind) for ids in _token_ids(texts, uncut(tokenizer), pieces.separator)]
    stream: np.ndarray = np.concatenate(parts) if parts else np.empty(0, dtype=kind)
    if not np.isin(stream, pieces.special, invert=True).any():
        raise TrainingError("no text to learn from: every text given is empty")
    return stream


def _token_ids(texts: Sequence[str], tokenizer: Tokenizer, separator: int) -> Iterator[Iterator[int]]:
    for batch in by_many(texts):
        found = tokenizer.encode_batch_fast(batch, add_special_tokens=False)
        yield chain.from_iterable(chain(one.ids, (separator,)) for one in found if one.ids)


class MaskedBlocks(Dataset[dict[str, torch.Tensor]]):
    """Item `i` is the whole batch number `i`, a function of the seed and `i` alone:

    ids (batch_size, block_tokens), positions (guesses,) in the flattened ids, targets (guesses,) the tokens there.
    The number of guesses is the same in every batch, so that all shapes are.
    """

    def __init__(
        self, stream: np.ndarray, pieces: Pieces, *, block_tokens: int, batch_size: int, masked: float, seed: int
    ) -> None:
        self.stream, self.pieces, self.seed = stream, pieces, seed
        self.block_tokens, self.batch_size = block_tokens, batch_size
        self.guesses = max(1, round(masked * block_tokens * batch_size))
        self.blocks = -(-len(stream) // (block_tokens - 1))
        """Of one pass over the stream."""
        self.count = 0
        """Batches of a whole training; `pretrain` sets it."""
        self._special = np.isin(np.arange(pieces.size), pieces.special)
        self._plain = np.flatnonzero(~self._special)

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, number: int) -> dict[str, torch.Tensor]:
        if not 0 <= number < self.count:
            raise IndexError(number)
        ids = self._blocks(number)
        draw = np.random.default_rng((self.seed, _GUESSES, number))
        keys = draw.random(ids.size, dtype=np.float32)
        keys[self._special[ids].ravel()] += 1.0  # special tokens come last: guessed only where nothing else is left
        positions = np.sort(np.argpartition(keys, self.guesses - 1)[: self.guesses])
        flat = ids.reshape(-1)
        found = flat[positions]
        targets = np.where(self._special[found], IGNORED, found)
        fate = draw.random(self.guesses, dtype=np.float32)
        others = self._plain[draw.integers(len(self._plain), size=self.guesses)]
        shown = np.where(fate < _TO_MASK, self.pieces.mask, np.where(fate < _TO_RANDOM, others, found))
        flat[positions] = np.where(targets == IGNORED, found, shown)
        return {
            "ids": torch.from_numpy(ids),
            "positions": torch.from_numpy(positions),
            "targets": torch.from_numpy(targets),
        }

    def _blocks(self, number: int) -> np.ndarray:
        """The batch's blocks before masking, (batch_size, block_tokens) int64."""
        taken = np.arange(number * self.batch_size, (number + 1) * self.batch_size)
        passes, places = np.divmod(taken, self.blocks)
        length = self.block_tokens - 1
        starts = np.empty(self.batch_size, dtype=np.int64)
        for one in np.unique(passes):
            draw = np.random.default_rng((self.seed, _ORDER, int(one)))
            shift = draw.integers(len(self.stream))
            order = draw.permutation(self.blocks)
            starts[passes == one] = shift + order[places[passes == one]] * length
        ids = np.empty((self.batch_size, self.block_tokens), dtype=np.int64)
        ids[:, 0] = self.pieces.opening
        ids[:, 1:] = self.stream[(starts[:, None] + np.arange(length)) % len(self.stream)]
        return ids
