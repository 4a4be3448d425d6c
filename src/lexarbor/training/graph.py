"""The stage `graph`: contrastive learning of the legislative graph encoder (the paper's section "Legislative Graph
Encoder") over a retriever whose vectors stay as they are.

    out/manifest.json, out/weights.npz   a graph encoder's folder: `lexarbor.graph.enrichment.Enricher` reads it
    out/log.json                         loss, rate and dev figures by step

and what every run's folder has (`lexarbor.training.runs`).
"""

import hashlib
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from transformers import set_seed

from lexarbor.graph.encoder import LegislativeGraphEncoder
from lexarbor.graph.legislation import LegislativeGraph, merged
from lexarbor.graph.model_folder import write_model
from lexarbor.supervision.folder import Supervised
from lexarbor.training.arguments import OnLook, check_surroundings, fitting, from_first, world_size
from lexarbor.training.drawing import steps_of
from lexarbor.training.graph_batches import (
    GraphBatches,
    check_answers,
    check_shares,
    has_negatives,
    pairs_of_views,
)
from lexarbor.training.graph_objective import GraphDev, GraphObjective
from lexarbor.training.graph_recipe import GraphRecipe
from lexarbor.training.graph_views import Views, check_views, checked_encoders, law_graph, prepare_views
from lexarbor.training.looking import (
    TrainingReport,
    check_looks,
    check_negatives,
    check_units,
    dev_questions,
    question_trainer,
    report_of,
    write_log,
)
from lexarbor.training.mining import hard_negatives
from lexarbor.training.recipes import as_dict
from lexarbor.training.runs import LOG, claim, data_checksum, finish, is_first
from lexarbor.training.token_pairs import checked_kinds


def train_graph(
    recipe: GraphRecipe,
    folder: Supervised,
    out: Path,
    *,
    resume: bool = False,
    views: Views | None = None,
    on_look: OnLook | None = None,
) -> TrainingReport:
    """Train by a recipe, keep the graph encoder in `out`. With `resume`, a run that was stopped goes on from its last
    checkpoint, if it wrote one, and ends with the same weights.
    `views`, as `prepare_views` gives them for a recipe with the same retrievers and at least these kinds, spare
    encoding law and questions again.
    `on_look` is told the step and dev's figures after each look on the way (`watching.evaluate_every`); what it raises
    ends the run, and `out` is left as a run's that has not finished.
    """
    began = time.perf_counter()
    negatives = hard_negatives(folder, recipe.supervision) if recipe.negatives == "batch" else {}
    checksums = check(recipe, folder, negatives, views)
    checkpoint = claim(recipe, out, resume=resume, data=known_by(folder, checksums))
    if views is None:
        views = prepare_views(recipe, folder)
    set_seed(recipe.optimisation.seed)
    graph = heard_graph(recipe, folder)
    pairs = pairs_of_views(recipe, folder, views, negatives)
    optimisation, devices = recipe.optimisation, world_size()
    questions = optimisation.batch_size * optimisation.accumulation * devices
    steps = optimisation.steps or steps_of(optimisation.epochs, pairs, recipe.supervision, questions)
    batches = GraphBatches(recipe, graph, pairs, steps=steps, devices=devices)
    objective = objective_of(recipe, folder, views, graph)
    asked = dev_questions(folder)
    look = partial(_look, GraphDev(asked, views.encoder, graph), objective) if asked else None
    trainer = question_trainer(
        objective, optimisation, recipe.watching, batches, steps=steps, out=out, look=look, on_look=on_look
    )
    trainer.args.ddp_broadcast_buffers = False  # graph and views are the same in all processes, and large
    with fitting(f"{optimisation.batch_size} questions", "lower batch_size and raise accumulation"):
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    report = report_of(trainer, recipe.watching, look, out, began)
    if is_first():
        encoder = objective.encoder
        told = provenance(recipe, folder, views)
        write_model(out, recipe.graph, encoder.dimension, views.encoder.checksum, encoder.to_arrays(), told)
        write_log(trainer, report, out / LOG)
        finish(out)
    return report


def check(
    recipe: GraphRecipe, folder: Supervised, negatives: Mapping[int, Sequence[str]], views: Views | None = None
) -> list[str]:
    """Refuse what cannot be trained, before any long work; gives the checksums of the encoder and the folds.
    `negatives` are hard ones, by a pair's number.
    """
    check_surroundings(recipe.optimisation, recipe.watching)
    kinds = checked_kinds(folder, recipe.supervision.drawn)
    check_units(recipe.supervision)
    check_looks(folder, recipe.watching)
    recipe.graph.heard(law_graph(folder))
    if views is not None:
        check_views(recipe, views, folder)
        headings, dimension = views.encoder.headings, views.encoder.dimension
        checksums = [view.checksum for view in views.all]
    else:
        encoders = checked_encoders(recipe)
        headings, dimension = encoders[0].settings.headings, encoders[0].dimension
        checksums = [encoder.checksum for encoder in encoders]
    recipe.graph.widths(dimension)
    check_answers(folder, kinds, headings=headings)
    check_shares(folder, recipe)
    if recipe.negatives == "batch":
        check_negatives(recipe.supervision, sorted(kinds), found=has_negatives(folder, kinds, negatives))
    return checksums


def known_by(folder: Supervised, checksums: Sequence[str]) -> str:
    """A checksum of all that a run learns from: the supervision, and the retrievers whose vectors it reads."""
    return hashlib.sha256(" ".join((data_checksum(folder), *checksums)).encode()).hexdigest()


def heard_graph(recipe: GraphRecipe, folder: Supervised) -> LegislativeGraph:
    """The folder's graph as the recipe's encoder hears it."""
    graph = recipe.graph.heard(law_graph(folder))
    return merged(graph, [section.text for section in folder.sections]) if recipe.graph.merge_headings else graph


def objective_of(recipe: GraphRecipe, folder: Supervised, views: Views, graph: LegislativeGraph) -> GraphObjective:
    """A fresh graph encoder, its loss, and what it reads."""
    encoder = LegislativeGraphEncoder(recipe.graph, views.encoder.dimension)
    encoder.begin_hearing(recipe.heard_at_first, recipe.gathered_at_first)
    rows = law_graph(folder).rows_of((*graph.sections, *graph.articles))
    return GraphObjective(encoder, recipe.loss, graph, views.all, rows)


def provenance(recipe: GraphRecipe, folder: Supervised, views: Views) -> dict[str, Any]:
    """For people: how it was trained, and on what."""
    told = {"recipe": as_dict(recipe), "folds": [view.checksum for view in views.folds]}
    return told | {"supervision": getattr(folder, "facts", {})}


def _look(dev: GraphDev, objective: GraphObjective) -> dict[str, float]:
    """Dev's figures, the same for all processes."""
    return from_first(lambda: dev.figures(objective))
