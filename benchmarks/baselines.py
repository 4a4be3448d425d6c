"""The baselines' tables and figures, written into results/.

    python benchmarks/baselines.py grid       BM25's k1 and b on dev: heat-maps and tables
    python benchmarks/baselines.py dev        the systems on dev
    python benchmarks/baselines.py test       the systems on test: once, at the end of a piece of work
    python benchmarks/baselines.py benchmarks what the benchmarks are made of

BSARD's rows need its questions: in ../shared/data/bsard, or in the folder that $BSARD names.
"""

import json
import os
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from lexarbor.corpus.benchmarks.catalogue import Benchmark, build_benchmark
from lexarbor.corpus.benchmarks.statistics import statistics
from lexarbor.corpus.questions import QuestionSet
from lexarbor.corpus.references import parse_label
from lexarbor.evaluation import (
    bootstrap_interval,
    compare,
    heat_map,
    holm,
    recall_figure,
    render,
    results_table,
    strata,
)
from lexarbor.experiments.bm25_grid import Grid, tune_bm25
from lexarbor.experiments.evaluation import Result, evaluate_systems
from lexarbor.search.analysis import ANALYSERS
from lexarbor.search.fields import FIELDS
from lexarbor.search.lexical import tuned

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results"
BSARD = Path(os.environ.get("BSARD", ROOT.parent / "shared" / "data" / "bsard"))
SYSTEMS = ["bm25", "bm25+headings", "bm25+lemmas", "bm25+headings+lemmas", "memory", "popularity"]
BSARD_WHOLE = "bsard-questions-train-dev"
PLANS = {
    "vosdroits": SYSTEMS,
    "vosdroits-disjoint": ["bm25", "bm25+headings", "memory", "popularity"],
    "travail": SYSTEMS,
    "bsard-questions": ["memory", "popularity"],
    BSARD_WHOLE: ["memory", "popularity"],
}
REFERENCE = "bm25+headings"
"""What the other systems are compared with."""


def write(name: str, text: str) -> None:
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / name).write_text(text.rstrip("\n") + "\n", encoding="utf-8")
    print(f"results/{name}")


def build(name: str) -> Benchmark | None:
    if name.startswith("bsard"):
        if not BSARD.is_dir():
            print(f"{name}: left out, no questions in {BSARD}", file=sys.stderr)
            return None
        questions = build_benchmark("bsard-questions", str(BSARD))
        return _remembering_dev(questions) if name == BSARD_WHOLE else questions
    return build_benchmark(name)


def _remembering_dev(benchmark: Benchmark) -> Benchmark:
    """With dev among the questions to learn from, as the paper does for its test figures."""
    whole = (*benchmark.questions.splits["train"], *benchmark.questions.splits["dev"])
    training = replace(benchmark.questions, splits={"train": whole})
    return replace(benchmark, name=BSARD_WHOLE, training=training, questions=_only_test(benchmark.questions))


def _only_test(questions: QuestionSet) -> QuestionSet:
    return replace(questions, splits={"test": questions.splits["test"]})


