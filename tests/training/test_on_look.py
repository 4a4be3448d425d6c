"""What is told of each look at dev on the way, in the stages that look: it may end a run."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tiny_graph
import tiny_supervision

from lexarbor.training.graph import train_graph
from lexarbor.training.looking import TrainingReport

Looks = list[tuple[int, dict[str, float]]]
Train = Callable[..., TrainingReport]


def text(out: Path, **options: Any) -> TrainingReport:
    from lexarbor.training.contrastive import train_text

    plan = tiny_supervision.recipe(optimisation={"steps": 5}, watching={"evaluate_every": 2, "save_every": 2})
    return train_text(plan, tiny_supervision.tiny(), out, **options)


def graph(out: Path, **options: Any) -> TrainingReport:
    plan = tiny_graph.recipe(optimisation={"steps": 5}, watching={"evaluate_every": 2, "save_every": 2})
    return train_graph(plan, tiny_graph.tiny_law(), out, views=tiny_graph.tiny_views(), **options)


class GivenUpError(Exception):
    """As a search ends a trial."""


@pytest.mark.parametrize("train", [text, graph])
def test_each_look_on_the_way_is_told_with_its_step_and_figures(tmp_path: Path, train: Train) -> None:
    looks: Looks = []
    report = train(tmp_path / "run", on_look=lambda step, figures: looks.append((step, figures)))
    log = json.loads((tmp_path / "run" / "log.json").read_text(encoding="utf-8"))["log"]
    logged = [
        (entry["step"], {name.removeprefix("eval_"): entry[name] for name in entry if name.startswith("eval_")})
        for entry in log
        if "eval_map" in entry
    ]
    assert looks == logged
    assert [step for step, _ in looks] == [2, 4, 5]  # the last step is always looked at
    assert looks[-1][1] == report.dev


@pytest.mark.parametrize("train", [text, graph])
def test_what_it_raises_ends_the_run_as_one_that_has_not_finished(tmp_path: Path, train: Train) -> None:
    def give_up(step: int, figures: dict[str, float]) -> None:
        if step == 4:
            raise GivenUpError(f"{step}")

    with pytest.raises(GivenUpError, match="4"):
        train(tmp_path / "run", on_look=give_up)
    left = {path.name for path in (tmp_path / "run").iterdir()}
    assert {"recipe.yaml", "checkpoints"} <= left and "log.json" not in left
    assert train(tmp_path / "run", resume=True).steps == 5  # and it can go on
