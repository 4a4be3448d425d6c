"""Losses against plain loops, against the field's own, and by what must not change them."""

from math import exp, log

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
from torch import Tensor

from lexarbor.text.similarity import cosine, euclidean
from lexarbor.training.losses import contrastive_loss, nearness, triplet_loss

TEMPERATURE = 0.05


def contrastive_by_loop(scores: Tensor, positives: Tensor, negatives: Tensor, temperature: float) -> float:
    by_question = []
    for row in range(len(scores)):
        against = sum(
            exp(float(s) / temperature) for s, is_one in zip(scores[row], negatives[row], strict=True) if is_one
        )
        terms = []
        for score, is_one in zip(scores[row], positives[row], strict=True):
            if is_one:
                good = exp(float(score) / temperature)
                terms.append(-log(good / (good + against)))
        if terms:
            by_question.append(sum(terms) / len(terms))
    return sum(by_question) / len(by_question) if by_question else 0.0


def triplet_by_loop(distances: Tensor, positives: Tensor, negatives: Tensor, margin: float) -> float:
    terms = [
        max(0.0, margin + float(distances[row, good]) - float(distances[row, bad]))
        for row in range(len(distances))
        for good in range(distances.shape[1])
        for bad in range(distances.shape[1])
        if positives[row, good] and negatives[row, bad]
    ]
    return sum(terms) / len(terms) if terms else 0.0


@st.composite
def judged_scores(draw: st.DrawFn) -> tuple[Tensor, Tensor, Tensor]:
    rows, columns = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    size = rows * columns
    scores = draw(st.lists(st.floats(-1, 1, width=32), min_size=size, max_size=size))
    marks = draw(st.lists(st.sampled_from("+-."), min_size=size, max_size=size))
    table = torch.tensor(scores, dtype=torch.float64).view(rows, columns)
    positives = torch.tensor([mark == "+" for mark in marks]).view(rows, columns)
    negatives = torch.tensor([mark == "-" for mark in marks]).view(rows, columns)
    return table, positives, negatives


@given(judged_scores())
def test_contrastive_is_the_papers_equation(judged: tuple[Tensor, Tensor, Tensor]) -> None:
    assert float(contrastive_loss(*judged, TEMPERATURE)) == pytest.approx(
        contrastive_by_loop(*judged, TEMPERATURE), rel=1e-6, abs=1e-8
    )


@given(judged_scores())
def test_triplet_is_the_mean_over_pairs(judged: tuple[Tensor, Tensor, Tensor]) -> None:
    scores, positives, negatives = judged
    expected = triplet_by_loop(1 - scores, positives, negatives, 1.0)
    assert float(triplet_loss(*judged, 1.0)) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(judged_scores(), st.randoms(use_true_random=False), st.floats(-3, 3))
@settings(max_examples=50)
def test_order_of_columns_masked_columns_and_a_shift_change_nothing(
    judged: tuple[Tensor, Tensor, Tensor], chance: object, shift: float
) -> None:
    scores, positives, negatives = judged
    order = list(range(scores.shape[1]))
    chance.shuffle(order)  # type: ignore[attr-defined]
    nobody = torch.zeros(len(scores), 1, dtype=torch.bool)
    for loss in (lambda *given: contrastive_loss(*given, TEMPERATURE), lambda *given: triplet_loss(*given, 1.0)):
        expected = pytest.approx(float(loss(*judged)), rel=1e-6, abs=1e-8)
        assert float(loss(scores[:, order], positives[:, order], negatives[:, order])) == expected
        wider = torch.cat((scores, torch.full_like(scores[:, :1], 0.9)), dim=1)
        assert float(loss(wider, torch.cat((positives, nobody), 1), torch.cat((negatives, nobody), 1))) == expected
        assert float(loss(scores + shift, positives, negatives)) == expected


@given(judged_scores())
@settings(max_examples=50)
def test_gradients_are_numbers_even_where_a_question_has_nothing(judged: tuple[Tensor, Tensor, Tensor]) -> None:
    scores, positives, negatives = judged
    for loss in (contrastive_loss(scores.requires_grad_(), positives, negatives, 0.001), triplet_loss(*judged, 1.0)):
        (gradient,) = torch.autograd.grad(loss, scores)
        assert torch.isfinite(gradient).all()


def test_a_question_without_negatives_adds_nothing_and_one_without_positives_does_not_count() -> None:
    scores = torch.tensor([[0.1, 0.3], [0.1, 0.3], [0.2, 0.9]])
    positives = torch.tensor([[True, False], [True, False], [False, False]])
    negatives = torch.tensor([[False, False], [False, True], [True, True]])
    alone = contrastive_loss(scores[1:2], positives[1:2], negatives[1:2], TEMPERATURE)
    assert float(contrastive_loss(scores[:1], positives[:1], negatives[:1], TEMPERATURE)) == 0.0
    assert float(contrastive_loss(scores, positives, negatives, TEMPERATURE)) == pytest.approx(float(alone) / 2)


def test_other_positives_are_not_in_the_denominator() -> None:
    scores, negatives = torch.tensor([[0.2, 0.9, 0.4]]), torch.tensor([[False, False, True]])
    both = contrastive_loss(scores, torch.tensor([[True, True, False]]), negatives, TEMPERATURE)
    each = [contrastive_loss(scores, torch.tensor([row]), negatives, TEMPERATURE) for row in _single_positives()]
    assert float(both) == pytest.approx(float(sum(each)) / 2)


def _single_positives() -> list[list[bool]]:
    return [[True, False, False], [False, True, False]]


def test_contrastive_is_sentence_transformers_ranking_loss() -> None:
    torch.manual_seed(0)
    questions, articles, hard = torch.randn(3, 5, 8)
    theirs = MultipleNegativesRankingLoss(SentenceTransformer(modules=[torch.nn.Identity()]), scale=1 / TEMPERATURE)
    expected = theirs.compute_loss_from_embeddings([questions, articles, hard], torch.zeros(5))
    positives = torch.cat((torch.eye(5), torch.zeros(5, 5)), dim=1).bool()
    scores = cosine(questions, torch.cat((articles, hard)))
    assert float(contrastive_loss(scores, positives, ~positives, TEMPERATURE)) == pytest.approx(
        float(expected), rel=1e-5
    )


def test_triplet_is_torchs_with_euclidean_distance() -> None:
    torch.manual_seed(0)
    questions, good, bad = torch.randn(3, 6, 4)
    expected = torch.nn.TripletMarginLoss(margin=1.0, eps=0.0)(questions, good, bad)
    positives = torch.cat((torch.eye(6), torch.zeros(6, 6)), dim=1).bool()
    near = nearness(euclidean(questions, torch.cat((good, bad))), "euclidean")
    assert float(triplet_loss(near, positives, positives.roll(6, dims=1), 1.0)) == pytest.approx(
        float(expected), rel=1e-5
    )
