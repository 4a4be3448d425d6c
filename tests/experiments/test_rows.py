"""Rows: means and deviations over seeds, figures of written rankings, tables, and rankings that may not be scored."""

import hashlib
import json
import shutil
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lexarbor.corpus.benchmarks.catalogue import build_benchmark
from lexarbor.errors import LexarborError, TrainingError
from lexarbor.evaluation import Scores, evaluate, render
from lexarbor.experiments.jobs import Job, facts_path, failed_path, ranking_path
from lexarbor.experiments.lab import Lab
from lexarbor.experiments.rows import MEASURES, SHOWN, UNTRAINED, Row, Scoring, data_of
from lexarbor.experiments.systems import build_system, run
from lexarbor.files import sha256
from lexarbor.training.recipes import as_dict, parse_recipe

TINY = build_benchmark("tiny")
IDS = sorted(article.id for article in TINY.law.current())
GOLD = {split: TINY.questions.gold([split]) for split in ("train", "dev", "test")}
DSR = [
    Job(f"dsr-{seed}", {"stage": "text", "start": "@general", "optimisation": {"seed": seed, "steps": 3}})
    for seed in (0, 1)
]
GRAPH = [Job(f"g-dsr-{seed}", {"stage": "graph", "encoder": f"@dsr-{seed}"}) for seed in (0, 1)]


def keep(
    work: Path,
    job: Job,
    *,
    first: int = 0,
    splits: Sequence[str] = ("dev", "test"),
    ids: Sequence[str] = IDS,
    parameters: int = 1_000_000,
    seconds: float = 2.0,
) -> None:
    """A ranking as a bench leaves it: for every question all articles, by id from the one at `first` on."""
    asked = [f"{split} {question}" for split in splits for question in GOLD[split]]
    rows = np.tile(np.roll(np.arange(len(ids)), -first), (len(asked), 1)).astype(np.uint16)
    (work / "rankings").mkdir(exist_ok=True)
    np.savez_compressed(ranking_path(work, job.key), rows=rows, asked=np.array(asked))
    facts = {
        "parameters": parameters,
        "seconds": seconds,
        "steps": 3,
        "dev": {},
        "device": "cpu",
        "articles": hashlib.sha256("\n".join(ids).encode()).hexdigest(),
        "data": job.data,
        "recipe": as_dict(parse_recipe(job.written(work))),
    }
    job.begin(work)
    facts_path(work, job.key).write_text(json.dumps(facts), encoding="utf-8")


def scored(split: str, first: int) -> Scores:
    """What such a ranking comes to, by another way."""
    order = [*IDS[first:], *IDS[:first]]
    gold = GOLD[split]
    return evaluate({question: list(zip(order, range(0, -len(order), -1), strict=True)) for question in gold}, gold)  # type: ignore[misc]


def scoring(work: Path, split: str = "dev", **more: str) -> Scoring:
    return Scoring(Lab("tiny", work, **more), split)  # type: ignore[arg-type]


def of_values(*seeds: Sequence[float]) -> Row:
    """A row of R@100 by question, one line a seed."""
    made = (Scores(("recall@100",), tuple("abcd"), np.array([values])) for values in seeds)
    return Row("row", tuple(made))


def test_the_mean_is_over_questions_and_seeds_the_deviation_over_seeds() -> None:
    values = [[1.0, 0.5, 0.25, 0.0], [0.5, 0.5, 0.5, 0.75], [0.0, 0.125, 1.0, 1.0]]
    row = of_values(*values)
    means = [statistics.fmean(one) for one in values]
    assert row.mean("recall@100") == pytest.approx(statistics.fmean(means), abs=1e-15)
    assert row.deviation("recall@100") == pytest.approx(statistics.stdev(means), abs=1e-15)
    assert row.deviation("recall@100") == pytest.approx(float(np.std(means, ddof=1)), abs=1e-15)
    assert row.scores is not None
    assert row.scores["recall@100"].tolist() == [statistics.fmean(column) for column in zip(*values, strict=True)]


