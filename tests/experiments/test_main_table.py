"""The main table: its rows and seeds, what is not run and why, whether the paper's order holds."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from lexarbor.evaluation import Scores, Stratum
from lexarbor.experiments import main_table
from lexarbor.experiments.lab import Lab
from lexarbor.experiments.main_table import (
    ADAPTED,
    AUGMENTED,
    BM25,
    BOTH,
    DPR,
    DPR_ZERO,
    DSR,
    ENGINE,
    EXPANDED,
    G_DSR,
    OURS,
    SHIPPED,
    WALK,
    main,
    main_jobs,
    order_told,
    retrievers,
    seeds_of,
)
from lexarbor.experiments.rows import UNTRAINED, Row, Scoring

PLACE = Path("nowhere")
QUESTIONS = tuple(f"q{number}" for number in range(40))


def row(label: str, values: Sequence[float]) -> Row:
    return Row(label, (Scores(("recall@100",), QUESTIONS, np.array([values])),))


def steps(rows: Sequence[Row]) -> dict[str, str]:
    """What is told of each step: its word."""
    (told,) = order_told(rows)
    lines = told.split("\n\n")[1].splitlines()
    return {line[2:].split(":")[0]: line.split("**")[1] for line in lines}


def test_a_step_holds_holds_on_average_or_does_not() -> None:
    low, high = [0.25] * 40, [0.5] * 40
    unsure = [0.25] * 39 + [0.75]  # one question better: the interval reaches zero
    rows = [row(BM25, low), row(EXPANDED, high), row(DSR, high), row(ADAPTED, low), row(AUGMENTED, high)]
    assert steps(rows) == {
        "BM25 < docT5query": "holds",
        "BM25 < DSR": "holds",
        "docT5query < DSR": "equal",
        f"DSR < {ADAPTED}": "does not hold",
        f"{ADAPTED} < {AUGMENTED}": "holds",
        f"DSR < {AUGMENTED}": "equal",
    }
    assert steps([row(ADAPTED, low), row(AUGMENTED, high), row(G_DSR, unsure)]) == {
        f"{ADAPTED} < {AUGMENTED}": "holds",
        f"{ADAPTED} < {G_DSR}": "holds on average, not surely",
        f"{AUGMENTED} < {G_DSR}": "does not hold",
    }
    assert steps([row(DSR, unsure), row(ADAPTED, low)]) == {f"DSR < {ADAPTED}": "does not hold on average"}


def test_the_papers_steps_are_told_in_its_order_and_what_the_graph_adds() -> None:
    labels = (BM25, EXPANDED, DSR, DPR, ADAPTED, AUGMENTED, BOTH, G_DSR)
    assert list(steps([row(label, [0.1 * place] * 40) for place, label in enumerate(labels)]).items()) == [
        ("BM25 < docT5query", "holds"),
        ("BM25 < DSR", "holds"),
        ("docT5query < DSR", "holds"),
        (f"DSR < {DPR}", "holds"),
        (f"{DPR} < {ADAPTED}", "holds"),
        (f"DSR < {ADAPTED}", "holds"),
        (f"{ADAPTED} < {AUGMENTED}", "holds"),
        (f"DSR < {AUGMENTED}", "holds"),
        (f"{ADAPTED} < {G_DSR}", "holds"),
        (f"{AUGMENTED} < {G_DSR}", "holds"),
        (f"{BOTH} < {G_DSR}", "holds"),
    ]


def test_p_is_corrected_over_the_steps() -> None:
    """Six questions of forty are better: 2 of 64 ways are as far apart, which is sure of one step, not of five."""
    low, better = [0.25] * 40, [0.25] * 34 + [0.5] * 6
    assert steps([row(BM25, low), row(EXPANDED, better)]) == {"BM25 < docT5query": "holds"}
    five = [row(BM25, low), row(EXPANDED, better), row(DSR, low), row(ADAPTED, better), row(G_DSR, low)]
    assert steps(five) == {
        "BM25 < docT5query": "holds on average, not surely",
        "BM25 < DSR": "equal",
        "docT5query < DSR": "does not hold on average",
        f"DSR < {ADAPTED}": "holds on average, not surely",
        f"{ADAPTED} < {G_DSR}": "does not hold on average",
    }
    (told,) = order_told(five)
    for line in told.splitlines()[2:]:
        p = float(line.split("p = ")[1].removesuffix(" after Holm)"))
        assert p == pytest.approx(1 if "**equal**" in line else 5 * 2 / 64, abs=0.02)


def test_each_step_comes_with_its_evidence() -> None:
    (told,) = order_told([row(BM25, [0.25] * 40), row(EXPANDED, [0.5] * 40)])
    assert told == (
        "The order of the paper's main table on R@100, step by step (sure: p below 0.05 after Holm over these "
        "steps):\n\n"
        "- BM25 < docT5query: **holds** (25.0, 50.0; difference +25.0, 95 % +25.0 to +25.0, p = 0.0001 after "
        "Holm)"
    )


def test_a_step_that_does_not_hold_tells_where() -> None:
    """Before on the twenty seen questions, behind on the twenty unseen: no question is partial."""
    seen, unseen = list(QUESTIONS[:20]), list(QUESTIONS[20:])
    strata: dict[Stratum, list[str]] = {"all": [*QUESTIONS], "seen": seen, "unseen": unseen, "partial": []}
    rows = [row(EXPANDED, [0.5] * 40), row(DSR, [0.75] * 20 + [0.0] * 20), row(AUGMENTED, [0.75] * 40)]
    (told,) = order_told(rows, strata)
    first, second = told.splitlines()[2:]
    assert first.endswith("after Holm); seen 50.0, 75.0, unseen 50.0, 0.0")
    assert second.endswith("after Holm)")  # it holds


def test_rows_that_were_not_run_are_no_step() -> None:
    assert order_told([row(BM25, [0.5] * 40), Row(EXPANDED, why="not run here")]) == []
    assert steps([row(BM25, [0.5] * 40), Row(EXPANDED, why="no"), row(DSR, [0.5] * 40), row(ADAPTED, [1.0] * 40)]) == {
        "BM25 < DSR": "equal",
        f"DSR < {ADAPTED}": "holds",
    }


def test_seeds_are_the_scales_unless_given() -> None:
    assert list(seeds_of(Lab("tiny", PLACE))) == [0, 1]
    assert list(seeds_of(Lab("vosdroits", PLACE))) == [0, 1, 2, 3, 4]
    assert list(seeds_of(Lab("vosdroits", PLACE, seeds=1))) == [0]
    assert list(seeds_of(Lab("tiny", PLACE, changes=("seeds=3",)))) == [0, 1, 2]


def test_jobs_come_seed_by_seed_each_after_its_needs() -> None:
    keys = [job.key for job in main_jobs(Lab("tiny", PLACE, questions=PLACE))]
    of_seed = [key for key in keys if key.endswith(("-0", "-1"))]
    assert [key[-1] for key in of_seed] == ["0"] * 7 + ["1"] * 7
    names = {"dpr", "dsr", "dsr-law", "dsr-synthetic", "dsr-both", "g-dsr", "g-dsr-hearing"}
    assert {key[:-2] for key in of_seed} == names
    assert set(keys) - set(of_seed) == {"vocabulary", "general", "law", "dpr-start"}


def test_the_graph_stands_on_the_retriever_with_all_that_came_before() -> None:
    with_questions = retrievers(Lab("tiny", PLACE, questions=PLACE), 1)
    assert with_questions[G_DSR].needs == with_questions[OURS].needs == {"dsr-both-1"}
    without = retrievers(Lab("tiny", PLACE), 1)
    assert set(without) == {DPR, DSR, ADAPTED, G_DSR, OURS}
    assert without[G_DSR].needs == {"dsr-law-1"}
    assert set(retrievers(Lab("vosdroits", PLACE), 0)) == set(with_questions)  # whose questions ship
    assert set(retrievers(Lab("vosdroits-disjoint", PLACE), 0)) == set(without)  # not those of another split


def test_final_models_learn_from_dev_too_and_are_other_jobs() -> None:
    learned = {job.key: job for job in main_jobs(Lab("tiny", PLACE))}
    final = {job.key: job for job in main_jobs(Lab("tiny", PLACE, train_on="train+dev"))}
    shared = {"vocabulary", "general", "law", "dpr-start"}
    assert learned.keys() & final.keys() == shared
    assert all(learned[key] == final[key] for key in shared)
    assert {job.data for key, job in final.items() if key not in shared} == {"train+dev"}
    assert {key.removesuffix("-final") for key in final} == set(learned)
    assert final["g-dsr-0-final"].needs == {"dsr-law-0-final"}


@pytest.fixture
def light(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the rows that ship, whose models the tests of every experiment load."""
    monkeypatch.setattr(main_table, "_shipped_rows", lambda scoring: [Row(label) for label in (WALK, SHIPPED, ENGINE)])


