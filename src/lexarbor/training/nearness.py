"""Pairs without what has little to do with their question. A sheet cites a dozen articles, some of them in passing, and
says in a chapter where to call: whoever learns to write the sheet's title from those learns to make things up.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from lexarbor.supervision.folder import Pair, Passage, Supervised
from lexarbor.text.retriever import DenseStatuteRetriever
from lexarbor.training.ranking import article_vectors, question_vectors

_AT_ONCE = 1 << 16


def nearest_pairs(folder: Supervised, pairs: Sequence[Pair], judge: Path, share: float) -> list[Pair]:
    """Of each kind the `share` of its questions' passages that a trained retriever finds nearest; a pair that is left
    without any is left out. What holds the question is not shown to the judge: the headings of a pair whose question
    was taken from them, nor those of a sheet's chapter, its title among them.
    """
    model = DenseStatuteRetriever.load(judge).to("cuda" if torch.cuda.is_available() else "cpu")
    passages = {one.id: one for one in (*folder.articles, *folder.passages)}
    sheets = {one.id for one in folder.passages}
    readings = [(id, pair.bare or id in sheets) for pair in pairs for id in pair.positives]
    row_of = {reading: row for row, reading in enumerate(dict.fromkeys(readings))}
    shown = [Passage(id, passages[id].text, () if bare else passages[id].headings) for id, bare in row_of]
    read = functional.normalize(article_vectors(model, shown).values, dim=-1)
    asked = functional.normalize(question_vectors(model, (), [pair.question for pair in pairs]).values, dim=-1)
    owners = np.repeat(np.arange(len(pairs)), [len(pair.positives) for pair in pairs])
    rows = np.array([row_of[reading] for reading in readings])
    cosines = np.concatenate([_cosines(asked, read, owners[some], rows[some]) for some in _parts(len(rows))])
    kinds = np.array([pair.kind for pair in pairs])[owners]
    near = np.zeros(len(rows), dtype=np.bool_)
    for kind in np.unique(kinds):
        of_kind = kinds == kind
        near[of_kind] = cosines[of_kind] >= np.quantile(cosines[of_kind], 1 - share)
    found = np.split(near, np.cumsum([len(pair.positives) for pair in pairs])[:-1])
    kept = (
        replace(pair, positives=tuple(id for id, one in zip(pair.positives, marks, strict=True) if one))
        for pair, marks in zip(pairs, found, strict=True)
    )
    return [pair for pair in kept if pair.positives]


def _parts(count: int) -> Iterator[slice]:
    return (slice(start, start + _AT_ONCE) for start in range(0, count, _AT_ONCE))


def _cosines(
    asked: torch.Tensor, read: torch.Tensor, owners: NDArray[np.int64], rows: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Of some questions and passages, both of length 1: (owners)"""
    found: NDArray[np.float32] = (asked[owners] * read[rows]).sum(-1).cpu().numpy()
    return found
