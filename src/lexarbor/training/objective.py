"""A retriever and its loss as one module: what the trainer calls with a batch, and what several devices synchronise."""

from typing import Any

import torch
from torch import Tensor, distributed, nn
from torch.utils.checkpoint import checkpoint

from lexarbor.text.retriever import DenseStatuteRetriever
from lexarbor.training.hyperparameters import Loss
from lexarbor.training.losses import contrastive_loss, nearness, triplet_loss
from lexarbor.training.tokens import Encoder, Packed, unpacked


class ContrastiveObjective(nn.Module):
    """Batch to loss.

    With `cached`, only the vectors of a group of texts are kept, and its activations are computed again, group by
    group, when gradients are: gradient caching, which makes a batch as large as its vectors, not its activations.
    """

    def __init__(self, retriever: DenseStatuteRetriever, loss: Loss, *, cached: bool = False) -> None:
        super().__init__()
        self.retriever = retriever
        self.loss = loss
        self.cached = cached

    def forward(self, questions: Packed, passages: Packed, positives: Tensor, negatives: Tensor) -> Tensor:
        """The loss of the device's questions (q) against the passages (c) of all devices, in 32 bits; the masks are
        (q, c).
        """
        asked = self._encoded(lambda ids, mask, _: self.retriever.encode_question_ids(ids, mask), questions)  # (q, d)
        read = joined(self._encoded(self.retriever.encode_article_ids, passages))  # (c, d)
        with torch.autocast(asked.device.type, enabled=False):
            scores = self.retriever.scores(asked, read).float()  # (q, c)
            return loss_of(scores, positives, negatives, self.loss, self.retriever.settings.similarity)

    def _encoded(self, encoder: Encoder, packed: Packed) -> Tensor:
        """(texts, d), in the order that the batch's masks have."""
        if self.cached and torch.is_grad_enabled():
            groups = [checkpoint(encoder, *group, use_reentrant=False) for group in unpacked(packed)]
        else:
            groups = [encoder(*group) for group in unpacked(packed)]
        return torch.cat(groups).float()[packed["order"]]


def loss_of(scores: Tensor, positives: Tensor, negatives: Tensor, loss: Loss, similarity: str) -> Tensor:
    """The loss that a recipe names, of scores and masks (q, c)."""
    if loss.name == "triplet":
        return triplet_loss(nearness(scores, similarity), positives, negatives, loss.margin)
    return contrastive_loss(scores, positives, negatives, loss.temperature)


def joined(vectors: Tensor) -> Tensor:
    """The vectors of all devices, device after device, with gradients that find their way back; each has as many."""
    if not distributed.is_available() or not distributed.is_initialized() or distributed.get_world_size() == 1:
        return vectors
    gathered: Tensor = _Gathered.apply(vectors)  # type: ignore[no-untyped-call]
    return gathered


class _Gathered(torch.autograd.Function):
    """All devices' rows, end to end; backwards, each device gets what all of them found for its own."""

    @staticmethod
    def forward(context: Any, vectors: Tensor) -> Tensor:
        context.rows = len(vectors)
        parts = [torch.empty_like(vectors) for _ in range(distributed.get_world_size())]
        distributed.all_gather(parts, vectors.contiguous())
        return torch.cat(parts)

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> Tensor:
        total = gradient.clone(memory_format=torch.contiguous_format)
        distributed.all_reduce(total)
        first = distributed.get_rank() * context.rows
        return total[first : first + context.rows]
