"""Score the models of the study of the dense statute retriever, and the shipped one, into results/dsr-SPLIT.md.

    python benchmarks/report_dsr.py RANKINGS dev      what choices are made by
    python benchmarks/report_dsr.py RANKINGS test     VosDroits test and Travail: once, at the end

RANKINGS is a folder of `JOB-SEED.npz` that benchmarks/study_dsr.py wrote.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

from lexarbor.corpus.benchmarks.catalogue import Benchmark, build_benchmark
from lexarbor.evaluation import MEASURES as LABELS
from lexarbor.evaluation import STRATA, Scores, bootstrap_interval, compare, evaluate, holm, means_by_stratum, strata
from lexarbor.evaluation import ScoredArticle as Scored
from lexarbor.experiments.systems import build_system, in_order, run

RESULTS = Path(__file__).parent.parent / "results"
MEASURES = ("recall@10", "recall@100", "recall@200", "recall@500", "map", "mrp", "ndcg@10")
HEADS = tuple(LABELS[name].label for name in MEASURES)
MAIN = "recall@100"
ROWS = {
    "plain-fresh": "no pre-training, gold; first 256 tokens, no headings",
    "plain-pretrained": "+ pre-training",
    "plain-weak": "+ pre-training + weak pairs, all but the gold titles",
    "plain": "+ pre-training + weak pairs + gold",
    "plain-fewer-headings": "the same with the shares of recipes/dsr.yaml, 240 steps (one seed)",
    "taught": "no headings, taught by a 'first' model (benchmarks/distil_plain.py)",
    "first": "+ pre-training + weak pairs + gold, with headings: first 256 tokens",
    "whole": "one pass over 1,024 tokens",
    "hierarchical": "hierarchical, 8 × 128 tokens",
    "in-batch": "first 256 tokens, without BM25 negatives",
    "first-soup": "mean of the three 'first' models",
    "whole-soup": "mean of the three 'whole' models",
    "hierarchical-soup": "mean of the three hierarchical models",
    "plain-soup": "mean of the three models without headings",
    "in-batch-soup": "mean of the three models without BM25 negatives",
    "shipped": "**shipped: 'first-soup' in ONNX int8**",
    "bm25+headings": "BM25, headings + text",
}
SPLITS = {"dev": [("vosdroits", "dev")], "test": [("vosdroits", "test"), ("travail", "test")]}


Runs = dict[str, list[dict[str, list[Scored]]]]
"""By row of a table, one run a seed."""


def runs_of(folder: Path, benchmark: Benchmark, asked: str) -> Runs:
    """By row of the table, one run a seed."""
    ids = [article.id for article in in_order(benchmark.law)]
    found: Runs = defaultdict(list)
    for path in sorted(folder.glob("*.npz")):
        held = np.load(path)
        name, _, seed = path.stem.rpartition("-")
        ranking = {
            label.split(" ", 1)[1]: [Scored(ids[row], -float(rank)) for rank, row in enumerate(rows)]
            for label, rows in zip(held["asked"].tolist(), held["rows"].tolist(), strict=True)
            if label.startswith(asked + " ")
        }
        found[name if seed.isdigit() else path.stem].append(ranking)
    return found


def mean_scores(each: list[Scores]) -> Scores:
    """Of several seeds, question by question."""
    return Scores(each[0].measures, each[0].questions, np.mean([one.values for one in each], axis=0))


def table(name: str, split: str, folder: Path) -> tuple[list[str], dict[str, object]]:
    benchmark = build_benchmark(name)
    runs = runs_of(folder, benchmark, "travail" if name == "travail" else split)
    for system, row in (("dsr", "shipped"), ("bm25+headings", "bm25+headings")):
        runs[row] = [run(build_system(system, benchmark), benchmark.questions.split(split))]
    return scored(benchmark, split, {row: runs[row] for row in ROWS if row in runs}, ROWS, "shipped")


def scored(
    benchmark: Benchmark, split: str, runs: Runs, labels: dict[str, str], reference: str
) -> tuple[list[str], dict[str, object]]:
    """Two tables in Markdown, of means and of strata, and the figures behind them; `reference` is the row that the
    others are compared with.
    """
    gold = benchmark.questions.gold([split])
    groups = strata(gold, benchmark.training.positives(["train"]))
    each = {row: [evaluate(one, gold, MEASURES) for one in seeds] for row, seeds in runs.items()}
    scores = {row: mean_scores(found) for row, found in each.items()}
    figures = {row: means_by_stratum(one, groups) for row, one in scores.items()}
    sizes = ", ".join(f"{len(ids)} {stratum}" for stratum, ids in groups.items() if stratum != "all")
    lines = [f"## {benchmark.name}, {split}: {len(gold)} questions ({sizes})", ""]
    lines += [f"| model | job | {' | '.join(HEADS)} | R@100 of the seeds |", "|---" * (len(HEADS) + 3) + "|"]
    for row, one in scores.items():
        means = " | ".join(f"{100 * one.mean(measure):.1f}" for measure in MEASURES)
        seeds = ", ".join(f"{100 * found.mean(MAIN):.1f}" for found in each[row]) if len(each[row]) > 1 else ""
        lines.append(f"| {labels[row]} | `{row}` | {means} | {seeds} |")
    compared = {row: compare(one, scores[reference], MAIN) for row, one in scores.items() if row != reference}
    corrected = holm({row: found.p_randomisation for row, found in compared.items()})
    lines += ["", f"| model | R@100, 95 % interval | seen | unseen | partial | difference to {reference} | p (Holm) |"]
    lines += ["|---" * 7 + "|"]
    for row, one in scores.items():
        whole = bootstrap_interval(one[MAIN])
        by_stratum = " | ".join(f"{100 * figures[row][part][MAIN]:.1f}" if groups[part] else "" for part in STRATA[1:])
        versus = " | "
        if row in compared:
            apart = compared[row].difference
            versus = f"{100 * apart.mean:+.1f} [{100 * apart.low:+.1f}, {100 * apart.high:+.1f}] | {corrected[row]:.4f}"
        interval = f"{100 * whole.mean:.1f} [{100 * whole.low:.1f}, {100 * whole.high:.1f}]"
        lines.append(f"| {labels[row]} | {interval} | {by_stratum} | {versus} |")
    return [*lines, ""], dict(figures)


def write_report(name: str, lines: list[str], figures: dict[str, object]) -> None:
    """As Markdown, and the figures behind it as JSON."""
    (RESULTS / f"{name}.md").write_text("\n".join(lines).rstrip("\n") + "\n", encoding="utf-8")
    (RESULTS / f"{name}.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    print(f"results/{name}.md")


def main(folder: Path, which: str) -> None:
    lines = [f"# The dense statute retriever on {which}", ""]
    lines += [
        f"`python benchmarks/report_dsr.py RANKINGS {which}`, over the rankings that `python benchmarks/study_dsr.py",
        "benchmarks/study_dsr.yaml --data supervision --out RANKINGS` and `python benchmarks/distil_plain.py RANKINGS",
        "--data supervision` wrote on an H200.",
        "A row's job names what benchmarks/study_dsr.yaml trains for it (`taught`: distil_plain.py, in a draft with",
        "the same settings); `shipped` and `bm25+headings` are `lexarbor evaluate --systems dsr,bm25+headings`.",
        "Figures in %, means over three seeds (0, 1, 2) of one pre-training where seeds are listed. Every tower is a",
        "BERT of 17M parameters (`hierarchical` has a second level of 4M more, `taught` two towers), trained in 16",
        "bits; all are ranked with torch but the shipped one, which is ranked in ONNX int8.",
        "",
    ]
    report: dict[str, object] = {}
    for name, split in SPLITS[which]:
        told, report[f"{name} {split}"] = table(name, split, folder)
        lines += told
    write_report(f"dsr-{which}", lines, report)


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[2] not in SPLITS:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2])
