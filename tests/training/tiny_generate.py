"""Recipes of the stage `generate` that train on the tiny law in less than a second, and the weights they come to."""

from functools import cache
from pathlib import Path
from typing import Any

import torch
from tiny_supervision import ARCHITECTURE, tiny
from transformers import AutoModelForSeq2SeqLM

from lexarbor.training.generate import train_generator
from lexarbor.training.recipes import GenerateRecipe, parse_recipe


def generate_recipe(**changes: Any) -> GenerateRecipe:
    """A small recipe; what is given of optimisation and watching is merged into its own."""
    written: dict[str, Any] = {
        "stage": "generate",
        "start": "fresh",
        "architecture": ARCHITECTURE,
        "kinds": {"gold": 1},
        "input_tokens": 48,
        "question_tokens": 24,
        "optimisation": {"batch_size": 4, "steps": 2, "learning_rate": 1e-3},
        "watching": {"log_every": 1},
    }
    for name, value in changes.items():
        written[name] = {**written[name], **value} if name in ("optimisation", "watching") else value
    made = parse_recipe(written)
    assert isinstance(made, GenerateRecipe)
    return made


@cache
def trained(folder: Path) -> Path:
    """An `EncoderDecoderModel` made from a fresh BERT."""
    return train_generator(generate_recipe(), tiny(), folder).out


def generator_weights(folder: Path) -> dict[str, torch.Tensor]:
    """But for the pooler, which transformers makes up: no question goes through it."""
    held = AutoModelForSeq2SeqLM.from_pretrained(folder).state_dict()
    return {name: weight for name, weight in held.items() if "pooler" not in name}
