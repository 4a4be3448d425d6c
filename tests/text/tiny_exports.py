"""Makes retrievers of random weights and exports them, once a session: an export takes seconds."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from numpy.typing import NDArray
from tiny_models import LAW, tiny_checkpoint

from lexarbor.text import export as module
from lexarbor.text.retriever import DenseStatuteRetriever
from lexarbor.text.settings import EncoderSettings

FLAT = EncoderSettings(max_tokens=40, question_tokens=12)
HIERARCHICAL = EncoderSettings(
    article="hierarchical",
    max_tokens=60,
    chunk_tokens=16,
    overlap=3,
    question_tokens=12,
    pooling="cls",
    chunk_pooling="max",
    similarity="dot",
    shared=False,
)
TEXTS = [*LAW, " ".join(LAW), "", "salarié", "Code du travail > Congés\n" + LAW[3]]
"""Articles of all lengths: none, one word, more than is read."""
_kept = TemporaryDirectory()
_graphs = cache(module._graphs)


@cache
def retriever(settings: EncoderSettings, architecture: str = "bert") -> DenseStatuteRetriever:
    """A retriever whose second level, too, is random: a fresh one only hands on what it gets."""
    start = tiny_checkpoint(Path(_kept.name) / architecture, architecture)
    other = None if settings.shared else tiny_checkpoint(Path(_kept.name) / f"{architecture}-2", architecture, seed=1)
    made = DenseStatuteRetriever.from_checkpoint(start, settings, other).eval()
    if made.second_level is not None:
        torch.manual_seed(2)
        for weight in made.second_level.parameters():
            torch.nn.init.normal_(weight, std=0.3)
    return made


@cache
def exported(settings: EncoderSettings, architecture: str = "bert", way: str = "float32") -> Path:
    """A model folder; not to be written to."""
    folder = Path(_kept.name) / f"{architecture}-{settings.article}-{way}"
    with patch.object(module, "_graphs", _graphs):  # traced once for all ways
        module.export(retriever(settings, architecture), folder, way=way, samples=TEXTS)
    return folder


def torch_questions(model: DenseStatuteRetriever, texts: list[str]) -> NDArray[Any]:
    """What torch makes of questions, one by one."""
    with torch.no_grad():
        rows = [model.encode_question_ids(*model.padded([ids])) for ids in model.question_ids(texts)]
    return _finished(model, rows)


def torch_articles(model: DenseStatuteRetriever, texts: list[str]) -> NDArray[Any]:
    """What torch makes of articles, one by one."""
    with torch.no_grad():
        rows = [
            model.encode_article_ids(*model.padded(chunks), torch.tensor([len(chunks)]))
            for chunks in model.article_ids(texts)
        ]
    return _finished(model, rows)


def _finished(model: DenseStatuteRetriever, rows: list[torch.Tensor]) -> NDArray[Any]:
    vectors = torch.cat(rows).numpy()
    if model.settings.similarity == "cosine":
        vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors
