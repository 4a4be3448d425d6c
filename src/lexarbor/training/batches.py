"""Batches by number: batch i of a recipe's supervision is a function of the seed and of i alone.

So a run that is resumed, or that has more or fewer workers, sees the same batches. Several devices share one batch:
each draws the whole of it, encodes its own part of the questions and passages, and compares its questions with all
passages.
"""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, floor
from typing import NamedTuple, TypedDict

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import Dataset

from lexarbor.errors import TrainingError
from lexarbor.training.hyperparameters import SupervisionRecipe
from lexarbor.training.token_pairs import TokenPairs
from lexarbor.training.tokens import Packed

_DRAWS = zlib.crc32(b"draws")


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


class Drawn(NamedTuple):
    """A batch before it is cut up for devices: rows of `TokenPairs`, and how each passage counts for each question."""

    questions: NDArray[np.int64]
    """(q)"""
    passages: NDArray[np.int32]
    """(c), each row once, ascending."""
    positives: NDArray[np.bool_]
    """(q, c)"""
    negatives: NDArray[np.bool_]
    """(q, c)"""


@dataclass(frozen=True, eq=False)
class Units:
    """What is drawn of one kind: pairs, or pairs with one positive each."""

    kind: str
    pairs: NDArray[np.int64]
    rows: NDArray[np.int32] | None
    """For the unit "label", the positive."""


class BatchStream(Dataset[Batch]):
    """Item i is a whole batch of `batch_size` questions; `devices` neighbouring items are one joint batch.

    Each kind has its share of a batch. Its units come in seeded permutations, one for each epoch of the kind; an
    epoch's last batch is filled up from the head of the same permutation, so that no unit is twice in a batch unless
    the kind has fewer units than a batch takes: then each is in it as often as the others, give or take one.
    """

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
        self.several_positives, self.seed = several_positives, seed
        self.batches, self.devices, self.group = batches, devices, group
        self.shares = shares(supervision.kinds, batch_size * devices)
        self.units = [units(token_pairs, kind, supervision.unit) for kind in self.shares]
        self._orders: dict[int, tuple[int, NDArray[np.int64]]] = {}

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
        """The joint batch of a number."""
        draw = np.random.default_rng((self.seed, _DRAWS, batch))
        pairs, labels = self._drawn_units(batch)
        if labels is None:
            owners, positives = self.token_pairs.positives.some_of(pairs, self.supervision.positives, draw)
        else:
            owners, positives = np.arange(len(pairs)), labels
        opposed, negatives = self.token_pairs.negatives.some_of(pairs, self.supervision.hard_negatives, draw)
        passages, places = np.unique(np.concatenate((positives, negatives)), return_inverse=True)
        drawn_positives = _marks(owners, places[: len(positives)], (len(pairs), len(passages)))
        drawn_negatives = _marks(opposed, places[len(positives) :], drawn_positives.shape)
        return self._judged(pairs, passages, drawn_positives, drawn_negatives)

    def largest(self) -> Batch:
        """A batch that no drawn one exceeds, on one device: the longest questions and passages, as many as can be."""
        questions = np.argsort(-self.token_pairs.questions.longest, kind="stable")
        lengths = self.token_pairs.passages.chunk_counts * (1 << 20) + self.token_pairs.passages.longest
        passages = np.argsort(-lengths, kind="stable")
        wanted = sum(self.shares.values()) // self.devices
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

    def _drawn_units(self, batch: int) -> tuple[NDArray[np.int64], NDArray[np.int32] | None]:
        pairs, labels = [], []
        for place, (one, wanted) in enumerate(zip(self.units, self.shares.values(), strict=True)):
            count = len(one.pairs)
            epoch, turn = divmod(batch, ceil(count / wanted))
            chosen = self._permutation(place, epoch)[(turn * wanted + np.arange(wanted)) % count]
            pairs.append(one.pairs[chosen])
            if one.rows is not None:
                labels.append(one.rows[chosen])
        return np.concatenate(pairs), np.concatenate(labels) if labels else None

    def _permutation(self, place: int, epoch: int) -> NDArray[np.int64]:
        """By the kind's name, so that one kind's order does not depend on which others there are."""
        held = self._orders.get(place)
        if held is None or held[0] != epoch:
            one = self.units[place]
            draw = np.random.default_rng((self.seed, zlib.crc32(one.kind.encode()), epoch))
            held = self._orders[place] = (epoch, draw.permutation(len(one.pairs)))
        return held[1]

    def _judged(
        self,
        pairs: NDArray[np.int64],
        rows: NDArray[np.int32],
        positives: NDArray[np.bool_],
        negatives: NDArray[np.bool_],
    ) -> Drawn:
        """What counts as positive and as negative: the two masks (q, c) of what was drawn as such are filled in."""
        questions = self.token_pairs.question_of_pair[pairs]
        known = self._known(questions, rows)
        if self.several_positives:
            counted = known & self.token_pairs.as_it_is[rows]
            # a passage as it is tells too much to a question that was taken from it: there it is neither
            counted[self.token_pairs.veiled[pairs]] = False
            positives |= counted
        if self.supervision.in_batch:
            negatives.fill(True)
        negatives &= ~positives
        if self.supervision.mask_known:
            negatives &= ~known
        return Drawn(questions, rows, positives, negatives)

    def _known(self, questions: NDArray[np.int64], rows: NDArray[np.int32]) -> NDArray[np.bool_]:
        """(q, c): whether a passage, however it is read, is known to answer a question."""
        passages, place_of_row = np.unique(self.token_pairs.passage_of_row[rows], return_inverse=True)
        owners, numbers = self.token_pairs.known.all_of(questions)
        places = np.searchsorted(passages, numbers).clip(max=len(passages) - 1)
        here = passages[places] == numbers
        return _marks(owners[here], places[here], (len(questions), len(passages)))[:, place_of_row]


