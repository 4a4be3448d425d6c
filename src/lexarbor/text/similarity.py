"""How near a question is to an article: the paper's cosine, and the two its appendix compares it with.

Each function takes questions (q, d) and articles (a, d) and gives scores (q, a), higher for nearer. Scores are
computed in whole 32 bits, under autocast too, and where the process lets a GPU round the factors of products to TF32:
a temperature of 0.01 multiplies them by a hundred, and either rounding would leave two or three digits of a cosine.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor


def widened(vectors: Tensor) -> Tensor:
    """The same numbers in at least 32 bits."""
    return vectors.float() if vectors.dtype in (torch.float16, torch.bfloat16) else vectors


def normalised(vectors: Tensor) -> Tensor:
    """The same directions at length 1; a zero vector stays zero."""
    return torch.nn.functional.normalize(widened(vectors), dim=-1)


def cosine(questions: Tensor, articles: Tensor) -> Tensor:
    """The cosine of the angle between them, -1 to 1."""
    return dot(normalised(questions), normalised(articles))


def dot(questions: Tensor, articles: Tensor) -> Tensor:
    """The dot product of the raw vectors."""
    with torch.autocast(questions.device.type, enabled=False), _whole_products():
        return widened(questions) @ widened(articles).T


def euclidean(questions: Tensor, articles: Tensor) -> Tensor:
    """1 / (1 + distance), 0 to 1. The paper takes "the inverse of distance"; the 1 keeps it finite where a question
    and an article meet, and changes no order.
    """
    with torch.autocast(questions.device.type, enabled=False):
        # the faster mode, by matrix product, loses small distances and depends on the size of the batch
        mode = "donot_use_mm_for_euclid_dist"
        distances = torch.cdist(widened(questions), widened(articles), compute_mode=mode)
    return 1 / (1 + distances)


@contextmanager
def _whole_products() -> Iterator[None]:
    """No TF32 in products, whatever the process has chosen for the rest."""
    chosen = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(chosen)


SIMILARITIES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "cosine": cosine,
    "dot": dot,
    "euclidean": euclidean,
}
"""By the word that `EncoderSettings.similarity` holds."""
