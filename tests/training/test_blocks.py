"""Packing and masking: nothing lost, nothing padded, a batch is a function of its number, 80/10/10."""

import numpy as np
import pytest
import torch

from lexarbor.errors import TrainingError
from lexarbor.text.vocabulary import learn_vocabulary
from lexarbor.training.blocks import IGNORED, MaskedBlocks, Pieces, pack

PIECES = Pieces(opening=2, separator=3, mask=4, special=(0, 1, 2, 3, 4), size=1000)
STREAM = np.tile(np.arange(5, 1000, dtype=np.uint16), 20)


def blocks(seed: int = 0, **changes: float) -> MaskedBlocks:
    options = {"block_tokens": 64, "batch_size": 8, "masked": 0.15, **changes}
    made = MaskedBlocks(STREAM, PIECES, seed=seed, **options)  # type: ignore[arg-type]
    made.count = 1000
    return made


def unmasked(batch: dict[str, torch.Tensor]) -> torch.Tensor:
    ids = batch["ids"].clone()
    seen = batch["targets"] != IGNORED
    ids.view(-1)[batch["positions"][seen]] = batch["targets"][seen]
    return ids


def test_texts_follow_each_other_with_separators_and_the_empty_are_dropped() -> None:
    tokenizer = learn_vocabulary(["un deux trois"], 300)
    stream = pack(["un", "", "deux"], tokenizer, PIECES)
    one, two = (tokenizer.encode(text, add_special_tokens=False).ids for text in ("un", "deux"))
    assert stream.tolist() == [*one, 3, *two, 3]
    assert stream.dtype == np.uint16


def test_a_large_vocabulary_has_wide_ids() -> None:
    tokenizer = learn_vocabulary(["un"], 300)
    assert pack(["un"], tokenizer, Pieces(2, 3, 4, (), 70_000)).dtype == np.int32


def test_nothing_to_read_is_refused() -> None:
    with pytest.raises(TrainingError, match="no text to learn from"):
        pack(["", " "], learn_vocabulary(["un"], 300), PIECES)


def test_a_batch_is_a_function_of_seed_and_number() -> None:
    first, again, other = blocks(), blocks(), blocks(seed=1)
    _ = first[3]  # the order in which batches are asked for is nothing to them
    for name in ("ids", "positions", "targets"):
        assert torch.equal(first[7][name], again[7][name])
        assert not torch.equal(first[7][name], first[8][name])
        assert not torch.equal(first[7][name], other[7][name])


def test_one_pass_reads_each_token_of_the_stream() -> None:
    made = blocks(batch_size=4)
    assert made.blocks == 316  # of 63 tokens: 8 more than the stream has, so its last block comes round
    read = torch.cat([unmasked(made[number])[:, 1:].reshape(-1) for number in range(316 // 4)])
    counts = torch.bincount(read)[5:]
    assert counts.min() == 20
    assert counts.sum() == len(STREAM) + 8


def test_passes_begin_at_other_places() -> None:
    made = blocks(batch_size=1)
    starts = {number: unmasked(made[number])[0, 1].item() for number in range(3 * made.blocks)}
    passes = [{starts[one] for one in range(k * made.blocks, (k + 1) * made.blocks)} for k in range(3)]
    assert passes[0] != passes[1] != passes[2]


def test_blocks_open_and_are_full() -> None:
    ids = unmasked(blocks()[0])
    assert ids.shape == (8, 64)
    assert (ids[:, 0] == 2).all()
    assert ((ids[:, 1:] >= 5) & (ids[:, 1:] < 1000)).all()


def test_a_stream_shorter_than_a_block_comes_round() -> None:
    made = MaskedBlocks(STREAM[:10], PIECES, block_tokens=64, batch_size=2, masked=0.1, seed=0)
    made.count = 1
    assert set(unmasked(made[0])[:, 1:].reshape(-1).tolist()) == set(range(5, 15))


def test_every_batch_has_the_same_number_of_guesses_and_no_special_token_is_guessed() -> None:
    made = blocks()
    for number in range(5):
        batch = made[number]
        assert len(batch["positions"]) == len(batch["targets"]) == round(0.15 * 8 * 64)
        assert len(batch["positions"].unique()) == len(batch["positions"])
        assert (batch["targets"] >= 5).all()


def test_where_too_few_tokens_are_plain_the_rest_is_left_and_ignored() -> None:
    stream = np.array([7, 3, 3, 3, 3, 3, 3, 3], dtype=np.uint16)
    made = MaskedBlocks(stream, PIECES, block_tokens=9, batch_size=1, masked=0.5, seed=0)
    made.count = 1
    batch = made[0]
    assert sorted(batch["targets"].tolist()) == [IGNORED] * 3 + [7]
    assert (batch["ids"] == 3).sum() == 7


def test_eighty_of_a_hundred_are_hidden_ten_changed_ten_left() -> None:
    made = blocks(batch_size=64)
    hidden = left = total = 0
    for number in range(20):
        batch = made[number]
        shown = batch["ids"].view(-1)[batch["positions"]]
        hidden += int((shown == 4).sum())
        left += int((shown == batch["targets"]).sum())
        total += len(shown)
        assert (shown >= 4).all()
    assert hidden / total == pytest.approx(0.8, abs=0.02)
    assert left / total == pytest.approx(0.1, abs=0.02)


def test_a_batch_beyond_the_last_is_an_error() -> None:
    with pytest.raises(IndexError):
        blocks()[1000]
