"""What a generator reads and writes: nothing that gives its question away, gaps, and batches by number."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from tiny_supervision import checkpoint, tiny
from transformers import AutoTokenizer

from lexarbor.errors import TrainingError
from lexarbor.supervision.folder import Asked, Pair, Passage, Supervision
from lexarbor.supervision.sampling import GeneratorSettings
from lexarbor.training.examples import (
    Examples,
    QuestionBatches,
    check_positives,
    dev_batches,
    dev_pairs,
    examples_of,
    prefix_of,
)
from tiny_generator import tiny_t5_tokenizer

SETTINGS = GeneratorSettings("question : ", True, 48, 16)
TEXT = "La pêche est libre. Le port ferme à minuit."
ARTICLE = Passage("A1", TEXT, ("Code", "Eaux"))
SHEET = Passage("S1", "Demandez la carte.", ("Comment pêcher", "La carte"))


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return AutoTokenizer.from_pretrained(checkpoint(tmp_path_factory.mktemp("examples") / "bert"))


def made(
    tokenizer: Any, *pairs: Pair, passages: list[Passage] | None = None, gaps: bool = False, **changes: Any
) -> Examples:
    """Examples of some pairs over one article and one chapter of a sheet."""
    folder = Supervision([ARTICLE], [SHEET]) if passages is None else Supervision(passages)
    start = tokenizer.cls_token_id if tokenizer.cls_token_id is not None else tokenizer.pad_token_id
    return examples_of(folder, pairs, tokenizer, replace(SETTINGS, **changes), start, gaps=gaps)


@pytest.mark.parametrize(
    ("kind", "question", "prefix"),
    [
        ("gold", "Qui peut pêcher ?", "question : "),
        ("sheet", "Qui peut pêcher ? ", "question : "),
        ("sentence", "Est-ce libre?", "question : "),
        ("gold", "La pêche", "titre : "),
        ("sheet", "La pêche", "titre : "),
        ("chapter", "La pêche", "chapitre : "),
        ("train_chapter", "Qui ? La pêche", "chapitre : "),
        ("headings", "La pêche", "rubrique : "),
        ("agreement", "La pêche", "rubrique : "),
        ("sentence", "La pêche est libre.", "phrase : "),
        ("citation", "", "phrase : "),
    ],
)
def test_what_is_wanted_is_said_before_the_passage(kind: str, question: str, prefix: str) -> None:
    assert prefix_of(Pair(kind, question, ("A1",))) == prefix


@pytest.mark.parametrize(
    ("pair", "headings", "read"),
    [
        (Pair("gold", "Qui pêche ?", ("A1",)), True, f"question : Code > Eaux\n{TEXT}"),
        (Pair("gold", "Qui pêche ?", ("A1",)), False, f"question : {TEXT}"),
        (
            Pair("sentence", "La pêche est libre.", ("A1",), left_out="La pêche est libre."),
            True,
            "phrase : Code > Eaux\nLe port ferme à minuit.",
        ),
        (
            Pair("sentence", "La pêche est libre.", ("A1",), left_out="pêche est"),
            False,
            "phrase : La   libre. Le port ferme à minuit.",
        ),
        (Pair("headings", "Eaux", ("A1",), bare=True), True, f"rubrique : {TEXT}"),
        (Pair("headings", "Eaux", ("A1",)), True, f"rubrique : Code\n{TEXT}"),
        (Pair("sheet", "Comment pêcher", ("S1",)), True, "titre : La carte\nDemandez la carte."),
        (Pair("chapter", "La carte", ("S1",)), True, "chapitre : Comment pêcher\nDemandez la carte."),
    ],
)
def test_a_passage_is_read_without_what_its_question_was_taken_from(
    bert: Any, pair: Pair, headings: bool, read: str
) -> None:
    examples = made(bert, pair, headings=headings)
    assert examples.sources.row(0).tolist() == bert(read)["input_ids"]


def test_a_pair_has_all_its_passages_and_a_text_is_held_once(bert: Any) -> None:
    both = Pair("gold", "Qui pêche ?", ("A1", "S1"))
    examples = made(bert, both, Pair("gold", "Quand ?", ("S1",)), Pair("headings", "Eaux", ("A1",), bare=True))
    assert examples.sources_of.values.tolist() == [0, 1, 1, 2]
    assert examples.sources_of.starts.tolist() == [0, 2, 3, 4]
    assert len(examples.sources) == 3
    assert {kind: numbers.tolist() for kind, numbers in examples.kinds.items()} == {"gold": [0, 1], "headings": [2]}
    assert examples.pairs == 3
    read, written = examples.example(1, 1, np.random.default_rng(0))
    assert read.tolist() == bert("question : Comment pêcher > La carte\nDemandez la carte.")["input_ids"]
    assert written.tolist() == [*bert("Quand ?", add_special_tokens=False)["input_ids"], bert.sep_token_id]


@pytest.mark.parametrize("kind", ["bert", "t5"])
def test_what_is_too_long_is_read_with_its_end_and_written_without(bert: Any, kind: str) -> None:
    tokenizer = bert if kind == "bert" else tiny_t5_tokenizer()
    end = bert.sep_token_id if kind == "bert" else tokenizer.eos_token_id
    question = "Le port ferme à minuit et la pêche est libre pour tous ?"
    words = tokenizer(question, add_special_tokens=False)["input_ids"]
    long = Passage("A1", "Le maire tient l'étang. " * 50)
    for limit, expected in (
        (len(words) + 1, [*words, end]),
        (len(words), words),
        (len(words) - 1, words[:-1]),
    ):
        examples = made(tokenizer, Pair("gold", question, ("A1",)), passages=[long], question_tokens=limit)
        assert examples.targets.row(0).tolist() == expected
    read = examples.sources.row(0).tolist()
    assert len(read) == 48
    assert read[-1] == end


def test_gaps_are_stretches_of_whole_passages_with_half_their_tokens_hidden(bert: Any) -> None:
    passages = [*tiny().articles[:6], Passage("B1", " \n", ("Code",)), Passage("B2", "Abrogé.")]
    examples = made(bert, Pair("gold", "Qui ?", ("B2",)), passages=passages, gaps=True)
    assert examples.kinds["gaps"].tolist() == [1, 2, 3, 4, 5, 6, 7]  # not what has no text
    hidden = shown = 0
    lengths, starts = set(), set()
    for pair, passage in enumerate([*passages[:6], passages[7]], start=1):
        (source,) = examples.sources_of.values[examples.sources_of.starts[pair] : examples.sources_of.starts[pair + 1]]
        text = " > ".join(passage.headings) + "\n" * bool(passage.headings) + passage.text
        whole = bert(text, truncation=True, max_length=48)["input_ids"]
        for seed in range(60):
            read, written = examples.example(pair, int(source), np.random.default_rng((seed, pair)))
            assert examples.sources.row(int(source)).tolist() == whole  # what is hidden is so in a copy
            stretch = written[:-1].tolist()
            assert written[-1] == bert.sep_token_id
            masks = {place for place, token in enumerate(read.tolist()) if token == bert.mask_token_id}
            assert [token for place, token in enumerate(whole) if place not in masks] == [
                token for place, token in enumerate(read.tolist()) if place not in masks
            ]
            possible = [
                start
                for start in range(1, len(whole) - len(stretch))
                if whole[start : start + len(stretch)] == stretch and masks <= set(range(start, start + len(stretch)))
            ]
            assert possible
            starts.add(possible[0])
            lengths.add(len(stretch))
            hidden += len(masks)
            shown += len(stretch) - len(masks)
    assert 0.45 < hidden / (hidden + shown) < 0.55
    short = len(bert("Abrogé.", add_special_tokens=False)["input_ids"])
    assert short < 8
    assert lengths == {short, *range(8, 16)}  # with its end a stretch is no longer than what may be written
    assert len(starts) > 20


def test_gaps_fit_what_may_be_written_at_the_least(bert: Any) -> None:
    examples = made(bert, gaps=True, question_tokens=8)
    for seed in range(20):
        _, written = examples.example(0, 0, np.random.default_rng(seed))
        assert len(written) == 8


def test_gaps_need_a_mask() -> None:
    with pytest.raises(TrainingError, match="kinds names 'gaps', but the tokenizer has no mask: leave it out, or set"):
        made(tiny_t5_tokenizer(), gaps=True)


def tiny_examples(tokenizer: Any, **changes: Any) -> Examples:
    folder = tiny()
    return examples_of(folder, folder.pairs, tokenizer, replace(SETTINGS, **changes), tokenizer.cls_token_id, gaps=True)


KINDS = {"gold": 2.0, "sentence": 1.0, "headings": 1.0, "gaps": 0.5}


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def test_a_batch_is_a_function_of_seed_and_number(bert: Any) -> None:
    examples = tiny_examples(bert)
    batches = QuestionBatches(examples, KINDS, batch_size=5, batches=20, seed=3)
    in_order = list(batches)
    assert len(in_order) == len(batches) == 20
    shorter = QuestionBatches(tiny_examples(bert), KINDS, batch_size=5, batches=18, seed=3)
    for number in (17, 3, 16, 0):
        assert same(shorter[number], in_order[number])
    other = QuestionBatches(examples, KINDS, batch_size=5, batches=20, seed=4)
    assert not any(same(other[number], in_order[number]) for number in range(20))
    assert not any(same(in_order[one], in_order[two]) for one in range(20) for two in range(one))
    for number in (20, -1):
        with pytest.raises(IndexError):
            batches[number]


def test_batches_hold_whole_examples_padded_on_the_right(bert: Any) -> None:
    examples = tiny_examples(bert, input_tokens=400)
    known = {
        (tuple(examples.sources.row(source).tolist()), tuple(examples.targets.row(pair).tolist())): kind
        for kind, pairs in examples.kinds.items()
        for pair in pairs.tolist()
        if kind != "gaps"
        for source in examples.sources_of.values[slice(*examples.sources_of.starts[pair : pair + 2])].tolist()
    }
    batches = QuestionBatches(examples, KINDS, batch_size=5, batches=16, seed=0)
    counts = dict.fromkeys(KINDS, 0)
    lengths = []
    for batch in batches:
        ids, mask, labels = batch["ids"], batch["mask"], batch["labels"]
        assert {tensor.dtype for tensor in batch.values()} == {torch.int64}
        assert ids.shape == mask.shape and len(ids) == len(labels) == 5
        read = [row[: int(present.sum())].tolist() for row, present in zip(ids, mask, strict=True)]
        written = [row[row != -100].tolist() for row in labels]
        for place in range(5):
            assert mask[place].tolist() == [1] * len(read[place]) + [0] * (ids.shape[1] - len(read[place]))
            assert ids[place, len(read[place]) :].unique().tolist() in ([], [bert.pad_token_id])
            assert (labels[place, len(written[place]) :] == -100).all()
            counts[known.get((tuple(read[place]), tuple(written[place])), "gaps")] += 1
        assert (ids.shape[1], labels.shape[1]) == (max(map(len, read)), max(map(len, written)))
        lengths.append((min(map(len, read)), max(map(len, read))))
    # each kind has its share of the sixteen batches that are drawn together
    assert counts == {"gold": 35, "sentence": 18, "headings": 18, "gaps": 9}
    # which are cut by length, in an order that tells nothing
    ordered = sorted(lengths)
    assert all(before[1] <= after[0] for before, after in pairwise(ordered))
    assert lengths != ordered


def test_a_kind_without_a_place_in_a_batch_is_told_of(bert: Any) -> None:
    with pytest.raises(TrainingError, match="gives 'gaps' less than one question"):
        QuestionBatches(tiny_examples(bert), {"gold": 1, "gaps": 1e-6}, batch_size=2, batches=1, seed=0)


def test_dev_is_what_dev_asks_and_has_gold(bert: Any) -> None:
    asked = [
        Asked("Q1", "dev", "Qui pêche ?", ("A1", "S1")),
        Asked("Q2", "test", "Et le port ?", ("A1",)),
        Asked("Q3", "dev", "Sans réponse ?"),
        Asked("Q4", "dev", "La carte", ("S1",)),
    ]
    folder = Supervision([ARTICLE], [SHEET], [], [], asked)
    pairs = dev_pairs(folder)
    assert pairs == [Pair("gold", "Qui pêche ?", ("A1", "S1")), Pair("gold", "La carte", ("S1",))]
    assert dev_batches(folder, [], bert, SETTINGS, bert.cls_token_id) is None
    dev = dev_batches(folder, pairs, bert, SETTINGS, bert.cls_token_id)
    assert dev is not None
    sheet = "Comment pêcher > La carte\nDemandez la carte."
    expected = {
        tuple(bert(read)["input_ids"]): question
        for read, question in (
            (f"question : Code > Eaux\n{TEXT}", "Qui pêche ?"),
            (f"question : {sheet}", "Qui pêche ?"),
            ("titre : Comment pêcher\nDemandez la carte.", "La carte"),
        )
    }
    seen = set()
    for batch in dev:
        assert len(batch["ids"]) == 64
        for ids, mask, labels in zip(batch["ids"], batch["mask"], batch["labels"], strict=True):
            read = tuple(ids[mask.bool()].tolist())
            assert labels[labels != -100].tolist() == bert(expected[read])["input_ids"][1:]
            seen.add(read)
    assert len(dev) == 8
    assert seen == expected.keys()


def test_a_passage_that_is_not_there_is_told_of() -> None:
    folder = Supervision([ARTICLE], [SHEET])
    check_positives(folder, [Pair("gold", "Qui ?", ("A1", "S1"))])
    with pytest.raises(TrainingError, match="a pair of the kind 'sheet' names the passage 'Z9', which the supervision"):
        check_positives(folder, [Pair("gold", "Qui ?", ("A1",)), Pair("sheet", "Qui ?", ("S1", "Z9"))])
