"""What the systems are trained from: recipes changed as their rows say, and an order in which each finds its needs."""

from pathlib import Path
from typing import Any

import pytest

from lexarbor.errors import TrainingError
from lexarbor.experiments.jobs import Job
from lexarbor.experiments.lab import Lab
from lexarbor.experiments.plans import Plan

PLACE = Path("nowhere")


def plan(scale: str = "tiny", train_on: str = "train", changes: tuple[str, ...] = ()) -> Plan:
    return Plan.of(Lab("tiny", PLACE, scale=scale, train_on=train_on, changes=changes))


def changed(one: Any, other: Any, place: str = "") -> dict[str, Any]:
    """Where a recipe differs from another, and what it has there."""
    if isinstance(one, dict) and isinstance(other, dict):
        found: dict[str, Any] = {}
        for key in {**one, **other}:
            found |= changed(one.get(key), other.get(key), f"{place}.{key}".lstrip("."))
        return found
    return {} if one == other else {place: other}


def test_rows_of_dsr_differ_by_what_their_label_says() -> None:
    plain = plan().text("dsr", 0)
    assert plain.key == "dsr-0"
    found = {
        "another seed": plan().text("dsr", 3),
        "adapted": plan().text("dsr-law", 0, plan().adapted),
        "augmented": plan().text("dsr-synthetic", 0, plan().augmented),
        "dot": plan().text("dot", 0, {"encoder": {"similarity": "dot"}}),
    }
    assert {name: changed(plain.recipe, job.recipe) for name, job in found.items()} == {
        "another seed": {"optimisation.seed": 3},
        "adapted": {"article_start": "@law"},
        "augmented": {"supervision.kinds.synthetic": 1, "optimisation.steps": 6},
        "dot": {"encoder.similarity": "dot"},
    }


def test_dpr_reads_in_one_pass_and_begins_from_general_pairs() -> None:
    dsr, dpr = plan().text("dsr", 0), plan().dpr(0)
    assert {key for key in dpr.recipe if dpr.recipe[key] != dsr.recipe.get(key)} == {"start", "encoder"}
    assert dpr.recipe["start"] == "@dpr-start"
    assert dpr.recipe["encoder"]["article"] == "first"
    assert "chunk_tokens" not in dpr.recipe["encoder"]  # nothing of the hierarchical encoder stays
    jobs = plan().complete([dpr])
    assert [job.key for job in jobs] == ["vocabulary", "general", "dpr-start", "dpr-0"]


def test_at_the_papers_scale_dpr_begins_from_the_hub() -> None:
    dpr = plan("paper").dpr(1)
    assert dpr.recipe["start"] == "etalab-ia/dpr-question_encoder-fr_qa-camembert"
    assert dpr.recipe["article_start"] == "etalab-ia/dpr-ctx_encoder-fr_qa-camembert"
    assert plan("paper").complete([dpr]) == [dpr]


def test_a_graph_encoder_has_its_retrievers_seed_and_is_the_papers_or_ours() -> None:
    below = plan().text("dsr-both", 4, plan().adapted, plan().augmented)
    theirs, ours = plan().graph("g-dsr", below), plan().graph("g-dsr-hearing", below, ours=True)
    for job, layer in ((theirs, "gatv2"), (ours, "hearing")):
        assert (job.recipe["encoder"], job.recipe["optimisation"]["seed"]) == ("@dsr-both-4", 4)
        assert job.recipe["graph"]["layer"] == layer
    assert (theirs.key, ours.key) == ("g-dsr-4", "g-dsr-hearing-4")


def test_a_start_from_nothing_has_a_shape_and_the_shared_vocabulary() -> None:
    fresh = plan().text("start-fresh", 0, plan().from_model("fresh"))
    assert fresh.recipe["start"] == "fresh"
    assert fresh.recipe["architecture"] == plan().scale["models"]["general"]["recipe"]["architecture"]
    assert fresh.needs == {"vocabulary"}
    assert plan().from_model("larger") == {"start": "@larger"}


def test_each_job_comes_after_what_it_begins_from_and_once() -> None:
    made = plan("tiny")
    both = made.text("dsr-both", 0, made.adapted, made.augmented)
    jobs = made.complete([made.graph("g-dsr", both), both, made.text("dsr", 0), made.text("dsr", 0)])
    keys = [job.key for job in jobs]
    assert keys == ["vocabulary", "general", "law", "dsr-both-0", "g-dsr-0", "dsr-0"]
    for place, job in enumerate(jobs):
        assert job.needs <= set(keys[:place])
    with pytest.raises(TrainingError, match="two jobs are called 'dsr-0'"):
        made.complete([made.text("dsr", 0), made.text("dsr", 0, made.adapted)])


def test_what_no_scale_has_is_refused() -> None:
    lost = Job("dsr-0", {"stage": "text", "start": "@huge"})
    with pytest.raises(TrainingError, match="no language model 'huge': choose among general, law, small, larger"):
        plan().complete([lost])


def test_final_models_have_names_of_their_own_over_what_learned_from_train_alone() -> None:
    made = plan("tiny", "train+dev")
    below = made.text("dsr", 1, made.adapted)
    jobs = made.complete([below, made.graph("g-dsr", below)])
    assert {job.key: job.data for job in jobs} == {
        "vocabulary": "train",
        "general": "train",
        "law": "train",
        "dsr-1-final": "train+dev",
        "g-dsr-1-final": "train+dev",
    }
    *begun, final = made.complete([made.dpr(0)])
    assert (final.key, final.data) == ("dpr-0-final", "train+dev")
    assert begun == plan("tiny").complete([plan("tiny").dpr(0)])[:-1]


def test_the_vocabulary_has_the_shape_of_the_general_model_and_reads_its_texts() -> None:
    small, tiny = (plan(scale).complete([plan(scale).text("dsr", 0)])[0] for scale in ("small", "tiny"))
    assert small.key == tiny.key == "vocabulary"
    assert (small.texts, tiny.texts) == ("general", "law")
    assert tiny.recipe["architecture"] == {**plan().scale["fresh"]["architecture"], "vocabulary": 512}


def test_changes_of_the_scale_reach_the_recipes() -> None:
    made = plan("tiny", changes=("text.optimisation.steps=9", "graph.graph.layers=1"))
    dsr = made.text("dsr", 0)
    assert dsr.recipe["optimisation"]["steps"] == 9
    assert made.graph("g-dsr", dsr).recipe["graph"]["layers"] == 1
    assert made.graph("g-dsr", dsr, ours=True).recipe["graph"]["layers"] == 2


def test_rows_that_are_scored_on_one_split_are_ranked_for_it_alone() -> None:
    made = Plan.of(Lab("tiny", PLACE), ["dev"])
    below = made.text("dsr", 0)
    assert (below.asked, made.graph("g-dsr", below).asked) == (("dev",), ("dev",))
    assert Plan.of(Lab("tiny", PLACE)).text("dsr", 0).asked == ()
