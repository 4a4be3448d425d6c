"""Pooling, the layout of chunks, and the second level."""

import pytest
import torch
from torch import Tensor, nn

from lexarbor.errors import TrainingError
from lexarbor.text.hierarchical import ChunkTransformer, gathered, pooled

VECTORS = torch.tensor([[[1.0, 5.0], [3.0, -1.0], [50.0, 90.0]], [[2.0, 4.0], [60.0, 70.0], [80.0, 99.0]]])
PRESENT = torch.tensor([[True, True, False], [True, False, False]])


def second_level(pooling: str = "mean", *, learned: bool = True) -> ChunkTransformer:
    """Five chunks at most, in 8 numbers; as if it had been trained for a while, unless it is fresh."""
    torch.manual_seed(0)
    level = ChunkTransformer(8, 2, 5, pooling).eval()
    if learned:
        for weight in level.parameters():
            nn.init.normal_(weight, std=0.5)
    return level


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("cls", [[1.0, 5.0], [2.0, 4.0]]),
        ("mean", [[2.0, 2.0], [2.0, 4.0]]),
        ("max", [[3.0, 5.0], [2.0, 4.0]]),
    ],
)
def test_pooling_leaves_padding_out(how: str, expected: list[list[float]]) -> None:
    assert torch.equal(pooled(VECTORS, PRESENT, how), torch.tensor(expected))
    assert torch.equal(pooled(VECTORS, PRESENT.long(), how), torch.tensor(expected))


@pytest.mark.parametrize("how", ["mean", "max"])
def test_what_padding_holds_is_not_read_at_all(how: str) -> None:
    spoiled = VECTORS.masked_fill(~PRESENT.unsqueeze(-1), float("nan"))
    assert torch.equal(pooled(spoiled, PRESENT, how), pooled(VECTORS, PRESENT, how))


def test_pooling_widens_sixteen_bits() -> None:
    many = torch.ones(1, 5000, 1, dtype=torch.float16) * 100  # their sum is more than 16 bits hold
    assert pooled(many, torch.ones(1, 5000), "mean").tolist() == [[100.0]]


def test_chunks_are_laid_out_by_article() -> None:
    chunks = gathered(torch.arange(1.0, 7.0).unsqueeze(1), torch.tensor([2, 1, 3]))
    assert chunks.vectors.squeeze(-1).tolist() == [[1, 2, 0], [3, 0, 0], [4, 5, 6]]
    assert chunks.present.tolist() == [[True, True, False], [True, False, False], [True, True, True]]


def test_each_chunk_gets_its_own_gradient() -> None:
    vectors = torch.randn(6, 2, requires_grad=True)
    weights = torch.arange(18.0).reshape(3, 3, 2)
    (gathered(vectors, torch.tensor([2, 1, 3])).vectors * weights).sum().backward()
    places = torch.tensor([0, 1, 3, 6, 7, 8])
    assert vectors.grad is not None
    assert torch.equal(vectors.grad, weights.reshape(9, 2)[places])


@pytest.mark.parametrize("counts", [[2, 1], [2, 1, 4], [6, 0]])
def test_counts_that_do_not_fit_are_refused(counts: list[int]) -> None:
    with pytest.raises(TrainingError, match=rf"6 chunks do not belong to {len(counts)} articles"):
        gathered(torch.zeros(6, 2), torch.tensor(counts))


@pytest.mark.parametrize("pooling", ["mean", "max"])
def test_a_fresh_second_level_gives_the_pooled_chunks(pooling: str) -> None:
    chunks = gathered(torch.randn(6, 8), torch.tensor([2, 1, 3]))
    level = second_level(pooling, learned=False)
    assert torch.equal(level(*chunks), pooled(*chunks, pooling))
    assert not torch.allclose(second_level(pooling)(*chunks), pooled(*chunks, pooling))


def test_a_fresh_second_level_learns_within_two_steps() -> None:
    level = second_level(learned=False)
    chunks = gathered(torch.randn(6, 8), torch.tensor([2, 1, 3]))
    optimizer = torch.optim.SGD(level.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        level(*chunks).square().sum().backward()
        optimizer.step()
    silent = [name for name, weight in level.named_parameters() if weight.grad is None or not weight.grad.any()]
    assert silent == []


def _alone_and_in_company(level: ChunkTransformer) -> tuple[Tensor, Tensor]:
    torch.manual_seed(1)
    vectors = torch.randn(8, 8)
    alone = level(*gathered(vectors[:2], torch.tensor([2])))
    return alone[0], level(*gathered(vectors, torch.tensor([2, 1, 5])))[0]


@pytest.mark.parametrize("pooling", ["mean", "max"])
def test_an_article_does_not_depend_on_its_batch(pooling: str) -> None:
    alone, in_company = _alone_and_in_company(second_level(pooling))
    assert torch.allclose(alone, in_company, atol=1e-6)


@pytest.mark.parametrize("pooling", ["mean", "max"])
def test_without_the_mask_it_would(pooling: str, monkeypatch: pytest.MonkeyPatch) -> None:
    level = second_level(pooling)
    for layer in level.layers:
        unmasked = layer.forward
        monkeypatch.setattr(layer, "forward", lambda x, src_key_padding_mask, go_on=unmasked: go_on(x))
    alone, in_company = _alone_and_in_company(level)
    assert not torch.allclose(alone, in_company, atol=1e-2)


def test_the_order_of_chunks_matters() -> None:
    chunks = torch.randn(1, 3, 8)
    present = torch.ones(1, 3, dtype=torch.bool)
    level = second_level()
    assert not torch.allclose(level(chunks, present), level(chunks.flip(1), present), atol=1e-2)


def test_the_papers_second_level_has_its_14_million_parameters() -> None:
    with torch.device("meta"):
        level = ChunkTransformer(768, 12, 9, "max")
    assert sum(weight.numel() for weight in level.parameters()) == pytest.approx(14.1e6, abs=0.3e6)
    assert [layer.linear1.out_features for layer in level.layers] == [3072, 3072]
    assert {module.p for module in level.modules() if isinstance(module, nn.Dropout)} == {0.1}
