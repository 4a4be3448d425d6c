"""Scales: every recipe that any experiment makes of them is one; that of the paper is the paper's."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from lexarbor.errors import TrainingError
from lexarbor.experiments.catalogue import EXPERIMENTS
from lexarbor.experiments.jobs import VOCABULARY, Job
from lexarbor.experiments.lab import Lab
from lexarbor.experiments.main_table import ADAPTED, DPR, DSR, G_DSR, retrievers
from lexarbor.experiments.plans import Plan
from lexarbor.experiments.scales import PARTS, SCALES, TEXTS, merged, read_scale, scale_of
from lexarbor.training.recipes import as_dict, parse_recipe, read_recipe

RECIPES = Path(__file__).parents[2] / "recipes"
PLACE = Path("nowhere")


def jobs_of(scale: str) -> Iterator[Job]:
    """All of all experiments, those that need the hub or synthetic questions too."""
    lab = Lab("tiny", PLACE, scale=scale, questions=PLACE, hub=True)
    for one in EXPERIMENTS.values():
        yield from one.jobs(lab) if one.jobs else ()


@pytest.mark.parametrize("scale", SCALES)
def test_every_recipe_of_every_experiment_can_be_read(scale: str) -> None:
    stages = set()
    for job in jobs_of(scale):
        stages.add(job.stage)
        if job.stage == VOCABULARY:
            assert job.recipe["architecture"]["vocabulary"] > 0
        else:
            assert parse_recipe(job.written(PLACE)).stage == job.stage
        assert (job.texts in TEXTS) == (not job.ranks)
    assert stages >= {"pretrain", "text", "graph"}


@pytest.mark.parametrize("scale", SCALES)
def test_the_searches_are_over_recipes_that_can_be_read(scale: str) -> None:
    lab = Lab("tiny", PLACE, scale=scale)
    searches = [one.search(lab) for one in EXPERIMENTS.values() if one.search]
    assert [search.name for search in searches] == ["dsr", "wide", "lge"]
    for search in searches:
        assert search.trials == lab.values["tuning"][search.name]["trials"]
        for number in (0, -1):
            chosen = {key: values[number] for key, values in search.values.choices.items()}
            parse_recipe(merged(search.base, search.values.recipe_values(chosen)))
    more = Lab("tiny", PLACE, scale=scale, trials=7)
    assert [one.search(more).trials for one in EXPERIMENTS.values() if one.search] == [7, 7, 7]


@pytest.mark.parametrize("scale", SCALES)
def test_a_scale_has_known_parts_alone(scale: str) -> None:
    assert set(read_scale(scale)) <= set(PARTS)


def written(name: str) -> dict[str, Any]:
    return as_dict(read_recipe(RECIPES / f"paper-{name}.yaml"))


def made(job: Job) -> dict[str, Any]:
    return as_dict(parse_recipe(job.written(Path("work"))))


def test_the_papers_scale_is_its_recipes_value_by_value() -> None:
    lab = Lab("bsard", PLACE)
    assert lab.scale_name == "paper"
    rows = retrievers(lab, 0)
    (law,) = (job for job in Plan.of(lab).complete([rows[ADAPTED]]) if job.key == "law")
    assert made(law) == written("pretrain")
    assert law.texts == "law"
    assert made(rows[ADAPTED]) == written("dsr") | {"article_start": "work/models/law"}
    assert made(rows[DSR]) == written("dsr") | {"article_start": ""}
    assert made(rows[DPR]) == written("dpr")
    assert made(rows[G_DSR]) == written("lge") | {"encoder": "work/models/dsr-law-0"}


def test_the_papers_scale_writes_out_no_less_than_its_recipes() -> None:
    """Value by value as they are written too: a default that changes must not change one and not the other."""
    values = read_scale("paper")
    dpr = {**values["text"], **values["dpr"], "encoder": values["flat"]}
    for name, ours in (
        ("pretrain", values["models"]["law"]["recipe"]),
        ("dsr", values["text"]),
        ("dpr", dpr),
        ("lge", values["graph"]),
    ):
        theirs = yaml.safe_load((RECIPES / f"paper-{name}.yaml").read_text(encoding="utf-8"))
        places = {"dsr": {"article_start"}, "lge": {"encoder"}}.get(name, set())  # a plan says these
        assert ours == {key: value for key, value in theirs.items() if key not in places}, name


def test_which_scale_a_benchmark_has() -> None:
    known = ("tiny", "bsard", "vosdroits", "vosdroits-disjoint", "travail")
    assert [scale_of(name) for name in known] == ["tiny", "paper", "small", "small", "small"]
    assert Lab("vosdroits", PLACE, scale="tiny").values == read_scale("tiny")


def test_unknown_scales_and_changes_of_nothing_are_refused() -> None:
    with pytest.raises(TrainingError, match="unknown scale 'smal': did you mean 'small'"):
        read_scale("smal")
    with pytest.raises(TrainingError, match="unknown scale 'larger': known are paper, small, tiny"):
        Lab("tiny", PLACE, scale="larger")
    with pytest.raises(TrainingError, match="a scale has no 'texts'; did you mean 'text'"):
        read_scale("tiny", ["texts.dropout=0"])
    with pytest.raises(TrainingError, match="changes nothing"):
        read_scale("tiny", ["text.dropout"])
    assert read_scale("tiny", ["text.dropout=0.5"])["text"]["dropout"] == 0.5
    assert read_scale("tiny")["text"].get("dropout") is None  # the next reading is not changed


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("models.gneral.texts=law", "models has no 'gneral'; did you mean 'general'"),
        ("models.general.recipes.block_tokens=9", "models has no 'recipes'; did you mean 'recipe'"),
        ("tuning.dsrr.trials=3", "tuning has no 'dsrr'; did you mean 'dsr'"),
        ("tuning.dsr.trails=3", "tuning has no 'trails'; did you mean 'trials'"),
        ("tuning.dsr=3", r"tuning\.dsr has keys of its own; name one, e\.g\. tuning\.dsr\.trials="),
        ("text=3", r"text has keys of its own; name one, e\.g\. text\.stage="),
        ("seeds=many", "seeds is 'many': give a whole number of 1 to 100"),
        ("seeds=1.5", r"seeds is 1\.5"),
        ("seeds=0", "seeds is 0"),
        ("seeds=true", "seeds is True"),
    ],
)
def test_changes_that_would_change_nothing_or_break_a_scale_are_refused(change: str, said: str) -> None:
    with pytest.raises(TrainingError, match=said):
        read_scale("tiny", [change])


def test_changes_below_models_and_tuning_are_made() -> None:
    changes = ["tuning.dsr.trials=7", "models.general.recipe.block_tokens=9", "tuning.lge.set.graph.width=8", "seeds=4"]
    values = read_scale("tiny", changes)
    assert values["tuning"]["dsr"]["trials"] == 7
    assert values["tuning"]["lge"]["set"] == {"optimisation": {"steps": 2}, "graph": {"width": 8}}
    assert values["models"]["general"]["recipe"]["block_tokens"] == 9
    assert values["seeds"] == 4


def test_a_change_is_of_one_place_though_yaml_names_it_in_several() -> None:
    """tiny.yaml writes what these share once, by anchors."""
    for change, changed, others in (
        ("text.supervision.positives=3", ("text", "supervision"), [("graph", "supervision")]),
        ("text.loss.temperature=0.5", ("text", "loss"), [("dpr_start", "loss"), ("graph", "loss")]),
        ("flat.max_tokens=9", ("flat", "max_tokens"), [("dpr_start", "encoder")]),
        ("fresh.architecture.hidden=8", ("fresh", "architecture"), [("models", "general"), ("models", "law")]),
    ):
        before, after = read_scale("tiny"), read_scale("tiny", [change])
        assert before[changed[0]][changed[1]] != after[changed[0]][changed[1]], change
        for part, key in others:
            assert before[part][key] == after[part][key], change


def test_values_are_laid_over_key_by_key_and_kinds_as_a_whole() -> None:
    below = {"a": {"b": 1, "c": {"d": 2}}, "supervision": {"kinds": {"gold": 1, "sheet": 2}, "unit": "label"}}
    over = merged(below, {"a": {"c": {"d": 3, "e": 4}}}, {"supervision": {"kinds": {"gold": 5}}, "f": None})
    assert over == {
        "a": {"b": 1, "c": {"d": 3, "e": 4}},
        "supervision": {"kinds": {"gold": 5}, "unit": "label"},
        "f": None,
    }
    assert below["a"] == {"b": 1, "c": {"d": 2}}
    even = merged({"heard_at_first": {"contains": 1.0}}, {"heard_at_first": {}})
    assert even == {"heard_at_first": {}}
