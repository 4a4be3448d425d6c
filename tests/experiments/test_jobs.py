"""Jobs: what they begin from, where they write, when they are done."""

import json
from pathlib import Path

import pytest

from lexarbor.errors import LexarborError, TrainingError
from lexarbor.experiments.jobs import Job, distinct, facts_path, failed_path, only, ranking_path, read_facts

VOCABULARY = Job("vocabulary", {"stage": "vocabulary"}, texts="law")
GENERAL = Job("general", {"stage": "pretrain", "tokenizer": "@vocabulary"}, texts="law")
DSR = Job("dsr-0", {"stage": "text", "start": "@general", "optimisation": {"seed": 0}})
G_DSR = Job("g-dsr-0", {"stage": "graph", "encoder": "@dsr-0", "folds": ["@fold-1", "@fold-2"], "deep": {"a": "@b"}})


def test_a_job_needs_what_its_recipe_names_at_any_depth() -> None:
    assert VOCABULARY.needs == set()
    assert DSR.needs == {"general"}
    assert G_DSR.needs == {"dsr-0", "fold-1", "fold-2", "b"}


def test_names_of_jobs_become_folders_and_all_else_stays(tmp_path: Path) -> None:
    models = tmp_path / "models"
    assert G_DSR.written(tmp_path) == {
        "stage": "graph",
        "encoder": str(models / "dsr-0"),
        "folds": [str(models / "fold-1"), str(models / "fold-2")],
        "deep": {"a": str(models / "b")},
    }
    assert DSR.written(tmp_path)["optimisation"] == {"seed": 0}
    assert DSR.recipe["start"] == "@general"  # the job itself is as it was


@pytest.mark.parametrize(
    ("job", "last"),
    [
        (VOCABULARY, "models/vocabulary/tokenizer.json"),
        (GENERAL, "models/general/log.json"),
        (DSR, "rankings/dsr-0.json"),
        (G_DSR, "rankings/g-dsr-0.json"),
    ],
)
def test_a_job_is_done_when_its_last_file_is_there(job: Job, last: str, tmp_path: Path) -> None:
    job.folder(tmp_path).mkdir(parents=True)
    (tmp_path / "rankings").mkdir()
    (tmp_path / "rankings" / f"{job.key}.npz").touch()  # the one before the last
    assert not job.is_done(tmp_path)
    (tmp_path / last).touch()
    assert job.is_done(tmp_path)


def test_those_that_rank_are_retrievers_and_graph_encoders() -> None:
    assert [job.ranks for job in (VOCABULARY, GENERAL, DSR, G_DSR)] == [False, False, True, True]


def test_a_failure_is_told_until_it_is_removed(tmp_path: Path) -> None:
    assert DSR.failure(tmp_path) == ""
    failed_path(tmp_path, "dsr-0").parent.mkdir()
    failed_path(tmp_path, "dsr-0").write_text("out of memory\n", encoding="utf-8")
    assert DSR.failure(tmp_path) == "out of memory"


def test_facts_that_are_missing_or_cut_short_are_refused(tmp_path: Path) -> None:
    (tmp_path / "rankings").mkdir()
    with pytest.raises(LexarborError, match=r"dsr-0\.json: cannot be read .*; remove it and run again"):
        read_facts(tmp_path, "dsr-0")
    facts_path(tmp_path, "dsr-0").write_text('{"seconds": 1', encoding="utf-8")
    with pytest.raises(LexarborError, match="cannot be read"):
        read_facts(tmp_path, "dsr-0")
    facts_path(tmp_path, "dsr-0").write_text('{"seconds": 1}', encoding="utf-8")
    assert read_facts(tmp_path, "dsr-0") == {"seconds": 1}
    assert ranking_path(tmp_path, "dsr-0").parent == facts_path(tmp_path, "dsr-0").parent


def test_a_job_is_checked_against_the_recipe_that_it_was_trained_by(tmp_path: Path) -> None:
    from lexarbor.training.recipes import as_dict, parse_recipe

    def recipe(**changes: object) -> dict[str, object]:
        return {"stage": "text", "start": "@general", "supervision": {"kinds": {"gold": 1}}, **changes}

    Job("dsr-0", recipe(start="elsewhere", dropout=7)).check(tmp_path)  # not trained: nothing to compare
    (tmp_path / "rankings").mkdir()
    held = as_dict(parse_recipe(recipe(start="moved/models/general", dropout=0.2)))
    facts_path(tmp_path, "dsr-0").write_text(json.dumps({"recipe": held}), encoding="utf-8")
    Job("dsr-0", recipe(dropout=0.2)).check(tmp_path)  # folders may have moved
    for changes, said in (
        ({"dropout": 0.3}, r"another dropout than is asked for now \(0\.2, not 0\.3\)"),
        (
            {"supervision": {"kinds": {"gold": 1, "synthetic": 3}}},
            r"another supervision\.kinds\.synthetic .*None, not 3",
        ),
        ({"supervision": {"kinds": {"sheet": 1}}}, r"another supervision\.kinds"),
    ):
        with pytest.raises(TrainingError, match=said):
            Job("dsr-0", recipe(**{"dropout": 0.2, **changes})).check(tmp_path)
    both = as_dict(parse_recipe(recipe(supervision={"kinds": {"gold": 1, "synthetic": 3}})))
    facts_path(tmp_path, "dsr-0").write_text(json.dumps({"recipe": both}), encoding="utf-8")
    with pytest.raises(TrainingError, match=r"kinds\.synthetic .*\(3(\.0)?, not None\)"):  # more than is asked for
        Job("dsr-0", recipe()).check(tmp_path)


def test_a_job_of_two_tables_is_one_and_two_under_one_key_are_refused() -> None:
    again = Job("dsr-0", {"stage": "text", "start": "@general", "optimisation": {"seed": 0}})
    assert distinct([GENERAL, DSR, GENERAL, again]) == [GENERAL, DSR]
    other = Job("dsr-0", {"stage": "text", "start": "@general", "optimisation": {"seed": 1}})
    with pytest.raises(TrainingError, match="two jobs are called 'dsr-0' and differ"):
        distinct([DSR, other])
    with pytest.raises(TrainingError, match="two jobs are called 'dsr-0'"):
        distinct([DSR, Job("dsr-0", DSR.recipe, asked=("dev",))])  # ranked for other questions: another job too


def test_named_jobs_come_with_all_that_they_begin_from_in_order() -> None:
    graph = Job("g-dsr-0", {"stage": "graph", "encoder": "@dsr-0"})
    other = Job("dsr-1", {"stage": "text", "start": "@general"})
    jobs = [VOCABULARY, GENERAL, DSR, other, graph]
    assert only(jobs, ["g-dsr-0"]) == [VOCABULARY, GENERAL, DSR, graph]
    assert only(jobs, ["dsr-1", "vocabulary"]) == [VOCABULARY, GENERAL, other]
    assert only(jobs, []) == []
    with pytest.raises(TrainingError, match="no job is called 'dsr-2': did you mean 'dsr-"):
        only(jobs, ["dsr-2"])
