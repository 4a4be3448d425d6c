"""What a generator of questions learns from: passages to read and questions to write, tokenised once, and batches of
them by number.

Besides the pairs of a supervision folder there is the kind `gaps`, which needs none: any passage is read with half the
tokens of a stretch of it hidden, and the stretch is written. It teaches a fresh decoder French and, above all, to look
at what is read.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import Dataset

from lexarbor.errors import TrainingError
from lexarbor.supervision.folder import Pair, Passage, Supervised
from lexarbor.supervision.sampling import GeneratorSettings
from lexarbor.text.inputs import with_headings
from lexarbor.training.drawing import Lists, shares
from lexarbor.training.token_pairs import text_without
from lexarbor.training.tokens import TokenRows, by_many

QUESTION = "question : "
"""What a generator is asked for when it is used."""
GAPS = "gaps"
IGNORED = -100
_PREFIXES = {
    "gold": "titre : ",
    "sheet": "titre : ",
    "chapter": "chapitre : ",
    "train_chapter": "chapitre : ",
    "headings": "rubrique : ",
    "agreement": "rubrique : ",
}
_OTHER = "phrase : "
_POOL = 16
"""Batches that are drawn together and then cut by length, so that little is padded."""
_HIDDEN = 0.5
"""Of the tokens of a stretch."""
_SHORTEST = 8
"""Tokens of a stretch; its longest is what a generator may write."""
_DEV_BATCH, _DEV_BATCHES = 64, 8


def prefix_of(pair: Pair) -> str:
    """The words that ask for what a pair has as its question."""
    return QUESTION if pair.question.rstrip().endswith("?") else _PREFIXES.get(pair.kind, _OTHER)


@dataclass(frozen=True, eq=False)
class Examples:
    """Rows of sources and targets, and the pairs between them."""

    sources: TokenRows
    targets: TokenRows
    kinds: dict[str, NDArray[np.int64]]
    """By kind, its pairs' numbers; a pair's number is its row in `targets`, and has none there if it is a gap."""
    sources_of: Lists
    """Of each pair, rows of `sources`."""
    mask_token: int | None
    longest: int
    """Tokens that a generator may write."""

    @property
    def pairs(self) -> int:
        return len(self.targets)

    def example(self, pair: int, source: int, draw: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
        """What is read and what is written."""
        read = self.sources.row(source)
        return (read, self.targets.row(pair)) if pair < self.pairs else self._gap(read, draw)

    def _gap(self, read: NDArray[Any], draw: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
        inside = len(read) - 2  # the first and the last token are the tokenizer's own
        length = min(int(draw.integers(min(_SHORTEST, self.longest - 1), self.longest)), inside)
        start = 1 + int(draw.integers(inside - length + 1))
        written = np.append(read[start : start + length], read[-1])
        hidden = start + np.flatnonzero(draw.random(length) < _HIDDEN)
        shown = read.copy()
        shown[hidden] = self.mask_token
        return shown, written


def examples_of(
    folder: Supervised,
    pairs: Iterable[Pair],
    tokenizer: Any,
    settings: GeneratorSettings,
    start_token: int,
    *,
    gaps: bool = False,
) -> Examples:
    """Pairs as a generator learns them; `start_token` is what its decoder begins with."""
    passages = {passage.id: passage for passage in (*folder.passages, *folder.articles)}
    texts: dict[str, int] = {}
    questions: list[str] = []
    sources: list[list[int]] = []
    by_kind: dict[str, list[int]] = defaultdict(list)
    for pair in pairs:
        prefix = prefix_of(pair)
        by_kind[pair.kind].append(len(questions))
        questions.append(pair.question)
        read = (prefix + _text(passages[id], pair, settings.headings) for id in pair.positives)
        sources.append([texts.setdefault(text, len(texts)) for text in read])
    if gaps:
        if tokenizer.mask_token_id is None:
            raise TrainingError(f"kinds names '{GAPS}', but the tokenizer has no mask: leave it out, or set it to 0")
        whole = [
            with_headings(one.headings if settings.headings else (), one.text)
            for one in passages.values()
            if one.text.strip()
        ]
        if not whole:
            raise TrainingError("the supervision folder holds no text to make gaps in: write it again from another law")
        by_kind[GAPS] = list(range(len(questions), len(questions) + len(whole)))
        sources += [[texts.setdefault(text, len(texts))] for text in whole]
    return Examples(
        sources=_rows(texts, tokenizer, settings.input_tokens),
        targets=_rows(questions, tokenizer, settings.question_tokens, start_token),
        kinds={kind: np.array(numbers, dtype=np.int64) for kind, numbers in by_kind.items()},
        sources_of=Lists.of(sources),
        mask_token=tokenizer.mask_token_id,
        longest=settings.question_tokens,
    )


class QuestionBatches(Dataset[dict[str, torch.Tensor]]):
    """Item i is a whole batch, a function of the seed and of i alone:

    ids and mask (batch_size, source tokens), labels (batch_size, target tokens), -100 where there is nothing to write.
    """

    def __init__(
        self, examples: Examples, kinds: Mapping[str, float], *, batch_size: int, batches: int, seed: int
    ) -> None:
        self.examples, self.batch_size, self.batches, self.seed = examples, batch_size, batches, seed
        self.shares = shares(kinds, batch_size * _POOL)

    def __len__(self) -> int:
        return self.batches

    def __getitem__(self, number: int) -> dict[str, torch.Tensor]:
        if not 0 <= number < self.batches:
            raise IndexError(number)
        pool, place = divmod(number, _POOL)
        draw = np.random.default_rng((self.seed, pool))
        kinds = self.examples.kinds
        pairs = np.concatenate(
            [kinds[kind][draw.integers(len(kinds[kind]), size=count)] for kind, count in self.shares.items()]
        )
        _, sources = self.examples.sources_of.some_of(pairs, 1, draw)
        by_length = np.lexsort((draw.random(len(pairs)), self.examples.sources.longest[sources]))
        turn = draw.permutation(_POOL)[place]
        mine = by_length[turn * self.batch_size : (turn + 1) * self.batch_size]
        draw = np.random.default_rng((self.seed, pool, place))
        drawn = [self.examples.example(int(pairs[one]), int(sources[one]), draw) for one in mine]
        ids, mask = _padded([read for read, _ in drawn], self.examples.sources.padding)
        labels, _ = _padded([written for _, written in drawn], IGNORED)
        return {"ids": ids, "mask": mask, "labels": labels}


def dev_pairs(folder: Supervised) -> list[Pair]:
    return [Pair("gold", one.text, one.gold) for one in folder.asked if one.split == "dev" and one.gold]


def dev_batches(
    folder: Supervised, pairs: list[Pair], tokenizer: Any, settings: GeneratorSettings, start_token: int
) -> QuestionBatches | None:
    """Dev's questions, given their articles; none where there are none."""
    if not pairs:
        return None
    examples = examples_of(folder, pairs, tokenizer, settings, start_token)
    return QuestionBatches(examples, {"gold": 1.0}, batch_size=_DEV_BATCH, batches=_DEV_BATCHES, seed=0)


