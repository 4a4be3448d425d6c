"""Searches, trial by trial: trained ones on the tiny corpus, and tasks that only pretend, for what processes do."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tiny_search import Tiny, tiny

from lexarbor.errors import LexarborError, TrainingError
from lexarbor.experiments import trials
from lexarbor.experiments.objectives import Outcome, read_views, write_views
from lexarbor.experiments.reports import write_report
from lexarbor.experiments.searches import Search, open_study
from lexarbor.experiments.trial_reports import KINDS, best, kind_of, report
from lexarbor.experiments.trials import run_trials, run_workers

__all__ = ["tiny"]  # a fixture

Pretended = Callable[[Mapping[str, Any], Path, int, Any], Outcome]


def pretend(monkeypatch: pytest.MonkeyPatch, task: Pretended) -> None:
    monkeypatch.setattr(trials, "_task", lambda search, work: task)


def search_of(**changes: Any) -> Search:
    """Of graph encoders that are never trained."""
    base = {"stage": "graph", "encoder": "@dsr-0"}
    values: dict[str, Any] = {"name": "lge", "space": "lge", "base": base, "data": Path("nowhere"), "trials": 3}
    return Search(**{**values, **changes})


def worth(values: Mapping[str, Any]) -> float:
    """A figure that is a function of the recipe: layers first, then the batch, then the rest."""
    moves = values["optimisation"]
    return float(
        values["graph"]["layers"] / 10
        + moves["batch_size"] / 10000
        + moves["learning_rate"]
        + moves["weight_decay"] / 10
    )


def pretended(values: Mapping[str, Any], out: Path, looks: int, on_look: Any) -> Outcome:
    out.mkdir()
    for look in range(1, looks + 1):
        on_look(look, look == looks, {"recall@200": worth(values) * look / looks})
    return Outcome({"recall@200": worth(values)}, 0.1, 7, looks)


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Search, Path]:
    """A search of 25 trials that only pretend, and its folder. Not to be written to."""
    search, work = search_of(trials=25, startup=4), tmp_path_factory.mktemp("searched")
    with pytest.MonkeyPatch.context() as monkeypatch:
        pretend(monkeypatch, pretended)
        run_trials(search, work)
    return search, work


def kinds(search: Search, work: Path) -> list[str]:
    return [kind_of(trial) for trial in open_study(search, work).trials]


def test_retrievers_are_trained_and_the_best_is_found(tiny: Tiny, tmp_path: Path) -> None:
    search = tiny.text(measure="recall@10")
    run_trials(search, tmp_path)
    found = open_study(search, tmp_path).trials
    assert [kind_of(trial) for trial in found] == ["complete", "complete"]
    for trial in found:
        assert trial.user_attrs["steps"] == 3
        assert list(trial.intermediate_values) == [1, 2]  # after steps 2 and 3
        assert trial.value == trial.user_attrs["figures"]["recall@10"] == trial.intermediate_values[2]
        assert trial.user_attrs["parameters"] > 20000
    first = max(found, key=lambda trial: (trial.value, -trial.number))
    assert best(search, tmp_path) == search.values.recipe_values(first.params)
    assert sorted(path.name for path in (tmp_path / "tuning").iterdir()) == [
        "dsr.asking.lock",
        "dsr.journal",
        "dsr.lock",
    ]


def test_graph_encoders_are_trained_over_vectors_that_the_first_process_kept(tiny: Tiny, tmp_path: Path) -> None:
    search = tiny.graph(trials=1, measure="recall@10")
    run_trials(search, tmp_path)
    (views,) = (tmp_path / "tuning").glob("views-*.npz")
    written = views.stat().st_mtime_ns
    run_trials(tiny.graph(trials=2, measure="recall@10"), tmp_path, worker=1)
    first, second = open_study(search, tmp_path).trials
    assert (kind_of(first), kind_of(second)) == ("complete", "complete")
    assert first.params != second.params
    assert second.value == second.user_attrs["figures"]["recall@10"]
    assert views.stat().st_mtime_ns == written


def test_views_are_read_as_they_were_written(tiny: Tiny, tmp_path: Path) -> None:
    from lexarbor.supervision.folder import SupervisionFolder
    from lexarbor.training.graph_views import prepare_views
    from lexarbor.training.recipes import parse_recipe

    made = prepare_views(parse_recipe(tiny.graph().base), SupervisionFolder.open(tiny.data))  # type: ignore[arg-type]
    write_views(made, tmp_path / "views.npz")
    found = read_views(tmp_path / "views.npz")
    assert len(found.all) == len(made.all) == 1
    for name in ("name", "checksum", "similarity", "headings", "row_of"):
        assert getattr(found.encoder, name) == getattr(made.encoder, name)
    assert (found.encoder.features == made.encoder.features).all()
    assert (found.encoder.questions == made.encoder.questions).all()
    assert list(found.encoder.row_of.values()) == list(range(len(made.encoder.questions)))


def test_a_search_goes_on_and_ends_at_its_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, pretended)
    run_trials(search_of(trials=2), tmp_path)
    before = [trial.params for trial in open_study(search_of(), tmp_path).trials]
    run_trials(search_of(trials=6), tmp_path)
    after = [trial.params for trial in open_study(search_of(), tmp_path).trials]
    assert after[:2] == before
    assert after[2:4] != before  # the same seed does not draw the same again
    assert sum(kind != "repeated" for kind in kinds(search_of(), tmp_path)) == 6
    monkeypatch.setattr(trials, "_task", None)  # nothing is left to do: nothing is prepared either
    run_trials(search_of(trials=6), tmp_path)
    run_workers(search_of(trials=6), tmp_path, 2)


def test_another_base_is_refused_and_another_place_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, pretended)
    run_trials(search_of(), tmp_path)
    shutil.copytree(tmp_path / "tuning", tmp_path / "moved" / "tuning")
    open_study(search_of(), tmp_path / "moved")
    for other in ({"encoder": "@dsr-1"}, {"encoder": "xlm-roberta-base"}, {"folds": ["@a"]}):
        with pytest.raises(TrainingError, match="begun with another base"):
            run_trials(search_of(base={**search_of().base, **other}), tmp_path)


def test_a_search_over_other_models_or_looks_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, pretended)
    run_trials(search_of(trials=1, made="one"), tmp_path)
    for changes, other in (({"made": "two"}, "models or supervision"), ({"made": "one", "looks": 2}, "looks")):
        with pytest.raises(TrainingError, match=f"was begun with another {other}: give another --work"):
            run_trials(search_of(trials=2, **changes), tmp_path)
    run_trials(search_of(trials=2, made="one"), tmp_path)
    report(search_of(trials=2), tmp_path)  # the models were not copied to where it is told


def test_a_report_after_a_killed_process_leaves_the_search_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(monkeypatch, pretended)
    run_trials(search_of(trials=2), tmp_path)
    with (tmp_path / "tuning" / "lge.journal").open("a") as journal:
        journal.write('{"op_code": 4, "wor')  # as far as it came
    report(search_of(trials=2), tmp_path)
    run_trials(search_of(trials=3), tmp_path)
    assert kinds(search_of(trials=3), tmp_path) == ["complete"] * 3


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"space": "dsr"}, "for recipes of the stage 'text', the base is of 'graph'"),
        ({"trials": 0}, "trials is 0"),
        ({"measure": "recall"}, "measure is 'recall'"),
    ],
)
def test_a_search_that_cannot_be_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(TrainingError, match=said):
        search_of(**changes)


def test_trials_below_the_median_are_given_up(searched: tuple[Search, Path]) -> None:
    found = open_study(*searched).trials
    assert set(map(kind_of, found)) == {"complete", "pruned", "repeated"}
    for place, trial in enumerate(found):
        if kind_of(trial) == "pruned":
            assert max(trial.intermediate_values) in (2, 3)  # neither at the first look nor at the last
            look = max(trial.intermediate_values)
            ended = sorted(
                max(one.intermediate_values[at] for at in range(1, look + 1))
                for one in found[:place]
                if kind_of(one) == "complete"  # each recipe once
            )
            median = (ended[(len(ended) - 1) // 2] + ended[len(ended) // 2]) / 2
            assert trial.intermediate_values[look] < median
        if kind_of(trial) == "repeated":
            same = found[trial.user_attrs["same_as"]]
            assert (trial.params, trial.state, trial.value) == (same.params, same.state, same.value)


def test_what_cannot_be_trained_is_told_and_the_search_goes_on(
    tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def some_refused(values: Mapping[str, Any], out: Path, looks: int, on_look: Any) -> Outcome:
        if values["graph"]["layers"] % 2:
            raise TrainingError("a batch of 8 questions\ndoes not fit")
        return pretended(values, out, looks, on_look)

    pretend(monkeypatch, some_refused)
    run_trials(search_of(trials=8), tmp_path)
    found = open_study(search_of(), tmp_path).trials
    odd = [trial for trial in found if trial.params["graph.layers"] % 2 and kind_of(trial) != "repeated"]
    assert odd and all(one.user_attrs["refused"] == "a batch of 8 questions does not fit" for one in odd)
    assert kinds(search_of(), tmp_path).count("refused") == len(odd) < 8
    monkeypatch.undo()
    amiss = tiny.text(name="amiss", trials=20)
    amiss = tiny.text(name="amiss", trials=20, base={**amiss.base, "loss": {"temperature": 0.1, "margin": -1}})
    with pytest.raises(TrainingError, match=r"all 5 trials were refused: loss\.margin is -1"):
        run_trials(amiss, tmp_path)
    with pytest.raises(TrainingError, match=r"no trial of the search 'amiss' went to its end \(loss\.margin"):
        report(amiss, tmp_path)


def test_refusals_end_no_search_in_which_others_train(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(values: Mapping[str, Any], out: Path, looks: int, on_look: Any) -> Outcome:
        study = open_study(search_of(), tmp_path)
        if len(study.trials) == 1:
            other = study.ask()  # another process begins a trial, and is at it still
            if looks_at_dev:
                other.report(0.5, 1)
        raise TrainingError("too large")

    pretend(monkeypatch, refused)
    looks_at_dev = True
    run_trials(search_of(trials=8), tmp_path)
    assert kinds(search_of(), tmp_path).count("refused") == 7
    looks_at_dev = False  # it may be refused as well: processes that wait for each other would never end
    with pytest.raises(TrainingError, match="all 5 trials were refused: too large"):
        run_trials(search_of(trials=8), tmp_path / "other")


def test_a_trial_that_breaks_off_ends_its_process_and_not_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(values: Mapping[str, Any], out: Path, looks: int, on_look: Any) -> Outcome:
        raise RuntimeError("CUDA error")

    pretend(monkeypatch, broken)
    with pytest.raises(TrainingError, match=r"'lge' broke off \(RuntimeError: CUDA error\): the same command goes on"):
        run_trials(search_of(), tmp_path)
    pretend(monkeypatch, pretended)
    run_trials(search_of(), tmp_path)
    assert kinds(search_of(), tmp_path) == ["stopped", "complete", "complete", "complete"]


def test_what_is_tried_is_told_on_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, pretended)
    steps: list[tuple[int, int]] = []
    run_trials(search_of(), tmp_path, on_step=lambda done, total: steps.append((done, total)))
    assert steps == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_a_file_that_is_no_search_is_refused_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "other.json").write_text("{}", encoding="utf-8")
    for name in ("other.json", "nowhere.json", ""):
        monkeypatch.setattr(sys, "argv", ["trials", str(tmp_path / name), "--work", str(tmp_path)])
        assert trials.main() == 2
        told = capsys.readouterr().err
        assert told.startswith(f"lexarbor: {tmp_path}") and "no search that" in told and told.count("\n") == 1


def test_weights_that_are_not_finite_and_memory_that_ends_are_refused(
    tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lexarbor.experiments import objectives
    from lexarbor.training.looking import TrainingReport

    real = objectives.train_graph
    endings = iter(["loss", "memory"])

    def ends_badly(*arguments: Any, **options: Any) -> TrainingReport:
        if next(endings) == "memory":
            raise MemoryError
        done = real(*arguments, **options)
        return TrainingReport(done.out, done.steps, done.kept_step, float("nan"), done.dev, done.seconds)

    monkeypatch.setattr(objectives, "train_graph", ends_badly)
    run_trials(tiny.graph(trials=2), tmp_path)
    first, second = (trial.user_attrs["refused"] for trial in open_study(tiny.graph(), tmp_path).trials)
    assert first.startswith("the loss is nan, the weights have grown without bound")
    assert "does not fit in this memory" in second


WORKER = """
import json, sys, time
from pathlib import Path
from lexarbor.experiments import trials
from lexarbor.experiments.searches import Search

