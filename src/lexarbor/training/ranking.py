"""Articles ranked for questions by a retriever with torch: to look at dev while training, to mine negatives, to study.

What search does with a finished model, without torch, is in `lexarbor.text` and `lexarbor.search`.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lexarbor.evaluation import Run, ScoredArticle, evaluate
from lexarbor.supervision.folder import Asked, Passage
from lexarbor.text.inputs import article_input
from lexarbor.text.retriever import DenseStatuteRetriever
from lexarbor.text.similarity import SIMILARITIES
from lexarbor.training.tokens import Encoder, TokenRows, article_rows, question_rows, to_device, unpacked

DEPTH = 500
_AT_ONCE = 512
"""Questions ranked together."""
_TOGETHER, _TOGETHER_ON_CPU = 512, 32
"""Chunks encoded together."""


class Vectors(NamedTuple):
    """Texts by id, one vector each."""

    ids: tuple[str, ...]
    values: Tensor
    """(n, d), 32-bit, as the encoder gives them: raw."""


class Ranked(NamedTuple):
    """For each question the best articles, best first; of equal scores, the article with the lower row first."""

    questions: tuple[str, ...]
    articles: tuple[str, ...]
    """Ids by row."""
    rows: NDArray[np.int64]
    """(q, depth)"""
    scores: NDArray[np.float32]
    """(q, depth)"""

    def ids(self) -> list[list[str]]:
        """The ids of each question's articles."""
        return [[self.articles[row] for row in rows] for rows in self.rows.tolist()]

    def run(self) -> Run:
        """As `lexarbor.evaluation` scores it."""
        return {
            question: [ScoredArticle(id, score) for id, score in zip(ids, scores, strict=True)]
            for question, ids, scores in zip(self.questions, self.ids(), self.scores.tolist(), strict=True)
        }


def article_vectors(
    model: DenseStatuteRetriever, articles: Sequence[Passage], *, rows: TokenRows | None = None
) -> Vectors:
    """One vector for each article; `rows` are the articles' tokens where they are already there. Give articles in the
    order of their ids: rows break ties.
    """
    if rows is None:
        rows = rows_of(articles, model)
    return Vectors(tuple(article.id for article in articles), _encoded(model, model.encode_article_ids, rows))


def question_vectors(
    model: DenseStatuteRetriever, ids: Sequence[str], texts: Sequence[str], *, rows: TokenRows | None = None
) -> Vectors:
    """One vector for each question."""
    if rows is None:
        rows = question_rows(texts, model.tokenizer, model.settings)
    return Vectors(tuple(ids), _encoded(model, lambda tokens, mask, _: model.encode_question_ids(tokens, mask), rows))


def rank(questions: Vectors, articles: Vectors, similarity: str, depth: int = DEPTH) -> Ranked:
    """The `depth` articles that score highest for each question, or all where there are fewer."""
    compare = SIMILARITIES[similarity]
    kept = min(depth, len(articles.ids))
    rows, scores = [], []
    for start in range(0, len(questions.ids), _AT_ONCE):
        some = questions.values[start : start + _AT_ONCE]
        # a stable sort, not top-k, whose order of equals is by chance
        ranked = compare(some, articles.values).sort(dim=1, descending=True, stable=True)
        rows.append(ranked.indices[:, :kept].cpu())
        scores.append(ranked.values[:, :kept].cpu())
    empty = torch.zeros(0, kept)
    return Ranked(
        questions.ids,
        articles.ids,
        torch.cat(rows or [empty.long()]).numpy(),
        torch.cat(scores or [empty]).numpy(),
    )


class Dev:
    """The questions that choices are made by, and the articles to rank for them, tokenised once."""

    def __init__(self, model: DenseStatuteRetriever, articles: Sequence[Passage], asked: Sequence[Asked]) -> None:
        self.articles = articles
        self.gold = {one.id: frozenset(one.gold) for one in asked}
        self.article_rows = rows_of(articles, model)
        self.question_rows = question_rows([one.text for one in asked], model.tokenizer, model.settings)

    def figures(self, model: DenseStatuteRetriever) -> dict[str, float]:
        """How well a model ranks, by measure."""
        articles = article_vectors(model, self.articles, rows=self.article_rows)
        questions = question_vectors(model, tuple(self.gold), (), rows=self.question_rows)
        run = rank(questions, articles, model.settings.similarity).run()
        return evaluate(run, self.gold).means()


def rows_of(articles: Sequence[Passage], model: DenseStatuteRetriever) -> TokenRows:
    """Articles as a model reads them."""
    texts = [article_input(article.headings, article.text, model.settings) for article in articles]
    return article_rows(texts, model.tokenizer, model.settings)


def _encoded(model: DenseStatuteRetriever, encoder: Encoder, rows: TokenRows) -> Tensor:
    """(rows, d), in the order of the rows and on the model's device; 16 bits inside where there is a GPU."""
    device = next(model.parameters()).device
    gpu = device.type == "cuda"
    if not len(rows):
        return torch.zeros(0, 0, device=device)
    packed = to_device(rows.pack(np.arange(len(rows)), _TOGETHER if gpu else _TOGETHER_ON_CPU), device)
    half = gpu and torch.cuda.is_bf16_supported()
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad(), torch.autocast(device.type, dtype=torch.bfloat16, enabled=half):
            found = [encoder(*group).float() for group in unpacked(packed)]
    finally:
        model.train(was_training)
    return torch.cat(found)[packed["order"]]
