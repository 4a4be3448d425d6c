"""Batches of the stage `graph`: functions of their number, each seen by one retriever, honest about what is known."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from tiny_graph import FOLDS, folds, recipe, tiny_law, tiny_views

from lexarbor.graph.settings import LAYERS
from lexarbor.supervision.answers import known_answers, same_words
from lexarbor.supervision.folder import Pair, Supervision
from lexarbor.supervision.folds import parts_of
from lexarbor.training.graph import heard_graph, objective_of
from lexarbor.training.graph_batches import GraphBatch, GraphBatches, pairs_of_views
from lexarbor.training.graph_recipe import GraphRecipe
from lexarbor.training.graph_views import Views
from lexarbor.training.losses import contrastive_loss
from lexarbor.training.mining import hard_negatives

BOTH = {"gold": 1, "headings": 1}


def batches(plan: GraphRecipe, law: Supervision | None = None, views: Views | None = None) -> GraphBatches:
    law, views = law or tiny_law(), views or tiny_views(folded=bool(plan.folds))
    pairs = pairs_of_views(plan, law, views, hard_negatives(law, plan.supervision))
    return GraphBatches(plan, heard_graph(plan, law), pairs, steps=60)


def same(one: GraphBatch, other: GraphBatch) -> bool:
    flat = [
        {**batch, **batch.get("part", {}), **batch.get("part", {}).get("edges", {})}  # type: ignore[attr-defined]
        for batch in (one, other)
    ]
    tensors = [{name: held for name, held in each.items() if isinstance(held, torch.Tensor)} for each in flat]
    return tensors[0].keys() == tensors[1].keys() and all(
        torch.equal(held, tensors[1][name]) for name, held in tensors[0].items()
    )


@pytest.mark.parametrize("negatives", ["all", "batch"])
def test_a_batch_depends_on_seed_and_number_alone(negatives: str) -> None:
    plan = recipe(negatives=negatives, folds=folds(), supervision={"kinds": BOTH})
    other = recipe(negatives=negatives, folds=folds(), supervision={"kinds": BOTH}, optimisation={"seed": 1})
    one, again, else_ = batches(plan), batches(plan), batches(other)
    forwards = [one[number] for number in range(9)]
    backwards = [again[number] for number in reversed(range(9))][::-1]
    assert all(same(a, b) for a, b in zip(forwards, backwards, strict=True))
    assert not any(same(one[number], one[number + FOLDS]) for number in range(6))
    assert not all(same(one[number], else_[number]) for number in range(3))


def test_every_gold_question_comes_as_the_fold_sees_it_that_left_its_sheet_out() -> None:
    law, views = tiny_law(), tiny_views(folded=True)
    stream = batches(recipe(folds=folds()))
    parts = parts_of(law.pairs, FOLDS)
    source = {same_words(pair.question): pair.source for pair in law.pairs if pair.kind == "gold"}
    seen: set[str] = set()
    for number in range(30):
        batch = stream[number]
        view = int(batch["view"])
        assert view == number % FOLDS + 1
        words = {row: words for words, row in views.all[view].row_of.items()}
        asked = [words[int(row)] for row in batch["questions"]]
        assert {parts[source[question]] for question in asked} == {view}
        seen.update(asked)
    assert seen == set(source)


def test_without_folds_the_encoder_sees_all() -> None:
    stream = batches(recipe(supervision={"kinds": BOTH}))
    assert {int(stream[number]["view"]) for number in range(5)} == {0}
    assert [stream.turn(number) for number in range(4)] == [(0, 0), (0, 1), (0, 2), (0, 3)]
    stream = batches(recipe(supervision={"kinds": {"gold": 0.7, "headings": 0.1}}))
    assert stream.own_share < 1  # as floats add up
    assert [stream.turn(number) for number in range(4)] == [(0, 0), (0, 1), (0, 2), (0, 3)]


@pytest.mark.parametrize(("kinds", "share"), [(BOTH, 1 / 2), ({"gold": 3, "headings": 1}, 1 / 4)])
def test_kinds_without_a_sheet_have_their_share_of_the_turns(kinds: dict[str, float], share: float) -> None:
    stream = batches(recipe(folds=folds(), supervision={"kinds": kinds}))
    turns = [stream.turn(number) for number in range(60)]
    assert sum(view == 0 for view, _ in turns) == 60 * share
    for view in range(FOLDS + 1):  # each view's batches come one after the other, none twice
        mine = [turn for one, turn in turns if one == view]
        assert mine == list(range(len(mine)))
    by_folds = [view for view, _ in turns if view]
    assert by_folds == [place % FOLDS + 1 for place in range(len(by_folds))]


def test_a_fold_without_pairs_of_the_kinds_has_no_turn() -> None:
    law = tiny_law()
    parts = parts_of(law.pairs, FOLDS)
    told = [Pair("description", "Le moulin", pair.positives, source=pair.source) for pair in law.pairs if pair.source]
    only = replace(law, pairs=[*law.pairs, *(pair for pair in told if parts[pair.source] != 2)])
    plan = recipe(folds=folds(), supervision={"kinds": {"description": 1}})
    views = tiny_views(folded=True)
    asked = {same_words("Le moulin"): 0}
    stream = batches(plan, only, Views(*_with(views, asked)))
    assert [stream.turn(number) for number in range(4)] == [(1, 0), (3, 0), (1, 1), (3, 1)]


def _with(views: Views, row_of: dict[str, int]) -> tuple[Any, ...]:
    first, *rest = (replace(view, row_of=row_of) for view in views.all)
    return first, tuple(rest)


@pytest.mark.parametrize("several", [True, False])
@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("unit", ["question", "label"])
def test_every_article_counts_as_a_plain_loop_says(several: bool, masked: bool, unit: str) -> None:
    law, view = tiny_law(), tiny_views().encoder
    plan = recipe(loss={"several_positives": several}, supervision={"kinds": BOTH, "mask_known": masked, "unit": unit})
    stream, known = batches(plan), known_answers(law.pairs)
    words = {row: words for words, row in view.row_of.items()}
    for number in range(4):
        batch = stream[number]
        assert batch["positives"].shape == batch["negatives"].shape == (6, len(law.articles))
        assert "part" not in batch
        for place, row in enumerate(batch["questions"].tolist()):
            answers = {column for column, one in enumerate(law.articles) if one.id in known[words[row]]}
            positives = set(batch["positives"][place].nonzero().flatten().tolist())
            negatives = set(batch["negatives"][place].nonzero().flatten().tolist())
            assert positives <= answers
            assert len(positives) == (len(answers) if several else 1)
            others = set(range(len(law.articles))) - (answers if masked else positives)
            assert negatives == others


def test_in_a_batch_only_its_articles_count_and_hard_negatives_are_among_them() -> None:
    law = tiny_law()
    plan = recipe(negatives="batch", graph={"layers": 1, "edges": ["contains"]})
    stream = batches(plan)
    assert law.graph is not None
    ids = (*law.graph.sections, *law.graph.articles)
    with_negatives = {same_words(pair.question): set(pair.negatives) for pair in law.pairs if pair.kind == "gold"}
    words = {row: words for words, row in tiny_views().encoder.row_of.items()}
    for number in range(4):
        batch = stream[number]
        part = batch["part"]
        columns = [ids[row] for row in part["rows"][part["asked"]].tolist()]
        assert len(columns) < 14 and batch["positives"].shape == (6, len(columns))
        asked = {words[row] for row in batch["questions"].tolist()}
        assert any(with_negatives[question] & set(columns) for question in asked)
        above = {ids[row] for row in part["rows"].tolist()} - set(columns)
        parents = {ids[source] for source, target in law.graph.edges["contains"].T if ids[target] in columns}
        assert above == parents


@pytest.mark.parametrize(
    ("layer", "typed"), [(layer, typed) for layer in LAYERS for typed in (True, False) if typed or layer != "hearing"]
)
def test_the_loss_on_a_part_of_the_graph_is_that_on_the_whole(layer: str, typed: bool) -> None:
    settings = {"layer": layer, "typed": typed, "layers": 2, "dropout": 0.0, "own": 4}
    plan = recipe(negatives="batch", graph=settings, optimisation={"batch_size": 2})
    law, views = tiny_law(), tiny_views()
    graph = heard_graph(plan, law)
    torch.manual_seed(0)
    objective = objective_of(plan, law, views, graph).double()
    with torch.no_grad():  # so that nothing is at its first value, which may be 0
        for weight in objective.encoder.parameters():
            weight += 0.1 * torch.randn_like(weight)
    stream = batches(plan)
    smaller = 0
    for number in range(4):
        batch = stream[number]
        columns = batch["part"]["rows"][batch["part"]["asked"]] - len(graph.sections)
        smaller += len(batch["part"]["rows"]) < graph.size
        on_part = objective(**batch)
        on_part.backward()
        gradients = [weight.grad.clone() for weight in objective.encoder.parameters() if weight.grad is not None]
        objective.zero_grad()
        asked = objective.seen(0).questions[batch["questions"]]
        read = objective.articles(0)[columns]
        scores = torch.nn.functional.normalize(asked, dim=1) @ torch.nn.functional.normalize(read, dim=1).T
        on_whole = contrastive_loss(scores, batch["positives"], batch["negatives"], plan.loss.temperature)
        on_whole.backward()
        assert on_part.item() == pytest.approx(on_whole.item(), abs=1e-6)
        for one, weight in zip(gradients, objective.encoder.parameters(), strict=True):
            assert weight.grad is not None
            assert torch.allclose(one, weight.grad, atol=1e-5)  # scores are in 32 bits
        objective.zero_grad()
    assert smaller  # else nothing was tried


def test_all_articles_are_scored_as_the_batch_says() -> None:
    plan = recipe(graph={"dropout": 0.0})
    law, views = tiny_law(), tiny_views()
    objective = objective_of(plan, law, views, heard_graph(plan, law))
    batch = batches(plan)[0]
    read = objective.articles(0)
    assert read.shape == (len(law.articles), views.encoder.dimension)
    asked = torch.from_numpy(views.encoder.questions)[batch["questions"]]
    scores = torch.nn.functional.cosine_similarity(asked[:, None], read[None], dim=2)
    losses = []
    for row, positives, negatives in zip(scores, batch["positives"], batch["negatives"], strict=True):
        logits = (row / plan.loss.temperature).double()
        terms = [torch.logsumexp(torch.cat((one[None], logits[negatives])), 0) - one for one in logits[positives]]
        losses.append(torch.stack(terms).mean())
    assert objective(**batch).item() == pytest.approx(torch.stack(losses).mean().item(), abs=1e-4)


def test_items_end_with_the_run() -> None:
    stream = batches(recipe())
    assert len(stream) == 60
    with pytest.raises(IndexError):
        stream[60]
