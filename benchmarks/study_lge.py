"""Does the graph pay? Train the rows of the study of the legislative graph encoder, and rank every asked question.

    python benchmarks/study_lge.py views benchmarks/study_lge.yaml --data supervision --out views
    python benchmarks/study_lge.py train benchmarks/study_lge.yaml --data supervision --views views --out lge

The study names retrievers (one whose vectors are enriched, and its folds: benchmarks/study_folds.yaml trains them) and
jobs: a recipe, values that it changes, whose vectors. `views` writes what each retriever makes of the law and of the
questions it may be asked with, features rounded to 8 bits so that they travel; `train` needs only what training needs.
For each model `OUT/JOB-SEED.npz` holds the ranking of all asked questions (the gold of test and transfer is not in the
supervision folder), `OUT/JOB-SEED.json` its figures on dev, `OUT/JOB-SEED/` the graph encoder.
"""

import argparse
import gc
import json
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
import yaml
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parent))
from lexarbor.evaluation import evaluate
from lexarbor.graph.encoder import LegislativeGraphEncoder
from lexarbor.graph.legislation import LegislativeGraph
from lexarbor.graph.model_folder import GraphModelFolder
from lexarbor.supervision.answers import same_words
from lexarbor.supervision.folder import Supervision, SupervisionFolder
from lexarbor.text.eight_bits import to_eight_bits
from lexarbor.training.graph import heard_graph, train_graph
from lexarbor.training.graph_recipe import GraphRecipe
from lexarbor.training.graph_views import View, Views, law_nodes, pairs_by_view
from lexarbor.training.node_encoders import node_encoder
from lexarbor.training.ranking import Vectors, rank
from lexarbor.training.recipes import read_recipe
from study_dsr import DEPTH, save_ranking

SHEETS = ("gold", "description", "train_chapter", "train_text", "everyday")
"""Kinds from train sheets: those of a part go with the retriever that left it out."""
SEEN = ("gold", "description", "train_chapter", "synthetic")
"""Kinds that also go with the retriever that is enriched."""
REMEMBERED = ("gold", "description")
"""Kinds that go with every retriever: what the engine's question memory holds (benchmarks/train_ranker.py)."""


@dataclass(frozen=True)
class Job:
    """One row of the study and one seed."""

    name: str
    seed: int
    told: dict[str, Any]

    @property
    def key(self) -> str:
        return f"{self.name}-{self.seed}"

    def recipe(self, study: dict[str, Any]) -> GraphRecipe:
        retrievers = study["retrievers"][self.told["retriever"]]
        folds = [] if self.told.get("seen") else retrievers["folds"]
        changes = [f"encoder={retrievers['encoder']}", f"folds={json.dumps(folds)}", f"optimisation.seed={self.seed}"]
        changes += [*study.get("set", ()), *self.told.get("set", ())]
        recipe = read_recipe(Path(self.told.get("recipe", study["recipe"])), changes)
        assert isinstance(recipe, GraphRecipe)
        return recipe


def jobs_of(study: dict[str, Any]) -> list[Job]:
    """Seed by seed, so that a study that is cut short has all rows."""
    named = study["jobs"].items()
    return [
        Job(name, seed, told)
        for seed in study["seeds"]
        for name, told in named
        if seed in told.get("seeds", study["seeds"])
    ]


def write_views(study: dict[str, Any], data: Path, out: Path) -> None:
    """OUT/RETRIEVER-0.npz for what is enriched, OUT/RETRIEVER-1.npz and on for its folds. Those that lie there are
    kept: the shipped encoder is read where ONNX can be, the others where the GPU is.
    """
    folder = SupervisionFolder.open(data)
    nodes = law_nodes(folder)
    for name, told in study["retrievers"].items():
        by_part = pairs_by_view(folder, SHEETS, len(told["folds"]))
        seen, remembered = (
            [number for number, pair in enumerate(folder.pairs) if pair.kind in kinds] for kinds in (SEEN, REMEMBERED)
        )
        of_folds = [sorted({*numbers, *remembered}) for numbers in by_part[1:]]
        for place, (path, numbers) in enumerate(zip([told["encoder"], *told["folds"]], [seen, *of_folds], strict=True)):
            if (target := out / f"{name}-{place}.npz").exists():
                continue
            encoder = node_encoder(path, "retrievers")
            asked = [folder.pairs[number].question for number in numbers] + [one.text for one in folder.asked]
            features, questions = encoder.vectors(nodes, asked)
            save_view(target, features, questions, numbers, encoder.checksum, encoder.settings.similarity)


