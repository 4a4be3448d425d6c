"""The stage `graph`, whole: it learns, what it wrote is read without torch, and it goes on where it was killed."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tiny_graph import encoder, folds, recipe, tiny_law, tiny_views
from tiny_supervision import asking_train, refused_by

from killed_runs import killed_at
from lexarbor.evaluation import evaluate
from lexarbor.graph.enrichment import Enricher
from lexarbor.graph.legislation import merged
from lexarbor.graph.model_folder import GraphModelFolder
from lexarbor.supervision.answers import same_words
from lexarbor.supervision.folder import Pair, Supervision
from lexarbor.training import graph as stage
from lexarbor.training.graph import train_graph
from lexarbor.training.graph_batches import GraphBatches
from lexarbor.training.graph_objective import GraphDev, GraphObjective
from lexarbor.training.graph_recipe import GraphRecipe
from lexarbor.training.graph_views import prepare_views
from lexarbor.training.looking import dev_questions
from lexarbor.training.node_encoders import retriever_checksum
from lexarbor.training.ranking import Vectors, rank
from lexarbor.training.recipes import read_recipe

RECIPES = Path(__file__).parents[2] / "recipes"


def weights(folder: Path) -> dict[str, np.ndarray]:
    return dict(GraphModelFolder.open(folder).weights)


def same_weights(one: Path, other: Path) -> bool:
    first, second = weights(one), weights(other)
    return first.keys() == second.keys() and all(np.array_equal(first[name], second[name]) for name in first)


def losses_of(out: Path) -> list[float]:
    log = json.loads((out / "log.json").read_text(encoding="utf-8"))["log"]
    return [entry["loss"] for entry in log if "loss" in entry]


def test_it_learns_train_questions_by_heart_and_is_read_without_torch(tmp_path: Path) -> None:
    folder = asking_train(tiny_law())
    by_heart = recipe(
        graph={"own": 128, "dropout": 0.0},
        loss={"temperature": 0.02},
        optimisation={"batch_size": 12, "steps": 100, "learning_rate": 3e-2},
        watching={"evaluate_every": 50, "log_every": 5},
    )
    out = tmp_path / "run"
    report = train_graph(by_heart, folder, out)
    losses = losses_of(out)
    assert losses[0] > 2 and losses[-1] < 0.6
    assert report.dev["recall@10"] > 0.95
    assert (report.steps, report.kept_step, report.loss) == (100, 100, losses[-1])
    assert read_recipe(out / "recipe.yaml") == by_heart
    assert sorted(path.name for path in out.iterdir()) == [
        "data.sha256",
        "log.json",
        "manifest.json",
        "recipe.yaml",
        "weights.npz",
    ]

    view = prepare_views(by_heart, folder).encoder
    assert folder.graph is not None
    enricher = Enricher.open(out)
    enriched = enricher.enrich(view.features, folder.graph, encoder=retriever_checksum(Path(encoder())))
    asked = dev_questions(folder)
    rows = [view.row_of[same_words(one.text)] for one in asked]
    questions = Vectors(tuple(one.id for one in asked), torch.from_numpy(view.questions[rows]))
    articles = Vectors(folder.graph.articles, torch.from_numpy(enriched[folder.graph.article_rows]))
    figures = evaluate(rank(questions, articles, "cosine").run(), {one.id: set(one.gold) for one in asked}).means()
    assert figures == pytest.approx(report.dev, abs=0.02)  # weights are kept in 16 bits
    assert GraphModelFolder.open(out).provenance["recipe"]["optimisation"]["steps"] == 100


def test_articles_that_hear_nothing_learn_by_themselves(tmp_path: Path) -> None:
    plan = recipe(graph={"layers": 0, "edges": [], "own": 8})
    train_graph(plan, tiny_law(), tmp_path / "run")
    assert sorted(weights(tmp_path / "run")) == ["own.0.bias", "own.0.weight", "own.1.bias", "own.1.weight"]


@pytest.mark.parametrize(
    "changes",
    [
        {"supervision": {"kinds": {"gold": 1, "headings": 1}}},
        {"negatives": "batch", "graph": {"layer": "gatv2"}, "optimisation": {"accumulation": 2}},
    ],
    ids=["all", "batch"],
)
def test_a_killed_run_goes_on_bit_for_bit(tmp_path: Path, changes: dict[str, Any]) -> None:
    more = {"optimisation": {**changes.get("optimisation", {}), "steps": 6}, "folds": folds()}
    plan = recipe(**{**changes, **more, "watching": {"save_every": 3, "evaluate_every": 2}})
    views = tiny_views(folded=True)
    train_graph(plan, tiny_law(), tmp_path / "straight", views=views)
    with killed_at(GraphBatches, 5 * plan.optimisation.accumulation):
        train_graph(plan, tiny_law(), tmp_path / "killed", views=views)
    assert [path.name for path in (tmp_path / "killed" / "checkpoints").iterdir()] == ["checkpoint-3"]
    assert train_graph(plan, tiny_law(), tmp_path / "killed", resume=True).steps == 6
    assert same_weights(tmp_path / "straight", tmp_path / "killed")
    assert losses_of(tmp_path / "straight") == losses_of(tmp_path / "killed")


@pytest.mark.parametrize("place", range(3))
def test_a_run_does_not_go_on_with_an_exchanged_retriever(tmp_path: Path, place: int) -> None:
    named = [tmp_path / f"retriever{number}" for number in range(3)]
    for number, path in enumerate(named):
        path.symlink_to(encoder(number))
    first, *rest = map(str, named)
    plan = recipe(encoder=first, folds=rest, optimisation={"steps": 3}, watching={"save_every": 1})
    with killed_at(GraphBatches, 2):
        train_graph(plan, tiny_law(), tmp_path / "run")
    named[place].unlink()
    named[place].symlink_to(encoder(7))
    told = refused_by(train_graph, plan, tiny_law(), tmp_path / "run", resume=True)
    assert told.startswith(f"{tmp_path / 'run'} was begun with other data")
    named[place].unlink()
    named[place].symlink_to(encoder(place))
    assert train_graph(plan, tiny_law(), tmp_path / "run", resume=True).steps == 3


def test_patience_stops_and_keeps_the_best(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figures, seen = [0.1, 0.5, 0.4, 0.5, 0.9], list[dict[str, np.ndarray]]()

    def figure(self: GraphDev, objective: GraphObjective) -> dict[str, float]:
        seen.append({name: array.copy() for name, array in objective.encoder.to_arrays().items()})
        return {"recall@100": figures[len(seen) - 1]}

    monkeypatch.setattr(GraphDev, "figures", figure)
    plan = recipe(optimisation={"steps": 9}, watching={"evaluate_every": 1, "patience": 2})
    report = train_graph(plan, tiny_law(), tmp_path / "run", views=tiny_views())
    assert (report.steps, report.kept_step, report.dev) == (4, 2, {"recall@100": 0.5})
    kept = weights(tmp_path / "run")
    assert all(np.array_equal(kept[name], seen[1][name]) for name in kept)
    assert not all(np.array_equal(kept[name], seen[3][name]) for name in kept)


def test_views_that_are_given_are_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, views = recipe(), tiny_views()
    train_graph(plan, tiny_law(), tmp_path / "made")

    def begun(*_: Any) -> None:
        raise AssertionError("encoded again")

    for name in ("prepare_views", "checked_encoders"):
        monkeypatch.setattr(stage, name, begun)
    train_graph(plan, tiny_law(), tmp_path / "given", views=views)
    assert same_weights(tmp_path / "made", tmp_path / "given")


def test_workers_do_not_change_what_is_learned(tmp_path: Path) -> None:
    for workers in (0, 2):
        plan = recipe(negatives="batch", optimisation={"workers": workers})
        train_graph(plan, tiny_law(), tmp_path / str(workers), views=tiny_views())
    assert same_weights(tmp_path / "0", tmp_path / "2")


@pytest.mark.parametrize(
    "changes",
    [
        {"graph": {"layer": "gatv2", "heads": 2}},
        {"graph": {"layer": "gat", "typed": False, "residual": False}, "negatives": "batch"},
        {"graph": {"layer": "gcn"}, "loss": {"name": "triplet"}},
        {"graph": {"layer": "graphsage", "merge_headings": True}, "negatives": "batch"},
        {"graph": {"layer": "kgnn"}, "optimisation": {"precision": "bf16"}},
        {"graph": {"own": 8}, "loss": {"several_positives": False}, "supervision": {"unit": "label"}},
        {"supervision": {"negatives": "none"}, "negatives": "batch", "optimisation": {"schedule": "constant"}},
    ],
    ids=lambda changes: "+".join(str(value) for part in changes.values() for value in np.atleast_1d(part)),
)
def test_what_recipes_can_ask_for_moves_the_weights(tmp_path: Path, changes: dict[str, Any]) -> None:
    few = {**changes.get("optimisation", {}), "steps": 2}
    for name, rate in (("before", 1e-30), ("after", 1e-2)):
        plan = recipe(**{**changes, "optimisation": {**few, "learning_rate": rate}})
        train_graph(plan, tiny_law(), tmp_path / name, views=tiny_views())
    before, after = weights(tmp_path / "before"), weights(tmp_path / "after")
    still = [name for name in before if np.array_equal(before[name], after[name])]
    assert all("own.0" in name for name in still)  # its first gradient is 0, for what it is multiplied with is
    assert all(np.isfinite(weight).all() for weight in after.values())


def test_equal_headings_can_be_one_node(tmp_path: Path) -> None:
    law = tiny_law()
    assert law.graph is not None
    alike = replace(law, sections=[replace(one, text=one.text[:8]) for one in law.sections])
    plan = recipe(graph={"merge_headings": True, "dropout": 0.0})
    whole, graph = stage.heard_graph(recipe(), alike), stage.heard_graph(plan, alike)
    assert graph.sections == merged(law.graph, [one.text for one in alike.sections]).sections
    assert 1 < len(graph.sections) < len(whole.sections) - 3
    objective = stage.objective_of(plan, alike, tiny_views(), graph)
    rows = [(*law.graph.sections, *law.graph.articles).index(id) for id in (*graph.sections, *graph.articles)]
    assert np.array_equal(objective.seen(0).features, tiny_views().encoder.features[rows])
    with torch.no_grad():
        found = objective.articles(0)
    assert found.shape == (len(law.articles), tiny_views().encoder.dimension)
    train_graph(plan, alike, tmp_path / "run", views=tiny_views())


def test_an_exported_encoder_gives_the_vectors_of_its_export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lexarbor.text.export import export
    from lexarbor.text.retriever import DenseStatuteRetriever

    monkeypatch.setenv("LEXARBOR_CACHE", str(tmp_path / "cache"))
    made = export(DenseStatuteRetriever.load(Path(encoder())).eval(), tmp_path / "onnx", way="float32")
    plan = recipe(encoder=str(tmp_path / "onnx"))
    view, by_torch = prepare_views(plan, tiny_law()).encoder, prepare_views(recipe(), tiny_law()).encoder
    for one, other in ((view.features, by_torch.features), (view.questions, by_torch.questions)):
        assert np.allclose(one, other / np.linalg.norm(other, axis=1, keepdims=True), atol=1e-5)
    assert view.row_of == by_torch.row_of
    assert view.checksum == made.checksum != by_torch.checksum
    train_graph(plan, tiny_law(), tmp_path / "run")
    assert Enricher.open(tmp_path / "run").encoder == made.checksum


def test_steps_of_epochs_count_the_units_of_all_views(tmp_path: Path) -> None:
    plan = recipe(optimisation={"steps": 0, "epochs": 2, "batch_size": 5}, folds=folds())
    gold = tiny_law().kinds()["gold"]
    report = train_graph(plan, tiny_law(), tmp_path / "run", views=tiny_views(folded=True))
    assert report.steps == 2 * -(-gold // 5)


def test_the_recipe_for_a_cpu_learns_in_seconds(tmp_path: Path) -> None:
    plan = read_recipe(RECIPES / "lge-tiny.yaml", [f"encoder={encoder()}"])
    assert isinstance(plan, GraphRecipe)
    report = train_graph(plan, tiny_law(), tmp_path / "run")
    losses = losses_of(tmp_path / "run")
    assert losses[-1] < losses[0]
    assert report.dev.keys() >= {"recall@100", "map"}


def test_questions_without_a_sheet_are_learned_beside_the_folds(tmp_path: Path) -> None:
    law = tiny_law()
    made_up = Pair("synthetic", "À qui le moulin ?", (law.articles[3].id,))
    more = Supervision(law.articles, [], [*law.pairs, made_up], [], law.asked, {}, law.sections, law.graph)
    plan = recipe(supervision={"kinds": {"gold": 1, "synthetic": 1}}, folds=folds())
    assert train_graph(plan, more, tmp_path / "run").steps == 4