def test_one_seed_has_no_deviation_and_none_has_no_figures() -> None:
    row = of_values([1.0, 0.5, 0.25, 0.0])
    assert (row.mean("recall@100"), row.deviation("recall@100")) == (0.4375, None)
    missing = Row("row", why="not run here")
    assert (missing.scores, missing.mean("recall@100"), missing.deviation("recall@100")) == (None, None, None)


@pytest.mark.parametrize("split", ["dev", "test"])
def test_a_model_is_scored_over_its_seeds_by_what_it_ranked(split: str, tmp_path: Path) -> None:
    for seed, job in enumerate(DSR):
        keep(tmp_path, job, first=20 * seed, seconds=2.0 + seed, parameters=1_500_000)
    row = scoring(tmp_path, split).of_jobs("DSR", DSR)
    assert (row.label, row.parameters, row.seconds, row.why) == ("DSR", 1_500_000, 2.5, "")
    by_hand = [scored(split, first) for first in (0, 20)]
    assert by_hand[0].mean("map") != by_hand[1].mean("map")
    for measure in MEASURES:
        assert [one.mean(measure) for one in row.seeds] == [one.mean(measure) for one in by_hand]
    assert row.curve is not None and row.curve.shape == (500,)
    for depth in (10, 100):
        assert row.curve[depth - 1] == pytest.approx(row.mean(f"recall@{depth}"), abs=1e-12)
    assert list(row.told) == ["dsr-0", "dsr-1"]
    assert row.told["dsr-1"]["recipe"]["optimisation"]["seed"] == 1


def test_a_row_that_is_not_trained_says_so_or_why_it_failed(tmp_path: Path) -> None:
    assert scoring(tmp_path).of_jobs("DSR", DSR).why == UNTRAINED
    (tmp_path / "failed").mkdir()
    failed_path(tmp_path, "dsr-1").write_text("OutOfMemoryError: 80 GiB\n\nTraceback: long", encoding="utf-8")
    row = scoring(tmp_path).of_jobs("DSR", DSR)
    assert (row.seeds, row.why) == ((), "OutOfMemoryError: 80 GiB")
    keep(tmp_path, DSR[0])
    row = scoring(tmp_path).of_jobs("DSR", DSR)  # of two seeds the one that there is
    assert (len(row.seeds), row.why) == (1, "without dsr-1: OutOfMemoryError: 80 GiB")
    assert scoring(tmp_path).table("On dev", [row]).notes == [f"DSR: {row.why}"]


def test_parameters_of_a_graph_encoder_are_with_those_of_a_retriever_that_was_trained(tmp_path: Path) -> None:
    keep(tmp_path, DSR[1], parameters=5_000_000)
    keep(tmp_path, GRAPH[1], parameters=300_000)
    row = scoring(tmp_path).of_jobs("G-DSR", GRAPH, over=DSR)  # the first seed failed
    assert (row.parameters, len(row.seeds)) == (5_300_000, 1)
    assert scoring(tmp_path).of_jobs("G-DSR", GRAPH).parameters == 300_000


def test_a_ranking_of_another_law_is_refused(tmp_path: Path) -> None:
    keep(tmp_path, DSR[0], ids=[*IDS[1:], IDS[0]])  # the same articles, elsewhere
    with pytest.raises(LexarborError, match=r"dsr-0\.npz: ranks the articles of another law than tiny's"):
        scoring(tmp_path).of_jobs("DSR", DSR)


def test_a_ranking_of_another_job_is_refused(tmp_path: Path) -> None:
    for job, first in zip(DSR, (0, 20), strict=True):
        keep(tmp_path, job, first=first)
    path = facts_path(tmp_path, "dsr-0")
    told = {**json.loads(path.read_text(encoding="utf-8")), "ranking": sha256(ranking_path(tmp_path, "dsr-0"))}
    path.write_text(json.dumps(told), encoding="utf-8")
    assert len(scoring(tmp_path).of_jobs("DSR", DSR).seeds) == 2  # the second does not tell, as earlier ones
    shutil.copy(ranking_path(tmp_path, "dsr-1"), ranking_path(tmp_path, "dsr-0"))
    with pytest.raises(
        LexarborError, match=r"dsr-0\.npz: is not the ranking that dsr-0\.json beside it tells of; copy"
    ):
        scoring(tmp_path).of_jobs("DSR", DSR)


