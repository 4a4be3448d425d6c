"""A whole run scored, with golden numbers from an independent implementation."""

from collections.abc import Callable

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import AP, R, Rprec, nDCG

from lexarbor.errors import EvaluationError
from lexarbor.evaluation import MEASURES, Scores, evaluate, recall_curve

GOLDEN = {
    "recall@10": R @ 10,
    "recall@100": R @ 100,
    "recall@200": R @ 200,
    "recall@500": R @ 500,
    "map": AP @ 500,
    "map@100": AP @ 100,
    "mrp": Rprec,
    "ndcg@10": nDCG @ 10,
}

RUN = {
    "q1": [("a", 3.0), ("b", 2.0), ("c", 1.0)],
    "q2": [("b", 1.0), ("a", 1.0)],
    "unjudged": [("a", 1.0), ("a", 1.0)],
}
GOLD = {"q1": {"b"}, "q2": {"a", "z"}, "unanswered": {"a"}}


def random_case(seed: int) -> tuple[dict[str, dict[str, float]], dict[str, frozenset[str]]]:
    """A run without ties, some questions of it short or missing, and judgements of 1 to 40 articles."""
    rng = np.random.default_rng(seed)
    articles = np.array([f"A{number}" for number in range(900)])
    run, gold = {}, {}
    for number in range(25):
        question = f"q{number}"
        chosen = rng.choice(articles, size=int(rng.integers(1, 41)), replace=False)
        gold[question] = frozenset(map(str, chosen))
        if number % 9 == 8:
            continue
        ranked = rng.choice(articles, size=int(rng.choice([3, 60, 700])), replace=False)
        scores = rng.permutation(ranked.size) + 2.0 * ranked.size * np.isin(ranked, chosen) * rng.integers(
            0, 2, ranked.size
        )
        run[question] = dict(zip(map(str, ranked), map(float, scores), strict=True))
    return run, gold


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_question_agrees_with_ir_measures(seed: int) -> None:
    """Golden numbers: ir_measures (pytrec_eval), which like us divides by every judged question."""
    run, gold = random_case(seed)
    ours = evaluate({question: list(articles.items()) for question, articles in run.items()}, gold)
    judged = {question: dict.fromkeys(articles, 1) for question, articles in gold.items()}
    names = {str(measure): name for name, measure in GOLDEN.items()}
    compared = 0
    for metric in ir_measures.iter_calc(list(GOLDEN.values()), judged, run):
        value = ours[names[str(metric.measure)]][ours.questions.index(metric.query_id)]
        assert value == pytest.approx(metric.value, abs=1e-9), metric
        compared += 1
    assert compared == len(GOLDEN) * len(gold)
    means = ir_measures.calc_aggregate(list(GOLDEN.values()), judged, run)
    assert ours.means() == pytest.approx({names[str(measure)]: value for measure, value in means.items()})


def test_by_hand() -> None:
    scores = evaluate(RUN, GOLD, ["recall@10", "map", "mrp"])
    assert scores.questions == ("q1", "q2", "unanswered")
    assert scores["recall@10"].tolist() == [1, 0.5, 0]
    assert scores["map"].tolist() == [0.5, 0.5, 0]  # the tie of q2 goes to "a"
    assert scores["mrp"].tolist() == [0, 0.5, 0]
    assert scores.means() == pytest.approx({"recall@10": 0.5, "map": 1 / 3, "mrp": 1 / 6})


def test_a_missing_question_counts_zero_and_an_unjudged_one_is_ignored() -> None:
    assert evaluate({}, GOLD).means() == dict.fromkeys(MEASURES, 0)
    assert "unjudged" not in evaluate(RUN, GOLD).questions


def test_select_keeps_the_questions_asked_for_in_their_order() -> None:
    part = evaluate(RUN, GOLD, ["recall@10", "recall@10"]).select(["q2", "q1"])
    assert (part.measures, part.questions) == (("recall@10",), ("q2", "q1"))
    assert part["recall@10"].tolist() == [0.5, 1]
    assert part.mean("recall@10") == 0.75


def test_the_recall_curve_passes_through_the_recalls() -> None:
    run, gold = random_case(3)
    ranked = {question: list(articles.items()) for question, articles in run.items()}
    curve, scores = recall_curve(ranked, gold), evaluate(ranked, gold)
    assert curve.shape == (500,)
    for k in (10, 100, 200, 500):
        assert curve[k - 1] == pytest.approx(scores.mean(f"recall@{k}"))
    assert (np.diff(curve) >= 0).all()


def test_the_recall_curve_never_passes_one() -> None:
    gold = {f"q{size}": frozenset(map(str, range(size))) for size in range(1, 50)}
    run = {question: [(article, 1.0) for article in articles] for question, articles in gold.items()}
    assert recall_curve(run, gold).max() <= 1


@settings(deadline=None)
@given(st.permutations(range(30)), st.sets(st.integers(0, 40), min_size=1))
def test_the_order_of_the_input_does_not_matter(shuffled: list[int], gold: set[int]) -> None:
    judged = {"q": {str(article) for article in gold}}
    expected = evaluate({"q": [(str(article), article % 7) for article in range(30)]}, judged)
    scores = evaluate({"q": [(str(article), article % 7) for article in shuffled]}, judged)
    assert scores.values.tolist() == expected.values.tolist()


@pytest.mark.parametrize(
    ("refused", "message"),
    [
        (lambda: evaluate(RUN, {}), "no question has judgements"),
        (lambda: evaluate(RUN, {"q1": set()}), "question 'q1' has no relevant article"),
        (lambda: evaluate(RUN, {"unjudged": {"a"}}), "question 'unjudged': article 'a' is ranked twice"),
        (lambda: evaluate({"q1": [("a", float("nan"))]}, GOLD), "question 'q1': the score of article 'a'"),
        (lambda: evaluate(RUN, GOLD, ["mrr"]), "unknown measure 'mrr'; expected one of: recall@10"),
        (lambda: evaluate(RUN, GOLD, ["map"])["mrp"], "measure 'mrp' was not scored; there are: map"),
        (lambda: evaluate(RUN, GOLD).select(["q1", "q9"]), "question 'q9' was not scored"),
        (lambda: evaluate(RUN, GOLD).select([]).mean("map"), "no question to average 'map' over"),
        (lambda: recall_curve(RUN, GOLD, depth=0), "depth 0 has no point"),
        (lambda: Scores(("map",), ("q1",), np.zeros((2, 1))), r"shape \(2, 1\); expected \(1, 1\)"),
    ],
)
def test_what_cannot_be_scored_is_refused(refused: Callable[[], object], message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        refused()
