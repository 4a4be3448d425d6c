"""The model that a text recipe starts from: nothing, a Hugging Face checkpoint, or a retriever of an earlier stage."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

from torch import nn

from lexarbor.supervision.folder import SupervisionFolder
from lexarbor.text.retriever import DenseStatuteRetriever
from lexarbor.training.encoded import Supervised
from lexarbor.training.fresh import write_fresh
from lexarbor.training.recipes import FRESH, TextRecipe
from lexarbor.training.texts import all_texts

_RETRIEVER = "settings.json"


def start(recipe: TextRecipe, folder: Supervised) -> DenseStatuteRetriever:
    """The retriever at step 0, with the recipe's settings and dropout."""
    if recipe.start == FRESH:
        with TemporaryDirectory() as made:
            texts = [] if recipe.tokenizer else all_texts(cast(SupervisionFolder, folder))
            seed, tokenizer = recipe.optimisation.seed, recipe.tokenizer
            write_fresh(recipe.architecture, texts, Path(made), dropout=recipe.dropout, seed=seed, tokenizer=tokenizer)
            retriever = _begun(made, recipe)
    else:
        retriever = _begun(recipe.start, recipe)
    set_dropout(retriever, recipe.dropout)
    if recipe.optimisation.compile:
        for tower in {id(one): one for one in (retriever.question_tower, retriever.article_tower)}.values():
            tower.compile(dynamic=True)
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
    if (Path(begin) / _RETRIEVER).is_file() and not recipe.article_start:
        return DenseStatuteRetriever.load(Path(begin), recipe.encoder)
    article_start = _tower_of(recipe.article_start, "article_encoder") if recipe.article_start else None
    return DenseStatuteRetriever.from_checkpoint(_tower_of(begin, "encoder"), recipe.encoder, article_start)


def _tower_of(begin: str, wanted: str) -> str:
    """Of a retriever's folder the tower's own; any other checkpoint as it is named."""
    if not (Path(begin) / _RETRIEVER).is_file():
        return begin
    folder = Path(begin) / wanted
    return str(folder if folder.is_dir() else Path(begin) / "encoder")