def grid() -> None:
    """Chosen on train + dev: BM25 learns nothing from train, and dev alone is too few questions for so flat a hill."""
    benchmark = build_benchmark("vosdroits")
    report: list[dict[str, Any]] = []
    lines = [
        "# BM25's k1 and b on VosDroits",
        "",
        "`python benchmarks/baselines.py grid`: 187 settings each, by R@200 in %, chosen on train + dev.",
        "",
        "| field | terms | best k1, b on train + dev | there | on dev | best on dev alone | there | on train + dev |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for analysis in ANALYSERS:
        for field in FIELDS:
            found = tune_bm25(benchmark, field, split="train+dev", analysis=analysis)
            alone = tune_bm25(benchmark, field, split="dev", analysis=analysis)
            best = found.best()
            lines.append(f"| {field} | {analysis} | {_choice(found, alone)} | {_choice(alone, found)} |")
            values = [[round(value, 4) for value in row] for row in found.values.tolist()]
            report.append({"field": field, **asdict(best), "grid": values})
            heat_map(
                found.values, [f"{k1:g}" for k1 in found.k1], [f"{b:g}" for b in found.b],
                f"BM25 over {field}, {analysis}: R@200 on VosDroits train + dev",
                RESULTS / f"bm25-grid-{field.replace('+', '-')}-{analysis}.png",
                row_title="k1", column_title="b", value_title="R@200",
            )  # fmt: skip
            if best != tuned(field, analysis):
                print(
                    f"{field}, {analysis}: the best is {best}, the code has {tuned(field, analysis)}", file=sys.stderr
                )
    write("bm25-grid.md", "\n".join(lines))
    write("bm25-grid.json", json.dumps(report))


def _choice(chosen_on: Grid, other: Grid) -> str:
    """The best setting of one grid, its figure there and its figure on the other."""
    best = chosen_on.best()
    elsewhere = other.values[other.k1.index(best.k1), other.b.index(best.b)]
    return f"{best.k1:g}, {best.b:g} | {100 * chosen_on.values.max():.1f} | {100 * elsewhere:.1f}"


def describe() -> None:
    built = (build(name) for name in PLANS)
    reports = {one.name: statistics(one) for one in built if one is not None and one.law.articles}
    write("benchmarks.json", json.dumps(reports, ensure_ascii=False, indent=1))
    plain = [key for key in reports["vosdroits"] if key != "topics"]
    lines = ["# What the benchmarks are made of", "", "`python benchmarks/baselines.py benchmarks`", ""]
    lines += [f"| | {' | '.join(reports)} |", "|---" * (len(reports) + 1) + "|"]
    for key in plain:
        cells = (_cell(report.get(key)) for report in reports.values())
        lines.append(f"| {key.replace('_', ' ')} | {' | '.join(cells)} |")
    lines += [
        "",
        "## Questions of VosDroits by topic and split",
        "",
        "| topic | train | dev | test |",
        "|---|---|---|---|",
    ]
    for topic, counts in reports["vosdroits"]["topics"].items():
        lines.append(f"| {topic} | {counts['train']} | {counts['dev']} | {counts['test']} |")
    write("benchmarks.md", "\n".join(lines))
    lost = []
    for question, label in build_benchmark("vosdroits").unresolved:
        numbers = dict.fromkeys(number for cited in parse_label(label) for number in (cited.first, cited.last))
        lost.append(f"{question}\t{', '.join(numbers)}")
    write("vosdroits-unresolved.tsv", "\n".join(["question\tnumbers in the label", *lost]))


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {number}" for name, number in value.items())
    return "" if value is None else str(value)


def table(split: str) -> None:
    report: dict[str, Any] = {}
    lines = [f"# Baselines on {split}", "", f"`python benchmarks/baselines.py {split}`. Figures in %.", ""]
    latex: list[str] = []
    for name, systems in PLANS.items():
        benchmark = build(name)
        if benchmark is None or split not in benchmark.questions.splits:
            continue
        results = evaluate_systems(benchmark, split, systems)
        figures = {system: result.figures for system, result in results.items()}
        titled = results_table(figures, title=f"{name}, {split}: {_counts(benchmark, split)}")
        lines += [render(titled, "markdown", bold_best=True), "", *_intervals(results), ""]
        latex.append(render(titled, "latex", bold_best=True))
        report[name] = figures
        recall_figure(
            {system: result.curve for system, result in results.items()},
            RESULTS / f"recall-{name}-{split}.png",
            title=f"{name}, {split}",
        )
    write(f"baselines-{split}.md", "\n".join(lines))
    write(f"baselines-{split}.tex", "\n\n".join(latex))
    write(f"baselines-{split}.json", json.dumps(report, indent=1))


def _counts(benchmark: Benchmark, split: str) -> str:
    groups = strata(benchmark.questions.gold([split]), benchmark.training.positives(["train"]))
    sizes = ", ".join(f"{len(ids)} {name}" for name, ids in groups.items() if name != "all")
    return f"{len(groups['all'])} questions ({sizes})"


def _intervals(results: dict[str, Result]) -> list[str]:
    """R@100 with its bootstrap interval, and each system against the reference."""
    lines = ["| system | R@100, 95 % interval | difference to the reference | p (Holm) |", "|---|---|---|---|"]
    others = {name: compare(result.scores, results[REFERENCE].scores, "recall@100")
              for name, result in results.items() if REFERENCE in results and name != REFERENCE}  # fmt: skip
    adjusted = holm({name: comparison.p_randomisation for name, comparison in others.items()}) if others else {}
    for name, result in results.items():
        mean, low, high = (100 * value for value in bootstrap_interval(result.scores["recall@100"]))
        row = f"| {name} | {mean:.1f} [{low:.1f}, {high:.1f}] |"
        if name in others:
            difference = (100 * value for value in others[name].difference)
            row += " {:+.1f} [{:+.1f}, {:+.1f}] |".format(*difference) + f" {adjusted[name]:.4f} |"
        else:
            row += " reference | |" if name == REFERENCE else " | |"
        lines.append(row)
    return lines


if __name__ == "__main__":
    jobs = {"grid": grid, "dev": lambda: table("dev"), "test": lambda: table("test"), "benchmarks": describe}
    asked = sys.argv[1:] or list(jobs)
    for job in asked:
        if job not in jobs:
            sys.exit(f"unknown part '{job}': choose among {', '.join(jobs)}")
        jobs[job]()
