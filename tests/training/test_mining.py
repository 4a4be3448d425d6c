"""Mined negatives: what the model likes and nobody labelled."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tiny_supervision import recipe, retriever, tiny

from lexarbor.errors import TrainingError
from lexarbor.supervision.folder import Pair
from lexarbor.training.mining import hard_negatives, mine, read_mined
from lexarbor.training.ranking import article_vectors, question_vectors, rank


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("mining")
    retriever(made / "bert").save(made / "model")
    return made


def test_the_best_ranked_that_nobody_knows_to_answer(folder: Path) -> None:
    supervision = tiny()
    pairs = [*supervision.pairs[:3], Pair("sentence", supervision.pairs[0].question.upper(), ("VALARTI0001",))]
    held = replace(supervision, pairs=pairs)
    assert mine(folder / "model", held, folder / "mined.jsonl", kinds=["gold"], depth=4, skip=2) == 3
    lines = [json.loads(line) for line in (folder / "mined.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["pair"] for line in lines] == [0, 1, 2]
    model = retriever(folder / "bert")
    texts = [pair.question for pair in pairs[:3]]
    ranked = rank(question_vectors(model, "012", texts), article_vectors(model, held.articles), "cosine", 97).ids()
    for line, ids, pair in zip(lines, ranked, pairs, strict=False):
        known = {*pair.positives, *(("VALARTI0001",) if line["pair"] == 0 else ())}
        assert line["negatives"] == [id for id in ids if id not in known][2:6]
    assert read_mined(folder / "mined.jsonl", held) == {line["pair"]: line["negatives"] for line in lines}


def test_all_kinds_where_none_is_named(folder: Path) -> None:
    held = replace(tiny(), pairs=tiny().pairs[:2] + tiny().pairs[-1:])
    assert mine(folder / "model", held, folder / "all.jsonl", depth=1) == 3
    with pytest.raises(TrainingError, match="no pairs of the kind 'silver'"):
        mine(folder / "model", held, folder / "none.jsonl", kinds=["silver"])
    assert not (folder / "none.jsonl").exists()


def test_a_recipe_says_where_negatives_come_from(folder: Path) -> None:
    held = tiny()
    assert hard_negatives(held, recipe().supervision)[0] == held.pairs[0].negatives
    assert hard_negatives(held, recipe(supervision={"negatives": "none"}).supervision) == {}
    assert hard_negatives(held, recipe(supervision={"hard_negatives": 0}).supervision) == {}
    mine(folder / "model", held, folder / "gold.jsonl", kinds=["gold"], depth=2)
    mined = hard_negatives(held, recipe(supervision={"negatives": str(folder / "gold.jsonl")}).supervision)
    assert {len(ids) for ids in mined.values()} == {2}


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"pair": 0, "question": "Autre ?", "negatives": []}', "mined for another supervision folder"),
        ('{"pair": 999999, "question": "Autre ?", "negatives": []}', "mined for another supervision folder"),
        ('{"pair": 0, "question": QUESTION, "negatives": ["Z9"]}', "names the passage 'Z9'"),
        ('{"negatives": []}', "line 1: holds no mined negatives"),
        ("[]", "line 1: holds no mined negatives"),
        ("{", "cannot be read"),
    ],
)
def test_a_file_that_does_not_fit_is_told_of(tmp_path: Path, line: str, told: str) -> None:
    held = tiny()
    path = tmp_path / "mined.jsonl"
    path.write_text(line.replace("QUESTION", json.dumps(held.pairs[0].question)), encoding="utf-8")
    with pytest.raises(TrainingError, match=told):
        read_mined(path, held)


def test_a_file_that_is_missing_is_told_of(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="no such file of mined negatives"):
        read_mined(tmp_path / "none.jsonl", tiny())
