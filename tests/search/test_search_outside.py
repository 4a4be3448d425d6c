"""Whether a question's answer lies outside the law that is held."""

import json
from math import exp
from pathlib import Path
from statistics import fmean, pstdev

import numpy as np
import pytest

from lexarbor.errors import ModelError
from lexarbor.search import outside
from lexarbor.search.outside import FEATURES, Judge, Outside, codes_of, judged, outside_features, read_judge
from lexarbor.search.recollection import Recollection, Remembered
from lexarbor.search.scoring import Scored

INSIDE = [number / 100 for number in range(30)]
BEYOND = [0.5 + number / 200 for number in range(24)]
DENSE = [(number * 37 % 70) / 100 - 0.2 for number in range(70)]
BM25 = [0.0] * 67 + [2.5, 7.5, 1.0]
EVERYDAY = [0.0] * 66 + [6.0, 6.0, 4.5, 4.5]


def scored(likeness: list[float] | None = None, **legs: list[float]) -> Scored:
    """A question with these scores; the first 30 remembered questions are inside."""
    told = legs or {"dense": DENSE, "bm25": BM25, "everyday": EVERYDAY}
    near = None if likeness is None else np.array(likeness, dtype=np.float32)
    found = {leg: np.array(values, dtype=np.float32) for leg, values in told.items()}
    return Scored(found, np.zeros(70, dtype=np.float32), None, near, ("chien", "chat", "_chat"), "chien chat")


def remembered(elsewhere: list[tuple[str, ...] | None]) -> Recollection:
    questions = [Remembered(f"F{row}", elsewhere=codes) for row, codes in enumerate(elsewhere)]
    vectors = np.zeros((len(questions), 2), dtype=np.float32)
    return Recollection(questions, vectors, np.zeros((0, 3), dtype=np.int32), 70)


BOTH = remembered([*[None] * len(INSIDE), *[("Code civil",)] * len(BEYOND)])


def best(values: list[float], many: int) -> list[float]:
    return sorted(values, reverse=True)[:many]


def test_features_by_hand() -> None:
    found = outside_features(scored([*INSIDE, *BEYOND]), BOTH.outside)
    spread, mean = pstdev(DENSE), fmean(DENSE)
    expected = {
        "nearest inside": 0.29,
        "few inside": 0.27,
        "many inside": fmean(best(INSIDE, 20)),
        "nearest outside": 0.615,
        "few outside": 0.605,
        "many outside": fmean(best(BEYOND, 20)),
        "dense best": 0.49,
        "dense few": 0.47,
        "dense many": fmean(best(DENSE, 50)),
        "dense best apart": (0.49 - mean) / spread,
        "dense many apart": (fmean(best(DENSE, 50)) - mean) / spread,
        "dense mean": mean,
        "dense spread": spread,
        "bm25 best": 7.5,
        "bm25 best by word": 2.5,
        "everyday best": 6.0,
        "everyday best by word": 2.0,
        "words": 3,
    }
    assert tuple(expected) == FEATURES
    assert found == pytest.approx(list(expected.values()), abs=1e-5)


def test_a_law_smaller_than_the_many_is_looked_at_whole() -> None:
    few = scored([*INSIDE, *BEYOND], dense=[0.25, 0.75], bm25=[0.0, 0.0], everyday=[0.0, 0.0])
    found = outside_features(few, BOTH.outside)
    assert found is not None
    told = dict(zip(FEATURES, found.tolist(), strict=True))
    assert (told["dense best"], told["dense few"], told["dense many"]) == (0.75, 0.5, 0.5)
    assert (told["bm25 best"], told["bm25 best by word"]) == (0, 0)


@pytest.mark.parametrize(
    "question",
    [
        scored(),
        scored([*INSIDE, *BEYOND], bm25=BM25, everyday=EVERYDAY),
        scored([*INSIDE, *BEYOND], dense=DENSE, everyday=EVERYDAY),
        scored([*INSIDE, *BEYOND], dense=DENSE, bm25=BM25),
        scored([*INSIDE, *BEYOND], memory=BM25),
    ],
    ids=["no memory", "no dense leg", "no words", "no everyday questions", "memory alone"],
)
def test_without_a_leg_that_is_needed_there_is_nothing_to_look_at(question: Scored) -> None:
    assert outside_features(question, BOTH.outside) is None


@pytest.mark.parametrize(("inside", "beyond"), [(19, 20), (20, 19), (0, 40)])
def test_too_few_remembered_questions_of_either_kind_tell_nothing(inside: int, beyond: int) -> None:
    marks = np.array([False] * inside + [True] * beyond)
    assert outside_features(scored([0.5] * (inside + beyond)), marks) is None
    assert outside_features(scored([0.5] * 40), np.array([False] * 20 + [True] * 20)) is not None


def test_a_chance_is_logistic() -> None:
    judge = Judge((0.5, -1.0), 0.25, 0.5)
    assert judge.chance(np.array([2, 1], dtype=np.float32)) == pytest.approx(1 / (1 + exp(-0.25)))