def check_positives(folder: Supervised, pairs: Iterable[Pair]) -> None:
    """Refuse a pair that names a passage which is not there."""
    held = {passage.id for passage in (*folder.passages, *folder.articles)}
    for pair in pairs:
        for id in pair.positives:
            if id not in held:
                raise TrainingError(
                    f"a pair of the kind '{pair.kind}' names the passage '{id}', which the supervision folder does not "
                    "hold: write it again with `lexarbor train prepare`"
                )


def _text(passage: Passage, pair: Pair, headings: bool) -> str:
    """A passage without what its question was taken from: a generator would copy it. A sheet's title, which no pair
    hides, stands over the sheet's chapters.
    """
    shown = [heading for heading in passage.headings if heading != pair.question]
    return with_headings(shown if headings and not pair.bare else (), text_without(passage, pair.left_out))


def _rows(texts: Iterable[str], tokenizer: Any, longest: int, start_token: int | None = None) -> TokenRows:
    """Each text as the model's own tokenizer closes it. What is read is cut within; what is written and too long has
    no end, so that a model does not learn to stop in the middle. A decoder begins with `start_token` by itself.
    """
    rows = []
    for some in by_many(texts):
        if start_token is None:
            rows += [[ids] for ids in tokenizer(some, truncation=True, max_length=longest)["input_ids"]]
            continue
        for ids in tokenizer(text_target=some, verbose=False)["input_ids"]:  # no word on long ones: they are cut
            rows.append([ids[1 if ids[0] == start_token else 0 :][:longest]])
    return TokenRows.of(rows, tokenizer.pad_token_id, 1 + max(tokenizer.get_vocab().values()))


def _padded(rows: list[NDArray[Any]], filling: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Ids, and 1 where they are no filling: (rows, tokens)."""
    lengths = np.array([len(row) for row in rows])
    present = np.arange(lengths.max()) < lengths[:, None]
    ids = np.full(present.shape, filling, dtype=np.int64)
    ids[present] = np.concatenate(rows)
    return torch.from_numpy(ids), torch.from_numpy(present.astype(np.int64))
