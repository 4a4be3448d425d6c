"""The dense statute retriever: vectors that do not depend on their batch, in any precision, and can be learned."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_models import ARCHITECTURES, LAW, tiny_checkpoint
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from lexarbor.errors import ModelError, TrainingError
from lexarbor.text.retriever import DenseStatuteRetriever
from lexarbor.text.settings import EncoderSettings
from lexarbor.text.similarity import cosine, dot

FLAT = EncoderSettings(max_tokens=40, question_tokens=16)
CHUNKS = EncoderSettings("hierarchical", max_tokens=40, chunk_tokens=12, overlap=2, question_tokens=16)
SHORT = "Le préavis."
ARTICLES = [SHORT, *LAW, ""]


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_checkpoint(tmp_path_factory.mktemp("bert"))


def retriever(start: Path, settings: EncoderSettings, article_start: Path | None = None) -> DenseStatuteRetriever:
    """A model whose second level does something, if it has one."""
    torch.manual_seed(0)
    model = DenseStatuteRetriever.from_checkpoint(start, settings, article_start).eval()
    if model.second_level is not None:
        for weight in model.second_level.parameters():
            nn.init.normal_(weight, std=0.2)
    return model


def article_batch(model: DenseStatuteRetriever, texts: list[str]) -> tuple[Tensor, Tensor, Tensor]:
    chunks = model.article_ids(texts)
    ids, mask = model.padded([ids for article in chunks for ids in article])
    return ids, mask, torch.tensor([len(article) for article in chunks])


def encode_articles(model: DenseStatuteRetriever, texts: list[str]) -> Tensor:
    return model.encode_article_ids(*article_batch(model, texts))


def encode_questions(model: DenseStatuteRetriever, texts: list[str]) -> Tensor:
    return model.encode_question_ids(*model.padded(model.question_ids(texts)))


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("settings", [FLAT, CHUNKS])
def test_every_architecture_gives_a_vector_for_each_text(
    tmp_path: Path, architecture: str, settings: EncoderSettings
) -> None:
    model = retriever(tiny_checkpoint(tmp_path, architecture), settings)
    questions, articles = encode_questions(model, LAW[:2]), encode_articles(model, ARTICLES)
    assert (questions.shape, articles.shape) == ((2, 32), (7, 32))
    assert articles.isfinite().all()
    assert model.scores(questions, articles).shape == (2, 7)
    for place, text in enumerate(ARTICLES):
        assert torch.allclose(encode_articles(model, [text])[0], articles[place], atol=1e-6)


@pytest.mark.parametrize(
    ("article", "pooling", "chunk_pooling"), [*product(["first", "hierarchical"], ["cls", "mean"], ["mean", "max"])]
)
def test_a_vector_does_not_depend_on_its_batch(start: Path, article: str, pooling: str, chunk_pooling: str) -> None:
    settings = replace(CHUNKS, article=article, pooling=pooling, chunk_pooling=chunk_pooling)
    model = retriever(start, settings)
    alone = encode_articles(model, [SHORT])[0]
    assert torch.allclose(encode_articles(model, ARTICLES)[0], alone, atol=1e-6)
    assert torch.allclose(encode_articles(model, ARTICLES[::-1])[-1], alone, atol=1e-6)
    assert torch.allclose(encode_questions(model, [SHORT, *LAW])[0], encode_questions(model, [SHORT])[0], atol=1e-6)


@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_without_the_mask_of_tokens_it_would(start: Path, pooling: str) -> None:
    model = retriever(start, replace(FLAT, pooling=pooling))
    ids, mask, counts = article_batch(model, ARTICLES)
    unmasked = model.encode_article_ids(ids, torch.ones_like(mask), counts)
    assert not torch.allclose(unmasked[0], encode_articles(model, [SHORT])[0], atol=1e-2)


def test_of_an_article_no_more_is_read_than_the_settings_say(start: Path) -> None:
    model = retriever(start, CHUNKS)
    long = " ".join(LAW)
    assert len(model.article_ids([long])[0]) == CHUNKS.max_chunks == 5
    assert model.article_ids([long + " encore"]) == model.article_ids([long])
    assert [len(ids) for ids in model.question_ids([long, SHORT])] == [16, len(model.question_ids([SHORT])[0])]
    assert model.question_ids([]) == model.article_ids([]) == []


def test_a_shared_tower_is_one_object_and_counted_once(start: Path) -> None:
    shared, apart = retriever(start, FLAT), retriever(start, replace(FLAT, shared=False))
    assert shared.question_tower is shared.article_tower
    assert apart.question_tower is not apart.article_tower
    assert 2 * len(shared.state_dict()) == len(apart.state_dict())
    pointers = [weight.data_ptr() for weight in shared.state_dict().values()]
    assert len(set(pointers)) == len(pointers), "a weight under two names"
    assert torch.equal(encode_articles(shared, LAW), encode_articles(apart, LAW))
    assert torch.equal(encode_questions(shared, [SHORT]), encode_articles(shared, [SHORT]))


def test_the_article_tower_alone_can_have_another_start(start: Path, tmp_path: Path) -> None:
    adapted = tiny_checkpoint(tmp_path, seed=1)
    model = retriever(start, replace(FLAT, shared=False), adapted)
    assert torch.equal(encode_questions(model, LAW), encode_questions(retriever(start, FLAT), LAW))
    assert torch.equal(encode_articles(model, LAW), encode_articles(retriever(adapted, FLAT), LAW))
    with pytest.raises(TrainingError, match="needs two towers: set shared to false"):
        retriever(start, FLAT, adapted)


def test_towers_that_do_not_fit_together_are_refused(start: Path, tmp_path: Path) -> None:
    settings = replace(FLAT, shared=False)
    with pytest.raises(ModelError, match="their tokenizers differ"):
        retriever(start, settings, tiny_checkpoint(tmp_path / "other", "camembert"))
    with pytest.raises(ModelError, match="vectors of 32 and 16 numbers"):
        retriever(start, settings, tiny_checkpoint(tmp_path / "narrow", hidden=16))


def test_scores_are_those_of_the_settings(start: Path) -> None:
    vectors = encode_articles(retriever(start, FLAT), LAW)
    assert torch.equal(retriever(start, FLAT).scores(vectors, vectors), cosine(vectors, vectors))
    dotted = retriever(start, replace(FLAT, similarity="dot"))
    assert torch.equal(dotted.scores(vectors, vectors), dot(vectors, vectors))


@pytest.mark.parametrize(
    ("settings", "counts", "told"),
    [
        (FLAT, [2, 1], "3 chunks for 2 articles: this encoder reads one chunk of each"),
        (CHUNKS, [2, 2], "3 chunks do not belong to 2 articles"),
        (replace(CHUNKS, max_tokens=10), [2, 1], "an article of 2 chunks, this encoder reads at most 1"),
    ],
)
def test_chunks_that_do_not_fit_are_refused(
    start: Path, settings: EncoderSettings, counts: list[int], told: str
) -> None:
    ids = torch.full((3, 5), 7)
    with pytest.raises(TrainingError, match=told):
        retriever(start, settings).encode_article_ids(ids, torch.ones_like(ids), torch.tensor(counts))


@contextmanager
def _gradients(model: DenseStatuteRetriever, into: dict[str, Tensor]) -> Iterator[None]:
    model.zero_grad()
    torch.manual_seed(7)
    yield
    into.update({name: weight.grad.clone() for name, weight in model.named_parameters() if weight.grad is not None})


@pytest.mark.parametrize("settings", [FLAT, CHUNKS])
def test_gradients_are_the_same_when_activations_are_computed_again(start: Path, settings: EncoderSettings) -> None:
    model = retriever(start, settings).train()
    batch = article_batch(model, ARTICLES)
    plain: dict[str, Tensor] = {}
    again: dict[str, Tensor] = {}
    with _gradients(model, plain):
        model.encode_article_ids(*batch).square().sum().backward()
    with _gradients(model, again):
        vectors: Any = checkpoint(model.encode_article_ids, *batch, use_reentrant=False)
        vectors.square().sum().backward()
    assert plain.keys() == again.keys() == dict(model.named_parameters()).keys()
    assert all(torch.allclose(plain[name], again[name]) for name in plain)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("settings", [FLAT, CHUNKS])
def test_half_precision_gives_wide_vectors_near_the_exact_ones(
    start: Path, settings: EncoderSettings, dtype: torch.dtype
) -> None:
    model = retriever(start, settings)
    exact = encode_articles(model, ARTICLES)
    with torch.autocast("cpu", dtype):
        vectors = encode_articles(model, ARTICLES)
        vectors.square().sum().backward()
    assert vectors.dtype == torch.float32
    assert (cosine(vectors, exact).diagonal() > 0.99).all()
    assert all(weight.grad is not None and weight.grad.isfinite().all() for weight in model.parameters())
