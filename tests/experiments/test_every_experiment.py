"""Every experiment on the tiny corpus, from its name to its files; all in one work folder, so that each model is
trained once.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lexarbor.corpus.sources import read_tiny
from lexarbor.errors import LexarborError
from lexarbor.experiments import job_trainer, running, trial_reports, trials
from lexarbor.experiments.catalogue import EXPERIMENTS, experiment
from lexarbor.experiments.jobs import read_facts
from lexarbor.experiments.lab import Lab
from lexarbor.experiments.tune_models import chosen
from lexarbor.supervision.folder import SupervisionFolder

ABLATIONS = ("language-models", "gnns", "similarity-loss", "passages", "learning", "layers", "edges")
SEARCHES = {"tune-dsr": "dsr", "tune-dsr-wide": "wide", "tune-lge": "lge"}
FIGURES = {
    "main": ["-recall"],
    **{name: ["-trials"] for name in SEARCHES},
    **{name: [""] for name in ("tune-bm25", "neighbours", "lengths", "vector-map")},
}
"""By experiment, how the names of its figures end."""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """With a synthetic question of every article, and one seed."""
    import torch

    torch.set_num_threads(1)  # models this small only wait for one another
    folder, law = tmp_path_factory.mktemp("experiments"), read_tiny()
    lines = [
        {"article": article.id, "question": f"Que dit la règle {number} sur {law.headings(article)[-1]} ?",
         "generator": "test", "score": -1.0}
        for number, article in enumerate(law.current())
    ]  # fmt: skip
    questions = folder / "questions.jsonl"
    questions.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEXARBOR_CACHE", str(folder / "cache"))
        yield Lab("tiny", folder / "work", questions=questions, seeds=1)


def run(lab: Lab, name: str, out: Path) -> dict[str, Any]:
    """Prepare, train, report; gives what programs read."""
    running.prepare(lab, [name])
    running.train(lab, [name])
    written = running.report(lab, name, out, f"lexarbor experiment {name}")
    assert all(path.stat().st_size for path in written)
    (path,) = (path for path in written if path.suffix == ".json")
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_it_runs_from_its_name_to_its_files(name: str, lab: Lab, tmp_path: Path) -> None:
    told = run(lab, name, tmp_path)
    stem = f"{name}-tiny"
    figures = [f"{stem}{figure}.png" for figure in FIGURES.get(name, [])]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [f"{stem}.md", f"{stem}.tex", f"{stem}.json", *figures]
    )
    for figure in figures:
        assert (tmp_path / figure).read_bytes().startswith(b"\x89PNG\r\n")
    markdown = (tmp_path / f"{stem}.md").read_text(encoding="utf-8")
    assert markdown.startswith(f"# {told['title']}\n\n`lexarbor experiment {name}` (benchmark: tiny; revision: ")
    rules = [line for line in markdown.splitlines() if line.startswith("|") and set(line) <= set("| :-")]
    assert len(told["tables"]) == len(rules) > 0
    assert all(table["rows"] for table in told["tables"])
    assert ("recipes" in told) == (experiment(name).jobs is not None)
    assert not (lab.work / "failed").exists()


def test_the_main_table_has_a_figure_in_every_row_but_the_hubs(lab: Lab, tmp_path: Path) -> None:
    rows = run(lab, "main", tmp_path)["rows"]
    lost = {row["label"]: row["why"] for row in rows if not row["figures"]}
    assert list(lost) == ["DPR from etalab-ia/dpr-question_encoder-fr_qa-camembert"]
    assert len(rows) == 14
    by_label = {row["label"]: row for row in rows}
    both, graph = by_label["DSR + both"], by_label["G-DSR (the paper's graph encoder)"]
    assert graph["parameters"] == both["parameters"] + graph["jobs"]["g-dsr-0"]["parameters"]
    markdown = (tmp_path / "main-tiny.md").read_text(encoding="utf-8")
    assert "The order of the paper's main table on R@100, step by step (sure: p below 0.05" in markdown
    assert markdown.count("\n- ") == 11


@pytest.mark.parametrize("name", ABLATIONS)
def test_figures_of_a_row_are_those_that_its_ranking_was_kept_with(name: str, lab: Lab, tmp_path: Path) -> None:
    rows = [row for row in run(lab, name, tmp_path)["rows"] if row["figures"]]
    assert len(rows) >= 5
    for row in rows:
        (key,) = row["jobs"]
        assert row["figures"]["map"] == pytest.approx(read_facts(lab.work, key)["dev"]["map"], abs=1e-9), key


def test_each_question_of_a_row_is_kept_for_later_comparisons(lab: Lab, tmp_path: Path) -> None:
    asked = {question.id for question in lab.benchmark.questions.split("test")}
    for row in run(lab, "main", tmp_path)["rows"]:
        if not row["figures"]:
            assert row["by_question"] == {}
            continue
        kept = row["by_question"]["recall@100"]
        assert kept.keys() == asked
        assert sum(kept.values()) / len(kept) == pytest.approx(row["figures"]["recall@100"], abs=1e-4)


def test_a_language_model_that_is_named_is_what_both_towers_begin_from(lab: Lab, tmp_path: Path) -> None:
    run(lab, "language-models", tmp_path)
    same = str(lab.work / "models" / "general")  # a folder like any other
    rows = {row["label"]: row for row in run(replace(lab, starts=(same,)), "language-models", tmp_path)["rows"]}
    assert (
        rows[same]["figures"] == rows["middle, general French"]["figures"] != rows["small, general French"]["figures"]
    )


@pytest.mark.parametrize(("name", "search"), SEARCHES.items())
def test_a_search_goes_to_its_end_and_its_best_can_be_learned_by(
    name: str, search: str, lab: Lab, tmp_path: Path
) -> None:
    told = run(lab, name, tmp_path)
    wanted = lab.values["tuning"][search]["trials"]
    assert sum(told["counts"].values()) - told["counts"]["repeated"] == wanted
    if search == "wide":
        cosine = [trial for trial in told["trials"] if trial["values"]["encoder.similarity"] == "cosine"]
        best = max(cosine, key=lambda trial: (trial["value"], -trial["trial"]))
        changed = replace(lab, changes=tuple(chosen(lab, search))).values["text"]
        assert changed["optimisation"]["learning_rate"] == best["values"]["optimisation.learning_rate"]
        assert changed["encoder"]["max_tokens"] == best["values"]["encoder.max_tokens"]


def test_models_that_a_search_does_not_begin_from_may_fail(lab: Lab, tmp_path: Path) -> None:
    beside = replace(lab, work=tmp_path / "work", starts=(str(tmp_path / "nowhere"),), trials=1)
    running.prepare(beside, ["language-models", "tune-lge"])
    failed = running.train(beside, ["language-models", "tune-lge"])
    assert [key.startswith("start-") for key in failed] == [True]
    assert len(trial_reports.trials_of(experiment("tune-lge").search(beside), beside.work)) == 1  # type: ignore[misc]
    needed = {"dsr-both-0": "out of memory"}
    assert [name for name in EXPERIMENTS if running.unsearched(lab, name, needed)] == ["tune-lge"]


def test_a_second_call_trains_and_prepares_nothing_again(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = list(EXPERIMENTS)
    running.prepare(lab, names)
    running.train(lab, names)
    before = {path: path.stat().st_mtime_ns for part in ("data", "models", "rankings") for path in files(lab, part)}
    monkeypatch.setattr(job_trainer, "JobTrainer", None)
    monkeypatch.setattr(trials, "_task", None)
    first = run(lab, "gnns", tmp_path)
    running.prepare(lab, names)
    running.train(lab, names)
    running.train(replace(lab, workers=2), names)
    after = {path: path.stat().st_mtime_ns for part in ("data", "models", "rankings") for path in files(lab, part)}
    assert after == before
    assert run(lab, "gnns", tmp_path) == first


def files(lab: Lab, part: str) -> list[Path]:
    return [path for path in (lab.work / part).rglob("*") if path.is_file()]


def test_final_models_learn_from_dev_too_and_are_scored_on_test(lab: Lab, tmp_path: Path) -> None:
    final = replace(lab, train_on="train+dev")
    told = run(final, "main", tmp_path)
    assert (told["title"], told["train_on"]) == ("Retrieval on tiny, test, learned from train+dev", "train+dev")
    assert (tmp_path / "main-tiny-final.md").is_file()
    rows = {row["label"]: row for row in told["rows"]}
    assert list(rows["DSR"]["jobs"]) == ["dsr-0-final"]
    assert list(rows["DPR, zero-shot"]["jobs"]) == ["dpr-start"]
    folder = SupervisionFolder.open(lab.work / "data" / "train+dev")
    assert {pair.kind for pair in folder.pairs} == {"gold", "synthetic"}
    assert {one.split for one in folder.asked} == {"test"}
    assert folder.passages == []
    gold = {pair.source for pair in folder.pairs if pair.kind == "gold"}
    splits = lab.benchmark.questions.splits
    assert gold == {*splits["train"], *splits["dev"]}


def test_files_are_called_by_what_is_not_as_usual(tmp_path: Path) -> None:
    for name, changes, stem in (
        ("main", {}, "main-tiny"),
        ("main", {"split": "test"}, "main-tiny"),  # the usual one
        ("main", {"split": "dev"}, "main-tiny-dev"),
        ("gnns", {"split": "dev"}, "gnns-tiny"),
        ("gnns", {"split": "test"}, "gnns-tiny-test"),
        ("main", {"scale": "tiny"}, "main-tiny"),
        ("main", {"scale": "small", "train_on": "train+dev", "split": "test"}, "main-tiny-small-final"),
        ("gnns", {"scale": "paper", "split": "test"}, "gnns-tiny-paper-test"),
        ("legs", {"scale": "small", "split": "test"}, "legs-tiny-test"),  # no model of any scale is trained
        ("dataset", {"split": "dev"}, "dataset-tiny"),  # among `all`: it tells of all questions
    ):
        assert running.stem_of(Lab("tiny", tmp_path, **changes), name) == stem


def test_another_split_needs_a_ranking_for_it(lab: Lab, tmp_path: Path) -> None:
    run(lab, "gnns", tmp_path)
    with pytest.raises(LexarborError, match=r"gcn-0\.npz: has no ranking for 8 questions of test"):
        run(replace(lab, split="test"), "gnns", tmp_path)
    run(lab, "main", tmp_path)
    assert run(replace(lab, split="dev"), "main", tmp_path)["title"] == "Retrieval on tiny, dev"
    assert (tmp_path / "main-tiny-dev.md").is_file()


def test_other_values_than_those_trained_by_are_refused(lab: Lab, tmp_path: Path) -> None:
    run(lab, "gnns", tmp_path)
    other = replace(lab, changes=("graph.optimisation.steps=5",))
    for part in (lambda: running.train(other, ["gnns"]), lambda: running.report(other, "gnns", tmp_path, "typed")):
        with pytest.raises(LexarborError, match=r"trained with another optimisation\.steps .*\(4, not 5\)"):
            part()
