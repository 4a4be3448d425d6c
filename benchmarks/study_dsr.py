"""Train the rows of a study on one machine with a GPU, and rank every asked question with each model.

    python benchmarks/study_dsr.py benchmarks/study_dsr.yaml --data supervision --out study

A study names jobs, each a recipe and values that it changes, trained once for each seed, and soups: one model whose
weights are the mean of several. Jobs whose encoder reads the same inputs share a lane, one process that tokenises once;
lanes run side by side. Needs only what training needs. For each model `OUT/JOB-SEED.npz` holds the ranking of all asked
questions (dev, test and transfer: nobody looks at the last two here, their gold is not in the supervision folder) and
`OUT/JOB-SEED.json` its figures on dev.
"""

import argparse
import gc
import json
import logging
import subprocess
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import yaml
from numpy.typing import NDArray

from lexarbor.supervision.folder import Asked, SupervisionFolder
from lexarbor.training.recipes import TextRecipe, read_recipe

if TYPE_CHECKING:
    from lexarbor.training.tokens import TokenRows

DEPTH = 500


@dataclass(frozen=True)
class Job:
    """One model to train."""

    key: str
    recipe: TextRecipe

    @property
    def lane(self) -> str:
        """Jobs with the same encoder settings, tokenizer and negatives share one, so that texts are tokenised once."""
        tokenizer = self.recipe.tokenizer or self.recipe.start
        return f"{self.recipe.encoder} {tokenizer} {self.recipe.supervision.negatives}"


def jobs_of(study: dict[str, Any]) -> list[Job]:
    found = []
    for name, told in study["jobs"].items():
        for seed in told.get("seeds", study["seeds"]):
            recipe = read_recipe(Path(told["recipe"]), [*told.get("set", ()), f"optimisation.seed={seed}"])
            assert isinstance(recipe, TextRecipe)
            found.append(Job(f"{name}-{seed}", recipe))
    return found


def run_study(path: Path, data: Path, out: Path) -> None:
    """All lanes at once, each a process of its own."""
    study = yaml.safe_load(path.read_text(encoding="utf-8"))
    out.mkdir(parents=True, exist_ok=True)
    lanes = list(dict.fromkeys(job.lane for job in jobs_of(study)))
    command = [sys.executable, __file__, str(path), "--data", str(data), "--out", str(out), "--lane"]
    logs = [(out / f"lane-{number}.log").open("wb") for number in range(len(lanes))]
    running = [subprocess.Popen([*command, str(number)], stderr=log) for number, log in enumerate(logs)]
    failed = [number for number, process in enumerate(running) if process.wait()]
    if failed:
        sys.exit(f"lanes {failed} failed: see {out}/lane-….log")


def run_lane(path: Path, data: Path, out: Path, number: int) -> None:
    """The jobs of one lane, then the soups of its models."""
    import torch

    from lexarbor.training.contrastive import tokenise, train_text
    from lexarbor.training.mining import hard_negatives
    from lexarbor.training.starting import start

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    study = yaml.safe_load(path.read_text(encoding="utf-8"))
    by_lane: dict[str, list[Job]] = defaultdict(list)
    for job in jobs_of(study):
        by_lane[job.lane].append(job)
    jobs = list(by_lane.values())[number]
    folder = SupervisionFolder.open(data)
    kinds = {kind: 1.0 for job in jobs for kind in job.recipe.supervision.kinds}
    widest = replace(jobs[0].recipe, supervision=replace(jobs[0].recipe.supervision, kinds=kinds))
    tokenised = tokenise(widest, folder, start(widest, folder), hard_negatives(folder, widest.supervision))
    assert tokenised.dev is not None, "a study chooses on dev"
    articles = tokenised.dev.article_rows
    for job in jobs:
        began = time.time()
        train_text(job.recipe, folder, out / job.key, tokenised=tokenised)
        _tell(job.key, write_ranking(job.key, folder, articles, out), began)
        gc.collect()
        torch.cuda.empty_cache()
        for name, members in study.get("soups", {}).items():
            if job.key in members and all((out / f"{member}.json").is_file() for member in members):
                began = time.time()
                mix([out / member for member in members], out / name)
                _tell(name, write_ranking(name, folder, articles, out), began)


def _tell(key: str, figures: dict[str, float], began: float) -> None:
    told = " ".join(f"{name} {100 * value:.1f}" for name, value in figures.items())
    print(f"{time.strftime('%H:%M:%S')} {key}: dev {told}; {time.time() - began:.0f} s", flush=True)


def write_ranking(key: str, folder: SupervisionFolder, rows: "TokenRows", out: Path) -> dict[str, float]:
    """The best articles for each asked question; gives dev's figures. `rows` are the articles' tokens."""
    import torch

    from lexarbor.evaluation import evaluate
    from lexarbor.text.retriever import DenseStatuteRetriever
    from lexarbor.training.ranking import article_vectors, question_vectors, rank

    model = DenseStatuteRetriever.load(out / key).to("cuda" if torch.cuda.is_available() else "cpu")
    asked = folder.asked
    questions = question_vectors(model, [one.id for one in asked], [one.text for one in asked])
    articles = article_vectors(model, folder.articles, rows=rows)
    ranked = rank(questions, articles, model.settings.similarity, DEPTH)
    save_ranking(out / f"{key}.npz", asked, ranked.rows)
    gold = {one.id: frozenset(one.gold) for one in asked if one.gold}
    figures = evaluate({id: run for id, run in ranked.run().items() if id in gold}, gold).means()
    (out / f"{key}.json").write_text(json.dumps(figures), encoding="utf-8")
    return figures


def save_ranking(path: Path, asked: list[Asked], rows: NDArray[np.integer[Any]]) -> None:
    """(asked, depth) rows of articles, as the reports read them."""
    names = np.array([f"{one.split} {one.id}" for one in asked])
    kind = np.uint16 if rows.max(initial=0) < 1 << 16 else np.int32  # half the bytes, for most laws
    np.savez_compressed(path, rows=rows.astype(kind), asked=names)


def mix(members: list[Path], target: Path) -> None:
    """One model whose weights are the mean of several that began alike."""
    import torch

    from lexarbor.text.retriever import DenseStatuteRetriever

    models = [DenseStatuteRetriever.load(member) for member in members]
    states = [model.state_dict() for model in models]
    models[0].load_state_dict({key: torch.stack([state[key] for state in states]).mean(0) for key in states[0]})
    models[0].save(target)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", type=Path, help="a YAML file, e.g. benchmarks/study_dsr.yaml")
    parser.add_argument("--data", type=Path, required=True, help="a folder of `lexarbor train prepare`")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--lane", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.lane is None:
        run_study(given.study, given.data, given.out)
    else:
        run_lane(given.study, given.data, given.out, given.lane)


if __name__ == "__main__":
    main()