class Outcome:
    figures, seconds, parameters, steps = {"recall@200": 0.5}, 0.0, 7, 1

def task(values, out, looks, on_look):
    out.mkdir()
    on_look(1, False, {"recall@200": 0.5})
    print("under way", flush=True)
    time.sleep(pause)
    return Outcome

held, work, worker, pause = json.loads(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
trials._task = lambda search, work: task
trials.run_trials(Search(**held | {"data": Path(held["data"])}), work, worker)
"""


def process(work: Path, worker: int = 0, pause: float = 600) -> "subprocess.Popen[str]":
    """Another that searches as `search_of` says; its trials take a while."""
    held = {"name": "lge", "space": "lge", "base": dict(search_of().base), "data": "nowhere", "trials": 3}
    command = [sys.executable, "-c", WORKER, json.dumps(held), str(work), str(worker), str(pause)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_two_processes_search_together(tmp_path: Path) -> None:
    with process(tmp_path, 0, 0.5) as one, process(tmp_path, 1, 0.5) as other:
        begun = [len(told.communicate()[0].split("\n")) - 1 for told in (one, other)]
    assert (one.returncode, other.returncode) == (0, 0)
    ended = [kind for kind in kinds(search_of(), tmp_path) if kind != "repeated"]
    assert set(ended) == {"complete"} and len(ended) == sum(begun)
    assert len(ended) in (3, 4)  # both may begin what each takes for the last


def test_what_a_killed_process_left_has_failed_once_no_other_lives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(monkeypatch, pretended)
    with process(tmp_path) as other:
        try:
            assert other.stdout is not None and other.stdout.readline() == "under way\n"
            run_trials(search_of(), tmp_path)  # beside it: its trial is counted, and left alone
            assert kinds(search_of(), tmp_path)[0] == "running"
            assert kinds(search_of(), tmp_path).count("complete") == 2
            assert len(list((tmp_path / "tuning").glob("lge.trial-*"))) == 1
        finally:
            os.kill(other.pid, signal.SIGKILL)
    journal = tmp_path / "tuning" / "lge.journal"
    with journal.open("ab") as file:
        file.write(b'{"op_code": 4, "wor')  # and what it was writing
    journal.with_name("lge.journal.lock").symlink_to(journal)
    run_trials(search_of(), tmp_path)
    assert kinds(search_of(), tmp_path)[0] == "stopped"
    assert kinds(search_of(), tmp_path).count("complete") == 3
    assert not list((tmp_path / "tuning").glob("lge.trial-*"))


def test_a_process_that_fails_is_told_of_with_its_log(tmp_path: Path) -> None:
    search = search_of(data=tmp_path / "none")
    with pytest.raises(TrainingError, match=r"2 of 2 searching processes failed \(lexarbor: .*none"):
        run_workers(search, tmp_path, 2)


def test_the_report_tells_the_best_what_each_value_is_worth_and_all_trials(
    searched: tuple[Search, Path], tmp_path: Path
) -> None:
    search, work = searched
    with pytest.raises(LexarborError, match="has no trials"):
        report(search, tmp_path)
    made = report(search, work)
    told = {trial["trial"]: trial for trial in made.data["trials"]}
    ended = [one for one in told.values() if one["kind"] == "complete"]
    searched, ten, held = made.tables
    top = max(ended, key=lambda one: one["value"])
    assert [list(row) for row in searched.rows] == [
        ["Batch size", "8, 16, 32, 64, 128, 256, 512", "512", str(top["values"]["optimisation.batch_size"])],
        ["Learning rate", "2e-2, 2e-3, 2e-4, 2e-5, 2e-6", "2e-4", searched.rows[1][3]],
        ["Weight decay", "0, 0.1, 0.01, 0.001", "0.1", f"{top['values']['optimisation.weight_decay']:g}"],
        ["Layers", "1, 2, 3, 4", "3", str(top["values"]["graph.layers"])],
    ]
    assert float(str(searched.rows[1][3])) == top["values"]["optimisation.learning_rate"]
    assert [row[0] for row in ten.rows] == [one["trial"] for one in sorted(ended, key=lambda one: -one["value"])[:10]]
    assert list(ten.columns) == ["Trial", *(row[0] for row in searched.rows), "R@100", "R@200", "R@500", "Seconds"]
    layers = [row for row in held.rows if row[0] == "Layers"]
    for number, row in enumerate(layers, start=1):
        having = [one for one in told.values() if one["values"]["graph.layers"] == number]
        tried = [one for one in having if one["kind"] in ("complete", "pruned")]
        values = [one["value"] for one in tried if one["kind"] == "complete"]
        assert list(row) == ["Layers", str(number), len(tried), len(values), max(values, default=None)]
    assert made.data["best"] == best(search, work) == search.values.recipe_values(top["values"])
    assert list(made.data["counts"]) == list(KINDS) and sum(made.data["counts"].values()) == len(told)
    assert f"{len(ended)} trials went to the end" in made.told[0]
    written = write_report(made, "tune-lge", tmp_path / "results", {"command": "lexarbor experiment tune-lge"})
    assert [path.name for path in written] == [
        "tune-lge.md", "tune-lge.tex", "tune-lge.json", "tune-lge-trials.png"
    ]  # fmt: skip
    assert written[3].read_bytes().startswith(b"\x89PNG")
    assert json.loads(written[2].read_text(encoding="utf-8"))["best"] == made.data["best"]
