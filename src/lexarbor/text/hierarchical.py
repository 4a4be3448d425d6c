"""The hierarchical article encoder (the paper's section 3.1): chunks are read one by one, then made aware of each
other, then pooled.

    E_A(a) = pool([h̃⁽¹⁾, …, h̃⁽ᵐ⁾])    h̃ = Transformer(h + chunk positions)    h⁽ⁱ⁾ = BERT(pᵢ), pooled

Chunks of all articles of a batch are read as one list; `chunk_counts` says how many belong to each article. Everywhere
a mask keeps padding out, so that a vector never depends on the batch it was computed in. (The authors' code has no mask
in the second level.)
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from lexarbor.errors import TrainingError
from lexarbor.text.similarity import widened

LAYERS = 2
DROPOUT = 0.1


def pooled(vectors: Tensor, present: Tensor, how: str) -> Tensor:
    """One vector for each row of `vectors` (n, m, d) from those that `present` (n, m) marks: `cls` the first, `mean`
    or `max` of all. Each row has at least one.
    """
    vectors = widened(vectors)
    if how == "cls":
        return vectors[:, 0]  # (n, d)
    kept = present.bool().unsqueeze(-1)  # (n, m, 1)
    if how == "max":
        return vectors.masked_fill(~kept, float("-inf")).amax(dim=1)
    # filled, not multiplied: what padding holds may be infinite in 16 bits
    return vectors.masked_fill(~kept, 0.0).sum(dim=1) / kept.sum(dim=1)


class FirstLevel(nn.Module):
    """A BERT-type model that turns each input into one vector: a question, an article, or a chunk of one."""

    def __init__(self, tower: nn.Module, pooling: str) -> None:
        super().__init__()
        self.tower = tower
        self.pooling = pooling

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """`ids` and `mask` (n, t) to vectors (n, d)."""
        tokens: Tensor = self.tower(input_ids=ids, attention_mask=mask).last_hidden_state  # (n, t, d)
        return pooled(tokens, mask, self.pooling)


class ChunkTransformer(nn.Module):
    """The second level: learnable chunk positions, a two-layer Transformer encoder over chunks, pooling.

    Layers are normalised before, not after, and what each adds begins at zero, as do the positions: a fresh second
    level gives the pooled first level exactly, so that a flat retriever can be grown into a hierarchical one. With 768
    hidden units and 12 heads it has 14M parameters, as the paper's.
    """

    def __init__(self, hidden: int, heads: int, max_chunks: int, pooling: str) -> None:
        super().__init__()
        self.pooling = pooling
        self.positions = nn.Parameter(torch.zeros(max_chunks, hidden))
        self.layers = nn.ModuleList(_silent_layer(hidden, heads) for _ in range(LAYERS))

    def forward(self, chunks: Tensor, present: Tensor) -> Tensor:
        """`chunks` (n, m, d), of which `present` (n, m) is true for those that exist, to vectors (n, d)."""
        hidden = chunks + self.positions[: chunks.shape[1]]
        for layer in self.layers:
            hidden = layer(hidden, src_key_padding_mask=~present)
        return pooled(hidden, present, self.pooling)


def _silent_layer(hidden: int, heads: int) -> nn.TransformerEncoderLayer:
    """A layer that at first hands on what it gets: its two output projections are zero."""
    layer = nn.TransformerEncoderLayer(
        hidden, heads, 4 * hidden, DROPOUT, activation="gelu", batch_first=True, norm_first=True
    )
    for projection in (layer.self_attn.out_proj, layer.linear2):
        nn.init.zeros_(projection.weight)
        nn.init.zeros_(projection.bias)
    return layer


class Chunks(NamedTuple):
    """The chunks of each article side by side."""

    vectors: Tensor
    """(n, m, d) with m the most chunks of an article here; zero where an article has fewer."""
    present: Tensor
    """(n, m) of truth values."""


def gathered(vectors: Tensor, chunk_counts: Tensor) -> Chunks:
    """A list of chunks (c, d), article after article, laid out by article."""
    counts = chunk_counts.to(vectors.device)
    articles, width = len(counts), int(counts.max())
    if int(counts.min()) < 1 or int(counts.sum()) != len(vectors):
        raise TrainingError(
            f"{len(vectors)} chunks do not belong to {articles} articles of {counts.tolist()} chunks: "
            "give each article at least one chunk, and a count for each article"
        )
    present = torch.arange(width, device=vectors.device) < counts.unsqueeze(1)  # (n, m)
    laid_out = vectors.new_zeros(articles, width, vectors.shape[-1])
    # the true places, row by row, are the chunks in their order
    return Chunks(laid_out.masked_scatter(present.unsqueeze(-1), vectors), present)


class FlatArticleEncoder(nn.Module):
    """An article is its one chunk: the first tokens, read in one pass."""

    def __init__(self, first_level: FirstLevel) -> None:
        super().__init__()
        self.first_level = first_level

    def forward(self, ids: Tensor, mask: Tensor, chunk_counts: Tensor) -> Tensor:
        """`ids` and `mask` (n, t), one row for each article, to vectors (n, d)."""
        if len(ids) != len(chunk_counts):
            raise TrainingError(
                f"{len(ids)} chunks for {len(chunk_counts)} articles: this encoder reads one chunk of each; "
                "cut articles with the same settings"
            )
        vectors: Tensor = self.first_level(ids, mask)
        return vectors


class HierarchicalArticleEncoder(nn.Module):
    """An article is its chunks, read by the first level one by one and by the second level together."""

    def __init__(self, first_level: FirstLevel, second_level: ChunkTransformer) -> None:
        super().__init__()
        self.first_level = first_level
        self.second_level = second_level

    def forward(self, ids: Tensor, mask: Tensor, chunk_counts: Tensor) -> Tensor:
        """`ids` and `mask` (c, t) of all chunks, article after article, and `chunk_counts` (n), to vectors (n, d)."""
        chunks = gathered(self.first_level(ids, mask), chunk_counts)
        if chunks.vectors.shape[1] > len(self.second_level.positions):
            raise TrainingError(
                f"an article of {chunks.vectors.shape[1]} chunks, this encoder reads at most "
                f"{len(self.second_level.positions)}: cut articles with the same settings"
            )
        vectors: Tensor = self.second_level(*chunks)
        return vectors
