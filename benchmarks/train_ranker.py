"""Learn the engine's ranker from out-of-fold scores, and write src/lexarbor/shipped/ranker.json and results/ranker.md.

    python benchmarks/train_ranker.py VIEWS --data supervision

VIEWS is a folder that `study_lge.py views` wrote for the retriever `headings`: the shipped encoder and the four that
each left a part of the train sheets out. A train question is seen by the retriever that left it out, with a memory that
holds the other three parts alone; a dev question by the shipped encoder, with all of train in memory. Learned from are
the questions as their sheets have them and, as people ask otherwise, two in everyday words for each. Chosen is by
cross-validation over train: each part ranked by weights learned from the other three; dev stands beside.
"""

import argparse
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexarbor.corpus.benchmarks.catalogue import build_benchmark
from lexarbor.evaluation.strata import stratum
from lexarbor.graph.enrichment import Enricher
from lexarbor.graph.model_folder import GraphModelFolder
from lexarbor.graph.shipped import shipped_graph_model
from lexarbor.search.building import make_index
from lexarbor.search.fields import FIELDS
from lexarbor.search.lexical import tuned
from lexarbor.search.ranking import FORMAT, LEGS, Facts, features, fused, standing_features
from lexarbor.search.reading import Reader
from lexarbor.search.recollection import Recollection, Remembered
from lexarbor.search.section_questions import SectionQuestions, shipped_questions
from lexarbor.search.spelling import Spelling, known_words
from lexarbor.search.surroundings import Surroundings
from lexarbor.supervision.answers import same_words
from lexarbor.supervision.everyday import EVERYDAY
from lexarbor.supervision.folder import SupervisionFolder
from lexarbor.supervision.folds import parts_of
from lexarbor.training.ranker import Example, fit_weights
from study_lge import read_view

ROOT = Path(__file__).parent.parent
FOLDS = 4
ASKED = 2
"""Of the everyday questions of a train sheet, those that are learned from."""
LEAST = 0.02
"""Features of legs lie between 0 and 1 or about there, scores some ten apart: less than this changes nothing."""
CANDIDATES = 3000
"""Of a question, the articles that weights are learned from: the best by a plain sum, and its answers."""
CUTS = (10, 100, 200, 500)
LEARNED = (
    LEGS,
    ("dense", "bm25", "memory"),
    ("dense", "bm25", "everyday"),
    ("dense", "bm25"),
    ("dense", "memory"),
)
"""The legs that weights are learned for."""
HEADS = (*(f"R@{cut}" for cut in CUTS), "mAP")

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Case:
    """A question with the scores of each leg."""

    part: int
    """Of the train questions, from 1; 0 for dev."""
    answers: NDArray[np.intp]
    legs: dict[str, Floats]
    facts: Facts
    unseen: bool
    """Whether no remembered question has any of its answers."""
    everyday: bool = False
    """Whether it is asked in everyday words."""


