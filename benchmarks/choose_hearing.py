"""How much of each kind of edges to hear before anything is learned by gradients: one weight a kind, found by chance.

    python benchmarks/choose_hearing.py VIEWS --data supervision [--retriever headings] [--tries 300] [--seed 0]

VIEWS is a folder that `study_lge.py views` wrote, with the views of this retriever and its folds. A weight is changed
by chance and the change kept where the train questions, each part seen by the retriever that left it out, are answered
better; dev is told beside, and not chosen by. Prints the values for `heard_at_first` and `gathered_at_first` of a
recipe; writes results/hearing.md, for another retriever than `headings` results/hearing-RETRIEVER.md.
"""

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from lexarbor.graph.encoder import LegislativeGraphEncoder
from lexarbor.graph.legislation import EDGE_KINDS, LegislativeGraph
from lexarbor.graph.settings import GraphSettings
from lexarbor.supervision.answers import same_words
from lexarbor.supervision.folder import SupervisionFolder
from lexarbor.training.graph_views import pairs_by_view
from study_lge import DEPTH, read_view

RESULTS = Path(__file__).parent.parent / "results"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
CUTS = (10, 100, 200, 500)
WEIGHING = {"R@100": 1.0, "R@500": 0.3, "mAP": 0.3}
"""What makes an answer better."""
START = np.array([[0, 5, 0, 0, 0, 0], [0.2, 0, 0.3, 0.3, 0.3, 0]], dtype=np.float32)
"""(layers, kinds): sections gather what stands below them; articles hear their section, neighbours and citing ones."""
LARGER, ADDED = 0.35, 0.04
"""How far a weight is changed at a time: by a factor, by a sum."""


class Part(NamedTuple):
    """Questions and the law as a retriever sees them to which the questions are new."""

    features: Tensor
    questions: Tensor
    asked: Tensor
    """(answers) the row of the question that each is an answer to."""
    answers: Tensor
    """(answers) rows of articles."""


def parts_of(folder: SupervisionFolder, views: Path, retriever: str) -> list[Part]:
    """Dev first, then each part of the train questions."""
    folds = len(list(views.glob(f"{retriever}-*.npz"))) - 1
    by_part = pairs_by_view(folder, ["gold"], folds)
    place = {article.id: row for row, article in enumerate(folder.articles)}
    found = []
    for number in range(folds + 1):
        view = read_view(views / f"{retriever}-{number}.npz", retriever, folder)
        asked = [(pair.question, pair.positives) for pair in (folder.pairs[row] for row in by_part[number])]
        if not number:
            asked = [(one.text, one.gold) for one in folder.asked if one.gold]
        rows = [view.row_of[same_words(question)] for question, _ in asked]
        answers = [(row, place[id]) for row, (_, gold) in enumerate(asked) for id in set(gold)]
        arrays = (view.features, view.questions[rows], *np.array(answers).T)
        found.append(Part(*(torch.from_numpy(array).to(DEVICE) for array in arrays)))
    return found


def hearing(weights: NDArray[np.float32], dimension: int) -> LegislativeGraphEncoder:
    """A graph encoder of `weights` (layers, kinds), without gates."""
    encoder = LegislativeGraphEncoder(GraphSettings(layers=len(weights), gates=False), dimension)
    for layer, of_kinds in zip(encoder.layers, torch.from_numpy(weights), strict=True):
        layer.heard.data[:] = of_kinds.unsqueeze(1)
    return encoder.eval().to(DEVICE)


@torch.no_grad()
def figures(weights: NDArray[np.float32], parts: list[Part], graph: LegislativeGraph) -> dict[str, float]:
    """Means over all questions of some parts, as `lexarbor.evaluation` has them, which takes longer than all the rest
    of a try.
    """
    encoder = hearing(weights, parts[0].features.shape[1])
    edges = {kind: torch.from_numpy(ends.astype(np.int64)).to(DEVICE) for kind, ends in graph.edges.items()}
    each: list[dict[str, Tensor]] = []
    for part in parts:
        heard = encoder(part.features, edges)[len(graph.sections) :]
        scores = part.questions @ functional.normalize(heard, dim=1).T
        own = scores[part.asked, part.answers]
        few = zip(part.asked.split(256), own.split(256), strict=True)  # so many at a time, for memory
        ranks = torch.cat([(scores[rows] > found[:, None]).sum(1) + 1 for rows, found in few])
        each.append(_of_ranks(ranks, part.asked, len(part.questions)))
    return {name: float(torch.cat([one[name] for one in each]).mean()) for name in each[0]}


