"""What a trial does: train by one recipe, look at dev on the way, tell what it came to. What is the same for all trials
of a process, tokens and vectors, is made once.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from math import ceil, isfinite
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from lexarbor.errors import TrainingError
from lexarbor.files import replacing
from lexarbor.graph.model_folder import GraphModelFolder
from lexarbor.supervision.folder import Supervised
from lexarbor.supervision.folds import left_out
from lexarbor.text.retriever import DenseStatuteRetriever
from lexarbor.training import gpu
from lexarbor.training.arguments import OnLook, fitting, world_size
from lexarbor.training.contrastive import Tokenised, batches, tokenise, train_text
from lexarbor.training.contrastive import check as check_text
from lexarbor.training.drawing import steps_of
from lexarbor.training.graph import check as check_graph
from lexarbor.training.graph import known_by, train_graph
from lexarbor.training.graph_batches import pairs_of_views
from lexarbor.training.graph_recipe import GraphRecipe
from lexarbor.training.graph_views import View, Views, checked_encoders, prepare_views
from lexarbor.training.looking import TrainingReport
from lexarbor.training.mining import hard_negatives
from lexarbor.training.recipes import TextRecipe, parse_recipe
from lexarbor.training.starting import start

Told = Callable[[int, bool, dict[str, float]], None]
"""Told the look's number, from 1, whether it is the last, and dev's figures; what it raises ends the trial."""
R = TypeVar("R", TextRecipe, GraphRecipe)
Locked = Callable[[], Any]
"""A context that one process at a time is in."""


class Outcome(NamedTuple):
    """What a trial came to."""

    figures: dict[str, float]
    """On dev, by measure."""
    seconds: float
    parameters: int
    steps: int


class TextTask:
    """Trains dense statute retrievers over one supervision folder."""

    def __init__(self, folder: Supervised, kept: Path, locked: Locked) -> None:
        self._folder = folder
        self._tokenised: dict[str, Tokenised] = {}

    def __call__(self, values: Mapping[str, Any], out: Path, looks: int, on_look: Told) -> Outcome:
        """Train by a recipe's values in the folder `out`."""
        gpu.free()  # what the trial before has left
        recipe = _recipe(TextRecipe, values)
        check_text(recipe, self._folder)
        with fitting(f"{recipe.optimisation.batch_size} questions", "leave its largest values out of the space"):
            tokenised = self._tokens(recipe)
            drawn = recipe.supervision
            kept = tokenised.token_pairs.without(left_out(self._folder, drawn.fold, drawn.folds))
            recipe, tell = _watched(recipe, batches(recipe, kept)[1], looks, on_look)
            report = train_text(recipe, self._folder, out, tokenised=tokenised, on_look=tell)
        parameters = sum(weights.numel() for weights in DenseStatuteRetriever.load(out).parameters())
        return _outcome(report, parameters)

    def _tokens(self, recipe: TextRecipe) -> Tokenised:
        """Pooling and similarity change nothing in them."""
        read, drawn = recipe.encoder, recipe.supervision
        settings = replace(read, pooling="mean", chunk_pooling="mean", similarity="cosine", shared=True)
        key = f"{settings} {recipe.tokenizer or recipe.start} {sorted(drawn.drawn)} {drawn.negatives}"
        if key not in self._tokenised:
            retriever = start(recipe, self._folder)
            self._tokenised[key] = tokenise(recipe, self._folder, retriever, hard_negatives(self._folder, drawn))
        return self._tokenised[key]


