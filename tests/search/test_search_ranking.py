"""Features, their weighted sum and the fusion of ranks, against slow loops over a law of six articles."""

import json
from collections.abc import Mapping, Sequence
from math import log, sqrt
from pathlib import Path
from statistics import fmean, pstdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from six_articles import AROUND, CITATIONS, IDS, LAW, above, heading

from lexarbor.errors import ModelError, SearchError
from lexarbor.search.ranking import (
    LEGS,
    Facts,
    Ranker,
    check_legs,
    features,
    fused,
    read_weights,
    scaled,
    shipped_weights,
    standing_features,
)

COSINES = st.lists(st.floats(-1, 1, width=32), min_size=6, max_size=6)
SCORES = st.lists(st.one_of(st.just(0.0), st.floats(0.125, 30, width=32)), min_size=6, max_size=6)
COUNTS = st.lists(st.integers(0, 50), min_size=6, max_size=6)
POPULAR = (3.0, 0.0, 1.0, 0.0, 7.0, 2.0)


def floats(values: Sequence[float]) -> np.ndarray:
    return np.array(values, dtype=np.float32)


def reference(legs: Mapping[str, Sequence[float]], popularity: Sequence[float] | None) -> dict[str, list[float]]:
    """Every feature, one article after the other."""
    found: dict[str, list[float]] = {}

    def beside(id: str, place: object) -> list[int]:
        return [row for row, other in enumerate(IDS) if place(other) == place(id)]  # type: ignore[operator]

    for leg, scores in legs.items():
        if leg == "dense":  # six articles: all of them are the best
            values = [(score - fmean(scores)) / max(pstdev(scores), 1e-6) for score in scores]
        else:
            values = [score / max(*scores, 1e-9) for score in scores]
        of = dict(zip(IDS, values, strict=True))
        found[leg] = values
        if leg == "everyday":
            found["everyday above best"] = [max(values[row] for row in beside(id, above)) for id in IDS]
            found["everyday above mean"] = [fmean(values[row] for row in beside(id, above)) for id in IDS]
            continue
        found[f"{leg} section best"] = [max(values[row] for row in beside(id, heading)) for id in IDS]
        found[f"{leg} section mean"] = [fmean(values[row] for row in beside(id, heading)) for id in IDS]
        found[f"{leg} above mean"] = [fmean(values[row] for row in beside(id, above)) for id in IDS]
        if leg == "bm25":
            found["bm25 citing"] = [max((of[one] for one, other in CITATIONS if other == id), default=0) for id in IDS]
            found["bm25 cited"] = [max((of[other] for one, other in CITATIONS if one == id), default=0) for id in IDS]
        if leg == "memory":
            found["memory root"] = [sqrt(value) for value in values]
    found["section size"] = [log(len(beside(id, heading))) for id in IDS]
    found["length"] = [log(1 + len(LAW.articles[id].text)) for id in IDS]
    if popularity is not None:
        found["popularity"] = [log(1 + count) for count in popularity]
        found["popularity section mean"] = [fmean(popularity[row] for row in beside(id, heading)) for id in IDS]
    return found


def spread(scores: Sequence[float]) -> bool:
    """Whether cosines differ enough for single precision to tell by how much."""
    return pstdev(scores) > 0.01


@given(COSINES.filter(spread), SCORES, SCORES, SCORES, COUNTS)
def test_features_are_those_of_a_loop_over_the_law(
    dense: list[float], bm25: list[float], memory: list[float], everyday: list[float], counts: list[int]
) -> None:
    legs = {"dense": dense, "bm25": bm25, "memory": memory, "everyday": everyday}
    facts = Facts(AROUND, floats(counts))
    found = dict(features({leg: floats(scores) for leg, scores in legs.items()}, facts))
    found |= dict(standing_features(facts))
    expected = reference(legs, counts)
    assert set(found) == set(expected)
    for name, values in found.items():
        assert values.dtype == np.float32, name
        assert values == pytest.approx(expected[name], rel=1e-5, abs=1e-5), name


