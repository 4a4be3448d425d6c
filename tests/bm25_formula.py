"""BM25 by the formula itself, text by text: slow, and independent of the index that is tested."""

from collections import Counter
from collections.abc import Sequence
from math import log

from lexarbor.search.analysis import stems


def lucene_bm25(texts: Sequence[str], question: str, k1: float, b: float) -> list[float]:
    """Robertson's BM25 with Lucene's idf (Kamphuis et al., ECIR 2020, "Which BM25 do you mean?"), term by term."""
    analyse = stems()
    counts = [Counter(analyse(text)) for text in texts]
    mean_length = sum(count.total() for count in counts) / len(texts)
    scores = [0.0] * len(texts)
    for term in analyse(question):
        holding = sum(term in count for count in counts)
        idf = log(1 + (len(texts) - holding + 0.5) / (holding + 0.5))
        for row, count in enumerate(counts):
            if tf := count[term]:
                scores[row] += idf * tf / (tf + k1 * (1 - b + b * count.total() / mean_length))
    return scores
