"""The engine as it ships, beside its legs: results/engine-SPLIT.md.

python benchmarks/report_engine.py dev      what choices are made by
python benchmarks/report_engine.py test     VosDroits test and Travail: once, at the end
"""

import sys

from lexarbor.corpus.benchmarks.catalogue import build_benchmark
from lexarbor.experiments.systems import build_system, run
from report_dsr import Runs, scored, write_report

ROWS = {
    "bm25+headings": "BM25, headings + text",
    "memory": "question memory by BM25 (train questions)",
    "dsr": "dense statute retriever, shipped",
    "g-dsr": "the same + legislative graph encoder, shipped",
    "hybrid-without-memory": "the engine without question memory",
    "hybrid-without-everyday": "the engine without the everyday questions of sections",
    "hybrid": "**the engine, shipped**",
}
SPLITS = {"dev": [("vosdroits", "dev")], "test": [("vosdroits", "test"), ("travail", "test")]}


def main(which: str) -> None:
    lines = [
        f"# The engine on {which}",
        "",
        f"`python benchmarks/report_engine.py {which}`: systems of `lexarbor evaluate`, all with what ships, in %.",
        "Differences are paired by question, p by randomisation, Holm over the rows.",
        "",
    ]
    report: dict[str, object] = {}
    for name, split in SPLITS[which]:
        benchmark = build_benchmark(name)
        questions = benchmark.questions.split(split)
        runs: Runs = {row: [run(build_system(row, benchmark), questions)] for row in ROWS}
        told, report[f"{name} {split}"] = scored(benchmark, split, runs, ROWS, "bm25+headings")
        lines += told
    write_report(f"engine-{which}", lines, report)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in SPLITS:
        sys.exit(__doc__)
    main(sys.argv[1])
