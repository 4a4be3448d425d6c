"""Batches for the graph encoder: rows of questions that one retriever sees, and how each article counts for each."""

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NotRequired, TypedDict

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import Dataset

from lexarbor.errors import TrainingError
from lexarbor.graph.legislation import LegislativeGraph
from lexarbor.supervision.answers import known_answers, same_words
from lexarbor.supervision.folder import Supervised
from lexarbor.training.drawing import Draws, Lists, PairRows, shares
from lexarbor.training.graph_recipe import GraphRecipe
from lexarbor.training.graph_views import Views, pairs_by_view, prepared_without


class Part(TypedDict):
    """The part of the graph that some articles hear."""

    rows: Tensor
    """(n): its nodes' rows in the whole graph."""
    asked: Tensor
    """(c): where in `rows` the articles stand."""
    edges: dict[str, Tensor]
    """By kind, (2, m)."""
    degrees: Tensor
    """(n), those of the whole graph."""


class GraphBatch(TypedDict):
    """What the graph encoder reads of a batch."""

    questions: Tensor
    """(q): rows of the view's questions."""
    view: Tensor
    """(1): whose vectors these are, the encoder's or a fold's."""
    positives: Tensor
    """(q, c) of truth values; the columns are all articles or, where there is a part, those asked for in it."""
    negatives: Tensor
    """(q, c) of truth values."""
    part: NotRequired[Part]


class GraphBatches(Dataset[GraphBatch]):
    """Item i is a whole batch of one view. Views come in turn; the encoder's own has its turn as often as the kinds
    that it sees have shares.
    """

    def __init__(
        self,
        recipe: GraphRecipe,
        graph: LegislativeGraph,
        pairs: Sequence[PairRows],
        *,
        steps: int,
        devices: int = 1,
    ) -> None:
        """`graph` is the one that is heard; `pairs` are those of each view, the encoder's first."""
        optimisation = recipe.optimisation
        self.graph, self.negatives, self.hops = graph, recipe.negatives, recipe.graph.layers
        self.batches = steps * optimisation.accumulation * devices
        self.draws = {
            view: Draws(
                rows,
                replace(recipe.supervision, kinds={kind: recipe.supervision.kinds[kind] for kind in rows.kinds}),
                questions=optimisation.batch_size,
                seed=optimisation.seed,
                several_positives=recipe.loss.several_positives,
            )
            for view, rows in enumerate(pairs)
            if rows.kinds
        }
        self.folds = [view for view in self.draws if view]
        self.own_share = _own_share(recipe.supervision.drawn, pairs)

    def __len__(self) -> int:
        return self.batches

    def turn(self, number: int) -> tuple[int, int]:
        """The view of a batch, and how many batches of this view come before it."""
        if not self.folds:
            return 0, number
        before = int(number * self.own_share)
        if int((number + 1) * self.own_share) > before:
            return 0, before
        turn, place = divmod(number - before, len(self.folds))
        return self.folds[place], turn

    def __getitem__(self, number: int) -> GraphBatch:
        if not 0 <= number < self.batches:
            raise IndexError(number)
        view, turn = self.turn(number)
        every = len(self.graph.articles) if self.negatives == "all" else 0
        drawn = self.draws[view].draw(turn, every)
        batch = GraphBatch(
            questions=torch.from_numpy(drawn.questions),
            view=torch.tensor([view]),
            positives=torch.from_numpy(drawn.positives),
            negatives=torch.from_numpy(drawn.negatives),
        )
        if not every:
            batch["part"] = part_around(self.graph, drawn.passages, self.hops)
        return batch


def part_around(graph: LegislativeGraph, articles: NDArray[np.integer], hops: int) -> Part:
    """The part of a graph that some of its articles hear, given by their numbers."""
    near = graph.around(len(graph.sections) + articles.astype(np.int64), hops)
    return Part(
        rows=torch.from_numpy(near.rows),
        asked=torch.from_numpy(near.asked),
        edges={kind: torch.from_numpy(ends.astype(np.int64)) for kind, ends in near.edges.items()},
        degrees=torch.from_numpy(near.degrees),
    )


def _own_share(kinds: Mapping[str, float], pairs: Sequence[PairRows]) -> float:
    """The encoder's own part of all batches: of each kind's share, the part of its pairs that it sees itself."""
    held = {kind: [len(rows.kinds.get(kind, ())) for rows in pairs] for kind in kinds}
    return sum(share * held[kind][0] / sum(held[kind]) for kind, share in kinds.items()) / sum(kinds.values())


