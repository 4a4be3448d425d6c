"""What training makes small: pure functions of scores and of two masks that say which passages count how.

A passage of the batch is a positive of a question, a negative of it, or neither (a known positive that must not be
pushed away, say). No function here knows where scores come from.
"""

import torch
from torch import Tensor
from torch.nn.functional import softplus


def contrastive_loss(scores: Tensor, positives: Tensor, negatives: Tensor, temperature: float) -> Tensor:
    """The negative log-likelihood of a positive against the negatives (the paper's equation "loss"):

        L = −log e^{s⁺/τ} / (e^{s⁺/τ} + Σ_negatives e^{s/τ}) = softplus(log Σ_negatives e^{s/τ} − s⁺/τ)

    One term for each positive, whose denominator holds that positive alone and no other; their mean for each question,
    then the mean of the questions that have a positive. A question without negatives adds 0.

    `scores` (q, c), `positives` and `negatives` (q, c) of truth values; the result is one number.
    """
    logits = scores / temperature  # (q, c)
    # the smallest number and not -∞: a row without negatives then needs no ∞ − ∞, and its gradient is 0
    least = torch.finfo(logits.dtype).min
    against = logits.masked_fill(~negatives, least).logsumexp(dim=1, keepdim=True)  # (q, 1)
    terms = softplus(against - logits).masked_fill(~positives, 0.0)  # (q, c)
    return _mean_by_question(terms.sum(dim=1), positives.sum(dim=1))


def triplet_loss(nearness: Tensor, positives: Tensor, negatives: Tensor, margin: float) -> Tensor:
    """The mean over all (positive, negative) pairs of max(0, margin + d⁺ − d⁻), d being distances: the triplet loss
    that the paper's appendix "Ablation Details" compares with, margin 1.

    `nearness` (q, c) is −d, as the function of that name gives it; `positives` and `negatives` (q, c) of truth values.
    A batch without any pair gives 0.
    """
    questions, columns = positives.nonzero(as_tuple=True)  # (p), (p)
    compared = negatives[questions]  # (p, c)
    gaps = margin - nearness[questions, columns].unsqueeze(1) + nearness[questions]  # (p, c)
    return gaps.relu().masked_fill(~compared, 0.0).sum() / compared.sum().clamp(min=1)


def nearness(scores: Tensor, similarity: str) -> Tensor:
    """Scores as distances with the sign turned, for the triplet loss: the distance is 1 − s for the cosine and −s for
    the dot product (a constant that is the same for positive and negative does nothing, so both are s here), and
    1/s − 1 for the Euclidean similarity, which is 1 / (1 + distance).
    """
    return 1 - 1 / scores if similarity == "euclidean" else scores


def _mean_by_question(sums: Tensor, counts: Tensor) -> Tensor:
    """`sums` (q) over `counts` (q), then the mean of the questions whose count is not 0."""
    means = sums / counts.clamp(min=1)
    return means.sum() / (counts > 0).sum().clamp(min=1)
