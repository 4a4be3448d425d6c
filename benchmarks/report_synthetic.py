"""Score what synthetic questions are good for, into results/synthetic-SPLIT.md.

    python benchmarks/report_synthetic.py RANKINGS QUESTIONS TITLES dev     what choices are made by
    python benchmarks/report_synthetic.py RANKINGS QUESTIONS TITLES test    VosDroits test and Travail: once, at the end

RANKINGS is a folder of `JOB-SEED.npz` that benchmarks/study_dsr.py wrote (study_synthetic.yaml, and the rows `first` of
study_dsr.yaml); QUESTIONS and TITLES are the files of `lexarbor augment` over the benchmark's law, before any filter.
"""

import json
import sys
from pathlib import Path

from lexarbor.corpus.benchmarks.catalogue import Benchmark, build_benchmark
from lexarbor.experiments.systems import bm25, build_system, run
from lexarbor.supervision.synthetic import read_synthetic, write_synthetic
from report_dsr import RESULTS, SPLITS, Runs, runs_of, scored

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
    "gold": "gold alone, as in the paper; small and on a CPU, seed 0",
    "gold-kept": "gold and the questions and titles that came back; likewise",
}


def lexical_runs(benchmark: Benchmark, split: str, expansions: dict[str, Path]) -> Runs:
    asked = benchmark.questions.split(split)
    rankers = {name: build_system(name, benchmark) for name in LEXICAL if name.startswith(("bm25", "doc2query"))}
    for name, path in expansions.items():
        rankers[name] = bm25(benchmark, "text+questions", questions=path)
        rankers[f"{name}+headings"] = bm25(benchmark, "headings+text+questions", questions=path)
    return {name: [run(rankers[name], asked)] for name in LEXICAL}


def main(rankings: Path, questions: Path, titles: Path, which: str) -> None:
    both = rankings / "ten.jsonl"
    write_synthetic([*read_synthetic(questions), *read_synthetic(titles)], both)
    lines = [f"# Synthetic questions on {which}", ""]
    lines += [
        f"`python benchmarks/report_synthetic.py RANKINGS QUESTIONS TITLES {which}`. Figures in %. The questions are",
        "one draw (seed 0) of one generator. BM25 has the k1 and b that were tuned without them. The dense rows are",
        "means over three seeds of one pre-training where seeds are listed, ranked with torch (`gold`, `gold-kept`: in",
        "ONNX int8).",
        "",
    ]
    report = {}
    for name, split in SPLITS[which]:
        benchmark = build_benchmark(name)
        told, report[f"{name} {split} lexical"] = scored(
            benchmark, split, lexical_runs(benchmark, split, {"five": questions, "ten": both}), LEXICAL, "bm25+headings"
        )
        found = runs_of(rankings, benchmark, "travail" if name == "travail" else split)
        dense, report[f"{name} {split} dense"] = scored(
            benchmark, split, {row: found[row] for row in DENSE if row in found}, DENSE, "first"
        )
        lines += [*told, *dense[2:]]
    (RESULTS / f"synthetic-{which}.md").write_text("\n".join(lines).rstrip("\n") + "\n", encoding="utf-8")
    (RESULTS / f"synthetic-{which}.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(f"results/synthetic-{which}.md")


if __name__ == "__main__":
    if len(sys.argv) != 5 or sys.argv[4] not in SPLITS:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4])
