"""What the graph encoder learns from, as vectors: the law's nodes and the questions, as one retriever sees them.

A retriever ranks the questions it has learned from far better than new ones, so that a graph encoder that saw them
through its eyes would find little to mend. So each part of the train sheets is seen by a retriever that left it out
(`lexarbor.supervision.folds`), the rest by the retriever whose vectors will be enriched.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexarbor.errors import TrainingError
from lexarbor.graph.legislation import LegislativeGraph
from lexarbor.supervision.answers import same_words
from lexarbor.supervision.folder import Passage, Supervised
from lexarbor.supervision.folds import parts_of
from lexarbor.training.graph_recipe import GraphRecipe
from lexarbor.training.looking import dev_questions
from lexarbor.training.node_encoders import NodeEncoder, node_encoder


@dataclass(frozen=True, eq=False)
class View:
    """All nodes and some questions, as one retriever sees them: nothing in it moves while a graph encoder learns."""

    name: str
    """As the recipe names the retriever."""
    checksum: str
    """Of the retriever."""
    similarity: str
    features: NDArray[np.float32]
    """(size, d): the nodes of the supervision folder's graph, raw."""
    questions: NDArray[np.float32]
    """(q, d), raw."""
    row_of: Mapping[str, int]
    """By a question's words (`same_words`), its row in `questions`."""
    headings: bool = True
    """Whether the retriever reads an article's headings before its text."""

    @property
    def dimension(self) -> int:
        return int(self.features.shape[1])


class Views(NamedTuple):
    """Made once by `prepare_views`; of use to every recipe with the same retrievers and no further kinds of pairs."""

    encoder: View
    """With dev's questions too."""
    folds: tuple[View, ...]
    """In the order of the parts that they left out."""

    @property
    def all(self) -> tuple[View, ...]:
        return (self.encoder, *self.folds)


def prepare_views(recipe: GraphRecipe, folder: Supervised) -> Views:
    """Encode every node and each question of the recipe's kinds, once by the encoder and once by each fold."""
    encoders = checked_encoders(recipe)
    nodes = law_nodes(folder)
    numbers = pairs_by_view(folder, recipe.supervision.drawn, len(recipe.folds))
    asked = [[folder.pairs[number].question for number in some] for some in numbers]
    asked[0] += [one.text for one in dev_questions(folder)]
    first, *rest = (view_of(encoder, nodes, some) for encoder, some in zip(encoders, asked, strict=True))
    return Views(first, tuple(rest))


def view_of(encoder: NodeEncoder, nodes: Sequence[Passage], asked: Iterable[str]) -> View:
    """Nodes and questions as a retriever sees them; a question that is spelled otherwise is the same."""
    spelt: dict[str, str] = {}
    for question in asked:
        spelt.setdefault(same_words(question), question)
    features, questions = encoder.vectors(nodes, list(spelt.values()))
    if not (np.isfinite(features).all() and np.isfinite(questions).all()):
        raise TrainingError(
            f"{encoder.name} gives vectors that are not finite, nothing can be learned from them: train this retriever "
            "again at a lower rate, or name another"
        )
    row_of, settings = {words: row for row, words in enumerate(spelt)}, encoder.settings
    return View(encoder.name, encoder.checksum, settings.similarity, features, questions, row_of, settings.headings)


def checked_encoders(recipe: GraphRecipe) -> list[NodeEncoder]:
    """The recipe's retrievers, the encoder first, if all are there and fit together; none is loaded yet."""
    encoder = node_encoder(recipe.encoder, "encoder")
    _check_similarity(encoder.name, encoder.settings.similarity, recipe)
    if encoder.left_out is not None and encoder.left_out[0]:
        raise TrainingError(
            f"encoder: {encoder.name} left out part {encoder.left_out[0]} of {encoder.left_out[1]}: name the retriever "
            "that learned from all parts; those that left one out are named in `folds`"
        )
    folds = [node_encoder(name, "folds") for name in recipe.folds]
    for part, fold in enumerate(folds, start=1):
        _check_fold(fold, encoder, part, len(folds))
    held: dict[str, str] = {}
    for place, one in enumerate((encoder, *folds)):
        if one.checksum in held:
            raise TrainingError(
                f"folds: {one.name}, where part {place} is seen by it, is the same retriever as {held[one.checksum]}: "
                "name one that left out this part alone"
            )
        held[one.checksum] = one.name if place else f"the encoder {one.name}"
    return [encoder, *folds]


