"""Batches: pure functions of their number, fair to kinds and units, and honest about what is known."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tiny_supervision import asking_train, retriever, tiny

from lexarbor.errors import TrainingError
from lexarbor.supervision.folder import Pair, Passage
from lexarbor.supervision.folder import Supervision as Held
from lexarbor.text.inputs import article_input
from lexarbor.text.retriever import DenseStatuteRetriever
from lexarbor.training import tokens
from lexarbor.training.batches import Batch, BatchStream
from lexarbor.training.drawing import Drawn, shares, steps_of
from lexarbor.training.hyperparameters import SupervisionRecipe
from lexarbor.training.mining import hard_negatives
from lexarbor.training.token_pairs import TokenPairs, checked_kinds, tokenise_pairs
from lexarbor.training.tokens import Packed, TokenRows, unpacked

KINDS = {"gold": 1.0, "sentence": 1.0, "headings": 1.0}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> DenseStatuteRetriever:
    return retriever(tmp_path_factory.mktemp("model") / "bert")


def token_pairs(model: DenseStatuteRetriever, folder: Held, supervision: SupervisionRecipe) -> TokenPairs:
    negatives = hard_negatives(folder, supervision)
    return tokenise_pairs(folder, model.tokenizer, model.settings, supervision.kinds, negatives)


def stream(model: DenseStatuteRetriever, folder: Held | None = None, **changes: Any) -> BatchStream:
    options = {name: changes.pop(name) for name in ("batch_size", "devices", "seed", "group") if name in changes}
    several = changes.pop("several_positives", True)
    supervision = SupervisionRecipe(**{"kinds": KINDS, **changes})
    made = token_pairs(model, folder or tiny(), supervision)
    options = {"batch_size": 9, "seed": 0, "batches": 40, **options}
    return BatchStream(made, supervision, several_positives=several, **options)


def equal(one: Batch, other: Batch) -> bool:
    parts = [(one[name][part], other[name][part]) for name in ("questions", "passages") for part in one[name]]  # type: ignore[literal-required]
    parts += [(one[name], other[name]) for name in ("positives", "negatives")]  # type: ignore[literal-required]
    return all(torch.equal(a, b) if isinstance(a, torch.Tensor) else a == b for a, b in parts)


def test_a_batch_depends_on_seed_and_number_alone(model: DenseStatuteRetriever) -> None:
    one, again, other = stream(model), stream(model), stream(model, seed=1)
    forwards = [one[number] for number in range(8)]
    backwards = [again[number] for number in reversed(range(8))][::-1]
    assert all(equal(a, b) for a, b in zip(forwards, backwards, strict=True))
    assert not any(equal(a, b) for a, b in pairwise(forwards))
    assert not equal(one[0], other[0])


def test_every_unit_comes_once_an_epoch_and_none_twice_in_a_batch(model: DenseStatuteRetriever) -> None:
    batches = stream(model, kinds={"gold": 1.0}, batch_size=5)
    questions = len(batches.token_pairs.kinds["gold"])
    drawn = [batches.draw(number).questions.tolist() for number in range(2 * -(-questions // 5))]
    assert all(len(set(batch)) == 5 for batch in drawn)
    for epoch in (drawn[: len(drawn) // 2], drawn[len(drawn) // 2 :]):
        assert {question for batch in epoch for question in batch} == set(range(questions))
    assert drawn[: len(drawn) // 2] != drawn[len(drawn) // 2 :]


def test_more_questions_than_units_repeat_evenly(model: DenseStatuteRetriever) -> None:
    batches = stream(model, kinds={"gold": 1.0}, batch_size=2 * len(tiny().kinds()) + 40)
    counts = Counter(batches.draw(3).questions.tolist())
    assert max(counts.values()) - min(counts.values()) <= 1


def test_kinds_get_their_shares_by_largest_remainder() -> None:
    assert shares({"a": 1, "b": 1, "c": 1}, 10) == {"a": 4, "b": 3, "c": 3}
    assert shares({"a": 5, "b": 3, "c": 2}, 7) == {"a": 4, "b": 2, "c": 1}  # 3.5, 2.1, 1.4
    assert shares({"a": 1, "b": 0}, 4) == {"a": 4}
    with pytest.raises(TrainingError, match="'b' less than one question of a batch of 4"):
        shares({"a": 99, "b": 1}, 4)


def test_adding_a_kind_does_not_change_the_order_of_another(model: DenseStatuteRetriever) -> None:
    alone = stream(model, kinds={"gold": 1.0}, batch_size=3).draw(1).questions
    mixed = stream(model, kinds={"headings": 1.0, "gold": 1.0}, batch_size=6).draw(1).questions
    words = [pair.question for pair in tiny().pairs if pair.kind == "gold"]
    assert [words[row] for row in alone] == [words[row] for row in mixed[3:]]


@pytest.mark.parametrize("in_batch", [True, False])
@pytest.mark.parametrize("mask_known", [True, False])
@pytest.mark.parametrize("several", [True, False])
@pytest.mark.parametrize("unit", ["question", "label"])
def test_masks_are_what_a_plain_loop_says(
    model: DenseStatuteRetriever, in_batch: bool, mask_known: bool, several: bool, unit: str
) -> None:
    options = {"in_batch": in_batch, "mask_known": mask_known, "unit": unit, "hard_negatives": 2}
    batches = stream(model, several_positives=several, batch_size=24, **options)
    for number in range(3):
        drawn = batches.draw(number)
        _check_masks(batches, drawn, number, several)


def _check_masks(batches: BatchStream, drawn: Drawn, number: int, several: bool) -> None:
    held, supervision = batches.token_pairs, batches.supervision
    pairs, _ = batches.draws._drawn_units(number)
    known = [set(held.known.all_of(np.array([question]))[1].tolist()) for question in drawn.questions]
    for row, pair in enumerate(pairs):
        own = set(held.positives.all_of(np.array([pair]))[1].tolist())
        hard = set(held.negatives.all_of(np.array([pair]))[1].tolist())
        marked = {int(drawn.passages[column]) for column in np.flatnonzero(drawn.positives[row])}
        assert marked & own  # what was drawn for it
        if not several:
            assert len(marked) == 1
        for column, passage in enumerate(drawn.passages.tolist()):
            is_known = int(held.passage_of_row[passage]) in known[row]
            positive, negative = drawn.positives[row, column], drawn.negatives[row, column]
            assert not (positive and negative)
            assert not positive or is_known
            if several and is_known and held.as_it_is[passage] and not held.veiled[pair]:
                assert positive
            if supervision.in_batch:
                assert negative == (not positive and not (supervision.mask_known and is_known))
            else:
                assert not negative or passage in hard


def test_hard_negatives_are_drawn_from_the_pairs_list_and_never_known(model: DenseStatuteRetriever) -> None:
    batches = stream(model, kinds={"gold": 1.0}, batch_size=6, in_batch=False, hard_negatives=2)
    for number in range(4):
        drawn = batches.draw(number)
        assert (drawn.negatives.sum(axis=1) == 2).all()


def test_the_same_words_share_what_is_known(model: DenseStatuteRetriever) -> None:
    folder = _folder(
        Pair("gold", "Qui paie ?", ("a",), negatives=("b", "c")),
        Pair("weak", "qui  PAIE ?", ("b",)),
        Pair("other", "Qui paie ?", ("c",)),
        Pair("weak", "Autre chose", ("d",)),
    )
    drawn = stream(model, folder, kinds={"gold": 1, "weak": 2}, batch_size=3, hard_negatives=2)
    assert not len(drawn.token_pairs.negatives.values)  # b and c answer it, says another kind
    batch = drawn.draw(0)
    same = [row for row, question in enumerate(batch.questions) if question == 0]
    assert len(same) == 2
    for row in same:
        assert batch.positives[row].sum() == 2
        assert batch.negatives[row].sum() == 1


def test_what_a_question_was_taken_from_is_not_shown(model: DenseStatuteRetriever) -> None:
    folder = _folder(
        Pair("sentence", "Deux.", ("a",), left_out="Deux."),
        Pair("headings", "Titre", ("a", "b"), bare=True, negatives=("c",)),
        Pair("gold", "Quoi ?", ("a",), negatives=("d",)),
    )
    batches = stream(model, folder, kinds={"sentence": 1, "headings": 1, "gold": 1}, batch_size=3, positives=2)
    expected = {"Titre\nUn. Trois.", "Un. Deux. Trois.", "b", "c", "Titre\nUn. Deux. Trois.", "Titre\nd"}
    assert _texts(batches.token_pairs.passages, model) == {_cleaned(text, model) for text in expected}
    drawn = batches.draw(0)
    readings = {
        (int(held.passage_of_row[row]), bool(held.as_it_is[row])): row
        for held in [batches.token_pairs]
        for row in drawn.passages
    }
    sentence, bare, gold = (int(np.flatnonzero(drawn.questions == question)[0]) for question in range(3))
    whole = list(drawn.passages).index(readings[0, True])
    assert not drawn.positives[sentence, whole] and not drawn.negatives[sentence, whole]
    assert not drawn.positives[bare, whole] and not drawn.negatives[bare, whole]
    assert drawn.positives[gold, whole] and drawn.positives[gold].sum() == 1
    assert drawn.positives[bare].sum() == 2


def test_pairs_that_are_left_out_are_never_drawn(model: DenseStatuteRetriever) -> None:
    folder = tiny()
    held = token_pairs(model, folder, SupervisionRecipe(kinds={"gold": 1, "sentence": 1}, negatives="none"))
    out = frozenset(number for number, pair in enumerate(folder.pairs) if pair.kind == "sentence" or number < 5)
    less = held.without(out - {len(folder.pairs) - 1, 20})
    kept = {int(held.folder_number[pair]) for pairs in less.kinds.values() for pair in pairs}
    wanted = {number for number, pair in enumerate(folder.pairs) if pair.kind in ("gold", "sentence")}
    assert kept == wanted - (out - {20})
    assert held.without(frozenset()) is held
    with pytest.raises(TrainingError, match="every pair of the kind 'sentence' is in the part"):
        held.without(out)


def test_headings_that_are_not_read_need_no_reading_without_them(tmp_path: Path) -> None:
    model = retriever(tmp_path / "bert", headings=False)
    folder = _folder(Pair("headings", "Titre", ("a", "b"), bare=True), Pair("gold", "Quoi ?", ("a",)))
    made = token_pairs(model, folder, SupervisionRecipe(kinds={"headings": 1, "gold": 1}))
    assert len(made.passages) == 2
    assert not made.veiled.any()


def _folder(*pairs: Pair) -> Held:
    texts = {"a": "Un. Deux. Trois.", "b": "b", "c": "c", "d": "d"}
    return Held([Passage(id, text, ("Titre",)) for id, text in texts.items()], pairs=list(pairs))


def _texts(rows: TokenRows, model: DenseStatuteRetriever) -> set[str]:
    packed = rows.pack(np.arange(len(rows)))
    return {
        model.tokenizer.decode(ids[mask.bool()], skip_special_tokens=True)
        for group, masks, _ in unpacked(packed)
        for ids, mask in zip(group, masks, strict=True)
    }


def _cleaned(text: str, model: DenseStatuteRetriever) -> str:
    return model.tokenizer.decode(model.tokenizer(text)["input_ids"], skip_special_tokens=True)


def test_a_label_is_a_unit_with_its_own_positive(model: DenseStatuteRetriever) -> None:
    folder = tiny()
    batches = stream(model, kinds={"gold": 1.0}, unit="label", batch_size=4, several_positives=False)
    labels = sum(len(pair.positives) for pair in folder.pairs if pair.kind == "gold")
    seen = Counter()
    for number in range(-(-labels // 4)):
        drawn = batches.draw(number)
        rows, columns = np.nonzero(drawn.positives)
        assert rows.tolist() == [0, 1, 2, 3]
        seen.update(zip(drawn.questions.tolist(), drawn.passages[columns].tolist(), strict=True))
    assert len(seen) == labels
    assert steps_of(2, [batches.token_pairs], batches.supervision, 4) == 2 * -(-labels // 4)


@pytest.mark.parametrize("devices", [2, 3])
def test_devices_share_one_batch(model: DenseStatuteRetriever, devices: int) -> None:
    whole = stream(model, batch_size=12)
    parts = stream(model, batch_size=12 // devices, devices=devices)
    assert len(parts) == devices * len(whole)
    for number in range(3):
        drawn, shared = whole.draw(number), [parts[devices * number + device] for device in range(devices)]
        assert len({len(part["passages"]["counts"]) for part in shared}) == 1
        assert sum(len(part["questions"]["counts"]) for part in shared) == 12
        passages = len(drawn.passages)
        for device, part in enumerate(shared):
            assert np.array_equal(part["positives"].numpy()[:, :passages], drawn.positives[device::devices])
            assert np.array_equal(part["negatives"].numpy()[:, :passages], drawn.negatives[device::devices])
            assert not part["positives"][:, passages:].any() and not part["negatives"][:, passages:].any()


WHOLE = {"max_tokens": 64, "headings": False}
CHUNKS = {"article": "hierarchical", "max_tokens": 150, "chunk_tokens": 10, "overlap": 2, "headings": False}


@pytest.mark.parametrize("settings", [WHOLE, CHUNKS], ids=["first", "hierarchical"])
@pytest.mark.parametrize("group", [1, 4, 1000])
def test_packed_texts_are_what_the_encoder_reads(tmp_path: Path, settings: dict[str, Any], group: int) -> None:
    model = retriever(tmp_path / "bert", **settings)
    articles = tiny().articles[:30]
    texts = [article_input(article.headings, article.text, model.settings) for article in articles]
    expected = model.article_ids(texts)
    folder = replace(tiny(), pairs=[Pair("gold", "q", (article.id,)) for article in articles])
    made = tokenise_pairs(folder, model.tokenizer, model.settings, ["gold"], {})
    rows = np.array([7, 3, 29, 3, 0, 11, 20, 5, 17, 28, 1, 9, 23])
    packed = made.passages.pack(rows, group)
    assert _unsorted(packed) == [expected[row] for row in rows]
    padding = model.tokenizer.pad_token_id
    assert all((ids[~mask.bool()] == padding).all() for ids, mask, _ in unpacked(packed))
    assert len({len(chunk) for row in rows for chunk in expected[row]}) > 3  # or sorting would do nothing
    assert all(chunks <= max(group, model.settings.max_chunks) for _, chunks, _ in packed["shapes"])
    assert all(width % 8 == 0 or width == int(made.passages.chunk_lengths.max()) for *_, width in packed["shapes"])


def test_long_texts_do_not_stretch_short_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "GROUP", 64)
    rows = TokenRows.of([[[7] * length] for length in (3, 70, 8, 16, 5, 12, 33)] + [[[7] * 20, [7] * 9]], 0, 10)
    packed = rows.pack(np.arange(len(rows)))
    # 3, 5, 8 and 12 tokens; 16; 33; 70, which is more than a group holds; two chunks of 20 and 9
    assert packed["shapes"] == ((4, 4, 16), (1, 1, 16), (1, 1, 40), (1, 1, 70), (1, 2, 24))
    assert [len(text[0]) for text in _unsorted(packed)] == [3, 70, 8, 16, 5, 12, 33, 20]
    assert len(rows.pack(np.arange(len(rows)), 100)["shapes"]) == 1


def _unsorted(packed: Packed) -> list[list[list[int]]]:
    texts: list[list[list[int]]] = []
    for ids, mask, counts in unpacked(packed):
        chunks = [row[present.bool()].tolist() for row, present in zip(ids, mask, strict=True)]
        for count in counts.tolist():
            texts.append(chunks[:count])
            chunks = chunks[count:]
    return [texts[place] for place in packed["order"].tolist()]


def test_the_largest_batch_is_as_large_as_any(model: DenseStatuteRetriever) -> None:
    batches = stream(model, positives=2, hard_negatives=2)
    largest = batches.largest()
    for number in range(10):
        for part in ("questions", "passages"):
            assert batches[number][part]["ids"].numel() <= largest[part]["ids"].numel()  # type: ignore[literal-required]
    assert largest["positives"].any(dim=1).all()


def test_a_passage_that_is_not_there_is_told_of(model: DenseStatuteRetriever) -> None:
    folder = _folder(Pair("gold", "Quoi ?", ("z",)))
    with pytest.raises(TrainingError, match="names the passage 'z'"):
        token_pairs(model, folder, SupervisionRecipe())
    folder = _folder(Pair("gold", "Quoi ?", ("a",), left_out="Quatre."))
    with pytest.raises(TrainingError, match="does not hold the sentence"):
        token_pairs(model, folder, SupervisionRecipe())


def test_kinds_that_are_not_there_are_told_of() -> None:
    with pytest.raises(TrainingError, match="no pairs of the kind 'gild': choose among gold, headings, sentence"):
        checked_kinds(tiny(), ["gold", "gild"])
    with pytest.raises(TrainingError, match="holds no questions"):
        checked_kinds(replace(asking_train(tiny()), pairs=[]), ["gold"])
