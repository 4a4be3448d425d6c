"""Give each synthetic question of a supervision folder further answers: articles that both BM25 and the shipped
retriever rank among the best twenty for it. For the rows `agreed` of results/synthetic-*.md.

    python benchmarks/agreed_answers.py --data supervision --out agreed
"""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from lexarbor.corpus.benchmarks.catalogue import build_benchmark
from lexarbor.corpus.tree import LawTree
from lexarbor.supervision.folder import Pair, Supervision, SupervisionFolder, write_supervision
from lexarbor.supervision.round_trip import BLOCK, LEGS
from lexarbor.supervision.synthetic_pairs import SYNTHETIC

DEPTH = 20


def best(law: LawTree, leg: str, questions: list[str]) -> list[set[str]]:
    """Of each question, the ids of the articles that a leg ranks best."""
    articles = law.current()
    score = LEGS[leg](law, articles)
    found: list[set[str]] = []
    for start in range(0, len(questions), BLOCK):
        for scores in score(questions[start : start + BLOCK]):
            rows = np.argpartition(-scores, DEPTH)[:DEPTH]
            found.append({articles[row].id for row in rows if scores[row] > -np.inf})
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder of `lexarbor train prepare --synthetic …`")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    folder = SupervisionFolder.open(given.data)
    synthetic = [pair for pair in folder.pairs if pair.kind == SYNTHETIC]
    law = build_benchmark("vosdroits").law
    found = [best(law, leg, [pair.question for pair in synthetic]) for leg in LEGS]
    answered: list[Pair] = []
    for pair, *ids in zip(synthetic, *found, strict=True):
        answered.append(replace(pair, positives=tuple(sorted(set.intersection(*ids).union(pair.positives)))))
    others = [pair for pair in folder.pairs if pair.kind != SYNTHETIC]
    told = Supervision(folder.articles, folder.passages, [*others, *answered], folder.texts, folder.asked, folder.facts)
    write_supervision(told, given.out)
    print(f"{len(answered)} questions, {sum(len(pair.positives) for pair in answered)} answers")


if __name__ == "__main__":
    main()