def judge_by(monkeypatch: pytest.MonkeyPatch, threshold: float) -> None:
    """A judge that looks at the nearest of both kinds alone."""
    weights = tuple({"nearest inside": -1.0, "nearest outside": 1.0}.get(name, 0.0) for name in FEATURES)
    monkeypatch.setattr(outside, "shipped_judge", lambda: Judge(weights, 0.0, threshold))


def test_what_is_above_the_threshold_is_said_with_the_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = 1 / (1 + exp(-(0.615 - 0.29)))
    judge_by(monkeypatch, chance - 0.001)
    found = judged(scored([*INSIDE, *BEYOND]), BOTH)
    assert found is not None
    assert found == Outside(pytest.approx(chance, abs=1e-6), ("Code civil",))  # type: ignore[arg-type]
    judge_by(monkeypatch, chance + 0.001)
    assert judged(scored([*INSIDE, *BEYOND]), BOTH) is None


def test_nothing_is_said_without_a_memory_or_a_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    judge_by(monkeypatch, 0.0)
    assert judged(scored([*INSIDE, *BEYOND]), BOTH) is not None
    assert judged(scored([*INSIDE, *BEYOND]), None) is None
    assert judged(scored(), BOTH) is None
    monkeypatch.setattr(outside, "shipped_judge", lambda: None)
    assert judged(scored([*INSIDE, *BEYOND]), BOTH) is None


def test_the_codes_of_the_five_nearest_are_named_the_likeliest_first() -> None:
    elsewhere: list[tuple[str, ...] | None] = [
        None,  # inside, and nearest of all
        ("Code rural",),
        ("Code civil", "Code pénal"),
        ("Code civil",),
        ("Code pénal", "Code de la route"),
        (),
    ]
    likeness = np.array([1, 0.9, 0.8, 0.7, 0.6, 0.5], dtype=np.float32)
    # rural 0.9⁴ = 0.656, civil 0.8⁴ + 0.7⁴ = 0.650, pénal 0.8⁴ + 0.6⁴ = 0.539, route 0.6⁴ = 0.130
    assert codes_of(remembered(elsewhere), likeness) == ("Code rural", "Code civil", "Code pénal")
    six = remembered([("Code civil",)] * 5 + [("Code rural",)])
    assert codes_of(six, np.array([0.9] * 5 + [0.8], dtype=np.float32)) == ("Code civil",)
    assert codes_of(remembered([None, ()]), np.ones(2, dtype=np.float32)) == ()
    assert codes_of(remembered([None]), np.ones(1, dtype=np.float32)) == ()


def test_codes_as_likely_are_named_in_the_order_of_the_nearest() -> None:
    found = codes_of(remembered([("B", "A"), ("C",), ("D",)]), np.array([0.5, 0.5, -0.5], dtype=np.float32))
    assert found == ("B", "A", "C")


def write(path: Path, **changes: object) -> Path:
    told = {"format": "lexarbor-outside/1", "weights": dict.fromkeys(FEATURES, 0.5), "bias": 1, "threshold": 0.9}
    path.write_text(json.dumps(told | changes), encoding="utf-8")
    return path


def test_a_judge_is_read_with_its_weights_in_the_order_of_the_features(tmp_path: Path) -> None:
    weights = {name: float(place) for place, name in enumerate(FEATURES)}
    turned = dict(reversed(weights.items()))
    assert read_judge(write(tmp_path / "judge.json", weights=turned)) == Judge(tuple(weights.values()), 1.0, 0.9)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "lexarbor-outside/9"}, "its format is 'lexarbor-outside/9', this version reads"),
        ({"weights": {"words": 1}}, r"nothing that can be read \('nearest inside'\); install Lexarbor again"),
        ({"weights": [1, 2]}, "nothing that can be read"),
        ({"bias": None}, "nothing that can be read"),
        ({"threshold": "often"}, "nothing that can be read .*often"),
    ],
)
def test_a_judge_that_is_none_is_refused_by_file(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    with pytest.raises(ModelError, match=rf"judge\.json: {message}"):
        read_judge(write(tmp_path / "judge.json", **changes))


@pytest.mark.parametrize("content", ["", "[]", "3", '{"weights": {}}'])
def test_other_json_is_no_judge(tmp_path: Path, content: str) -> None:
    (tmp_path / "judge.json").write_text(content, encoding="utf-8")
    with pytest.raises(ModelError, match=r"judge\.json: nothing that can be read"):
        read_judge(tmp_path / "judge.json")
    with pytest.raises(ModelError, match=r"absent\.json: nothing that can be read"):
        read_judge(tmp_path / "absent.json")


def test_the_shipped_judge_can_be_read() -> None:
    judge = outside.shipped_judge()
    assert judge is not None and len(judge.weights) == len(FEATURES) and 0 < judge.threshold < 1
    assert outside.shipped_judge() is judge
