"""Scoring a run: every judged question by every measure, and the means that tables print."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lexarbor.errors import EvaluationError
from lexarbor.evaluation.measures import MEASURES, Measure
from lexarbor.evaluation.rankings import Judgements, Rankings, ranks_by_question


@dataclass(frozen=True, eq=False)
class Scores:
    """What each question scored by each measure; `scores["map"]` is one figure a question."""

    measures: tuple[str, ...]
    """Names of the rows."""
    questions: tuple[str, ...]
    """Ids of the columns, in the order of the judgements."""
    values: NDArray[np.float64]
    """(measures, questions), each in [0, 1]."""

    def __post_init__(self) -> None:
        expected = (len(self.measures), len(self.questions))
        if self.values.shape != expected:
            raise EvaluationError(f"scores have shape {self.values.shape}; expected {expected}")

    def __getitem__(self, measure: str) -> NDArray[np.float64]:
        """Return the scores of one measure, in the order of `questions`."""
        if measure not in self.measures:
            raise EvaluationError(f"measure {measure!r} was not scored; there are: {', '.join(self.measures)}")
        row: NDArray[np.float64] = self.values[self.measures.index(measure)]
        return row

    def mean(self, measure: str) -> float:
        """Return the macro average: every question weighs the same. No question at all raises."""
        if not self.questions:
            raise EvaluationError(f"no question to average {measure!r} over: the selection is empty")
        return float(self[measure].mean())

    def means(self) -> dict[str, float]:
        """Return the mean of every measure, by name."""
        return {measure: self.mean(measure) for measure in self.measures}

    def select(self, questions: Iterable[str]) -> "Scores":
        """Keep these questions, in this order."""
        columns = {question: column for column, question in enumerate(self.questions)}
        chosen = tuple(questions)
        unknown = next((question for question in chosen if question not in columns), None)
        if unknown is not None:
            raise EvaluationError(f"question {unknown!r} was not scored: it has no judgements")
        return Scores(self.measures, chosen, self.values[:, [columns[question] for question in chosen]])


def evaluate(run: Rankings, judgements: Judgements, measures: Sequence[str] = tuple(MEASURES)) -> Scores:
    """Score a run by measures named in `MEASURES`.

    Every judged question counts: one missing from the run scores 0. Questions without judgements are ignored.
    """
    names = tuple(dict.fromkeys(measures))
    table = [_measure(name) for name in names]
    ranks = ranks_by_question(run, judgements)
    values = np.empty((len(table), len(ranks)), dtype=np.float64)
    for column, (question, found) in enumerate(ranks.items()):
        gold = len(judgements[question])
        values[:, column] = [measure.score(found, gold) for measure in table]
    return Scores(names, tuple(ranks), values)


def recall_curve(run: Rankings, judgements: Judgements, depth: int = 500) -> NDArray[np.float64]:
    """Return the mean recall at each k from 1 to `depth`: element k - 1 is R@k over all judged questions."""
    if depth < 1:
        raise EvaluationError(f"a recall curve to depth {depth} has no point; expected a depth of 1 or more")
    gains = np.zeros(depth, dtype=np.float64)
    for question, found in ranks_by_question(run, judgements).items():
        gains[[rank - 1 for rank in found if rank <= depth]] += 1 / len(judgements[question])
    # Sums of 1/n may pass 1 by a rounding; a recall may not.
    curve: NDArray[np.float64] = np.minimum(np.cumsum(gains) / len(judgements), 1.0)
    return curve


def _measure(name: str) -> Measure:
    if name not in MEASURES:
        raise EvaluationError(f"unknown measure {name!r}; expected one of: {', '.join(MEASURES)}")
    return MEASURES[name]
