"""Three ways to compare, on vectors small enough to do by hand."""

from typing import Any

import pytest
import torch
from torch.overrides import TorchFunctionMode

from lexarbor.text.settings import SIMILARITIES as WORDS
from lexarbor.text.similarity import SIMILARITIES, cosine, dot, euclidean, normalised

QUESTIONS = torch.tensor([[3.0, 4.0], [0.0, 2.0]])
ARTICLES = torch.tensor([[3.0, 4.0], [6.0, 8.0], [0.0, -1.0]])


def test_every_word_of_the_settings_has_its_function() -> None:
    assert tuple(SIMILARITIES) == WORDS


def test_cosine_knows_directions_only() -> None:
    assert torch.allclose(cosine(QUESTIONS, ARTICLES), torch.tensor([[1.0, 1.0, -0.8], [0.8, 0.8, -1.0]]))


def test_dot_takes_vectors_as_they_are() -> None:
    assert torch.equal(dot(QUESTIONS, ARTICLES), torch.tensor([[25.0, 50.0, -4.0], [8.0, 16.0, -2.0]]))


def test_euclidean_is_one_over_one_and_the_distance() -> None:
    expected = 1 / (1 + torch.tensor([[0.0, 5.0, 34**0.5], [13**0.5, 72**0.5, 3.0]]))
    assert torch.allclose(euclidean(QUESTIONS, ARTICLES), expected)


def test_euclidean_can_be_learned_from_where_a_question_meets_its_article() -> None:
    question = QUESTIONS[:1].clone().requires_grad_()
    euclidean(question, ARTICLES).sum().backward()
    assert question.grad is not None
    assert question.grad.isfinite().all()


def test_small_distances_are_kept_in_large_batches() -> None:
    articles = torch.full((64, 8), 1000.0)
    articles[1] += 0.001
    assert euclidean(articles, articles)[0, 0] == 1
    assert euclidean(articles, articles)[0, 1] == euclidean(articles[:1], articles[1:2])


def test_normalised_vectors_have_length_one_and_zero_stays_zero() -> None:
    vectors = normalised(torch.tensor([[3.0, 4.0], [0.0, 0.0]]))
    assert torch.allclose(vectors, torch.tensor([[0.6, 0.8], [0.0, 0.0]]))


@pytest.mark.parametrize("name", WORDS)
def test_scores_are_wide_under_autocast(name: str) -> None:
    torch.manual_seed(0)
    questions, articles = torch.randn(3, 16), torch.randn(5, 16)
    expected = SIMILARITIES[name](questions, articles)
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(SIMILARITIES[name](questions, articles), expected)
    assert SIMILARITIES[name](questions.half(), articles.half()).dtype == torch.float32


@pytest.mark.parametrize("name", WORDS)
def test_no_product_is_rounded_where_the_process_lets_them_be(name: str) -> None:
    seen: list[tuple[str, str]] = []

    class Watching(TorchFunctionMode):
        def __torch_function__(self, function: Any, types: Any, given: Any = (), options: Any = None) -> Any:
            seen.append((getattr(function, "__name__", ""), torch.get_float32_matmul_precision()))
            return function(*given, **(options or {}))

    torch.set_float32_matmul_precision("high")
    try:
        with Watching():
            SIMILARITIES[name](QUESTIONS, ARTICLES)
        assert torch.get_float32_matmul_precision() == "high"
    finally:
        torch.set_float32_matmul_precision("highest")
    products = [precision for function, precision in seen if "matmul" in function or function in ("mm", "bmm")]
    assert products == ([] if name == "euclidean" else ["highest"])


@pytest.mark.skipif(not torch.cuda.is_available(), reason="TF32 is a GPU's")
def test_scores_of_a_gpu_are_whole() -> None:
    torch.manual_seed(0)
    questions, articles = torch.randn(64, 384), torch.randn(256, 384)
    torch.set_float32_matmul_precision("high")
    try:
        found = cosine(questions.cuda(), articles.cuda()).cpu()
    finally:
        torch.set_float32_matmul_precision("highest")
    torch.testing.assert_close(found, cosine(questions, articles), rtol=0, atol=1e-6)
