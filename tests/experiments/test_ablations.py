"""Ablations: which rows, one thing changed in each, what they are compared with."""

import itertools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from lexarbor.experiments import ablations
from lexarbor.experiments.ablations import Ablation, Variant
from lexarbor.experiments.jobs import Job
from lexarbor.experiments.lab import Lab
from lexarbor.experiments.main_table import main_jobs
from lexarbor.experiments.rows import UNTRAINED

PLACE = Path("nowhere")
ALL = (
    ablations.language_models,
    ablations.gnns,
    ablations.similarity_loss,
    ablations.passages,
    ablations.learning,
    ablations.layers,
    ablations.edges,
)


def lab(scale: str = "tiny", **more: Any) -> Lab:
    return Lab("tiny", PLACE, scale=scale, **more)


def changes(ablation: Ablation, usual: Job) -> dict[str, dict[str, Any]]:
    """By label, what a row's recipe has otherwise than the usual one's."""
    return {one.label: _apart(usual.recipe, one.job.recipe) for one in ablation.variants}


def _apart(usual: Mapping[str, Any], other: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key in dict.fromkeys((*usual, *other)):
        one, two = usual.get(key), other.get(key)
        if isinstance(one, Mapping) and isinstance(two, Mapping):
            found |= _apart(one, two, f"{above}{key}.")
        elif one != two:
            found[f"{above}{key}"] = two
    return found


def job_of(ablation: Ablation, key: str) -> Job:
    return next(one.job for one in ablation.variants if one.job.key == key)


def test_language_models_are_what_both_towers_begin_from() -> None:
    made = ablations.language_models(lab())
    found = changes(made, job_of(made, "dsr-0"))
    assert {label: apart["start"] for label, apart in found.items() if apart} == {
        "from nothing": "fresh",
        "small, general French": "@small",
        "larger, general French": "@larger",
        "middle, adapted to the law": "@law",
    }
    assert made.reference == "middle, general French"
    assert set(found["from nothing"]) == {"start", "architecture", "tokenizer"}
    assert [row.label for row in made.beside] == [
        "CamemBERT (camembert-base)",
        "mBERT (bert-base-multilingual-cased)",
        "XLM-R (xlm-roberta-base)",
        "ELECTRA-fr (dbmdz/electra-base-french-europeana-cased-discriminator)",
    ]
    assert all(
        "lexarbor experiment language-models --benchmark tiny --scale paper --hub" in row.why for row in made.beside
    )


def test_models_of_the_hub_are_rows_where_it_is_asked() -> None:
    made = ablations.language_models(lab(hub=True))
    hub = {one.label: one.job for one in made.variants[-4:]}
    assert list(hub) == ["CamemBERT", "mBERT", "XLM-R", "ELECTRA-fr"]
    assert hub["ELECTRA-fr"].key == "start-dbmdz-electra-base-french-europeana-cased-discriminator-0"
    assert hub["CamemBERT"].recipe["start"] == "camembert-base"
    assert made.beside == []


def test_any_model_of_the_hub_or_in_a_folder_is_a_row_where_it_is_named() -> None:
    made = ablations.language_models(lab(starts=("xlm-roberta-base", "acme/legal-bert", "models/mine")))
    named = {one.label: one.job for one in made.variants[-3:]}
    assert {label: job.recipe["start"] for label, job in named.items()} == {
        "XLM-R": "xlm-roberta-base",
        "acme/legal-bert": "acme/legal-bert",
        "models/mine": "models/mine",
    }
    assert named["acme/legal-bert"].key == "start-acme-legal-bert-0"
    assert [row.label.partition(" ")[0] for row in made.beside] == ["CamemBERT", "mBERT", "ELECTRA-fr"]


def test_at_the_papers_scale_the_usual_one_is_camembert() -> None:
    for more in ({}, {"hub": True}):
        made = ablations.language_models(lab("paper", **more))
        assert made.reference == "CamemBERT"
        assert [one.job.key for one in made.variants if one.label == "CamemBERT"] == ["dsr-0"]
    assert {one.label for one in ablations.language_models(lab("paper")).variants} == {
        "from nothing",
        "middle, adapted to the law",
        "CamemBERT",
    }


def test_each_loss_with_each_similarity() -> None:
    made = ablations.similarity_loss(lab())
    assert changes(made, job_of(made, "dsr-0")) == {
        "Cross-entropy, cosine": {},
        "Cross-entropy, dot": {"encoder.similarity": "dot"},
        "Cross-entropy, euclidean": {"encoder.similarity": "euclidean"},
        "Triplet, cosine": {"loss.name": "triplet"},
        "Triplet, dot": {"loss.name": "triplet", "encoder.similarity": "dot"},
        "Triplet, euclidean": {"loss.name": "triplet", "encoder.similarity": "euclidean"},
    }


def test_the_usual_retriever_stands_where_the_scale_has_its_loss_and_similarity() -> None:
    made = ablations.similarity_loss(lab(changes=("text.encoder.similarity=dot",)))
    keys = {one.label: one.job.key for one in made.variants}
    assert keys["Cross-entropy, dot"] == "dsr-0"
    assert keys["Cross-entropy, cosine"] == "contrastive-cosine-0"
    assert list(keys.values()).count("dsr-0") == 1
    cosine = job_of(made, "contrastive-cosine-0").recipe
    assert cosine["encoder"]["similarity"] == "cosine"


def test_the_usual_graph_encoder_stands_where_the_scale_has_its_layer() -> None:
    for change, usual in (((), "gatv2"), (("graph.graph.layer=gcn",), "gcn")):
        made = ablations.gnns(lab(changes=change))
        layers = {one.job.key: one.job.recipe["graph"]["layer"] for one in made.variants if one.job.stage == "graph"}
        assert layers.pop("g-dsr-0") == usual
        assert layers.pop("g-dsr-hearing-0") == "hearing"
        assert layers == {f"{layer}-0": layer for layer in ablations.LAYERS if layer != usual}


def test_one_value_of_the_article_encoder_at_a_time() -> None:
    made = ablations.passages(lab("paper"))
    assert changes(made, job_of(made, "dsr-0")) == {
        "chunks of 128, document of 1024, max": {},
        "chunks of 64": {"encoder.chunk_tokens": 64},
        "chunks of 256": {"encoder.chunk_tokens": 256},
        "chunks of 512": {"encoder.chunk_tokens": 512},
        "document of 2048": {"encoder.max_tokens": 2048},
        "mean of the chunks": {"encoder.chunk_pooling": "mean"},
        "one pass over 512 tokens, no second level": {"encoder.article": "first", "encoder.max_tokens": 512},
    }


def test_a_scale_that_has_the_longest_document_or_means_is_compared_with_the_other() -> None:
    changed = ("max_tokens=2048", "chunk_pooling=mean", "chunk_tokens=64")
    made = ablations.passages(lab("paper", changes=tuple(f"text.encoder.{change}" for change in changed)))
    assert [one.label for one in made.variants] == [
        "chunks of 64, document of 2048, mean",
        "chunks of 128",
        "chunks of 256",
        "chunks of 512",
        "document of 1024",
        "max of the chunks",
        "one pass over 512 tokens, no second level",
    ]


def test_what_the_recipe_holds_fixed_is_changed_one_thing_at_a_time() -> None:
    made = ablations.learning(lab("paper"))
    assert changes(made, job_of(made, "dsr-0")) == {
        "15 epochs, as in the main table": {},
        "1 epoch": {"optimisation.epochs": 1, "optimisation.steps": 0},
        "3 epochs": {"optimisation.epochs": 3, "optimisation.steps": 0},
        "6 epochs": {"optimisation.epochs": 6, "optimisation.steps": 0},
        "a quarter of the rate": {"optimisation.learning_rate": 5e-6},
        "a sixteenth of the rate": {"optimisation.learning_rate": 1.25e-6},
        "negatives of the batch alone": {"supervision.negatives": "none"},
        "one tower for questions and articles": {"encoder.shared": True},
        "headings before the text": {"encoder.headings": True},
    }
    assert ablations.learning(lab("small")).reference == "6 epochs, as in the main table"
    counted = ablations.learning(lab("tiny"))
    assert counted.reference == "4 steps, as in the main table"
    assert len(counted.variants) == 10


def test_each_graph_neural_network_over_one_retriever() -> None:
    made = ablations.gnns(lab())
    found = changes(made, job_of(made, "g-dsr-0"))
    layers = {label: apart["graph.layer"] for label, apart in found.items() if set(apart) == {"graph.layer"}}
    assert layers == {"GCN": "gcn", "GAT": "gat", "GraphSAGE": "graphsage", "k-GNN": "kgnn"}
    assert found["GATv2"] == {}
    assert (made.variants[0].label, made.variants[0].job.key, made.reference) == ("no graph", "dsr-law-0", "no graph")
    assert [one.over.key for one in made.variants if one.over] == ["dsr-law-0"] * 6
    assert ablations.gnns(lab(questions=PLACE)).variants[0].job.key == "dsr-both-0"


def test_one_to_four_layers_of_both_graph_encoders() -> None:
    made = ablations.layers(lab("paper"))
    *counted, shipped = made.variants[1:]
    assert {one.label: one.job.recipe["graph"]["layers"] for one in counted} == {
        f"{name}, {count} layer{'s' if count > 1 else ''}": count
        for name in ("GATv2", "hearing")
        for count in range(1, 5)
    }
    assert [one.job.key for one in counted[:4]] == [
        "g-dsr-layers-1-0",
        "g-dsr-layers-2-0",
        "g-dsr-0",
        "g-dsr-layers-4-0",
    ]
    assert shipped.job.key == "g-dsr-hearing-0"
    begun = [(one.job.recipe["heard_at_first"], one.job.recipe["gathered_at_first"]) for one in counted[4:]]
    assert begun == [({}, {})] * 4


def test_lines_of_layers_and_edges_are_named_after_the_layer_in_use() -> None:
    other = lab(changes=("graph.graph.layer=gcn",))
    for made in (ablations.layers(other), ablations.edges(other)):
        labels = [one.label for one in made.variants]
        assert sum(label.startswith("GCN") for label in labels) == 4
        assert not any("GATv2" in label for label in labels)


def test_edges_are_added_kind_by_kind_and_hearing_begins_evenly() -> None:
    made = ablations.edges(lab())
    edges = [one.job.recipe["graph"]["edges"] for one in made.variants[1:5]]
    assert [len(kinds) for kinds in edges] == [1, 2, 4, 6]
    for fewer, more in itertools.pairwise(edges):
        assert more[: len(fewer)] == fewer
    assert [one.job.recipe["graph"]["edges"] for one in made.variants[5:9]] == edges
    for one in made.variants[5:9]:
        assert one.job.recipe["graph"]["layer"] == "hearing"
        assert one.job.recipe["heard_at_first"] == one.job.recipe["gathered_at_first"] == {}
    assert made.variants[1].job.key == "g-dsr-0"
    assert made.variants[-1].job.key == "g-dsr-hearing-0"
    assert made.variants[-1].job.recipe["heard_at_first"]


@pytest.mark.parametrize("of", ALL)
@pytest.mark.parametrize("scale", ["paper", "small", "tiny"])
def test_labels_and_jobs_are_each_their_own_and_one_is_the_reference(of: Callable[[Lab], Ablation], scale: str) -> None:
    made = of(lab(scale, questions=PLACE))
    labels, keys = [one.label for one in made.variants], [one.job.key for one in made.variants]
    assert len(set(labels)) == len(labels)
    assert len(set(keys)) == len(keys)
    assert labels.count(made.reference) == 1
    done: set[str] = set()
    for job in made.jobs(lab(scale, questions=PLACE)):
        assert job.needs <= done
        done.add(job.key)
    assert set(keys) <= done


@pytest.mark.parametrize("of", ALL)
def test_a_row_of_the_main_table_is_the_same_job_there(of: Callable[[Lab], Ablation]) -> None:
    here = lab("tiny", questions=PLACE)
    held = {job.key: job for job in main_jobs(here)}
    shared = [job for job in of(here).jobs(here) if job.key in held]
    assert len(shared) >= 3  # what they begin from, and the row that is not changed
    assert any(job.ranks for job in shared)
    assert all(job == held[job.key] for job in shared)


@pytest.mark.parametrize("of", ALL)
def test_rows_of_their_own_are_ranked_for_the_split_alone(of: Callable[[Lab], Ablation]) -> None:
    main = {job.key for job in main_jobs(lab())}
    for split, asked in (("", ("dev",)), ("test", ("test",))):
        found = [one.job for one in of(lab(split=split)).variants if one.job.key not in main]
        assert found
        assert {job.asked for job in found} == {asked}


def test_rows_without_models_are_told_and_compared_with_nothing(tmp_path: Path) -> None:
    below = Job("dsr-0", {"stage": "text", "start": "@general"})
    made = Ablation("Things", [Variant("one", below), Variant("other", Job("a", below.recipe))], "one", "Told.")
    report = made.report(Lab("tiny", tmp_path))
    assert (report.title, report.told) == ("Things on tiny, dev", ["Told."])
    figures, comparisons = report.tables
    assert figures.notes == [f"{label}: {UNTRAINED}" for label in ("one", "other")]
    assert comparisons.rows == []
    assert made.report(Lab("tiny", tmp_path, split="test")).title == "Things on tiny, test"
