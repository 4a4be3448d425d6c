"""Rows of a table: a model over its seeds, a system by name, or what was not run here and how to run it.

Systems are imported late: what is trained is known here too on a machine that can only train.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from lexarbor.errors import LexarborError
from lexarbor.evaluation import MEASURES as KNOWN
from lexarbor.evaluation import (
    STRATA,
    Cell,
    Run,
    ScoredArticle,
    Scores,
    Table,
    bootstrap_interval,
    compare,
    evaluate,
    holm,
    means_by_stratum,
    recall_curve,
    strata,
)
from lexarbor.evaluation.tables import percent
from lexarbor.experiments.jobs import Job, check_jobs, order_of, ranking_path, read_facts, read_made
from lexarbor.experiments.lab import Lab
from lexarbor.files import sha256

MEASURES = ("recall@10", "recall@100", "recall@200", "recall@500", "map", "map@100", "mrp", "ndcg@10")
SHOWN = ("recall@100", "recall@200", "recall@500", "map", "mrp")
"""The paper's columns."""
MAIN = "recall@100"
UNTRAINED = "not trained in this work folder; the command above trains it, without --only report"


@dataclass(frozen=True)
class Row:
    """One line of a table."""

    label: str
    seeds: tuple[Scores, ...] = ()
    curve: NDArray[np.float64] | None = None
    """R@1 to R@500, a mean over the seeds."""
    parameters: int | None = None
    seconds: float | None = None
    """Of training, for one seed; without what several systems begin from."""
    why: str = ""
    """Why there are no figures, or fewer, and what to type for them."""
    told: dict[str, Any] = field(default_factory=dict)
    """Of its jobs, what the report keeps."""

    @property
    def scores(self) -> Scores | None:
        """Question by question, the mean over the seeds."""
        if not self.seeds:
            return None
        first = self.seeds[0]
        return Scores(first.measures, first.questions, np.mean([one.values for one in self.seeds], axis=0))

    def mean(self, measure: str) -> float | None:
        return None if self.scores is None else float(self.scores.mean(measure))

    def deviation(self, measure: str) -> float | None:
        """Over the seeds, of a sample."""
        if len(self.seeds) < 2:
            return None
        return float(np.std([one.mean(measure) for one in self.seeds], ddof=1))


