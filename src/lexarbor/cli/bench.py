"""`lexarbor bench`: build, show and export the benchmarks."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from lexarbor.cli.output import FORMAT, Format, print_pairs, say, working

if TYPE_CHECKING:
    from lexarbor.corpus.benchmarks.catalogue import Benchmark

app = typer.Typer(help="Build the benchmarks from public packages.", no_args_is_help=True)

NAME = typer.Argument("vosdroits", help="vosdroits, vosdroits-disjoint, travail, bsard, bsard-questions or tiny.")
SOURCE = typer.Option(
    None, "--source", help="For bsard: the folder of its CSV files or its name on the hub. Else: another law."
)


def _build(name: str, source: str | None) -> "Benchmark":
    from lexarbor.corpus.benchmarks.catalogue import build_benchmark

    with working(f"building {name}"):
        return build_benchmark(name, source)


@app.command()
def build(
    name: str = NAME,
    source: str | None = SOURCE,
    out: Path | None = typer.Option(None, "--out", "-o", help="Folder to write to; in the cache when not given."),
    form: Format = FORMAT,
) -> None:
    """Build a benchmark: questions.jsonl, unresolved.tsv and statistics.json."""
    from lexarbor.corpus.benchmarks.statistics import statistics
    from lexarbor.corpus.packages import cache_folder
    from lexarbor.corpus.questions import write_question_set
    from lexarbor.files import folder_at, replacing, write_json

    benchmark = _build(name, source)
    report = statistics(benchmark)
    folder = folder_at(out or cache_folder() / "benchmarks" / name)
    write_question_set(benchmark.questions, folder / "questions.jsonl")
    with replacing(folder / "unresolved.tsv") as temporary:
        lines = ("question\tlabel", *(f"{lost.question}\t{lost.label}" for lost in benchmark.unresolved))
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")
    write_json(folder / "statistics.json", report)
    print_pairs(name, report, form)
    say(f"written to {folder}")


@app.command()
def show(name: str = NAME, source: str | None = SOURCE, form: Format = FORMAT) -> None:
    """Show what a benchmark is made of."""
    from lexarbor.corpus.benchmarks.statistics import statistics

    print_pairs(name, statistics(_build(name, source)), form)


@app.command()
def export(
    out: Path = typer.Argument(..., help="Folder to write to."),
    name: str = typer.Option("vosdroits", "--benchmark", "-b", help="Which benchmark."),
    source: str | None = SOURCE,
) -> None:
    """Export a benchmark in BEIR's layout (corpus.jsonl, queries.jsonl, qrels/), for other toolkits."""
    from lexarbor.corpus.benchmarks.beir import write_beir

    write_beir(_build(name, source), out)
    say(f"written to {out}")