@pytest.mark.usefixtures("light")
def test_what_was_not_run_is_told_with_what_to_type(tmp_path: Path) -> None:
    report = main(Lab("tiny", tmp_path))
    assert report.title == "Retrieval on tiny, test"
    why = {one["label"]: one["why"] for one in report.data["rows"]}
    trained = (DPR_ZERO, DPR, DSR, ADAPTED, G_DSR, OURS)
    assert {why.pop(label) for label in trained} == {UNTRAINED}
    assert {why.pop(label) for label in (BM25, WALK, SHIPPED, ENGINE)} == {""}
    for label in (EXPANDED, AUGMENTED, BOTH):
        told = why.pop(label)
        assert "it needs synthetic questions of this law" in told
        assert "lexarbor experiment main --benchmark tiny --questions FILE" in told
    ((label, told),) = why.items()
    assert label == "DPR from etalab-ia/dpr-question_encoder-fr_qa-camembert"
    assert "lexarbor experiment main --benchmark tiny --scale paper" in told
    table, comparisons = report.tables
    assert [one[0] for one in table.rows] == [one["label"] for one in report.data["rows"]]
    assert len(table.notes) == 10
    assert [one[0] for one in comparisons.rows] == [BM25]
    learned, chosen = report.told  # no step can be told of
    assert chosen == "What is not learned here (BM25's k1 and b) was chosen on vosdroits."
    assert learned.startswith("Models learned from train.")