def shares(kinds: Mapping[str, float], batch_size: int) -> dict[str, int]:
    """How many questions of a batch each kind gets, by the method of the largest remainder."""
    total = sum(kinds.values())
    exact = {kind: batch_size * share / total for kind, share in kinds.items() if share}
    given = {kind: floor(part) for kind, part in exact.items()}
    by_remainder = sorted(exact, key=lambda kind: given[kind] - exact[kind])
    for kind in by_remainder[: batch_size - sum(given.values())]:
        given[kind] += 1
    for kind, count in given.items():
        if not count:
            raise TrainingError(
                f"supervision.kinds gives '{kind}' less than one question of a batch of {batch_size}: "
                "raise its share or optimisation.batch_size, or leave the kind out"
            )
    return given


def units(token_pairs: TokenPairs, kind: str, unit: str) -> Units:
    """What an epoch of a kind goes through: its pairs ("question"), or each with each of its positives ("label")."""
    pairs = token_pairs.kinds[kind]
    if unit == "question":
        return Units(kind, pairs, None)
    owners, rows = token_pairs.positives.all_of(pairs)
    return Units(kind, pairs[owners], rows)


def steps_of(epochs: float, token_pairs: TokenPairs, supervision: SupervisionRecipe, questions: int) -> int:
    """Steps that take as many questions as `epochs` times all units of the named kinds; `questions` are those of a
    step. Rounded up, as an epoch's last batch is filled up.
    """
    total = sum(len(units(token_pairs, kind, supervision.unit).pairs) for kind in supervision.drawn)
    return max(1, ceil(epochs * ceil(total / questions)))


def _marks(rows: NDArray[np.int64], columns: NDArray[np.int64], shape: tuple[int, ...]) -> NDArray[np.bool_]:
    marks = np.zeros(shape, dtype=np.bool_)
    marks[rows, columns] = True
    return marks