def _of_ranks(ranks: Tensor, asked: Tensor, questions: int) -> dict[str, Tensor]:
    """By measure, one figure for each question, from the ranks of its answers."""
    per_question = torch.zeros(questions, device=ranks.device)
    counts = per_question.index_add(0, asked, torch.ones_like(ranks, dtype=torch.float))
    found = {f"R@{cut}": per_question.index_add(0, asked, (ranks <= cut).float()) / counts for cut in CUTS}
    above = (asked[None, :] == asked[:, None]) & (ranks[None, :] <= ranks[:, None])  # answers at this rank or higher
    precision = above.sum(1) / ranks * (ranks <= DEPTH)
    return found | {"mAP": per_question.index_add(0, asked, precision.float()) / counts}


def changed(weights: NDArray[np.float32], draw: np.random.Generator) -> NDArray[np.float32]:
    """Another try. What stands below it cannot be heard by an article: that weight of the last layer stays 0."""
    larger = np.exp(LARGER * draw.normal(size=weights.shape) * (draw.random(weights.shape) < 0.4))
    added = ADDED * draw.normal(size=weights.shape) * (draw.random(weights.shape) < 0.2)
    found: NDArray[np.float32] = (weights * larger + added).astype(np.float32)
    found[-1, EDGE_KINDS.index("within")] = 0
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("views", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--retriever", default="headings")
    parser.add_argument("--tries", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    folder = SupervisionFolder.open(given.data)
    graph = folder.graph
    assert graph is not None
    dev, *train = parts_of(folder, given.views, given.retriever)
    draw = np.random.default_rng(given.seed)
    rows = []

    def tell(what: str, weights: NDArray[np.float32], found: dict[str, float]) -> None:
        beside = figures(weights, [dev], graph)
        told = [f"{100 * held[measure]:.1f}" for held in (found, beside) for measure in found]
        rows.append(
            f"| {what} | {' | '.join(told)} | {[[round(float(one), 2) for one in layer] for layer in weights]} |"
        )
        print(rows[-1], flush=True)

    nothing = np.zeros_like(START)
    tell("nothing heard", nothing, figures(nothing, train, graph))
    weights, best = START, figures(START, train, graph)
    tell("start", weights, best)
    for number in range(given.tries):
        other = changed(weights, draw)
        found = figures(other, train, graph)
        if sum(share * (found[name] - best[name]) for name, share in WEIGHING.items()) > 0:
            weights, best = other, found
            tell(f"try {number + 1}", weights, best)
    write(rows, given)
    for name, layer in (("gathered_at_first", weights[0]), ("heard_at_first", weights[1])):
        print(f"{name}: {{{', '.join(f'{kind}: {value:.2f}' for kind, value in zip(EDGE_KINDS, layer, strict=True))}}}")


def write(rows: list[str], given: argparse.Namespace) -> None:
    measures = [*(f"R@{cut}" for cut in CUTS), "mAP"]
    heads = [f"{where} {measure}" for where in ("train", "dev") for measure in measures]
    name = "hearing.md" if given.retriever == "headings" else f"hearing-{given.retriever}.md"
    lines = [
        "# How much to hear before anything is learned",
        "",
        f"`python benchmarks/choose_hearing.py views --data supervision --retriever {given.retriever}`: two layers",
        f"`hearing`, one weight for each kind of edges, {given.tries} changes by chance (seed {given.seed}); a change",
        "is kept where the train questions, each part of them seen by a retriever that left it out, are answered",
        "better. Dev stands beside and chose nothing. Figures in %; weights by layer, in the order",
        f"{', '.join(EDGE_KINDS)}.",
        "",
        f"| kept | {' | '.join(heads)} | weights |",
        "|---" * (len(heads) + 2) + "|",
        *rows,
    ]
    (RESULTS / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"results/{name}")


if __name__ == "__main__":
    main()