class GraphTask:
    """Trains legislative graph encoders over one supervision folder and the vectors of one retriever, which are encoded
    by the first process and kept in the folder `kept` for the others.
    """

    def __init__(self, folder: Supervised, kept: Path, locked: Locked) -> None:
        self._folder, self._kept, self._locked = folder, kept, locked
        self._views: dict[str, Views] = {}

    def __call__(self, values: Mapping[str, Any], out: Path, looks: int, on_look: Told) -> Outcome:
        """Train by a recipe's values in the folder `out`."""
        gpu.free()  # what the trial before has left
        recipe = _recipe(GraphRecipe, values)
        negatives = hard_negatives(self._folder, recipe.supervision) if recipe.negatives == "batch" else {}
        with fitting(f"{recipe.optimisation.batch_size} questions", "leave its largest values out of the space"):
            views = self._seen(recipe)
            check_graph(recipe, self._folder, negatives, views)
            questions = recipe.optimisation.batch_size * recipe.optimisation.accumulation * world_size()
            pairs = pairs_of_views(recipe, self._folder, views, negatives)
            epochs = recipe.optimisation.epochs
            steps = recipe.optimisation.steps or steps_of(epochs, pairs, recipe.supervision, questions)
            recipe, tell = _watched(recipe, steps, looks, on_look)
            report = train_graph(recipe, self._folder, out, views=views, on_look=tell)
        weights = GraphModelFolder.open(out).weights
        return _outcome(report, sum(int(array.size) for array in weights.values()))

    def _seen(self, recipe: GraphRecipe) -> Views:
        names = f"{recipe.encoder} {recipe.folds} {sorted(recipe.supervision.drawn)}"
        if names not in self._views:
            checksums = [encoder.checksum for encoder in checked_encoders(recipe)]
            known = f"{known_by(self._folder, checksums)} {names}"
            path = self._kept / f"views-{hashlib.sha256(known.encode()).hexdigest()[:16]}.npz"
            with self._locked():  # the first encodes, the others wait and read
                if not path.is_file():
                    write_views(prepare_views(recipe, self._folder), path)
            self._views[names] = read_views(path)
        return self._views[names]


TASKS: dict[str, type[TextTask] | type[GraphTask]] = {"text": TextTask, "graph": GraphTask}


def write_views(views: Views, path: Path) -> None:
    """Vectors as arrays, the rest as JSON beside them; no pickle."""
    told = [
        {"name": view.name, "checksum": view.checksum, "similarity": view.similarity, "headings": view.headings}
        | {"words": list(view.row_of)}  # in the order of their rows
        for view in views.all
    ]
    arrays: dict[str, Any] = {"told": np.frombuffer(json.dumps(told).encode(), dtype=np.uint8)}
    for number, view in enumerate(views.all):
        arrays |= {f"features{number}": view.features, f"questions{number}": view.questions}
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez(file, **arrays)


def read_views(path: Path) -> Views:
    """What `write_views` wrote."""
    with np.load(path, allow_pickle=False) as held:
        told = json.loads(held["told"].tobytes())
        first, *rest = (
            View(
                features=held[f"features{number}"],
                questions=held[f"questions{number}"],
                row_of={words: row for row, words in enumerate(one.pop("words"))},
                **one,
            )
            for number, one in enumerate(told)
        )
    return Views(first, tuple(rest))


def _recipe(kind: type[R], values: Mapping[str, Any]) -> R:
    recipe = parse_recipe(values)
    if not isinstance(recipe, kind):
        raise TrainingError(f"the base recipe is of the stage '{recipe.stage}', which this space is not for")
    return recipe


def _watched(recipe: R, steps: int, looks: int, on_look: Told) -> tuple[R, OnLook]:
    """The recipe with `looks` looks at dev, nothing kept on the way; and what is to be told of each."""
    every = ceil(steps / looks)  # not more often: the last step is looked at in any case
    watching = replace(recipe.watching, evaluate_every=every, patience=0, save_every=0, report=())

    def tell(step: int, figures: dict[str, float]) -> None:
        on_look(ceil(step / every), step >= steps, figures)

    return replace(recipe, watching=watching), tell


def _outcome(report: TrainingReport, parameters: int) -> Outcome:
    if not isfinite(report.loss):
        raise TrainingError(f"the loss is {report.loss}, the weights have grown without bound: lower learning_rate")
    return Outcome(report.dev, report.seconds, parameters, report.steps)
