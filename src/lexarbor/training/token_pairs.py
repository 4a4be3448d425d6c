"""Supervision as arrays: every question and passage of the kinds that a recipe names, tokenised once.

A passage has one row for each way it is read: as it is; without the headings that a question was taken from; without
the sentence that a question was taken from. Questions with the same words, of whatever kinds, share what is known to
answer them.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from lexarbor.errors import TrainingError
from lexarbor.supervision.answers import known_answers, same_words
from lexarbor.supervision.folder import Passage, Supervised
from lexarbor.text.inputs import article_input
from lexarbor.text.settings import EncoderSettings
from lexarbor.training.drawing import Lists, PairRows
from lexarbor.training.tokens import TokenRows, article_rows, question_rows


@dataclass(frozen=True, eq=False)
class TokenPairs(PairRows):
    """Rows of questions and passages as tokens, and the pairs between them."""

    questions: TokenRows
    passages: TokenRows


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
