"""Retrievers that give the graph's nodes and questions their vectors: as torch trained them, or as they were exported.

A retriever's vectors are known by a checksum. That of an export is its model folder's; that of a folder that torch
reads is taken over the checksums of its files (`retriever_checksum`).
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from lexarbor.corpus.packages import cache_folder
from lexarbor.errors import TrainingError
from lexarbor.files import sha256_of_files
from lexarbor.supervision.folder import Passage
from lexarbor.text.corpus_vectors import encode_inputs
from lexarbor.text.folder import ModelFolder
from lexarbor.text.inputs import article_input
from lexarbor.text.manifests import MANIFEST
from lexarbor.text.retriever import (
    ARTICLE_ENCODER,
    ENCODER,
    SECOND_LEVEL,
    SETTINGS,
    DenseStatuteRetriever,
    is_retriever,
)
from lexarbor.text.settings import EncoderSettings
from lexarbor.text.shipped import shipped_model
from lexarbor.text.towers import read_config
from lexarbor.training.graph_recipe import SHIPPED
from lexarbor.training.ranking import article_vectors, question_vectors
from lexarbor.training.runs import RECIPE

Vectors = NDArray[np.float32]


class NodeEncoder(Protocol):
    """A retriever that has been found, and not been loaded yet."""

    name: str
    settings: EncoderSettings
    dimension: int
    left_out: tuple[int, int] | None
    """The part that it left out, and of how many, where its recipe is known; (0, 0) if none."""

    @property
    def checksum(self) -> str: ...

    def vectors(self, nodes: Sequence[Passage], questions: Sequence[str]) -> tuple[Vectors, Vectors]:
        """Nodes (n, d) and questions (q, d), raw."""
        ...


def node_encoder(name: str, key: str) -> NodeEncoder:
    """The retriever of a name; `key` is the recipe's that holds the name."""
    if name == SHIPPED:
        return ExportedEncoder(name, shipped_model())
    if is_retriever(name):
        return TrainedEncoder(name)
    if (Path(name) / MANIFEST).is_file():
        return ExportedEncoder(name, Path(name))
    raise TrainingError(
        f"{key}: there is no retriever in '{name}'; give the folder of a trained retriever or of its export, or "
        f"'{SHIPPED}'"
    )


class TrainedEncoder:
    """A folder that `DenseStatuteRetriever` reads."""

    def __init__(self, name: str) -> None:
        self.name, folder = name, Path(name)
        self.settings = EncoderSettings.read(folder / SETTINGS)
        self.dimension = int(read_config(folder / ENCODER).hidden_size)
        self.left_out = _left_out(_written_recipe(folder))

    @cached_property
    def checksum(self) -> str:
        return retriever_checksum(Path(self.name))

    def vectors(self, nodes: Sequence[Passage], questions: Sequence[str]) -> tuple[Vectors, Vectors]:
        model = DenseStatuteRetriever.load(Path(self.name)).to("cuda" if torch.cuda.is_available() else "cpu")
        features = article_vectors(model, nodes).values.cpu().numpy()
        asked = question_vectors(model, (), questions).values.cpu().numpy()
        return features, asked.reshape(len(questions), self.dimension)


class ExportedEncoder:
    """A model folder that `TextEncoder` reads; nodes are kept in Lexarbor's cache."""

    def __init__(self, name: str, path: Path) -> None:
        self.name, self._folder = name, ModelFolder.open(path)
        self.settings = self._folder.manifest.settings
        self.dimension = self._folder.manifest.dimension
        self.checksum = self._folder.checksum
        self.left_out = _left_out(self._folder.manifest.provenance.get("recipe"))

    def vectors(self, nodes: Sequence[Passage], questions: Sequence[str]) -> tuple[Vectors, Vectors]:
        from lexarbor.text.encoder import TextEncoder

        encoder = TextEncoder(self._folder, os.cpu_count())
        inputs = [article_input(node.headings, node.text, self.settings) for node in nodes]
        return encode_inputs(encoder, inputs, cache_folder() / "vectors"), encoder.encode_questions(questions)


def retriever_checksum(folder: Path) -> str:
    """Of a folder that `DenseStatuteRetriever.save` wrote: changes with any file that could change a vector."""
    parts = (
        folder / SETTINGS,
        folder / SECOND_LEVEL,
        *(folder / ENCODER).rglob("*"),
        *(folder / ARTICLE_ENCODER).rglob("*"),
    )
    return sha256_of_files(folder, parts)


def _written_recipe(folder: Path) -> object:
    import yaml

    with suppress(OSError, ValueError, yaml.YAMLError):  # a retriever that another program wrote has none
        return yaml.safe_load((folder / RECIPE).read_text(encoding="utf-8"))
    return None


def _left_out(recipe: object) -> tuple[int, int] | None:
    """By a recipe as it was written, perhaps by another version."""
    told: Any = recipe.get("supervision") if isinstance(recipe, dict) else None
    if not isinstance(told, dict):
        return None
    fold, folds = told.get("fold", 0), told.get("folds", 0)
    return (fold, folds) if type(fold) is int and type(folds) is int else None