def test_a_ranking_without_the_asked_split_is_refused(tmp_path: Path) -> None:
    keep(tmp_path, DSR[0], splits=["dev"])
    assert scoring(tmp_path, "dev").of_jobs("DSR", DSR).seeds
    with pytest.raises(
        LexarborError, match=r"dsr-0\.npz: has no ranking for 8 questions of test: .*remove dsr-0\.json"
    ):
        scoring(tmp_path, "test").of_jobs("DSR", DSR)


def test_a_model_of_another_recipe_is_refused(tmp_path: Path) -> None:
    keep(tmp_path, DSR[0])
    other = replace(DSR[0], recipe={**DSR[0].recipe, "dropout": 0.3})
    with pytest.raises(TrainingError, match="trained with another dropout"):
        scoring(tmp_path).of_jobs("DSR", [other])


def test_a_system_is_scored_or_says_why_it_cannot_be_built(tmp_path: Path) -> None:
    row = scoring(tmp_path, "test").of_system("BM25", "bm25", parameters=7)
    expected = evaluate(run(build_system("bm25", TINY), TINY.questions.split("test")), GOLD["test"], MEASURES)
    assert {name: row.mean(name) for name in MEASURES} == expected.means()
    assert (row.parameters, row.seconds, row.told) == (7, None, {"system": "bm25"})
    lost = scoring(tmp_path).of_system("docT5query", "doc2query")  # the questions that ship are of another law
    assert lost.seeds == ()
    assert "no question there is about an article of the law" in lost.why


def test_a_system_that_has_learned_from_what_is_asked_is_not_scored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learned = {"g-dsr": {"elsewhere", *list(GOLD["test"])[:3]}, "bm25": {"elsewhere", *GOLD["train"]}}
    monkeypatch.setattr("lexarbor.experiments.evaluation.learned_by", lambda name: learned[name])
    made = scoring(tmp_path, "test")
    row = made.of_system("G-DSR as it ships", "g-dsr")
    assert (row.seeds, row.curve) == ((), None)
    assert row.why == "not scored, what ships has learned from 3 of these questions"
    assert made.of_system("BM25", "bm25").seeds  # nothing of test


def test_a_row_near_chance_is_told_of_where_chance_is_small(tmp_path: Path) -> None:
    made = scoring(tmp_path, "test")
    lost, found = [0.25, 0.0] * 4, [0.25, 0.5] * 4
    rows = [
        Row(label, (Scores(SHOWN, tuple(made.gold), np.tile(values, (len(SHOWN), 1))),), seconds=seconds)
        for label, values, seconds in (("trained", lost, 1.0), ("a system", lost, None), ("learned", found, 1.0))
    ]
    assert made.table("On 76 articles, where chance finds all", rows).notes == []
    made._ids = [str(number) for number in range(1000)]
    assert made.table("On 1000", rows).notes == [
        "trained: did not learn, its R@100 is near that of chance (10.0)",
        "a system: finds nothing, its R@100 is near that of chance (10.0)",
    ]
    made._ids = made._ids[:600]
    assert made.table("On 600, where thrice chance is half of all", rows).notes == []


@pytest.mark.parametrize(("train_on", "learned"), [("train", ["train"]), ("train+dev", ["train", "dev"])])
def test_strata_are_by_what_models_learned_from(train_on: str, learned: list[str], tmp_path: Path) -> None:
    met = {article for split in learned for gold in GOLD[split].values() for article in gold}
    found = scoring(tmp_path, "test", train_on=train_on).strata
    assert found["seen"] == [question for question, gold in GOLD["test"].items() if not gold - met]
    assert found["unseen"] == [question for question, gold in GOLD["test"].items() if not gold & met]


