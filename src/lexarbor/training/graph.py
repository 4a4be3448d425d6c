"""The stage `graph`: contrastive learning of the legislative graph encoder (the paper's section "Legislative Graph
Encoder") over a retriever whose vectors stay as they are.

    out/manifest.json, out/weights.npz   a graph encoder's folder: `lexarbor.graph.enrichment.Enricher` reads it
    out/log.json                         loss, rate and dev figures by step

and what every run's folder has (`lexarbor.training.runs`).
"""

import time
from functools import partial
from pathlib import Path
from typing import Any

from transformers import set_seed

from lexarbor.graph.encoder import LegislativeGraphEncoder
from lexarbor.graph.legislation import LegislativeGraph, merged
from lexarbor.graph.model_folder import write_model
from lexarbor.supervision.folder import Supervised
from lexarbor.training.arguments import check_surroundings, fitting, from_first, world_size
from lexarbor.training.graph_batches import GraphBatches, check_answers, pairs_of_views, steps_of
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
) -> TrainingReport:
    """Train by a recipe, keep the graph encoder in `out`. With `resume`, a run that was stopped goes on from its last
    checkpoint, if it wrote one, and ends with the same weights.
    `views`, as `prepare_views` gives them for a recipe with the same retrievers and at least these kinds, spare
    encoding law and questions again.
    """
    began = time.perf_counter()
    check(recipe, folder, views)
    negatives = hard_negatives(folder, recipe.supervision) if recipe.negatives == "batch" else {}
    checkpoint = claim(recipe, out, resume=resume, data=data_checksum(folder))
    if views is None:
        views = prepare_views(recipe, folder)
    set_seed(recipe.optimisation.seed)
    graph = heard_graph(recipe, folder)
    pairs = pairs_of_views(recipe, folder, views, negatives)
    if recipe.negatives == "batch":
        check_negatives(recipe.supervision, pairs)
    steps = steps_of(recipe, pairs, world_size())
    batches = GraphBatches(recipe, graph, pairs, steps=steps, devices=world_size())
    objective = objective_of(recipe, folder, views, graph)
    asked = dev_questions(folder)
    look = partial(_look, GraphDev(asked, views.encoder, graph), objective) if asked else None
    trainer = question_trainer(
        objective, recipe.optimisation, recipe.watching, batches, steps=steps, out=out, look=look
    )
    trainer.args.ddp_broadcast_buffers = False  # graph and views are the same in all processes, and large
    with fitting(f"{recipe.optimisation.batch_size} questions", "lower batch_size and raise accumulation"):
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    report = report_of(trainer, recipe.watching, look, out, began)
    if is_first():
        encoder = objective.encoder
        told = provenance(recipe, folder, views)
        write_model(out, recipe.graph, encoder.dimension, views.encoder.checksum, encoder.to_arrays(), told)
        write_log(trainer, report, out / LOG)
        finish(out)
    return report


def check(recipe: GraphRecipe, folder: Supervised, views: Views | None = None) -> None:
    """Refuse what cannot be trained, before any long work."""
    check_surroundings(recipe.optimisation, recipe.watching)
    check_answers(folder, checked_kinds(folder, recipe.supervision.drawn))
    check_units(recipe.supervision)
    check_looks(folder, recipe.watching)
    graph = law_graph(folder)
    if views is not None:
        check_views(recipe, views, graph)
    recipe.graph.widths(checked_encoders(recipe)[0].dimension if views is None else views.encoder.dimension)


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
