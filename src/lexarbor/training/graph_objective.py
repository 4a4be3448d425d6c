"""A graph encoder and its loss as one module, and how it ranks dev's articles."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from lexarbor.errors import TrainingError
from lexarbor.evaluation import evaluate
from lexarbor.graph.encoder import LegislativeGraphEncoder
from lexarbor.graph.legislation import LegislativeGraph
from lexarbor.supervision.answers import same_words
from lexarbor.supervision.folder import Asked
from lexarbor.text.similarity import SIMILARITIES
from lexarbor.training.graph_batches import Part
from lexarbor.training.graph_views import View
from lexarbor.training.hyperparameters import Loss
from lexarbor.training.objective import loss_of
from lexarbor.training.ranking import Vectors, rank


class Seen(NamedTuple):
    """What one view holds, for the graph that is heard."""

    features: Tensor
    """(n, d)"""
    questions: Tensor
    """(q, d)"""


class GraphObjective(nn.Module):
    """Batch to loss. The graph and all views lie on the device; the encoder alone is learned and saved."""

    def __init__(
        self,
        encoder: LegislativeGraphEncoder,
        loss: Loss,
        graph: LegislativeGraph,
        views: Sequence[View],
        rows: NDArray[np.int64] | None = None,
    ) -> None:
        """`rows` are those of the views' features that are nodes of `graph`; all, unless given."""
        super().__init__()
        self.encoder, self.loss = encoder, loss
        self.similarity = views[0].similarity
        self.first_article = len(graph.sections)
        self.kinds = graph.kinds
        for number, view in enumerate(views):
            features = view.features if rows is None else view.features[rows]
            self._hold(f"features_{number}", features)
            self._hold(f"questions_{number}", view.questions)
        for kind in self.kinds:
            self._hold(f"edges_{kind}", graph.edges[kind].astype(np.int64))
        self._hold("degrees", graph.degrees)

    def _hold(self, name: str, array: NDArray[np.generic]) -> None:
        self.register_buffer(name, torch.from_numpy(np.array(array)), persistent=False)

    def seen(self, view: int) -> Seen:
        return Seen(getattr(self, f"features_{view}"), getattr(self, f"questions_{view}"))

    def articles(self, view: int, part: Part | None = None) -> Tensor:
        """Enriched vectors (c, d) of a part's articles, or of all."""
        features = self.seen(view).features
        if part is not None:
            found: Tensor = self.encoder(features[part["rows"]], part["edges"], part["degrees"])
            return found[part["asked"]]
        edges = {kind: getattr(self, f"edges_{kind}") for kind in self.kinds}
        found = self.encoder(features, edges, self.degrees)
        return found[self.first_article :]

    def forward(
        self, questions: Tensor, view: Tensor, positives: Tensor, negatives: Tensor, part: Part | None = None
    ) -> Tensor:
        """The loss of a batch (see `GraphBatch`), in 32 bits."""
        number = int(view)
        asked = self.seen(number).questions[questions]  # (q, d)
        read = self.articles(number, part)  # (c, d)
        with torch.autocast(asked.device.type, enabled=False):
            scores = SIMILARITIES[self.similarity](asked, read).float()  # (q, c)
            return loss_of(scores, positives, negatives, self.loss, self.similarity)


class GraphDev:
    """Dev's questions as the encoder sees them: what choices are made by."""

    def __init__(self, asked: Sequence[Asked], view: View, graph: LegislativeGraph) -> None:
        self.gold = {one.id: frozenset(one.gold) for one in asked}
        self.rows = torch.tensor([view.row_of[same_words(one.text)] for one in asked])
        self.articles = graph.articles

    @torch.no_grad()
    def figures(self, objective: GraphObjective) -> dict[str, float]:
        """How well enriched vectors rank, by measure; those of weights that grew without bound do not."""
        was_training = objective.training
        objective.eval()
        questions = objective.seen(0).questions
        asked = Vectors(tuple(self.gold), questions[self.rows.to(questions.device)])
        read = Vectors(self.articles, objective.articles(0).float())
        objective.train(was_training)
        if not bool(read.values.isfinite().all()):
            raise TrainingError(
                "the enriched vectors are not finite, the weights have grown without bound: lower "
                "optimisation.learning_rate"
            )
        return evaluate(rank(asked, read, objective.similarity).run(), self.gold).means()