def test_the_table_has_the_papers_columns_and_tells_what_was_not_run(tmp_path: Path) -> None:
    keep(tmp_path, DSR[0], parameters=1_260_000, seconds=12.6)
    made = scoring(tmp_path)
    rows = [made.of_jobs("DSR", DSR[:1]), Row("DPR", why="not run here; type this")]
    table = made.table("On dev", rows)
    assert table.columns == ["Model", "Parameters", "Training", "R@100", "R@200", "R@500", "mAP", "mRP"]
    assert table.rows[0] == ["DSR", "1.3M", "13 s", *(rows[0].mean(name) for name in SHOWN)]
    assert table.rows[1] == ["DPR", *[None] * 7]
    assert table.notes == ["DPR: not run here; type this"]


def rows_of(made: Scoring, figures: Mapping[str, Sequence[Sequence[float]]]) -> list[Row]:
    """Rows of R@100 for a split's questions, one line a seed."""
    asked = tuple(made.gold)
    return [
        Row(label, tuple(Scores(("recall@100",), asked, np.array([values])) for values in seeds))
        for label, seeds in figures.items()
    ]


def test_comparisons_are_with_the_reference_corrected_over_the_table(tmp_path: Path) -> None:
    made = scoring(tmp_path, "test")
    figures = {
        "low": [[0.0] * 8],
        "high": [[1.0] * 8],
        "middle": [[0.25, 0.5] * 4, [0.5, 0.5] * 4],
    }
    rows = [*rows_of(made, figures), Row("lost", why="not run")]
    table = made.comparisons("Against low", rows, lambda place: None if place == 0 else 0)
    by_model = {str(row[0]): dict(zip(table.columns, row, strict=True)) for row in table.rows}
    assert list(by_model) == ["low", "high", "middle"]
    assert [by_model["low"][name] for name in ("Against", "Difference", "p")] == [None, None, None]
    high = by_model["high"]
    assert (high["R@100"], high["Seeds"], high["Deviation"]) == (1.0, 1, None)
    assert (high["95 % interval"], high["Against"]) == ("100.0 to 100.0", "low")
    assert high["Difference"] == "+100.0 (+100.0 to +100.0)"
    middle = by_model["middle"]
    assert (middle["R@100"], middle["Seeds"]) == (0.4375, 2)
    assert middle["Deviation"] == f"{100 * statistics.stdev([0.375, 0.5]):.1f}"  # no figure whose largest is best
    means = dict(zip(made.gold, [0.375, 0.5] * 4, strict=True))
    for part in ("seen", "unseen", "partial"):
        assert middle[part] == pytest.approx(statistics.fmean(means[one] for one in made.strata[part]))  # type: ignore[index]
    # all eight signs alike: 2 of 256 ways are as far apart, and of two comparisons the first counts twice
    for row in (high, middle):
        assert float(str(row["p"])) == pytest.approx(2 * 2 / 256, abs=0.004)
    assert "8 questions (2 seen, 3 unseen, 3 partial: whether" in table.notes[0]
    assert "lost" not in render(table, "markdown")


def test_a_stratum_without_questions_is_a_dash(tmp_path: Path) -> None:
    made = scoring(tmp_path, "test")
    made.strata["seen"], made.strata["partial"] = [], [*made.strata["seen"], *made.strata["partial"]]
    table = made.comparisons("None", rows_of(made, {"one": [[1.0] * 8]}), lambda place: None)
    assert table.rows[0][table.columns.index("seen")] is None


def test_what_programs_read_has_every_seed_and_recipe(tmp_path: Path) -> None:
    for job in DSR:
        keep(tmp_path, job)
    rows = [scoring(tmp_path).of_jobs("DSR", DSR), Row("lost", why="not run")]
    dsr, lost = json.loads(json.dumps(data_of(rows)))["rows"]
    assert (dsr["label"], len(dsr["seeds"]), list(dsr["jobs"])) == ("DSR", 2, ["dsr-0", "dsr-1"])
    assert dsr["figures"]["map"] == pytest.approx(scored("dev", 0).mean("map"))
    assert (lost["why"], lost["figures"], lost["seeds"], lost["parameters"]) == ("not run", {}, [], None)