def pairs_of_views(
    recipe: GraphRecipe, folder: Supervised, views: Views, negatives: Mapping[int, Sequence[str]]
) -> list[PairRows]:
    """By view, the pairs that come with its vectors; `negatives` are hard ones by the pair's number in the folder."""
    kinds = recipe.supervision.drawn
    numbers = pairs_by_view(folder, kinds, len(views.folds))
    row_of_article = {article.id: row for row, article in enumerate(folder.articles)}
    known = known_answers(folder.pairs)  # of all kinds: what one knows, no other may deny
    found = []
    for view, some in zip(views.all, numbers, strict=True):
        for number in some:
            if same_words(folder.pairs[number].question) not in view.row_of:
                raise prepared_without(f"the kind '{folder.pairs[number].kind}'")
        found.append(_pair_rows(folder, some, view.row_of, row_of_article, negatives, known))
    return found


def _pair_rows(
    folder: Supervised,
    numbers: Sequence[int],
    row_of_question: Mapping[str, int],
    row_of_article: Mapping[str, int],
    negatives: Mapping[int, Sequence[str]],
    known: Mapping[str, set[str]],
) -> PairRows:
    by_kind: dict[str, list[int]] = defaultdict(list)
    questions, positives, opposed = [], [], []
    for place, number in enumerate(numbers):
        pair = folder.pairs[number]
        words = same_words(pair.question)
        by_kind[pair.kind].append(place)
        questions.append(row_of_question[words])
        positives.append([row_of_article[id] for id in pair.positives])
        against = _opposed(negatives.get(number, ()), known[words], row_of_article)
        opposed.append([row_of_article[id] for id in against])
    answers = [
        sorted(row_of_article[id] for id in known.get(words, ()) if id in row_of_article) for words in row_of_question
    ]
    return PairRows(
        passage_of_row=np.arange(len(row_of_article), dtype=np.int32),
        as_it_is=np.ones(len(row_of_article), dtype=np.bool_),
        kinds={kind: np.array(places, dtype=np.int64) for kind, places in by_kind.items()},
        question_of_pair=np.array(questions, dtype=np.int64),
        veiled=np.zeros(len(numbers), dtype=np.bool_),
        positives=Lists.of(positives),
        negatives=Lists.of(opposed),
        known=Lists.of(answers),
        folder_number=np.array(numbers, dtype=np.int64),
    )


def _opposed(ids: Iterable[str], known: Container[str], articles: Container[str]) -> list[str]:
    """The hard negatives that can be told apart: articles that are not known to answer."""
    return [id for id in ids if id not in known and id in articles]


def has_negatives(folder: Supervised, kinds: Iterable[str], negatives: Mapping[int, Sequence[str]]) -> bool:
    """Whether any pair of these kinds comes with a hard negative; `negatives` as for `pairs_of_views`."""
    wanted, articles = frozenset(kinds), {article.id for article in folder.articles}
    known = known_answers(folder.pairs)
    return any(
        _opposed(negatives.get(number, ()), known[same_words(pair.question)], articles)
        for number, pair in enumerate(folder.pairs)
        if pair.kind in wanted
    )


def check_shares(folder: Supervised, recipe: GraphRecipe) -> None:
    """Refuse kinds that would have less than one question in a batch of any view."""
    drawn = recipe.supervision.drawn
    for numbers in pairs_by_view(folder, drawn, len(recipe.folds)):
        seen = dict.fromkeys(folder.pairs[number].kind for number in numbers)  # in the order of `PairRows.kinds`
        if seen:
            shares({kind: drawn[kind] for kind in seen}, recipe.optimisation.batch_size)


def check_answers(folder: Supervised, kinds: Iterable[str], *, headings: bool) -> None:
    """Refuse kinds that are answered by anything but articles, for no other text is a node of the graph, and those
    whose questions were taken from what a node's vector holds; `headings`: whether that holds the headings.
    """
    wanted, articles = frozenset(kinds), {article.id for article in folder.articles}
    for pair in folder.pairs:
        if pair.kind not in wanted:
            continue
        if not articles.issuperset(pair.positives):
            other = next(id for id in pair.positives if id not in articles)
            raise TrainingError(
                f"supervision.kinds names '{pair.kind}', which is answered by '{other}', no article of the law: leave "
                "the kind out, the graph has articles and sections alone"
            )
        if pair.left_out or (pair.bare and headings):
            what = "text" if pair.left_out else "headings"
            raise TrainingError(
                f"supervision.kinds names '{pair.kind}', whose questions were taken from the {what} of the articles "
                "that answer them: a node's vector holds what the question was taken from, and is not made without "
                "it; leave the kind out"
            )