def test_features_of_one_example_to_the_sixth_digit() -> None:
    legs: dict[str, list[float]] = {
        "dense": [0.5, 0.25, -0.5, 0.75, 0.0, 0.125],
        "bm25": [0, 4, 1, 0, 2, 0],
        "memory": [0, 0, 0.25, 0, 1, 0],
        "everyday": [8, 0, 2, 2, 8, 0],  # of the third section and the second
    }
    facts = Facts(AROUND, floats(POPULAR))
    found = dict(features({leg: floats(scores) for leg, scores in legs.items()}, facts))
    for name, values in (found | dict(standing_features(facts))).items():
        assert values == pytest.approx(reference(legs, POPULAR)[name], abs=1e-6), name
    assert found["bm25"].tolist() == [0, 1, 0.25, 0, 0.5, 0]
    assert found["bm25 section best"].tolist() == [0.5, 1, 0.25, 0.25, 0.5, 0]
    assert found["bm25 section mean"].tolist() == [0.25, 1, 0.125, 0.125, 0.25, 0]
    assert found["bm25 above mean"].tolist() == [0.1875, 0.5, 0.1875, 0.1875, 0.1875, 0.5]
    assert found["bm25 citing"].tolist() == [0, 0.25, 0, 0, 0.5, 0]  # b is cited by a, c and d, e by itself
    assert found["bm25 cited"].tolist() == [1, 0, 1, 1, 0.5, 0]
    assert found["memory root"].tolist() == [0, 0, 0.5, 0, 1, 0]
    assert found["everyday"].tolist() == [1, 0, 0.25, 0.25, 1, 0]
    assert found["everyday above best"].tolist() == [1, 0, 1, 1, 1, 0]  # a, c, d and e stand below the first section
    assert found["everyday above mean"].tolist() == [0.625, 0, 0.625, 0.625, 0.625, 0]


def test_everyday_questions_are_of_sections_and_add_nothing_but_what_stands_above() -> None:
    told = dict(features({"everyday": floats([8, 0, 2, 2, 8, 0])}, Facts(AROUND)))
    assert list(told) == ["everyday", "everyday above best", "everyday above mean"]
    assert (AROUND.section.best(told["everyday"]) == told["everyday"]).all()  # a section says what its articles say


def test_without_a_memory_popularity_is_no_feature() -> None:
    assert [name for name, _ in standing_features(Facts(AROUND))] == ["section size", "length"]


def test_the_dense_leg_is_measured_from_its_mean_in_deviations() -> None:
    scores = np.random.default_rng(0).permutation(np.linspace(-0.2, 0.9, 150)).astype(np.float32)
    expected = [(score - fmean(scores.tolist())) / pstdev(scores.tolist()) for score in scores.tolist()]
    assert scaled("dense", scores) == pytest.approx(expected, abs=1e-5)


def test_the_other_legs_are_measured_by_their_best() -> None:
    assert scaled("bm25", floats([0, 5, 20])).tolist() == [0, 0.25, 1]
    assert scaled("memory", floats([0, 0.5, 0.25])).tolist() == [0, 1, 0.5]
    assert scaled("everyday", floats([0.5, 0, 2])).tolist() == [0.25, 0, 1]


@pytest.mark.parametrize(("leg", "value"), [("dense", 0.5), *((leg, 0) for leg in LEGS)])
def test_scores_that_are_all_alike_tell_nothing_and_break_nothing(leg: str, value: float) -> None:
    assert scaled(leg, np.full(7, value, dtype=np.float32)).tolist() == [0] * 7


@given(COSINES.filter(spread), SCORES, SCORES, SCORES, st.randoms(use_true_random=False))
def test_a_score_is_the_weighted_sum_of_the_features(
    dense: list[float], bm25: list[float], memory: list[float], everyday: list[float], draw: object
) -> None:
    legs = {"dense": floats(dense), "bm25": floats(bm25), "memory": floats(memory), "everyday": floats(everyday)}
    facts = Facts(AROUND, floats(POPULAR))
    told = dict(features(legs, facts)) | dict(standing_features(facts))
    weights = {name: draw.uniform(-3, 3) for name in told}  # type: ignore[attr-defined]
    ranker = Ranker(weights, facts)
    expected = sum(np.float64(weights[name]) * values for name, values in told.items())
    assert ranker.scores(legs) == pytest.approx(expected, rel=1e-4, abs=1e-3)
    assert (ranker.scores(legs) == ranker.scores(legs)).all()  # what no question changes is added once


def textbook(legs: Mapping[str, Sequence[float]]) -> list[float]:
    """Reciprocal rank fusion (Cormack and others, 2009): the sum of 1 / (60 + rank)."""
    found = [0.0] * len(next(iter(legs.values())))
    for leg, scores in legs.items():
        order = sorted(range(len(scores)), key=lambda row: (-scores[row], row))
        ranked = [row for row in order if leg == "dense" or scores[row] > 0]
        for rank, row in enumerate(ranked, start=1):
            found[row] += 1 / (60 + rank)
    return found