def save_view(
    path: Path,
    features: NDArray[np.float32],
    questions: NDArray[np.float32],
    numbers: list[int],
    checksum: str,
    similarity: str,
) -> None:
    """Features at length 1 in 8 bits, questions of pairs (by number) and of all that are asked in 16."""
    np.savez(
        path,
        features=to_eight_bits(features).numbers,
        questions=(questions / np.linalg.norm(questions, axis=1, keepdims=True)).astype(np.float16),
        pairs=np.array(numbers, dtype=np.int64),
        checksum=checksum,
        similarity=similarity,
    )


def read_view(path: Path, name: str, folder: SupervisionFolder) -> View:
    held = np.load(path)
    words = [same_words(folder.pairs[number].question) for number in held["pairs"].tolist()]
    words += [same_words(one.text) for one in folder.asked]
    rows = {word: row for row, word in reversed(list(enumerate(words)))}  # the first of equal ones
    features = held["features"].astype(np.float32)
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    questions = held["questions"][list(rows.values())].astype(np.float32)
    row_of = {word: place for place, word in enumerate(rows)}
    return View(name, str(held["checksum"]), str(held["similarity"]), features, questions, row_of)


def run_study(path: Path, data: Path, views: Path, out: Path, lanes: int) -> None:
    """Several processes, each with its share of the jobs."""
    out.mkdir(parents=True, exist_ok=True)
    command = [
        sys.executable,
        __file__,
        "train",
        str(path),
        "--data",
        str(data),
        "--views",
        str(views),
        "--out",
        str(out),
    ]
    logs = [(out / f"lane-{lane}.log").open("wb") for lane in range(lanes)]
    running = [
        subprocess.Popen([*command, "--lanes", str(lanes), "--lane", str(lane)], stderr=log)
        for lane, log in enumerate(logs)
    ]
    failed = [lane for lane, process in enumerate(running) if process.wait()]
    if failed:
        sys.exit(f"lanes {failed} failed: see {out}/lane-….log")


def run_lane(path: Path, data: Path, views: Path, out: Path, lane: int, lanes: int) -> None:
    study = yaml.safe_load(path.read_text(encoding="utf-8"))
    folder = SupervisionFolder.open(data)

    @cache
    def seen_by(retriever: str) -> Views:
        told = study["retrievers"][retriever]
        names = [told["encoder"], *told["folds"]]
        first, *rest = (read_view(views / f"{retriever}-{place}.npz", name, folder) for place, name in enumerate(names))
        return Views(first, tuple(rest))

    for job in jobs_of(study)[lane::lanes]:
        if (out / f"{job.key}.json").is_file():
            continue
        began = time.time()
        held = seen_by(job.told["retriever"])
        chosen = Views(held.encoder, ()) if job.told.get("seen") else held
        enriched = _enriched(job, study, folder, chosen, out)
        figures = write_ranking(job.key, folder, held.encoder, enriched, out)
        told = " ".join(f"{name} {100 * value:.1f}" for name, value in figures.items())
        print(f"{time.strftime('%H:%M:%S')} {job.key}: dev {told}; {time.time() - began:.0f} s", flush=True)
        gc.collect()
        torch.cuda.empty_cache()


