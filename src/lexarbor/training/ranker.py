"""Weights of the engine's features, learned from questions whose legs had not seen them."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

Floats = NDArray[np.float32]

DECAY = 3e-4
STEPS = 60


class Example:
    """A question's candidates: features (c, f), and which of them answer it (c)."""

    def __init__(self, features: Floats, answers: NDArray[np.bool_]) -> None:
        self.features = features
        self.answers = answers


def fit_weights(examples: Sequence[Example]) -> Floats:
    """(f) the weights under which a question's answers get the most of a softmax over its candidates.

    Features are brought to one scale for the fit, and the weights are those of the features as they came.
    """
    rows = np.concatenate([one.features for one in examples])
    centre, spread = rows.mean(0), rows.std(0) + 1e-6
    longest = max(len(one.answers) for one in examples)
    features = torch.zeros(len(examples), longest, rows.shape[1])
    absent = torch.ones(len(examples), longest)
    wanted = torch.zeros(len(examples), longest)
    for number, one in enumerate(examples):
        held = len(one.answers)
        features[number, :held] = torch.from_numpy((one.features - centre) / spread)
        absent[number, :held] = 0
        wanted[number, :held] = torch.from_numpy(one.answers / max(one.answers.sum(), 1)).float()
    weights = torch.zeros(rows.shape[1], requires_grad=True)
    optimiser = torch.optim.LBFGS([weights], max_iter=STEPS, history_size=10, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        chances = torch.log_softmax(features @ weights - 1e4 * absent, dim=1)
        found = -(wanted * chances).sum(1).mean() + DECAY * (weights**2).sum()
        found.backward()  # type: ignore[no-untyped-call]
        return found

    optimiser.step(loss)  # type: ignore[no-untyped-call]
    found: Floats = weights.detach().numpy() / spread
    return found
