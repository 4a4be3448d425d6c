"""What a recipe can start from."""

from pathlib import Path

import pytest
import torch
from tiny_supervision import ENCODER, checkpoint, recipe, retriever, tiny, weights

from lexarbor.errors import LexarborError
from lexarbor.training.starting import start


def test_from_nothing_by_the_recipes_seed(tmp_path: Path) -> None:
    one, same, other = (weights(start(recipe(optimisation={"seed": seed}), tiny())) for seed in (0, 0, 1))
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not all(torch.equal(one[name], other[name]) for name in one)


def test_from_nothing_with_a_tokenizer_that_is_there(tmp_path: Path) -> None:
    begun = start(recipe(tokenizer=str(checkpoint(tmp_path / "bert"))), tiny())
    assert begun.tokenizer.get_vocab() == retriever(tmp_path / "bert").tokenizer.get_vocab()


def test_from_a_checkpoint_and_another_for_articles(tmp_path: Path) -> None:
    base = checkpoint(tmp_path / "bert")
    adapted = retriever(base)
    with torch.no_grad():
        adapted.article_tower.embeddings.word_embeddings.weight.add_(1.0)
    adapted.save(tmp_path / "adapted")
    plan = recipe(start=str(base), article_start=str(tmp_path / "adapted"), encoder={"shared": False})
    begun = start(plan, tiny())
    embeddings = [tower.embeddings.word_embeddings.weight for tower in (begun.question_tower, begun.article_tower)]
    assert torch.equal(embeddings[0] + 1.0, embeddings[1])
    # a retriever may be what questions start from, too
    again = start(recipe(start=str(tmp_path / "adapted"), article_start=str(base), encoder={"shared": False}), tiny())
    assert torch.equal(again.question_tower.embeddings.word_embeddings.weight, embeddings[1])
    assert torch.equal(again.article_tower.embeddings.word_embeddings.weight, embeddings[0])


def test_from_a_retriever_of_an_earlier_stage_with_other_settings(tmp_path: Path) -> None:
    before = retriever(tmp_path / "bert")
    before.save(tmp_path / "flat")
    grown = start(recipe(start=str(tmp_path / "flat"), encoder={"article": "hierarchical", "chunk_tokens": 24}), tiny())
    assert grown.second_level is not None
    found, expected = weights(grown), weights(before)
    assert all(torch.equal(found[name], expected[name]) for name in expected)
    assert grown.settings.max_tokens == ENCODER["max_tokens"]


@pytest.mark.parametrize("rate", [0.0, 0.05, 0.2])
def test_dropout_is_the_recipes_between_layers_and_at_most_the_checkpoints_inside_attention(rate: float) -> None:
    hierarchical = {"article": "hierarchical", "chunk_tokens": 24}
    begun = start(recipe(dropout=rate, encoder=hierarchical), tiny())
    modules = dict(begun.named_modules())
    rates = {name: module.p for name, module in modules.items() if isinstance(module, torch.nn.Dropout)}
    inside = {name for name in rates if name.endswith("self.dropout")}
    assert inside
    assert {rates[name] for name in inside} == {0.0}  # a fresh model has none there
    assert {rates[name] for name in rates.keys() - inside} == {rate}
    second = [module.dropout for module in modules.values() if isinstance(module, torch.nn.MultiheadAttention)]
    assert set(second) == {min(0.1, rate)}
    assert begun.article_tower.config.hidden_dropout_prob == rate


def test_a_checkpoint_that_is_missing_is_told_of(tmp_path: Path) -> None:
    with pytest.raises(LexarborError, match="no such folder"):
        start(recipe(start=str(tmp_path / "nowhere")), tiny())