def cases_of(folder: SupervisionFolder, views: Path) -> list[Case]:
    benchmark = build_benchmark("vosdroits")
    index = make_index(benchmark.law, source="vosdroits", settings=tuned("headings+text"))
    around = Surroundings.build(index.law, index.article_ids, index.links)
    rows = {id: row for row, id in enumerate(index.article_ids)}
    everyday = SectionQuestions.build(index.law, index.article_ids, shipped_questions())
    assert everyday is not None
    gold = benchmark.questions.gold(["train", "dev"])
    answers = {id: np.array(sorted(rows[article] for article in some)) for id, some in gold.items()}
    train, dev = (benchmark.questions.split(split) for split in ("train", "dev"))
    titles = {same_words(pair.question): pair for pair in folder.pairs if pair.kind == "gold"}
    described = {pair.source: pair.question for pair in folder.pairs if pair.kind == "description"}
    asked: dict[str, list[str]] = {}
    for pair in folder.pairs:
        if pair.kind == EVERYDAY:
            asked.setdefault(pair.source, []).append(pair.question)
    for some in asked.values():  # in an order by chance, the same in every run
        some.sort(key=lambda text: hashlib.sha256(text.encode()).digest())
    reader = Reader(
        Spelling.build((FIELDS["headings+text"](index.law, one) for one in index.law.current()), known_words())
    )
    sources = {question.id: titles[same_words(question.text)].source for question in train}
    parts = parts_of(folder.pairs, FOLDS)
    part = {question.id: parts[sources[question.id]] for question in train} | {question.id: 0 for question in dev}
    model = GraphModelFolder.open(shipped_graph_model())
    enricher = Enricher(model.settings, model.dimension, "any", model.weights)
    found = []
    for number in range(FOLDS + 1):
        view = read_view(views / f"headings-{number}.npz", "headings", folder)
        assert folder.graph is not None
        enriched = enricher.enrich(view.features, folder.graph, encoder="any")[folder.graph.article_rows]
        enriched /= np.linalg.norm(enriched, axis=1, keepdims=True)
        kept = [question for question in train if part[question.id] != number or not number]
        texts = [(one.text, described[sources[one.id]]) for one in kept]
        both = [[view.questions[view.row_of[same_words(text)]] for text in pair] for pair in texts]
        vectors = np.mean(both, axis=1, dtype=np.float32)
        labels = [(place, row, 0) for place, one in enumerate(kept) for row in answers[one.id]]
        held = np.array(labels, dtype=np.int32)
        memory = Recollection([Remembered(one.id) for one in kept], vectors, held, len(rows))
        seen = set(held[:, 1].tolist())
        facts = Facts(around, memory.popularity * np.float32(len(train) / len(kept)))
        for question in (one for one in (*train, *dev) if part[one.id] == number):
            unseen = stratum(frozenset(answers[question.id].tolist()), seen) == "unseen"
            for text in (question.text, *asked.get(sources.get(question.id, ""), ())[:ASKED]):
                vector = view.questions[view.row_of[same_words(text)]].astype(np.float32)
                words = reader.read(text) if text != question.text else text
                legs = {
                    "dense": enriched @ vector,
                    "bm25": index.lexical.scores(words),
                    "memory": memory.scores(memory.likeness(vector)),
                    "everyday": everyday.scores(words),
                }
                found.append(Case(number, answers[question.id], legs, facts, unseen, text != question.text))
    return found


@dataclass(frozen=True, eq=False)
class Looked:
    """A case's features of its candidates."""

    case: Case
    rows: NDArray[np.intp]
    names: tuple[str, ...]
    features: Floats

    @property
    def example(self) -> Example:
        return Example(self.features, np.isin(self.rows, self.case.answers))


def looked_at(case: Case, legs: Iterable[str]) -> Looked:
    held = {leg: case.legs[leg] for leg in legs}
    facts = case.facts if "memory" in held else Facts(case.facts.around)
    told = dict(features(held, facts)) | dict(standing_features(facts))
    plain = sum(weight * told[leg] for leg, weight in (("dense", 1.0), ("bm25", 3.0), ("memory", 2.0)) if leg in held)
    plain = plain + 0.4 * told["dense section best"]
    best = np.argpartition(-plain, CANDIDATES)[:CANDIDATES]
    rows = np.union1d(best, case.answers) if case.part else np.sort(best)
    return Looked(case, rows, tuple(told), np.stack([values[rows] for values in told.values()], axis=1))


def figures_of(scores: Floats, rows: NDArray[np.intp], answers: NDArray[np.intp]) -> list[float]:
    best = rows[np.argsort(-scores, kind="stable")][: CUTS[-1]]
    hits = np.isin(best, answers)
    found = hits.cumsum()
    precision = (found / np.arange(1, len(best) + 1) * hits).sum() / len(answers)
    return [*(found[cut - 1] / len(answers) for cut in CUTS), precision]


def told(each: Mapping[int, list[float]], cases: list[Case]) -> str:
    """Means over train, over dev, R@100 of the unseen of both, and of train in everyday words."""

    def mean(chosen: list[int]) -> Floats:
        return 100 * np.mean([each[number] for number in chosen], axis=0)

    train = [number for number, case in enumerate(cases) if case.part and not case.everyday]
    everyday = mean([number for number, case in enumerate(cases) if case.everyday])[1]
    dev = [number for number, case in enumerate(cases) if not case.part]
    unseen = [mean([number for number in some if cases[number].unseen])[1] for some in (train, dev)]
    return " | ".join(f"{value:.1f}" for value in (*mean(train), unseen[0], everyday, *mean(dev), unseen[1]))