def _check_fold(fold: NodeEncoder, encoder: NodeEncoder, part: int, parts: int) -> None:
    """Refuse a retriever that is not the encoder's like, or did not leave out the part that it is to see."""
    if fold.dimension != encoder.dimension:
        raise TrainingError(
            f"folds: {fold.name} has vectors of {fold.dimension} numbers, the encoder {encoder.name} has "
            f"{encoder.dimension}: give retrievers of the encoder's own recipe"
        )
    for one in fields(encoder.settings):
        mine, its = getattr(fold.settings, one.name), getattr(encoder.settings, one.name)
        if mine != its:
            raise TrainingError(
                f"folds: {fold.name} has other settings than the encoder {encoder.name}, {one.name} is {mine} and not "
                f"{its}: give retrievers of the encoder's own recipe"
            )
    if fold.left_out is not None and fold.left_out != (part, parts):
        gone, of = fold.left_out
        if not gone:
            raise TrainingError(
                f"folds: {fold.name} left nothing out, but stands where part {part} of {parts} is seen by it: name a "
                f"retriever that was trained with supervision.fold {part} of {parts}"
            )
        raise TrainingError(
            f"folds: {fold.name} left out part {gone} of {of}, but stands where part {part} of {parts} is seen by it: "
            "name the retrievers in the order of supervision.fold"
        )


def check_views(recipe: GraphRecipe, views: Views, folder: Supervised) -> None:
    """Refuse views that were prepared for another recipe or another law."""
    names, wanted = [view.name for view in views.all], [recipe.encoder, *recipe.folds]
    if names != wanted:
        raise TrainingError(
            f"the views are those of {', '.join(names)}, the recipe names {', '.join(wanted)}: prepare them with this "
            "recipe"
        )
    _check_similarity(views.encoder.name, views.encoder.similarity, recipe)
    size = law_graph(folder).size
    for view in views.all:
        if len(view.features) != size:
            raise TrainingError(
                f"the view of {view.name} has {len(view.features)} nodes, the supervision folder's graph {size}: "
                "prepare the views with this folder"
            )
    if any(same_words(one.text) not in views.encoder.row_of for one in dev_questions(folder)):
        raise prepared_without("dev's questions")


def prepared_without(what: str) -> TrainingError:
    """What is said of given views that lack some questions."""
    return TrainingError(f"the views were prepared without {what}, or with other folds: prepare them with this recipe")


def _check_similarity(name: str, similarity: str, recipe: GraphRecipe) -> None:
    if similarity == "euclidean":
        raise TrainingError(
            f"encoder: {name} compares by euclidean distance, which enriched vectors are not made for: give a "
            "retriever of cosine or dot"
        )
    if similarity == "dot" and recipe.graph.normalise:
        raise TrainingError(
            f"encoder: {name} compares raw vectors by their dot product, but graph.normalise brings them to length 1: "
            "set it to false"
        )


def pairs_by_view(folder: Supervised, kinds: Iterable[str], folds: int) -> list[list[int]]:
    """Numbers of the folder's pairs of some kinds: first those that the encoder itself sees, then by part."""
    wanted = frozenset(kinds)
    parts = parts_of(folder.pairs, folds) if folds else {}
    found: list[list[int]] = [[] for _ in range(folds + 1)]
    for number, pair in enumerate(folder.pairs):
        if pair.kind in wanted:
            found[parts.get(pair.source, 0)].append(number)
    return found


def law_graph(folder: Supervised) -> LegislativeGraph:
    """The folder's graph, if its nodes are the folder's sections and articles."""
    graph = folder.graph
    if graph is None:
        raise TrainingError("the supervision holds no graph of the law: write it again with `lexarbor train prepare`")
    for what, held, nodes in (
        ("article", folder.articles, graph.articles),
        ("section", folder.sections, graph.sections),
    ):
        if tuple(passage.id for passage in held) != nodes:
            raise TrainingError(
                f"the supervision folder's {what}s ({len(held)}) are not those of its graph ({len(nodes)}), in the "
                "same order: write it again with `lexarbor train prepare`"
            )
    return graph


def law_nodes(folder: Supervised) -> list[Passage]:
    """The graph's nodes in the order of its rows; a section's text is its title."""
    law_graph(folder)
    return [*folder.sections, *folder.articles]
