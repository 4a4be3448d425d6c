"""The measures, for one question: pure functions of where its relevant articles were ranked.

Conventions, from the paper's appendix "Evaluation Metrics" (binary relevance):
- `ranks` are the ranks, from 1 and ascending, of the relevant articles found; `gold` is how many exist, 1 or
  more.
- All divide by what exists, never by what was retrieved: a ranking that is too short is not rewarded.
- mAP looks to depth 500, the depth of our runs; mAP@100 is given beside it.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from math import log2
from typing import NamedTuple, TypeAlias

RankMeasure: TypeAlias = Callable[[Sequence[int], int], float]


class Measure(NamedTuple):
    """A measure of the table: what people read, and what computes it from (ranks, gold)."""

    label: str
    score: RankMeasure


def recall(ranks: Sequence[int], gold: int, k: int) -> float:
    """R@k: the share of the relevant articles that are among the first k."""
    return sum(rank <= k for rank in ranks) / gold


def average_precision(ranks: Sequence[int], gold: int, depth: int) -> float:
    """AP: the precision at each relevant article down to `depth`, summed, over all that are relevant."""
    found = [rank for rank in ranks if rank <= depth]
    return sum(count / rank for count, rank in enumerate(found, start=1)) / gold


def r_precision(ranks: Sequence[int], gold: int) -> float:
    """RP: the share of relevant articles among the first R, where R is how many are relevant."""
    return recall(ranks, gold, k=gold)


def ndcg(ranks: Sequence[int], gold: int, k: int) -> float:
    """nDCG@k: gains of 1 / log2(rank + 1), over those of a ranking with all relevant articles first."""
    gain = sum((1 / log2(rank + 1) for rank in ranks if rank <= k), start=0.0)
    return gain / _ideal_gain(min(gold, k))


@cache
def _ideal_gain(found: int) -> float:
    return sum((1 / log2(rank + 1) for rank in range(1, found + 1)), start=0.0)


MEASURES: dict[str, Measure] = {
    "recall@10": Measure("R@10", partial(recall, k=10)),
    "recall@100": Measure("R@100", partial(recall, k=100)),
    "recall@200": Measure("R@200", partial(recall, k=200)),
    "recall@500": Measure("R@500", partial(recall, k=500)),
    "map": Measure("mAP", partial(average_precision, depth=500)),
    "map@100": Measure("mAP@100", partial(average_precision, depth=100)),
    "mrp": Measure("mRP", r_precision),
    "ndcg@10": Measure("nDCG@10", partial(ndcg, k=10)),
}
"""Every measure by the name that files, JSON and the command line use."""