@pytest.mark.parametrize(
    ("benchmark", "scale", "told"),
    [
        ("vosdroits", "small", None),
        ("vosdroits", "paper", None),
        ("bsard", "paper", None),  # all that is not learned is the paper's
        ("bsard", "small", "(recipes) was chosen on vosdroits."),
        ("travail", "small", "(BM25's k1 and b, recipes) was chosen on vosdroits."),
        (
            "vosdroits-disjoint",
            "small",
            "(BM25's k1 and b, recipes) was chosen on vosdroits, which has questions of this test among those that it "
            "was chosen by.",
        ),
    ],
)
def test_it_says_what_was_chosen_elsewhere(benchmark: str, scale: str, told: str | None) -> None:
    _, *found = main_table._told(Lab(benchmark, PLACE, scale=scale))
    assert found == ([f"What is not learned here {told}"] if told else [])


@pytest.mark.usefixtures("light")
def test_at_the_papers_scale_dpr_is_a_row_that_is_trained(tmp_path: Path) -> None:
    labels = [one["label"] for one in main(Lab("tiny", tmp_path, scale="paper", seeds=1)).data["rows"]]
    assert labels[2:4] == [DPR_ZERO, DPR]
    assert not any(label.startswith("DPR from") for label in labels)


def test_dpr_of_the_hub_is_ranked_as_it_comes_by_one_job_whatever_others_learn_from() -> None:
    for train_on in ("train", "train+dev"):
        jobs = {job.key: job for job in main_jobs(Lab("tiny", PLACE, scale="paper", seeds=1, train_on=train_on))}
        untrained = jobs["dpr-untrained"]
        assert (untrained.trained, untrained.data, untrained.asked) == (False, "train", ())
        trained = jobs["dpr-0" if train_on == "train" else "dpr-0-final"]
        for key in ("start", "article_start", "encoder"):
            assert untrained.recipe[key] == trained.recipe[key]
        assert [job.key for job in jobs.values() if not job.trained] == ["dpr-untrained"]
    assert all(job.trained for job in main_jobs(Lab("tiny", PLACE)))  # what DPR begins from has learned something


@pytest.mark.usefixtures("light")
def test_every_seed_of_a_row_is_scored_on_the_split(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: dict[str, tuple[list[str], list[str]]] = {}

    def of_jobs(self: Scoring, label: str, jobs: Sequence, *, over: Sequence = ()) -> Row:  # type: ignore[type-arg]
        assert self.split == "test"
        asked[label] = [job.key for job in jobs], [job.key for job in over]
        return Row(label)

    monkeypatch.setattr(Scoring, "of_jobs", of_jobs)
    report = main(Lab("tiny", tmp_path, questions=None, train_on="train+dev", seeds=3))
    assert asked[DPR_ZERO] == (["dpr-start"], [])
    assert asked[DSR] == (["dsr-0-final", "dsr-1-final", "dsr-2-final"], [])
    assert asked[G_DSR][0] == ["g-dsr-0-final", "g-dsr-1-final", "g-dsr-2-final"]
    assert asked[G_DSR][1] == asked[OURS][1] == [f"dsr-law-{seed}-final" for seed in range(3)]
    assert report.told[0].startswith("Models learned from train+dev.")


@pytest.mark.usefixtures("light")
def test_each_row_is_compared_with_the_one_that_it_adds_to(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def scored(self: Scoring, label: str, *of: object, **more: object) -> Row:
        shape = (1, len(self.gold))
        return Row(label, (Scores(("recall@100",), tuple(self.gold), np.full(shape, 0.5)),))

    monkeypatch.setattr(Scoring, "of_jobs", scored)
    monkeypatch.setattr(Scoring, "of_system", scored)
    monkeypatch.setattr(main_table, "data_of", lambda rows: {})
    monkeypatch.setattr(Scoring, "table", lambda *made: None)

    def against(lab: Lab) -> dict[object, object]:
        _, comparisons = main(lab).tables
        return {one[0]: one[comparisons.columns.index("Against")] for one in comparisons.rows}

    assert against(Lab("tiny", tmp_path, questions=tmp_path)) == {
        BM25: None,
        EXPANDED: BM25,
        DPR_ZERO: None,
        DPR: DPR_ZERO,
        DSR: EXPANDED,
        ADAPTED: DSR,
        AUGMENTED: DSR,
        BOTH: ADAPTED,
        G_DSR: BOTH,
        OURS: BOTH,
    }
    without = {BM25: None, DPR_ZERO: None, DPR: DPR_ZERO, DSR: BM25, ADAPTED: DSR, G_DSR: ADAPTED, OURS: ADAPTED}
    assert against(Lab("tiny", tmp_path)) == without  # no synthetic questions: the row below the one that is missing
