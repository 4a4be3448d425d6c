"""Batches by number: batch i of a recipe's supervision is a function of the seed and of i alone.

So a run that is resumed, or that has more or fewer workers, sees the same batches. Several devices share one batch:
each draws the whole of it, encodes its own part of the questions and passages, and compares its questions with all
passages.
"""

from math import ceil
from typing import TypedDict

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from lexarbor.training.drawing import Drawn, Draws
from lexarbor.training.hyperparameters import SupervisionRecipe
from lexarbor.training.token_pairs import TokenPairs
from lexarbor.training.tokens import Packed


class Batch(TypedDict):
    """What the model reads of a batch on one device."""

    questions: Packed
    """(q)"""
    passages: Packed
    """(c / devices): the device's share of the batch's passages."""
    positives: Tensor
    """(q, c) of truth values."""
    negatives: Tensor
    """(q, c) of truth values."""


class BatchStream(Dataset[Batch]):
    """Item i is a whole batch of `batch_size` questions; `devices` neighbouring items are one joint batch."""

    def __init__(
        self,
        token_pairs: TokenPairs,
        supervision: SupervisionRecipe,
        *,
        batch_size: int,
        batches: int,
        seed: int,
        several_positives: bool = True,
        devices: int = 1,
        group: int = 0,
    ) -> None:
        """`batches` is the number of joint batches; `group` how many chunks are padded together."""
        self.token_pairs, self.supervision = token_pairs, supervision
        self.batches, self.devices, self.group = batches, devices, group
        self.draws = Draws(
            token_pairs,
            supervision,
            questions=batch_size * devices,
            seed=seed,
            several_positives=several_positives,
        )

    def __len__(self) -> int:
        return self.batches * self.devices

    def __getitem__(self, number: int) -> Batch:
        batch, device = divmod(number, self.devices)
        return self.share(self.draw(batch), device)

    def share(self, drawn: Drawn, device: int) -> Batch:
        """What one device encodes of a batch. Passages are filled up so that all devices have as many; what fills is
        nobody's positive or negative.
        """
        mine = slice(device, None, self.devices)
        each = ceil(len(drawn.passages) / self.devices)
        filling = each * self.devices - len(drawn.passages)
        columns = np.pad(drawn.passages, (0, filling), mode="edge")
        masks = (np.pad(mask[mine], ((0, 0), (0, filling))) for mask in (drawn.positives, drawn.negatives))
        positives, negatives = (torch.from_numpy(mask) for mask in masks)
        return Batch(
            questions=self.token_pairs.questions.pack(drawn.questions[mine], self.group),
            passages=self.token_pairs.passages.pack(columns[device * each : (device + 1) * each], self.group),
            positives=positives,
            negatives=negatives,
        )

    def draw(self, batch: int) -> Drawn:
        """The joint batch of a number, before it is cut up for devices."""
        return self.draws.draw(batch)

    def largest(self) -> Batch:
        """A batch that no drawn one exceeds, on one device: the longest questions and passages, as many as can be."""
        questions = np.argsort(-self.token_pairs.questions.longest, kind="stable")
        lengths = self.token_pairs.passages.chunk_counts * (1 << 20) + self.token_pairs.passages.longest
        passages = np.argsort(-lengths, kind="stable")
        wanted = sum(self.draws.shares.values()) // self.devices
        each = (self.supervision.positives if self.supervision.unit == "question" else 1) + (
            self.supervision.hard_negatives if len(self.token_pairs.negatives.values) else 0
        )
        columns = min(ceil(len(passages) / self.devices), wanted * each)
        marks = torch.ones(wanted, columns * self.devices, dtype=torch.bool)
        return Batch(
            questions=self.token_pairs.questions.pack(np.resize(questions, wanted), self.group),
            passages=self.token_pairs.passages.pack(passages[:columns], self.group),
            positives=marks.tril(),
            negatives=marks.triu(1),
        )
