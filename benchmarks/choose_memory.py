"""Question memory's two settings, chosen without a look at any test question; written into results/memory-grid.md.

    python benchmarks/choose_memory.py

Five-fold cross-validation over train + dev, near-equal questions in one fold, on VosDroits and (where its questions
are at hand, see benchmarks/baselines.py) on BSARD.
"""

import random

from baselines import build, write
from lexarbor.corpus.benchmarks.splits import near_groups
from lexarbor.corpus.questions import Question, QuestionSet
from lexarbor.evaluation import Run, evaluate, order
from lexarbor.search.memory import MemorySettings, QuestionMemory

FOLDS = 5
NEIGHBOURS = (5, 10, 20, 50, 100, 200)
SHARPNESS = (1.0, 2.0, 3.0, 4.0, 6.0)
DEPTH = 500


def folds(questions: list[Question]) -> list[list[Question]]:
    by_id = {question.id: question for question in questions}
    groups = near_groups({id: question.text for id, question in by_id.items()})
    random.Random(0).shuffle(groups)
    parts: list[list[Question]] = [[] for _ in range(FOLDS)]
    for group in groups:
        min(parts, key=len).extend(by_id[id] for id in group)
    return parts


def cross_validate(questions: QuestionSet, settings: MemorySettings) -> dict[str, float]:
    gold = questions.gold(["train", "dev"])
    parts = folds([*questions.split("train"), *questions.split("dev")])
    found: Run = {}
    for held_out in parts:
        remembered = [question for part in parts if part is not held_out for question in part]
        memory = QuestionMemory(remembered, gold, settings)
        for question in held_out:
            found[question.id] = order(memory.scores(question.text).items())[:DEPTH]
    return evaluate(found, gold, ["recall@100", "recall@500", "map"]).means()


def main() -> None:
    lines = [
        "# Question memory's settings",
        "",
        "`python benchmarks/choose_memory.py`: cross-validated over train + dev, in %.",
    ]
    for name in ("vosdroits", "bsard-questions"):
        benchmark = build(name)
        if benchmark is None:
            continue
        lines += ["", f"## {name}", "", "| neighbours | sharpness | R@100 | R@500 | mAP |", "|---|---|---|---|---|"]
        for neighbours in NEIGHBOURS:
            for sharpness in SHARPNESS:
                settings = MemorySettings(neighbours=neighbours, sharpness=sharpness)
                figures = cross_validate(benchmark.questions, settings)
                cells = " | ".join(f"{100 * value:.1f}" for value in figures.values())
                chosen = " ← the default" if settings == MemorySettings() else ""
                lines.append(f"| {neighbours} | {sharpness:g}{chosen} | {cells} |")
    write("memory-grid.md", "\n".join(lines))


if __name__ == "__main__":
    main()
