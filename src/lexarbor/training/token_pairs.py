"""Supervision as arrays: every question and passage of the kinds that a recipe names, tokenised once.

A passage has one row for each way it is read: as it is; without the headings that a question was taken from; without
the sentence that a question was taken from. Questions with the same words, of whatever kinds, share what is known to
answer them.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexarbor.errors import TrainingError
from lexarbor.supervision.answers import known_answers, same_words
from lexarbor.supervision.folder import Passage, Supervised
from lexarbor.text.inputs import article_input
from lexarbor.text.settings import EncoderSettings
from lexarbor.training.tokens import TokenRows, article_rows, question_rows, ranges, starts_of


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
class TokenPairs:
    """Rows of questions and passages, and the pairs between them."""

    questions: TokenRows
    passages: TokenRows
    passage_of_row: NDArray[np.int32]
    """The number of the passage that a row of `passages` is a reading of."""
    as_it_is: NDArray[np.bool_]
    """Whether a row of `passages` is the passage with nothing taken out."""
    kinds: dict[str, NDArray[np.int64]]
    """By kind, its pairs' numbers."""
    question_of_pair: NDArray[np.int64]
    veiled: NDArray[np.bool_]
    """Whether something is taken out of a pair's passages: then the same passages as they are tell too much."""
    positives: Lists
    """Of each pair, rows of `passages`."""
    negatives: Lists
    """Of each pair, rows of `passages`: hard negatives, none of them known to answer."""
    known: Lists
    """Of each question, the numbers of all passages known to answer it."""
    folder_number: NDArray[np.int64]
    """Of each pair, its number in the supervision folder."""

    def without(self, left_out: frozenset[int]) -> "TokenPairs":
        """The same rows, less the pairs with these numbers in the folder."""
        if not left_out:
            return self
        kept = ~np.isin(self.folder_number, sorted(left_out))
        kinds = {kind: pairs[kept[pairs]] for kind, pairs in self.kinds.items()}
        for kind, pairs in kinds.items():
            if not len(pairs):
                raise TrainingError(
                    f"every pair of the kind '{kind}' is in the part that supervision.fold leaves out: leave the kind out, "
                    "or cut the sheets into more parts"
                )
        return replace(self, kinds=kinds)


class Reading(NamedTuple):
    """A way to read a passage; the key of a row."""

    passage: str
    left_out: str = ""
    bare: bool = False


def tokenise_pairs(
    folder: Supervised,
    tokenizer: Any,
    settings: EncoderSettings,
    kinds: Iterable[str],
    negatives: Mapping[int, Sequence[str]],
) -> TokenPairs:
    """The pairs of some kinds; `negatives` are hard ones by the pair's index in the folder, where it has any."""
    wanted = frozenset(kinds)
    passages = {passage.id: passage for passage in (*folder.passages, *folder.articles)}
    known_ids = known_answers(folder.pairs)  # of all kinds: what one knows, no other may deny
    questions: dict[str, int] = {}
    texts: list[str] = []
    readings: dict[Reading, int] = {}
    numbers_in_folder: list[int] = []
    pair_questions: list[int] = []
    veiled: list[bool] = []
    positive_rows: list[list[int]] = []
    negative_rows: list[list[int]] = []
    by_kind: dict[str, list[int]] = defaultdict(list)
    for index, pair in enumerate(folder.pairs):
        if pair.kind not in wanted:
            continue
        key = same_words(pair.question)
        if key not in questions:
            questions[key] = len(texts)
            texts.append(pair.question)
        bare = pair.bare and settings.headings
        by_kind[pair.kind].append(len(pair_questions))
        numbers_in_folder.append(index)
        pair_questions.append(questions[key])
        veiled.append(bare or bool(pair.left_out))
        read = [Reading(id, pair.left_out, bare) for id in pair.positives]
        # negatives are read as the positives are: headings, or their absence, must not give the answer away
        against = [Reading(id, "", bare) for id in negatives.get(index, ()) if id not in known_ids[key]]
        positive_rows.append([readings.setdefault(one, len(readings)) for one in read])
        negative_rows.append([readings.setdefault(one, len(readings)) for one in against])
    numbers = {id: number for number, id in enumerate(dict.fromkeys(reading.passage for reading in readings))}
    return TokenPairs(
        questions=question_rows(texts, tokenizer, settings),
        passages=article_rows([_text(one, passages, settings) for one in readings], tokenizer, settings),
        passage_of_row=np.array([numbers[reading.passage] for reading in readings], dtype=np.int32),
        as_it_is=np.array([not (reading.left_out or reading.bare) for reading in readings], dtype=np.bool_),
        kinds={kind: np.array(pairs, dtype=np.int64) for kind, pairs in by_kind.items()},
        question_of_pair=np.array(pair_questions, dtype=np.int64),
        veiled=np.array(veiled, dtype=np.bool_),
        positives=Lists.of(positive_rows),
        negatives=Lists.of(negative_rows),
        known=Lists.of([sorted(numbers[id] for id in known_ids[key] if id in numbers) for key in questions]),
        folder_number=np.array(numbers_in_folder, dtype=np.int64),
    )


def checked_kinds(folder: Supervised, kinds: Iterable[str]) -> frozenset[str]:
    """The same kinds, if the folder has pairs of each."""
    wanted = frozenset(kinds)
    present = {pair.kind for pair in folder.pairs}
    if not present:
        raise TrainingError(
            "the supervision folder holds no questions, so there is nothing to learn from: write it again with "
            "`lexarbor train prepare` from a benchmark that has train questions"
        )
    for kind in sorted(wanted):
        if kind not in present:
            raise TrainingError(
                f"the supervision folder has no pairs of the kind '{kind}': choose among {', '.join(sorted(present))}, "
                "or write it again with that kind"
            )
    return wanted


def text_without(passage: Passage, left_out: str) -> str:
    """A passage's text without the sentence that a question was taken from."""
    return passage.text.replace(left_out, " ").strip() if left_out else passage.text


def _text(reading: Reading, passages: Mapping[str, Passage], settings: EncoderSettings) -> str:
    passage = passages.get(reading.passage)
    if passage is None:
        raise TrainingError(
            f"a pair names the passage '{reading.passage}', which the supervision folder does not hold: "
            "write it again with `lexarbor train prepare`"
        )
    if reading.left_out not in passage.text:
        raise TrainingError(
            f"the passage '{passage.id}' does not hold the sentence that a pair leaves out of it "
            f"('{reading.left_out[:60]}'): write the supervision folder again with `lexarbor train prepare`"
        )
    text = text_without(passage, reading.left_out)
    return article_input(() if reading.bare else passage.headings, text, settings)