@given(COSINES, SCORES, SCORES, SCORES)
def test_fused_ranks_are_the_textbook_s(
    dense: list[float], bm25: list[float], memory: list[float], everyday: list[float]
) -> None:
    legs = {"dense": dense, "bm25": bm25, "memory": memory, "everyday": everyday}
    found = fused({leg: floats(scores) for leg, scores in legs.items()})
    assert found == pytest.approx(textbook(legs), abs=1e-7)


def test_equal_scores_are_fused_in_the_order_of_the_rows() -> None:
    found = fused({"bm25": floats([2, 0, 3, 2]), "memory": floats([0, 0, 0, 0])})
    assert found == pytest.approx([1 / 62, 0, 1 / 61, 1 / 63])
    assert fused({"dense": floats([0.5, 0.5])}) == pytest.approx([1 / 61, 1 / 62])


def test_ranks_behind_the_thousandth_are_not_fused() -> None:
    found = fused({"dense": np.linspace(1, 0, 1200, dtype=np.float32)})
    assert found[:1000] == pytest.approx([1 / (60 + rank) for rank in range(1, 1001)])
    assert not found[1000:].any()


def test_the_shipped_weights_are_those_of_the_features() -> None:
    shipped = shipped_weights()
    for held in (LEGS, ("dense", "bm25", "memory"), ("dense", "bm25", "everyday"), ("dense", "bm25")):
        assert frozenset(held) in shipped  # what an index may hold that was built with the shipped encoder
    for legs, weights in shipped.items():
        facts = Facts(AROUND, floats(POPULAR) if "memory" in legs else None)
        told = features({leg: floats(POPULAR) for leg in legs}, facts)
        assert set(weights) == {name for name, _ in (*told, *standing_features(facts))}
        assert all(np.isfinite(weight) for weight in weights.values())


def test_weights_are_read_by_the_legs_they_are_for(tmp_path: Path) -> None:
    path = tmp_path / "ranker.json"
    rankers = [{"legs": ["bm25", "dense"], "weights": {"dense": 1, "bm25": 0.5}}]
    path.write_text(json.dumps({"format": "lexarbor-ranker/1", "rankers": rankers}), encoding="utf-8")
    assert read_weights(path) == {frozenset({"dense", "bm25"}): {"dense": 1.0, "bm25": 0.5}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "no ranker that can be read"),
        ("[]", "no ranker that can be read"),
        ("{}", r"no ranker that can be read \('format'\)"),
        (
            '{"format": "lexarbor-ranker/9"}',
            "its format is 'lexarbor-ranker/9', this version reads 'lexarbor-ranker/1'",
        ),
        ('{"format": "lexarbor-ranker/1"}', r"no ranker that can be read \('rankers'\)"),
        ('{"format": "lexarbor-ranker/1", "rankers": [3]}', "no ranker that can be read"),
        ('{"format": "lexarbor-ranker/1", "rankers": [{"legs": []}]}', r"no ranker that can be read \('weights'\)"),
        ('{"format": "lexarbor-ranker/1", "rankers": [{"legs": [], "weights": []}]}', "no ranker that can be read"),
        (
            '{"format": "lexarbor-ranker/1", "rankers": [{"legs": [], "weights": {"dense": "much"}}]}',
            "no ranker that can be read .*much",
        ),
    ],
)
def test_weights_that_are_none_are_refused_by_file(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "ranker.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ModelError, match=rf"ranker\.json: {message}"):
        read_weights(path)


def test_weights_that_are_not_there_are_told(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"absent\.json: no ranker that can be read .*; install Lexarbor again"):
        read_weights(tmp_path / "absent.json")


def test_legs_are_those_that_the_index_has() -> None:
    check_legs(("bm25",), ("dense", "bm25"))
    with pytest.raises(SearchError, match=r"unknown leg 'sparse': choose among dense, bm25, memory, everyday$"):
        check_legs(("bm25", "sparse"), LEGS)
    for leg in ("memory", "everyday"):
        with pytest.raises(SearchError, match=f"this index has no leg '{leg}', it has dense, bm25: build it again"):
            check_legs((leg,), ("dense", "bm25"))
    with pytest.raises(SearchError, match="no leg was named: choose among dense, bm25"):
        check_legs((), ("dense", "bm25"))
