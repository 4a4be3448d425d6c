"""The nearer part of pairs, against a loop over a retriever's own vectors."""

from collections import defaultdict
from dataclasses import replace
from math import floor
from pathlib import Path

import pytest
import torch
from tiny_supervision import retriever, tiny

from lexarbor.errors import ModelError
from lexarbor.supervision.folder import Pair, Passage, Supervision
from lexarbor.text.retriever import DenseStatuteRetriever
from lexarbor.training import nearness
from lexarbor.training.nearness import nearest_pairs


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("nearness")
    retriever(made / "bert").save(made / "model")
    return made / "model"


def with_sheets(supervision: Supervision) -> Supervision:
    """Some pairs of the tiny law, and of two kinds over chapters of sheets whose titles hold the question."""
    law = supervision.articles
    sheets = [
        Passage(f"S{place}", law[place].text, (f"Fiche {place}", f"Chapitre sur {law[place].headings[-1]}"))
        for place in range(9)
    ]
    pairs = [pair for pair in supervision.pairs if pair.kind == "gold"]
    pairs += [Pair("sheet", f"Fiche {place}", (f"S{place}", f"S{(place + 4) % 9}")) for place in range(9)]
    pairs += [Pair("sentence", "Un mot.", (law[place].id,), left_out=law[place].text[:4]) for place in range(7)]
    pairs += [Pair("headings", law[place].headings[-1], (law[place].id, law[0].id), bare=True) for place in range(3, 9)]
    return replace(supervision, passages=sheets, pairs=pairs)


def cosine(model: DenseStatuteRetriever, question: str, text: str) -> float:
    """Of one question and one text, each encoded alone."""
    with torch.no_grad():
        asked = model.encode_question_ids(*model.padded(model.question_ids([question])))[0].double()
        (chunks,) = model.article_ids([text])
        read = model.encode_article_ids(*model.padded(chunks), torch.tensor([len(chunks)]))[0].double()
    return float(asked @ read / (asked.norm() * read.norm()))


def quantile(values: list[float], part: float) -> float:
    """By lines between the sorted values, the first at 0 and the last at 1."""
    ordered, place = sorted(values), part * (len(values) - 1)
    below = floor(place)
    above = min(below + 1, len(values) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


@pytest.mark.parametrize("share", [0.25, 0.5, 0.9])
def test_of_each_kind_the_nearest_part_is_kept(judge: Path, share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = with_sheets(tiny())
    model = DenseStatuteRetriever.load(judge).eval()
    texts = {one.id: one.text for one in (*folder.articles, *folder.passages)}
    headings = {one.id: " > ".join(one.headings) + "\n" for one in folder.articles}  # those of sheets hold the question
    found = [
        [cosine(model, pair.question, ("" if pair.bare else headings.get(id, "")) + texts[id]) for id in pair.positives]
        for pair in folder.pairs
    ]
    by_kind: dict[str, list[float]] = defaultdict(list)
    for pair, values in zip(folder.pairs, found, strict=True):
        by_kind[pair.kind] += values
    least = {kind: quantile(values, 1 - share) for kind, values in by_kind.items()}
    expected = []
    for pair, values in zip(folder.pairs, found, strict=True):
        near = [id for id, value in zip(pair.positives, values, strict=True) if value > least[pair.kind] - 1e-6]
        if near:
            expected.append(replace(pair, positives=tuple(near)))
    monkeypatch.setattr(nearness, "_AT_ONCE", 7)  # as if there were many
    kept = nearest_pairs(folder, folder.pairs, judge, share)
    assert kept == expected
    assert {pair.kind for pair in kept} == {"gold", "sheet", "sentence", "headings"}
    assert len(kept) < len(folder.pairs)  # what is left without a passage is left out
    for kind, values in by_kind.items():
        count = sum(len(pair.positives) for pair in kept if pair.kind == kind)
        assert count == pytest.approx(share * len(values), abs=1)


def test_all_of_a_kind_that_has_one_passage_and_the_whole_of_everything(judge: Path) -> None:
    folder = with_sheets(tiny())
    assert nearest_pairs(folder, folder.pairs, judge, 1.0) == folder.pairs
    only = [pair for pair in folder.pairs if pair.kind == "sentence"][:1]
    assert nearest_pairs(folder, only, judge, 0.01) == only


def test_a_judge_that_is_no_retriever_is_told_of(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no encoder settings to read"):
        nearest_pairs(tiny(), tiny().pairs, tmp_path, 0.5)
