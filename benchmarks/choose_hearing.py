"""How much of each kind of edges to hear before anything is learned by gradients: one weight a kind, found by chance.

    python benchmarks/choose_hearing.py VIEWS --data supervision [--tries 45] [--seed 0]

VIEWS is a folder that `study_lge.py views` wrote. A weight is changed by chance and the change kept where the train
questions, each part seen by the retriever that left it out, are answered better; dev is told beside, and not chosen by.
Prints the values for `heard_at_first` and `gathered_at_first` of recipes/lge.yaml; writes results/hearing.md.
"""

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexarbor.evaluation import ScoredArticle as Scored
from lexarbor.evaluation import evaluate
from lexarbor.graph.enrichment import Enricher
from lexarbor.graph.legislation import EDGE_KINDS, LegislativeGraph
from lexarbor.graph.settings import GraphSettings
from lexarbor.graph.weights import weight_shapes
from lexarbor.supervision.answers import same_words
from lexarbor.supervision.folder import SupervisionFolder
from lexarbor.training.graph_views import pairs_by_view
from study_lge import DEPTH, read_view

RESULTS = Path(__file__).parent.parent / "results"
MEASURES = ("recall@10", "recall@100", "recall@200", "recall@500", "map")
WEIGHING = {"recall@100": 1.0, "recall@500": 0.3, "map": 0.3}
"""What makes an answer better."""
START = np.array([[0, 5, 0, 0, 0, 0], [0.2, 0, 0.3, 0.3, 0.3, 0]], dtype=np.float32)
"""(layers, kinds): sections gather what stands below them; articles hear their section, neighbours and citing ones."""
LARGER, ADDED = 0.35, 0.04
"""How far a weight is changed at a time: by a factor, by a sum."""


class Part(NamedTuple):
    """Questions and the law as a retriever sees them to which the questions are new."""

    features: NDArray[np.float32]
    questions: NDArray[np.float32]
    gold: dict[str, frozenset[str]]


def parts_of(folder: SupervisionFolder, views: Path) -> list[Part]:
    """Dev first, then each part of the train questions."""
    folds = len(list(views.glob("headings-*.npz"))) - 1
    by_part = pairs_by_view(folder, ["gold"], folds)
    found = []
    for number in range(folds + 1):
        view = read_view(views / f"headings-{number}.npz", "headings", folder)
        asked = [(pair.question, pair.positives) for pair in (folder.pairs[place] for place in by_part[number])]
        if not number:
            asked = [(one.text, one.gold) for one in folder.asked if one.gold]
        rows = [view.row_of[same_words(question)] for question, _ in asked]
        gold = {str(place): frozenset(answers) for place, (_, answers) in enumerate(asked)}
        found.append(Part(view.features, view.questions[rows], gold))
    return found


def hearing(weights: NDArray[np.float32], dimension: int) -> Enricher:
    """A graph encoder of `weights` (layers, kinds), without gates."""
    settings = GraphSettings(layers=len(weights), gates=False)
    arrays = {name: np.zeros(shape, dtype=np.float32) for name, shape in weight_shapes(settings, dimension).items()}
    for number, layer in enumerate(weights):
        arrays[f"layers.{number}.heard"][:] = layer[:, None]
    return Enricher(settings, dimension, "any", arrays)


def figures(weights: NDArray[np.float32], parts: list[Part], graph: LegislativeGraph) -> dict[str, float]:
    """Means over all questions of some parts."""
    run: dict[str, list[Scored]] = {}
    gold: dict[str, frozenset[str]] = {}
    for number, part in enumerate(parts):
        heard = hearing(weights, part.features.shape[1]).enrich(part.features, graph, encoder="any")[graph.article_rows]
        scores = part.questions @ (heard / np.linalg.norm(heard, axis=1, keepdims=True)).T
        best = np.argsort(-scores, axis=1, kind="stable")[:, :DEPTH]
        for (place, answers), row, rows in zip(part.gold.items(), scores, best, strict=True):
            gold[f"{number} {place}"] = answers
            run[f"{number} {place}"] = [Scored(graph.articles[article], float(row[article])) for article in rows]
    return evaluate(run, gold, MEASURES).means()


def changed(weights: NDArray[np.float32], draw: np.random.Generator) -> NDArray[np.float32]:
    larger = np.exp(LARGER * draw.normal(size=weights.shape) * (draw.random(weights.shape) < 0.4))
    added = ADDED * draw.normal(size=weights.shape) * (draw.random(weights.shape) < 0.2)
    return (weights * larger + added).astype(np.float32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("views", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--tries", type=int, default=45)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    folder = SupervisionFolder.open(given.data)
    graph = folder.graph
    assert graph is not None
    dev, *train = parts_of(folder, given.views)
    draw = np.random.default_rng(given.seed)
    rows = []

    def tell(what: str, weights: NDArray[np.float32], found: dict[str, float]) -> None:
        beside = figures(weights, [dev], graph)
        told = [f"{100 * held[measure]:.1f}" for held in (found, beside) for measure in MEASURES]
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
    write(rows, given.tries, given.seed)
    for name, layer in (("gathered_at_first", weights[0]), ("heard_at_first", weights[1])):
        print(f"{name}: {{{', '.join(f'{kind}: {value:.2f}' for kind, value in zip(EDGE_KINDS, layer, strict=True))}}}")


def write(rows: list[str], tries: int, seed: int) -> None:
    heads = [
        f"{where} {measure}" for where in ("train", "dev") for measure in ("R@10", "R@100", "R@200", "R@500", "mAP")
    ]
    lines = [
        "# How much to hear before anything is learned",
        "",
        "`python benchmarks/choose_hearing.py views --data supervision`: two layers `hearing`, one weight for each",
        f"kind of edges, {tries} changes by chance (seed {seed}); a change is kept where the train questions, each",
        "part of them seen by a retriever that left it out, are answered better. Dev stands beside and chose nothing.",
        f"Figures in %; weights by layer, in the order {', '.join(EDGE_KINDS)}.",
        "",
        f"| kept | {' | '.join(heads)} | weights |",
        "|---" * (len(heads) + 2) + "|",
        *rows,
    ]
    (RESULTS / "hearing.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("results/hearing.md")


if __name__ == "__main__":
    main()