def learned(cases: list[Case], legs: tuple[str, ...]) -> tuple[dict[str, float], dict[int, list[float]]]:
    """Weights from all of train, and figures: of train by cross-validation, of dev by those weights."""
    looked = [looked_at(case, legs) for case in cases]
    each: dict[int, list[float]] = {}
    whole = fit_weights([one.example for one in looked if one.case.part])
    for part in range(FOLDS + 1):
        others = [one.example for one in looked if one.case.part not in (0, part)]
        weights = whole if not part else fit_weights(others)
        for number, one in enumerate(looked):
            if one.case.part == part:
                each[number] = figures_of(one.features @ weights, one.rows, one.case.answers)
    return dict(zip(looked[0].names, whole.tolist(), strict=True)), each


def counted(name: str, weight: float) -> float:
    """A weight as it ships: of a leg's feature 0, and it is not looked at, where it could not move an article."""
    return 0.0 if name.startswith(LEGS) and abs(weight) < LEAST else round(weight, 5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("views", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    given = parser.parse_args()
    cases = cases_of(SupervisionFolder.open(given.data), given.views)
    every = np.arange(len(cases[0].legs["dense"]))
    rows = []
    for leg in LEGS:
        each = {n: figures_of(case.legs[leg], every, case.answers) for n, case in enumerate(cases)}
        rows.append(f"| {leg} alone | {told(each, cases)} |")
    for legs in (LEGS, ("dense", "bm25")):
        each = {
            n: figures_of(fused({leg: case.legs[leg] for leg in legs}), every, case.answers)
            for n, case in enumerate(cases)
        }
        rows.append(f"| reciprocal ranks of {', '.join(legs)} | {told(each, cases)} |")
    rankers = []
    for legs in LEARNED:
        weights, each = learned(cases, legs)
        rows.append(f"| **learned**: {', '.join(legs)} | {told(each, cases)} |")
        rankers.append({"legs": legs, "weights": {name: counted(name, weight) for name, weight in weights.items()}})
        print(rows[-1], flush=True)
    content = {"format": FORMAT, "learned_from": "vosdroits train, out of fold", "rankers": rankers}
    target = ROOT / "src" / "lexarbor" / "shipped" / "ranker.json"
    target.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    write(rows, rankers[0]["weights"], cases)


def write(rows: list[str], weights: object, cases: list[Case]) -> None:
    assert isinstance(weights, dict)
    heads = [*(f"train {head}" for head in HEADS), "unseen R@100"]
    heads += ["everyday R@100", *(f"dev {head}" for head in HEADS), "unseen R@100"]
    count = sum(bool(case.part) and not case.everyday for case in cases)
    dev = sum(not case.part for case in cases)
    lines = [
        "# The engine's ranker",
        "",
        f"`python benchmarks/train_ranker.py views --data supervision`: {count} train questions of VosDroits,",
        f"and {ASKED} in everyday words for each, seen by a retriever and a memory without their part; learned rows",
        "are cross-validated over the four parts. Figures of train are of the sheets' own questions, `everyday R@100`",
        f"of the others. Dev ({dev} questions, the shipped encoder, weights of all of train) chose nothing here.",
        f"Learned from the best {CANDIDATES:,} articles of a question by a plain sum, and its answers; figures of the",
        "learned rows are among those too, for dev without the answers. In %.",
        "",
        f"| | {' | '.join(heads)} |",
        "|---" * (len(heads) + 1) + "|",
        *rows,
        "",
        "Weights of the first (src/lexarbor/shipped/ranker.json has all):",
        "",
        "| feature | weight |",
        "|---|---|",
        *(f"| {name} | {weight} |" for name, weight in weights.items()),
    ]
    (ROOT / "results" / "ranker.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("results/ranker.md")


if __name__ == "__main__":
    main()
