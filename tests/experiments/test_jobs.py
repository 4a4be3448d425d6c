"""Jobs: what they begin from, where they write, when they are done, which of them are not what is asked for."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from lexarbor.errors import LexarborError, TrainingError
from lexarbor.experiments.jobs import (
    Job,
    check_jobs,
    data_manifest,
    distinct,
    facts_path,
    failed_path,
    made_path,
    only,
    ranking_path,
    read_facts,
    read_made,
)
from lexarbor.training.runs import RECIPE

VOCABULARY = Job("vocabulary", {"stage": "vocabulary"}, texts="law")
GENERAL = Job("general", {"stage": "pretrain", "tokenizer": "@vocabulary"}, texts="law")
DSR = Job("dsr-0", {"stage": "text", "start": "@general", "optimisation": {"seed": 0, "steps": 3}})
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
    assert DSR.written(tmp_path)["optimisation"] == {"seed": 0, "steps": 3}
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
    with pytest.raises(
        LexarborError, match=r"dsr-0\.json: cannot be read .*; copy it again, or remove .*models/dsr-0 "
    ):
        read_facts(tmp_path, "dsr-0")
    for content in ('{"seconds": 1', "[1]", "{}", '{"seconds": 1}'):
        facts_path(tmp_path, "dsr-0").write_text(content, encoding="utf-8")
        with pytest.raises(
            LexarborError, match=r"cannot be read .*, or remove .*rankings/dsr-0\.json and train 'dsr-0'"
        ):
            read_facts(tmp_path, "dsr-0")
    whole = {"seconds": 1, "steps": 2, "parameters": 3, "device": "cpu", "articles": "0"}
    facts_path(tmp_path, "dsr-0").write_text(json.dumps(whole), encoding="utf-8")
    assert read_facts(tmp_path, "dsr-0") == whole
    assert ranking_path(tmp_path, "dsr-0").parent == facts_path(tmp_path, "dsr-0").parent


def recipe(**changes: object) -> dict[str, object]:
    return {"stage": "text", "start": "@general", "supervision": {"kinds": {"gold": 1}}, **changes}


def done(job: Job, work: Path) -> Job:
    """As a job is left that was trained: begun, and its last file there."""
    job.begin(work)
    last = facts_path(work, job.key) if job.ranks else job.folder(work) / "log.json"
    if job.stage == "vocabulary":
        last = job.folder(work) / "tokenizer.json"
    last.parent.mkdir(parents=True, exist_ok=True)
    last.write_text("{}", encoding="utf-8")
    assert job.is_done(work)
    return job


def prepared(work: Path, content: str = "{}", data: str = "train") -> None:
    data_manifest(work, data).parent.mkdir(parents=True, exist_ok=True)
    data_manifest(work, data).write_text(content, encoding="utf-8")


def test_what_a_job_is_made_from_is_written_before_it_is_trained(tmp_path: Path) -> None:
    prepared(tmp_path, "as it was")
    done(VOCABULARY, tmp_path)
    GENERAL.begin(tmp_path)
    found = read_made(tmp_path, "general")
    assert found["recipe"]["tokenizer"] == "@vocabulary"  # by its name: work folders are moved
    assert found["recipe"]["optimisation"]["seed"] == 0  # spelled out, though it is not written
    assert found["data"] == hashlib.sha256(b"as it was").hexdigest()
    of_vocabulary = made_path(tmp_path, "vocabulary").read_bytes()
    assert found["from"] == {"vocabulary": hashlib.sha256(of_vocabulary).hexdigest()}
    assert not GENERAL.is_done(tmp_path)


def test_a_job_is_checked_against_the_recipe_that_it_was_trained_by(tmp_path: Path) -> None:
    check_jobs([Job("dsr-0", recipe(start="elsewhere", dropout=7))], tmp_path)  # not trained: nothing to compare
    done(Job("dsr-0", recipe(dropout=0.2)), tmp_path)
    check_jobs([Job("dsr-0", recipe(dropout=0.2))], tmp_path)
    spelled_out = recipe(dropout=0.2, encoder={"similarity": "cosine"})  # a default
    check_jobs([Job("dsr-0", spelled_out)], tmp_path)
    for changes, said in (
        ({"dropout": 0.3}, r"another dropout than is asked for now \(0\.2, not 0\.3\)"),
        ({"start": "@law"}, r"'dsr-0' was trained with another start .*\(@general, not @law\)"),
        (
            {"supervision": {"kinds": {"gold": 1, "synthetic": 3}}},
            r"another supervision\.kinds\.synthetic .*None, not 3",
        ),
        ({"supervision": {"kinds": {"sheet": 1}}}, r"another supervision\.kinds"),
    ):
        with pytest.raises(TrainingError, match=said):
            check_jobs([Job("dsr-0", recipe(**{"dropout": 0.2, **changes}))], tmp_path)
    done(Job("dsr-0", recipe(supervision={"kinds": {"gold": 1, "synthetic": 3}})), tmp_path)
    with pytest.raises(TrainingError, match=r"kinds\.synthetic .*\(3(\.0)?, not None\)"):  # more than is asked for
        check_jobs([Job("dsr-0", recipe())], tmp_path)


def test_language_models_and_vocabularies_are_checked_too(tmp_path: Path) -> None:
    vocabulary = {"stage": "vocabulary", "architecture": {"vocabulary": 400}}
    done(Job("vocabulary", vocabulary), tmp_path)
    done(GENERAL, tmp_path)
    check_jobs([GENERAL], tmp_path)
    smaller = {**vocabulary, "architecture": {"vocabulary": 300}}
    with pytest.raises(
        TrainingError, match=r"another architecture\.vocabulary .*\(400, not 300\): .*models/vocabulary"
    ):
        check_jobs([Job("vocabulary", smaller)], tmp_path)
    with pytest.raises(TrainingError, match=r"'general' was trained with another block_tokens .*not 99\)"):
        check_jobs([Job("general", {**GENERAL.recipe, "block_tokens": 99})], tmp_path)


def test_a_job_of_other_supervision_is_refused(tmp_path: Path) -> None:
    prepared(tmp_path, "first")
    prepared(tmp_path, "other", "train+dev")
    job, final = (done(Job(name, recipe(), data), tmp_path) for name, data in (("a", "train"), ("b", "train+dev")))
    prepared(tmp_path, "second")
    check_jobs([final], tmp_path)
    with pytest.raises(TrainingError, match=r"'a' learned from other supervision .*again: rm -r .*rankings/a\.json$"):
        check_jobs([job], tmp_path)
    data_manifest(tmp_path, "train").unlink()  # rankings alone were copied here, to be scored
    check_jobs([job], tmp_path)


def test_a_job_whose_beginning_was_trained_again_is_refused(tmp_path: Path) -> None:
    done(GENERAL, tmp_path)
    done(DSR, tmp_path)
    check_jobs([DSR], tmp_path)
    done(GENERAL, tmp_path)  # by the same recipe, but its weights are others
    with pytest.raises(TrainingError, match="'dsr-0' began from 'general', which was trained again since"):
        check_jobs([DSR], tmp_path)


def test_what_is_not_as_asked_for_is_told_at_once_with_what_began_from_it(tmp_path: Path) -> None:
    graph = {"stage": "graph", "encoder": "@dsr-0", "supervision": {"kinds": {"gold": 1}}}
    jobs = [GENERAL, DSR, Job("g-dsr-0", graph), Job("g-dsr-1", graph), Job("alone", recipe(start=""))]
    for job in jobs[:3]:
        done(job, tmp_path)
    done(jobs[-1], tmp_path)
    check_jobs(jobs, tmp_path)
    jobs[0] = Job("general", {**GENERAL.recipe, "block_tokens": 99}, texts="law")
    with pytest.raises(TrainingError) as refused:
        check_jobs(jobs, tmp_path)
    told, _, places = str(refused.value).partition(" remove what is to be trained again: rm -r ")
    assert told.startswith("'general' was trained with another block_tokens ")
    assert told.endswith(": give another --work, or")
    assert places.split() == [
        str(tmp_path / place) for place in ("models/general", "rankings/dsr-0.json", "rankings/g-dsr-0.json")
    ]


def test_other_texts_are_another_language_model(tmp_path: Path) -> None:
    done(GENERAL, tmp_path)
    with pytest.raises(TrainingError, match=r"'general' was trained with another texts .*\(law, not general\)"):
        check_jobs([Job("general", GENERAL.recipe, texts="general")], tmp_path)
    with pytest.raises(TrainingError, match="the texts of 'general' are 'laws': did you mean 'law'"):
        Job("general", GENERAL.recipe, texts="laws").check_recipe()


def test_a_folder_elsewhere_that_holds_another_model_now_is_noticed(tmp_path: Path) -> None:
    model = tmp_path / "mine" / "encoder" / "model.safetensors"
    model.parent.mkdir(parents=True)
    model.write_text("first")
    job = done(Job("start-0", recipe(start=str(tmp_path / "mine"))), tmp_path / "work")
    check_jobs([job], tmp_path / "work")
    model.write_text("other")
    with pytest.raises(TrainingError, match=r"'start-0' began from '.*mine', which was trained again since"):
        check_jobs([job], tmp_path / "work")
    shutil.rmtree(tmp_path / "mine")  # rankings alone were copied here, to be scored
    check_jobs([job], tmp_path / "work")


def test_a_job_that_is_done_without_telling_how_it_was_made_is_refused(tmp_path: Path) -> None:
    done(DSR, tmp_path)
    made_path(tmp_path, "dsr-0").unlink()
    with pytest.raises(LexarborError, match=r"made/dsr-0\.json: cannot be read .*, or remove .*rankings/dsr-0\.json"):
        check_jobs([DSR], tmp_path)


def test_a_recipe_that_cannot_be_read_names_its_job() -> None:
    DSR.check_recipe()
    VOCABULARY.check_recipe()
    with pytest.raises(TrainingError, match="the recipe of 'odd': unknown key 'dropuot': did you mean 'dropout'"):
        Job("odd", recipe(dropuot=1)).check_recipe()


def test_a_job_of_two_tables_is_one_and_two_under_one_key_are_refused() -> None:
    again = Job("dsr-0", {"stage": "text", "start": "@general", "optimisation": {"seed": 0, "steps": 3}})
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


def test_what_a_stopped_call_left_is_gone_on_from_where_it_was_begun_alike(tmp_path: Path) -> None:
    """To the same weights: test_several_calls.py."""
    keeps = {"stage": "pretrain", "watching": {"save_every": 5}}
    job = Job("general", keeps, texts="law")
    assert not job.goes_on(tmp_path)  # nothing was begun
    for begun, data, alike in (
        (job, "as now", True),
        (job, "other supervision", False),
        (Job("general", {**keeps, "masked": 0.2}, texts="law"), "as now", False),
        (Job("general", keeps, texts="general"), "as now", False),
    ):
        prepared(tmp_path, data)
        begun.begin(tmp_path)
        shutil.rmtree(job.folder(tmp_path), ignore_errors=True)
        assert not job.goes_on(tmp_path)  # stopped before it wrote its recipe, which training goes on by
        job.folder(tmp_path).mkdir(parents=True)
        (job.folder(tmp_path) / RECIPE).touch()
        prepared(tmp_path, "as now")
        assert job.goes_on(tmp_path) == alike
    none_kept = Job("general", {"stage": "pretrain"}, texts="law")
    none_kept.begin(tmp_path)
    assert not none_kept.goes_on(tmp_path)
