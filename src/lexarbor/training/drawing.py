"""Which pairs a batch holds and how each passage counts for each question: a function of the seed and of the batch's
number alone. What questions and passages are, tokens or vectors, is no matter here: rows are numbers.
"""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lexarbor.errors import TrainingError
from lexarbor.training.hyperparameters import SupervisionRecipe
from lexarbor.training.tokens import ranges, starts_of

_DRAWS = zlib.crc32(b"draws")


class Lists(NamedTuple):
    """Lists of row numbers, end to end."""

    values: NDArray[np.int32]
    starts: NDArray[np.int64]
    """(lists + 1)"""

    @classmethod
    def of(cls, lists: Sequence[Sequence[int]]) -> "Lists":
        counts = [len(one) for one in lists]
        values = np.fromiter((value for one in lists for value in one), dtype=np.int32, count=sum(counts))
        return cls(values, starts_of(counts))

    def all_of(self, which: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The values of some lists, and for each the place in `which` of the list it is of."""
        counts = self.starts[which + 1] - self.starts[which]
        return np.repeat(np.arange(len(which)), counts), self.values[ranges(self.starts[which], counts)]

    def some_of(
        self, which: NDArray[np.int64], most: int, draw: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """As `all_of`, with at most `most` values of each list, drawn without replacement."""
        owners, values = self.all_of(which)
        by_chance = np.argsort(owners + draw.random(len(owners)))  # owners ascend, so each list stays together
        counts = self.starts[which + 1] - self.starts[which]
        place = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts)  # within its list
        chosen = by_chance[place < most]
        return owners[chosen], values[chosen]


@dataclass(frozen=True, eq=False)
class PairRows:
    """Pairs between rows of questions and rows of passages."""

    passage_of_row: NDArray[np.int32]
    """The number of the passage that a row is a reading of."""
    as_it_is: NDArray[np.bool_]
    """Whether a row is the passage with nothing taken out."""
    kinds: dict[str, NDArray[np.int64]]
    """By kind, its pairs' numbers."""
    question_of_pair: NDArray[np.int64]
    veiled: NDArray[np.bool_]
    """Whether something is taken out of a pair's passages: then the same passages as they are tell too much."""
    positives: Lists
    """Of each pair, rows of passages."""
    negatives: Lists
    """Of each pair, rows of passages: hard negatives, none of them known to answer."""
    known: Lists
    """Of each question, the numbers of all passages known to answer it."""
    folder_number: NDArray[np.int64]
    """Of each pair, its number in the supervision folder."""

    def without(self, left_out: frozenset[int]) -> Self:
        """The same rows, less the pairs with these numbers in the folder."""
        if not left_out:
            return self
        kept = ~np.isin(self.folder_number, sorted(left_out))
        kinds = {kind: pairs[kept[pairs]] for kind, pairs in self.kinds.items()}
        for kind, pairs in kinds.items():
            if not len(pairs):
                raise TrainingError(
                    f"every pair of the kind '{kind}' is in the part that supervision.fold leaves out: leave the "
                    "kind out, or cut the sheets into more parts"
                )
        return replace(self, kinds=kinds)


class Drawn(NamedTuple):
    """A batch of rows, and how each passage counts for each question."""

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


class Draws:
    """Batches of `questions` questions, by number.

    Each kind has its share of a batch. Its units come in seeded permutations, one for each epoch of the kind; an
    epoch's last batch is filled up from the head of the same permutation, so that no unit is twice in a batch unless
    the kind has fewer units than a batch takes: then each is in it as often as the others, give or take one.
    """

    def __init__(
        self,
        rows: PairRows,
        supervision: SupervisionRecipe,
        *,
        questions: int,
        seed: int,
        several_positives: bool = True,
    ) -> None:
        self.rows, self.supervision = rows, supervision
        self.several_positives, self.seed = several_positives, seed
        self.shares = shares(supervision.kinds, questions)
        self.units = [units(rows, kind, supervision.unit) for kind in self.shares]
        self._orders: dict[int, tuple[int, NDArray[np.int64]]] = {}

    def draw(self, batch: int, every: int = 0) -> Drawn:
        """The batch of a number: the passages are those that were drawn or, where `every` says how many rows of them
        there are, all.
        """
        draw = np.random.default_rng((self.seed, _DRAWS, batch))
        pairs, labels = self._drawn_units(batch)
        if labels is None:
            owners, positives = self.rows.positives.some_of(pairs, self.supervision.positives, draw)
        else:
            owners, positives = np.arange(len(pairs)), labels
        opposed, negatives = self.rows.negatives.some_of(pairs, self.supervision.hard_negatives, draw)
        named = np.concatenate((positives, negatives))
        passages, places = np.unique(named, return_inverse=True)
        if every:
            passages, places = np.arange(every, dtype=np.int32), named.astype(np.int64)
        drawn_positives = _marks(owners, places[: len(positives)], (len(pairs), len(passages)))
        drawn_negatives = _marks(opposed, places[len(positives) :], drawn_positives.shape)
        return self._judged(pairs, passages, drawn_positives, drawn_negatives)

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
        questions = self.rows.question_of_pair[pairs]
        known = self._known(questions, rows)
        if self.several_positives:
            counted = known & self.rows.as_it_is[rows]
            # a passage as it is tells too much to a question that was taken from it: there it is neither
            counted[self.rows.veiled[pairs]] = False
            positives |= counted
        if self.supervision.in_batch:
            negatives.fill(True)
        negatives &= ~positives
        if self.supervision.mask_known:
            negatives &= ~known
        return Drawn(questions, rows, positives, negatives)

    def _known(self, questions: NDArray[np.int64], rows: NDArray[np.int32]) -> NDArray[np.bool_]:
        """(q, c): whether a passage, however it is read, is known to answer a question."""
        passages, place_of_row = np.unique(self.rows.passage_of_row[rows], return_inverse=True)
        owners, numbers = self.rows.known.all_of(questions)
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


def units(rows: PairRows, kind: str, unit: str) -> Units:
    """What an epoch of a kind goes through: its pairs ("question"), or each with each of its positives ("label")."""
    pairs = rows.kinds[kind]
    if unit == "question":
        return Units(kind, pairs, None)
    owners, labels = rows.positives.all_of(pairs)
    return Units(kind, pairs[owners], labels)


def steps_of(epochs: float, pairs: Sequence[PairRows], supervision: SupervisionRecipe, questions: int) -> int:
    """Steps that take as many questions as `epochs` times all units of the named kinds, in all of `pairs` together;
    `questions` are those of a step. Rounded up, as an epoch's last batch is filled up.
    """
    found = [units(rows, kind, supervision.unit) for rows in pairs for kind in supervision.drawn if kind in rows.kinds]
    total = sum(len(one.pairs) for one in found)
    return max(1, ceil(epochs * ceil(total / questions)))


def _marks(rows: NDArray[np.int64], columns: NDArray[np.int64], shape: tuple[int, ...]) -> NDArray[np.bool_]:
    marks = np.zeros(shape, dtype=np.bool_)
    marks[rows, columns] = True
    return marks