class Scoring:
    """A split's questions, and how rows are scored on them."""

    def __init__(self, lab: Lab, split: str) -> None:
        self.lab, self.split = lab, split
        self.gold = lab.benchmark.questions.gold([split])
        splits = lab.benchmark.training.splits
        learned = [part for part in lab.train_on.split("+") if part in splits]
        self.strata = strata(self.gold, lab.benchmark.training.positives(learned) if learned else frozenset())
        from lexarbor.experiments.systems import in_order

        self._ids = [article.id for article in in_order(lab.benchmark.law)]

    def of_jobs(self, label: str, jobs: Sequence[Job], *, over: Sequence[Job] = ()) -> Row:
        """A model over its seeds; `over` are the retrievers whose vectors it enriches, whose parameters count too."""
        done = [job for job in jobs if job.is_done(self.lab.work)]
        if not done:
            why = next((job.failure(self.lab.work) for job in jobs if job.failure(self.lab.work)), "")
            return Row(label, why=why.splitlines()[0] if why else UNTRAINED)
        check_jobs(done, self.lab.work)
        facts = [read_facts(self.lab.work, job.key) for job in done]
        runs = [self._run(job, one) for job, one in zip(done, facts, strict=True)]
        held = next((job for job in over if job.is_done(self.lab.work)), None)  # a seed may have failed
        below = read_facts(self.lab.work, held.key)["parameters"] if held else 0
        told = {
            job.key: {name: one[name] for name in ("seconds", "steps", "parameters", "device")}
            | {"recipe": read_made(self.lab.work, job.key)["recipe"]}
            for job, one in zip(done, facts, strict=True)
        }
        seconds = float(np.mean([one["seconds"] for one in facts]))
        why = ""
        if missing := [job for job in jobs if job not in done]:
            reason = missing[0].failure(self.lab.work).partition("\n")[0] or UNTRAINED
            why = f"without {', '.join(job.key for job in missing)}: {reason}"
        return self._row(label, runs, parameters=facts[0]["parameters"] + below, seconds=seconds, why=why, told=told)

    def of_system(self, label: str, name: str, *, parameters: int | None = None) -> Row:
        """A system that is not trained here. What cannot be built says why."""
        from lexarbor.experiments.evaluation import learned_by
        from lexarbor.experiments.systems import DOC2QUERY, build_system, run

        own = name in DOC2QUERY and self.lab.questions is not None  # nothing that ships stands in it
        if not own and (known := learned_by(name) & self.gold.keys()):
            return Row(label, why=f"not scored, what ships has learned from {len(known)} of these questions")
        try:
            ranker = build_system(name, self.lab.benchmark, questions=self.lab.questions)
        except LexarborError as error:
            return Row(label, why=str(error))
        found = run(ranker, self.lab.benchmark.questions.split(self.split))
        return self._row(label, [found], parameters=parameters, told={"system": name})

    def _row(self, label: str, runs: Sequence[Run], **more: Any) -> Row:
        curve = np.mean([recall_curve(one, self.gold) for one in runs], axis=0)
        return Row(label, tuple(evaluate(one, self.gold, MEASURES) for one in runs), curve, **more)

    def _run(self, job: Job, facts: Mapping[str, Any]) -> Run:
        path = ranking_path(self.lab.work, job.key)
        if facts["articles"] != order_of(self._ids):
            raise LexarborError(
                f"{path}: ranks the articles of another law than {self.lab.name}'s: give another --work, or remove "
                "what lies there"
            )
        again = f"copy it again, or remove {job.key}.json beside it and train again"
        known = facts.get("ranking")  # facts of earlier versions do not tell
        if known and path.is_file() and sha256(path) != known:
            raise LexarborError(f"{path}: is not the ranking that {job.key}.json beside it tells of; {again}")
        try:
            with np.load(path) as held:
                asked, rows = held["asked"].tolist(), held["rows"].tolist()
        except (OSError, ValueError, KeyError, BadZipFile) as error:
            raise LexarborError(f"{path}: no ranking, or half of one ({error}); {again}") from error
        found = {
            label.split(" ", 1)[1]: [ScoredArticle(self._ids[row], -float(rank)) for rank, row in enumerate(best)]
            for label, best in zip(asked, rows, strict=True)
            if label.startswith(f"{self.split} ")
        }
        if missing := self.gold.keys() - found.keys():
            raise LexarborError(
                f"{path}: has no ranking for {len(missing)} questions of {self.split}: this row was trained to be "
                f"scored on another split; remove {job.key}.json beside it and train again, or give another --work"
            )
        return found

    def table(self, title: str, rows: Sequence[Row]) -> Table:
        """The paper's columns: parameters, recall at three depths, mAP and mRP."""
        columns = ["Model", "Parameters", "Training", *(KNOWN[name].label for name in SHOWN)]
        cells: list[list[Cell]] = []
        for row in rows:
            size = None if row.parameters is None else f"{row.parameters / 1e6:.1f}M"
            time = None if row.seconds is None else f"{row.seconds:.0f} s"
            cells.append([row.label, size, time, *(row.mean(name) for name in SHOWN)])
        notes = [f"{row.label}: {row.why}" for row in rows if row.why]
        chance = 100 / max(len(self._ids), 100)
        notes += [
            f"{row.label}: {'finds nothing' if row.seconds is None else 'did not learn'}, its R@100 is near that of "
            f"chance ({percent(chance)})"
            for row in rows
            if (mean := row.mean(MAIN)) is not None and mean < 3 * chance < 0.5
        ]
        return Table(title, columns, cells, notes)

    def comparisons(self, title: str, rows: Sequence[Row], reference: Callable[[int], int | None]) -> Table:
        """R@100 over seeds and questions, in strata, and against another row: `reference` gives its place, if any."""
        columns = ["Model", "R@100", "Seeds", "Deviation", "95 % interval", *STRATA[1:], "Against", "Difference", "p"]
        found = {}
        for place, row in enumerate(rows):
            other = reference(place)
            if other is not None and row.scores is not None and rows[other].scores is not None:
                found[place] = compare(row.scores, rows[other].scores, MAIN)  # type: ignore[arg-type]
        corrected = holm({str(place): one.p_randomisation for place, one in found.items()})
        cells: list[list[Cell]] = []
        for place, row in enumerate(rows):
            if row.scores is None:
                continue
            whole = bootstrap_interval(row.scores[MAIN])
            means = means_by_stratum(row.scores, self.strata)
            spread = row.deviation(MAIN)
            line: list[Cell] = [row.label, float(whole.mean), len(row.seeds)]
            line.append(None if spread is None else f"{100 * spread:.1f}")  # as text: the largest is not the best
            line.append(f"{100 * whole.low:.1f} to {100 * whole.high:.1f}")
            line += [means[part][MAIN] if self.strata[part] else None for part in STRATA[1:]]
            if place in found:
                apart = found[place].difference
                line += [
                    rows[reference(place) or 0].label,
                    f"{100 * apart.mean:+.1f} ({100 * apart.low:+.1f} to {100 * apart.high:+.1f})",
                ]
                line.append(f"{corrected[str(place)]:.4f}")
            else:
                line += [None, None, None]
            cells.append(line)
        sizes = ", ".join(f"{len(self.strata[part])} {part}" for part in STRATA[1:])
        notes = [
            f"{len(self.gold)} questions ({sizes}: whether their gold articles are gold of a question of "
            f"{self.lab.train_on}; what ships has learned from other supervision besides). "
            "Intervals by bootstrap over questions, p by paired randomisation, "
            "corrected by Holm over the table; figures of several seeds are means, their deviation is of the seeds."
        ]
        return Table(title, columns, cells, notes)


def data_of(rows: Sequence[Row]) -> dict[str, Any]:
    """What a report keeps of its rows, for programs: figures by measure and seed, how each was trained, and what each
    question came to, by which two rows can be compared when their rankings are gone.
    """
    return {
        "rows": [
            {
                "label": row.label,
                "parameters": row.parameters,
                "seconds": row.seconds,
                "why": row.why,
                "figures": {name: row.mean(name) for name in MEASURES} if row.seeds else {},
                "seeds": [{name: float(one.mean(name)) for name in MEASURES} for one in row.seeds],
                "by_question": {MAIN: _by_question(row.scores)} if row.scores is not None else {},
                "jobs": row.told,
            }
            for row in rows
        ]
    }


def _by_question(scores: Scores) -> dict[str, float]:
    return dict(zip(scores.questions, scores[MAIN].round(4).tolist(), strict=True))
