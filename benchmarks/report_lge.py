"""Does the graph pay? Score the models of the study of the legislative graph encoder into results/lge-SPLIT.md.

    python benchmarks/report_lge.py RANKINGS dev             what choices are made by
    python benchmarks/report_lge.py RANKINGS test            VosDroits test and Travail: once, at the end
    python benchmarks/report_lge.py RANKINGS disjoint-dev    the split in which no article of train is asked for
    python benchmarks/report_lge.py RANKINGS disjoint-test   the same, once

RANKINGS is a folder of `JOB-SEED.npz` that benchmarks/study_lge.py wrote: for study_lge.yaml, or, where the split is
the disjoint one, for study_lge_disjoint.yaml.
"""

import sys
from pathlib import Path

from lexarbor.corpus.benchmarks.catalogue import build_benchmark
from lexarbor.experiments.systems import build_system, run
from report_dsr import Runs, runs_of, scored, write_report

ROWS = {
    "none": "**no graph**: the shipped retriever",
    "smoothing": "control: an article's vector, plus the mean of its section's and its siblings' (no parameter)",
    "own": "control: no edges, a residual MLP on the article's own vector",
    "shuffled": "control: `hearing` from an even start, its edges shuffled",
    "ancestors": "`hearing` from an even start: what stands above alone (the published edges)",
    "hierarchy": "+ what stands below",
    "neighbours": "+ neighbouring articles",
    "even": "+ citations: all kinds",
    "even-three": "all kinds, three layers",
    "hearing": "**`hearing`, all kinds, from the start of results/hearing.md**",
    "hearing-shuffled": "control: the same, its edges shuffled",
    "seen": "the same, learned from questions that the retriever has seen (as in the paper)",
    "one-layer": "the same, one layer",
    "with-own": "the same and a residual MLP",
    "merged": "the same, equal headings as one node (the published code)",
    "gold": "the same, learned from gold titles alone",
    "text": "the same, from sheets' sentences too",
    "synthetic": "the same, from synthetic questions too",
    "no-gates": "**the same without gates** (recipes/lge.yaml)",
    "gatv2": "GATv2, three layers, all kinds",
    "gatv2-ancestors": "GATv2, what stands above alone",
    "gatv2-untyped": "GATv2, kinds not told apart",
    "gatv2-seen": "GATv2, learned from questions that the retriever has seen",
    "gat": "GAT",
    "gcn": "GCN",
    "graphsage": "GraphSAGE",
    "kgnn": "k-GNN",
    "paper": "the paper's: recipes/paper-lge.yaml over the same retriever",
    "shipped": "**shipped**: the mean of the weights of the five `no-gates`, without torch",
}
PLAIN = {
    "plain-none": "**no graph**: a retriever without headings in the text",
    "plain-smoothing": "control: smoothing",
    "plain-own": "control: no edges, a residual MLP",
    "plain-hearing": "`hearing`, all kinds",
    "plain-gatv2": "GATv2, three layers, all kinds",
}
DISJOINT = {
    "disjoint-none": "**no graph**: a retriever of this split's own",
    "disjoint-smoothing": "control: smoothing",
    "disjoint-own": "control: no edges, a residual MLP",
    "disjoint-shuffled": "control: `hearing` from an even start, its edges shuffled",
    "disjoint-ancestors": "`hearing` from an even start: what stands above alone",
    "disjoint-even": "all kinds",
    "disjoint-hearing": "**`hearing`, all kinds, from the start of results/hearing-disjoint.md**",
    "disjoint-gatv2": "GATv2, three layers, all kinds",
}
OVER_VOSDROITS = ((ROWS, "none"), (PLAIN, "plain-none"))
OVER_DISJOINT = ((DISJOINT, "disjoint-none"),)
TABLES = {
    "dev": [("vosdroits", "dev", OVER_VOSDROITS)],
    "test": [("vosdroits", "test", OVER_VOSDROITS), ("travail", "test", OVER_VOSDROITS)],
    "disjoint-dev": [("vosdroits-disjoint", "dev", OVER_DISJOINT)],
    "disjoint-test": [("vosdroits-disjoint", "test", OVER_DISJOINT)],
}
"""By what is reported, the benchmarks and splits, and of each the tables: rows, and what they are compared with."""


def main(folder: Path, which: str) -> None:
    disjoint = which.startswith("disjoint")
    study = f"benchmarks/study_lge{'_disjoint' if disjoint else ''}.yaml"
    where = "on two cores. `shipped` is `lexarbor evaluate --systems g-dsr`." if not disjoint else "there too."
    lines = [
        f"# The legislative graph encoder on {which}: does the graph pay?",
        "",
        f"`python benchmarks/report_lge.py RANKINGS {which}`, over the rankings that `python benchmarks/study_lge.py",
        f"train {study} --data supervision --views views --out RANKINGS` wrote: graph layers of torch-geometric on an",
        f"H200, `hearing` and the MLP {where} Figures in %,",
        "means over as many seeds as are listed. Every row of a table enriches the vectors of one retriever; those",
        "that are trained learn from the same questions, unless the row says otherwise, each part of them seen by a",
        "retriever that left it out, and are stopped alike: the best of a look at dev every ten steps. Differences are",
        "paired by question, p by randomisation, Holm over a table's rows.",
        "",
    ]
    report: dict[str, object] = {}
    for name, split, tables in TABLES[which]:
        benchmark = build_benchmark(name)
        runs = runs_of(folder, benchmark, "travail" if name == "travail" else split)
        if tables is OVER_VOSDROITS:  # what ships has learned from sheets that the disjoint split asks with
            runs["shipped"] = [run(build_system("g-dsr", benchmark), benchmark.questions.split(split))]
        for rows, reference in tables:
            chosen: Runs = {row: runs[row] for row in rows if row in runs}
            told, report[f"{name} {split} {reference}"] = scored(benchmark, split, chosen, rows, reference)
            lines += told
    write_report(f"lge-{which}", lines, report)


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[2] not in TABLES:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2])