def _enriched(
    job: Job, study: dict[str, Any], folder: SupervisionFolder, views: Views, out: Path
) -> NDArray[np.float32]:
    """The articles' vectors, by a model that is trained now, or by a rule without one."""
    graph = folder.graph
    assert graph is not None
    if rule := job.told.get("rule"):
        features = views.encoder.features
        return UNTRAINED[rule](features, graph)[graph.article_rows]
    recipe = job.recipe(study)
    read: Any = folder
    if job.told.get("shuffled"):
        parts = {name: getattr(folder, name) for name in ("articles", "pairs", "asked", "sections")}
        read = Supervision(**parts, graph=graph.shuffled(job.seed), facts=folder.facts)
    train_graph(recipe, read, out / job.key, views=views)
    return enriched_by(out / job.key, recipe, read, views.encoder)


@torch.no_grad()
def enriched_by(model: Path, recipe: GraphRecipe, folder: Any, view: View) -> NDArray[np.float32]:
    """What the written graph encoder, in 16 bits, makes of the articles."""
    held = GraphModelFolder.open(model)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    encoder = LegislativeGraphEncoder.from_arrays(held.settings, held.dimension, held.weights).eval().to(device)
    graph = heard_graph(recipe, folder)
    rows = folder.graph.rows_of((*graph.sections, *graph.articles))
    edges = {kind: torch.from_numpy(ends.astype(np.int64)).to(device) for kind, ends in graph.edges.items()}
    features = torch.from_numpy(view.features[rows]).to(device)
    found = encoder(features, edges, torch.from_numpy(graph.degrees.copy()).to(device))
    enriched: NDArray[np.float32] = found[len(graph.sections) :].cpu().numpy()
    return enriched


def smoothed(features: NDArray[np.float32], graph: LegislativeGraph) -> NDArray[np.float32]:
    """The control without a parameter: an article's vector, and the mean of its section's and of its siblings' mean."""

    def heard(kind: str, vectors: NDArray[np.float32], articles_only: bool = False) -> NDArray[np.float32]:
        sources, targets = graph.edges[kind]
        if articles_only:
            kept = sources >= len(graph.sections)
            sources, targets = sources[kept], targets[kept]
        total = np.zeros_like(vectors)
        np.add.at(total, targets, vectors[sources])
        counts = np.bincount(targets, minlength=graph.size).clip(min=1)
        return total / counts[:, None].astype(np.float32)

    siblings = heard("contains", heard("within", features, articles_only=True))
    return features + (heard("contains", features) + siblings) / 2


UNTRAINED = {"none": lambda features, graph: features, "smoothing": smoothed}
"""Rules that learn nothing, by name."""


def write_ranking(
    key: str, folder: SupervisionFolder, view: View, enriched: NDArray[np.float32], out: Path
) -> dict[str, float]:
    """The best articles for each asked question; gives dev's figures."""
    asked = folder.asked
    device = "cuda" if torch.cuda.is_available() else "cpu"
    rows = [view.row_of[same_words(one.text)] for one in asked]
    questions = Vectors(tuple(one.id for one in asked), torch.from_numpy(view.questions[rows]).to(device))
    articles = Vectors(tuple(article.id for article in folder.articles), torch.from_numpy(enriched).to(device))
    ranked = rank(questions, articles, view.similarity, DEPTH)
    save_ranking(out / f"{key}.npz", asked, ranked.rows)
    gold = {one.id: frozenset(one.gold) for one in asked if one.gold}
    figures = evaluate({id: run for id, run in ranked.run().items() if id in gold}, gold).means()
    (out / f"{key}.json").write_text(json.dumps(figures), encoding="utf-8")
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("views", "train"))
    parser.add_argument("study", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--views", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--lanes", type=int, default=4)
    parser.add_argument("--lane", type=int)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    if given.what == "views":
        write_views(yaml.safe_load(given.study.read_text(encoding="utf-8")), given.data, given.out)
    elif given.lane is None:
        run_study(given.study, given.data, given.views, given.out, given.lanes)
    else:
        run_lane(given.study, given.data, given.views, given.out, given.lane, given.lanes)


if __name__ == "__main__":
    main()
