"""Supervision over the tiny law, in memory, and recipes that train on it in seconds."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

from lexarbor.corpus.sources import read_tiny, read_tiny_questions
from lexarbor.errors import LexarborError
from lexarbor.search.passages import sentences
from lexarbor.supervision.folder import Asked, Pair, Passage, Supervision
from lexarbor.supervision.texts import all_texts
from lexarbor.text.retriever import DenseStatuteRetriever
from lexarbor.text.settings import EncoderSettings
from lexarbor.training.fresh import write_fresh
from lexarbor.training.recipes import TextRecipe, parse_recipe
from lexarbor.training.starting import set_dropout

torch.set_num_threads(1)


def refused_by(train: Callable[..., object], *arguments: Any, **options: Any) -> str:
    """What a stage says, in one line, where it does not train."""
    with pytest.raises(LexarborError) as found:
        train(*arguments, **options)
    assert "\n" not in str(found.value)
    return str(found.value)


@cache
def tiny() -> Supervision:
    """Gold questions, sentences of articles, headings; every gold pair with three hard negatives."""
    law, questions = read_tiny(), read_tiny_questions()
    articles = [Passage(id, law.articles[id].text, law.headings(law.articles[id])) for id in sorted(law.articles)]
    ids = [article.id for article in articles]
    gold = []
    for question in questions.split("train"):
        positives = tuple(sorted(questions.qrels[question.id]))
        others = [id for id in ids if id not in positives]
        first = len(gold) * 3 % len(others)
        gold.append(Pair("gold", question.text, positives, tuple(others[first : first + 3])))
    sentence = [
        Pair("sentence", parts[0], (article.id,), left_out=parts[0])
        for article in articles
        if len(parts := sentences(article.text)) > 1
    ]
    under: dict[tuple[str, ...], list[str]] = {}
    for article in articles:
        under.setdefault(article.headings, []).append(article.id)
    headings = [Pair("headings", path[-1], tuple(held), bare=True) for path, held in under.items()]
    asked = [
        Asked(question.id, "dev", question.text, tuple(sorted(questions.qrels[question.id])))
        for question in questions.split("dev")
    ]
    return Supervision(articles, [], [*gold, *sentence, *headings], [], asked)


def asking_train(supervision: Supervision) -> Supervision:
    """With its own train questions as dev: what a model must be able to learn by heart."""
    gold = [pair for pair in supervision.pairs if pair.kind == "gold"]
    asked = [Asked(f"T{place}", "dev", pair.question, pair.positives) for place, pair in enumerate(gold)]
    return replace(supervision, asked=asked)


ARCHITECTURE = {"layers": 2, "hidden": 32, "heads": 2, "intermediate": 64, "positions": 64, "vocabulary": 600}
ENCODER = {"max_tokens": 48, "question_tokens": 32}


def recipe(**changes: Any) -> TextRecipe:
    """A small recipe; keyword arguments are merged into its parts."""
    written: dict[str, Any] = {
        "stage": "text",
        "start": "fresh",
        "architecture": ARCHITECTURE,
        "encoder": ENCODER,
        "optimisation": {"batch_size": 6, "steps": 4, "learning_rate": 1e-3},
        "watching": {"log_every": 1},
    }
    made = parse_recipe(changed(written, changes))
    assert isinstance(made, TextRecipe)
    return made


def changed(written: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """A recipe with other values, merged into its parts."""
    for name, value in changes.items():
        held = written.get(name)
        written[name] = {**held, **value} if isinstance(held, dict) and isinstance(value, dict) else value
    return written


@cache
def checkpoint(folder: Path) -> Path:
    """A fresh Hugging Face folder that reads the tiny law."""
    shape = recipe().architecture
    return write_fresh(shape, all_texts(tiny()), folder, dropout=0.0, seed=0)


def retriever(folder: Path, **settings: Any) -> DenseStatuteRetriever:
    """A retriever of random weights without dropout, ready to be compared."""
    model = DenseStatuteRetriever.from_checkpoint(checkpoint(folder), EncoderSettings(**{**ENCODER, **settings}))
    set_dropout(model, 0.0)
    return model


def weights(model: DenseStatuteRetriever) -> dict[str, torch.Tensor]:
    return {name: weight.detach().clone() for name, weight in model.named_parameters()}
