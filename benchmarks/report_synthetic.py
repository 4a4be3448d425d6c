"""Score what synthetic questions are good for, into results/synthetic-SPLIT.md.

    python benchmarks/report_synthetic.py RANKINGS QUESTIONS TITLES dev     what choices are made by
    python benchmarks/report_synthetic.py RANKINGS QUESTIONS TITLES test    VosDroits test and Travail: once, at the end

RANKINGS is a folder of `JOB-SEED.npz` that benchmarks/study_dsr.py wrote (study_synthetic.yaml, and the rows `first` of
study_dsr.yaml); QUESTIONS and TITLES are the files of `lexarbor augment` over the benchmark's law, before any filter.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from lexarbor.corpus.benchmarks.catalogue import Benchmark, build_benchmark
from lexarbor.experiments.systems import bm25, build_system, run
from lexarbor.supervision.synthetic import read_synthetic, write_synthetic
from report_dsr import SPLITS, Runs, runs_of, scored, write_report

LEXICAL = {
    "bm25": "BM25, text",
    "five": "text + five questions",
    "ten": "text + five questions + five titles",
    "doc2query": "**text + the shipped questions: `doc2query`**",
    "bm25+headings": "BM25, headings + text",
    "five+headings": "headings + text + five questions",
    "ten+headings": "headings + text + five questions + five titles",
    "doc2query+headings": "**headings + text + the shipped questions: `doc2query+headings`**",
}
DENSE = {
    "first": "without synthetic questions (recipes/dsr.yaml)",
    "kept": "+ the questions and titles that came back (recipes/dsr-synthetic.yaml)",
    "agreed": "the same, with the articles that both legs rank among the best 20 as further answers",
    "unfiltered": "+ all questions and titles, seed 0 alone",
    "first-soup": "mean of the three 'first' models",
    "kept-soup": "mean of the three 'kept' models",
    "agreed-soup": "mean of the three 'agreed' models",
}
GOLD = {
    "gold": "gold alone (the paper's DSR)",
    "gold-kept": "+ the questions and titles that came back (the paper's augmentation)",
}
"""Without weak pairs, small, one seed: benchmarks/study_synthetic_gold.yaml."""
TABLES = {"lexical": (LEXICAL, "bm25+headings"), "dense": (DENSE, "first"), "gold": (GOLD, "gold")}
"""Rows, and the one that the others are compared with."""


def lexical_runs(benchmark: Benchmark, split: str, expansions: dict[str, Path]) -> Runs:
    asked = benchmark.questions.split(split)
    rankers = {name: build_system(name, benchmark) for name in LEXICAL if name.startswith(("bm25", "doc2query"))}
    for name, path in expansions.items():
        rankers[name] = bm25(benchmark, "text+questions", questions=path)
        rankers[f"{name}+headings"] = bm25(benchmark, "headings+text+questions", questions=path)
    return {name: [run(rankers[name], asked)] for name in LEXICAL}


def main(rankings: Path, questions: Path, titles: Path, which: str) -> None:
    lines = [f"# Synthetic questions on {which}", ""]
    lines += [
        f"`python benchmarks/report_synthetic.py RANKINGS QUESTIONS TITLES {which}`. Figures in %. The questions are",
        "one draw (seed 0) of one generator. BM25 has the k1 and b that were tuned without them. The dense rows are",
        "means over three seeds of one pre-training where seeds are listed, ranked with torch. The rows `gold` were",
        "trained on two cores (one seed, 32 steps of 96 questions, 96 tokens) and ranked in ONNX int8.",
        "",
    ]
    report: dict[str, object] = {}
    with TemporaryDirectory() as made:
        both = Path(made) / "ten.jsonl"
        write_synthetic([*read_synthetic(questions), *read_synthetic(titles)], both)
        for name, split in SPLITS[which]:
            benchmark = build_benchmark(name)
            found = runs_of(rankings, benchmark, "travail" if name == "travail" else split)
            found |= lexical_runs(benchmark, split, {"five": questions, "ten": both})
            parts = []
            for kind, (labels, reference) in TABLES.items():
                rows = {row: found[row] for row in labels if row in found}
                told, report[f"{name} {split} {kind}"] = scored(benchmark, split, rows, labels, reference)
                parts += told[2:] if parts else told
            lines += parts
    write_report(f"synthetic-{which}", lines, report)


if __name__ == "__main__":
    if len(sys.argv) != 5 or sys.argv[4] not in SPLITS:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4])
