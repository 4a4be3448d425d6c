"""The recipe of the stage `graph`: what the legislative graph encoder learns from, and how.

stage: graph
encoder: models/text                # the retriever whose vectors are enriched
folds: [models/fold1, models/fold2] # the same retriever, each time without one part of the train sheets
graph: {layer: hearing, layers: 2}
supervision: {kinds: {gold: 1, description: 1}}
optimisation: {batch_size: 256, steps: 50, learning_rate: 3.0e-3}
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lexarbor.errors import TrainingError
from lexarbor.graph.settings import GraphSettings
from lexarbor.training.hyperparameters import Loss, Optimisation, SupervisionRecipe, Watching, choose

NEGATIVES = ("all", "batch")
SHIPPED = "shipped"


@dataclass(frozen=True, slots=True)
class GraphRecipe:
    """Contrastive learning of the legislative graph encoder over a retriever whose weights do not move."""

    encoder: str
    """The retriever whose vectors are enriched: the folder of its export, or "shipped". The folder that torch wrote
    does as well, but what is learned over it is refused with an export, as `lexarbor encode` reads: vectors differ.
    """
    stage: str = "graph"
    folds: tuple[str, ...] = ()
    """Retrievers of the encoder's recipe that each left one part of the train sheets out (`supervision.fold` 1, 2, …,
    in this order): each part is learned from as a retriever sees questions that are new to it. None: as the encoder
    sees what it has itself learned from, as in the paper.
    """
    graph: GraphSettings = field(default_factory=GraphSettings)
    heard_at_first: Mapping[str, float] = field(default_factory=dict)
    """Of the layer `hearing`: how much of each kind the last layer hears before anything is learned, 0 of a kind that
    is not named. None named: the same little of all. Good ones can be found without a gradient
    (benchmarks/choose_hearing.py).
    """
    gathered_at_first: Mapping[str, float] = field(default_factory=dict)
    """The same of the layers before the last."""
    loss: Loss = field(default_factory=lambda: Loss(temperature=0.03))
    supervision: SupervisionRecipe = field(default_factory=SupervisionRecipe)
    """Kinds whose positives are articles. Those from train sheets come as the folds see them, the others, such as
    synthetic questions, as the encoder does.
    """
    negatives: str = "all"
    """"all": every article that is not known to answer. "batch": those of the batch and the hard ones that
    `supervision` names, in the part of the graph that they hear (the paper).
    """
    optimisation: Optimisation = field(default_factory=lambda: Optimisation(batch_size=256, steps=50))
    watching: Watching = field(default_factory=Watching)

    def __post_init__(self) -> None:
        choose("negatives", self.negatives, NEGATIVES)
        for name in ("heard_at_first", "gathered_at_first"):
            self._check_at_first(name, getattr(self, name))
        if len(self.folds) == 1:
            raise TrainingError(
                f"folds names one retriever, '{self.folds[0]}': name one for each of 2 parts or more, or none"
            )
        if self.supervision.fold or self.supervision.folds:
            raise TrainingError(
                f"supervision.fold is {self.supervision.fold}, supervision.folds is {self.supervision.folds}: this "
                "stage learns from all parts; name the retrievers that left one out each in `folds`, and set both to 0"
            )
        if self.negatives == "all" and not self.supervision.in_batch:
            raise TrainingError("supervision.in_batch is false, but negatives is 'all': set negatives to 'batch'")
        if self.negatives == "all" and self.supervision.negatives not in ("bm25", "none"):
            raise TrainingError(
                f"supervision.negatives names the file {self.supervision.negatives}, but negatives is 'all': set "
                "negatives to 'batch', or leave the file out"
            )
        if self.optimisation.mini_batch:
            raise TrainingError("optimisation.mini_batch is for the stage text: lower batch_size, raise accumulation")

    def _check_at_first(self, name: str, named: Mapping[str, float]) -> None:
        if named and self.graph.layer != "hearing":
            raise TrainingError(f"{name} is for the layer 'hearing', graph.layer is '{self.graph.layer}': leave it out")
        for kind in named:
            if kind not in self.graph.edges:
                raise TrainingError(
                    f"{name} names the kind '{kind}', graph.edges has {', '.join(self.graph.edges) or 'none'}: leave "
                    "it out, or let its edges be heard"
                )
