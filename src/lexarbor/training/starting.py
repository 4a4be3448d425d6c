"""The model that a text recipe starts from: nothing, a Hugging Face checkpoint, or a retriever of an earlier stage."""

from pathlib import Path

from torch import nn

from lexarbor.supervision.folder import Supervised
from lexarbor.text.retriever import ARTICLE_ENCODER, ENCODER, DenseStatuteRetriever, is_retriever, tower_of
from lexarbor.training.fresh import fresh_start
from lexarbor.training.recipes import FRESH, TextRecipe


def start(recipe: TextRecipe, folder: Supervised) -> DenseStatuteRetriever:
    """The retriever at step 0, with the recipe's settings and dropout."""
    if recipe.start == FRESH:
        with fresh_start(recipe, folder) as made:
            retriever = _begun(made, recipe)
    else:
        retriever = _begun(recipe.start, recipe)
    set_dropout(retriever, recipe.dropout)
    return retriever


def set_dropout(retriever: DenseStatuteRetriever, dropout: float) -> None:
    """The rate between layers; inside attention no more than the checkpoint has there, often nothing: it is slower."""
    for name, module in retriever.named_modules():
        if isinstance(module, nn.MultiheadAttention):
            module.dropout = min(module.dropout, dropout)
        elif isinstance(module, nn.Dropout):
            inside = "attention" in name and "output" not in name
            module.p = min(module.p, dropout) if inside else dropout
    for tower in (retriever.question_tower, retriever.article_tower):
        held = getattr(tower.config, "attention_probs_dropout_prob", 0.0)
        for name, rate in (("hidden_dropout_prob", dropout), ("attention_probs_dropout_prob", min(held, dropout))):
            if hasattr(tower.config, name):
                setattr(tower.config, name, rate)


def _begun(begin: str, recipe: TextRecipe) -> DenseStatuteRetriever:
    if is_retriever(begin) and not recipe.article_start:
        return DenseStatuteRetriever.load(Path(begin), recipe.encoder)
    article_start = tower_of(recipe.article_start, ARTICLE_ENCODER) if recipe.article_start else None
    return DenseStatuteRetriever.from_checkpoint(tower_of(begin, ENCODER), recipe.encoder, article_start)
