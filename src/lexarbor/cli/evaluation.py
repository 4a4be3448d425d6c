"""`lexarbor evaluate` and `lexarbor tune`: systems against a benchmark."""

from pathlib import Path
from typing import Any

import typer

from lexarbor.cli.bench import SOURCE
from lexarbor.cli.output import FORMAT, Format, counting, print_json, print_tsv, say, working
from lexarbor.errors import LexarborError

QUESTIONS = typer.Option(
    None, "--questions", help="A file of synthetic questions, as `lexarbor augment` writes it; else the shipped ones."
)

tune_app = typer.Typer(help="Choose a system's parameters on dev.", no_args_is_help=True)


def evaluate(
    benchmark: str = typer.Option("vosdroits", "--benchmark", "-b", help="Which benchmark."),
    split: str | None = typer.Option(
        None, "--split", "-s", help="Which questions: dev unless there is none. Test is for final figures only."
    ),
    systems: str = typer.Option("bm25,bm25+headings,memory,popularity", "--systems", help="Names joined by commas."),
    source: str | None = SOURCE,
    questions: Path | None = QUESTIONS,
    runs: Path | None = typer.Option(None, "--runs", help="Also write each system's TREC run into this folder."),
    curve: Path | None = typer.Option(None, "--curve", help="Also draw the recall curves into this PNG."),
    form: Format = FORMAT,
) -> None:
    """Score systems on a benchmark's questions, in strata: all, seen, unseen, partial."""
    from lexarbor.corpus.benchmarks.catalogue import build_benchmark
    from lexarbor.evaluation import check_drawing, recall_figure, render, results_table, write_run
    from lexarbor.experiments.evaluation import evaluate_systems
    from lexarbor.experiments.expansion import check_questions
    from lexarbor.experiments.systems import DOC2QUERY, chosen
    from lexarbor.files import folder_at

    names = chosen(systems)
    if not DOC2QUERY.keys().isdisjoint(names):
        check_questions(questions)
    elif questions is not None:
        raise LexarborError(
            f"--questions is for {' and '.join(DOC2QUERY)} alone: name one among --systems, or leave --questions out"
        )
    if curve is not None:
        check_drawing(curve)
    with working(f"building {benchmark}"):
        built = build_benchmark(benchmark, source)
    if split is None:
        split = "dev" if "dev" in built.questions.splits else list(built.questions.splits)[-1]
    with counting("systems") as advance:
        results = evaluate_systems(built, split, names, questions=questions, on_step=advance)
    if runs is not None:
        for name, result in results.items():
            write_run(result.run, folder_at(runs) / f"{benchmark}-{split}-{name}.trec", tag=name)
    if curve is not None:
        recall_figure({name: result.curve for name, result in results.items()}, curve, title=f"{benchmark}, {split}")
    figures = {name: result.figures for name, result in results.items()}
    if form is Format.JSON:
        print_json({"benchmark": benchmark, "split": split, "systems": figures})
    elif form is Format.TSV:
        _print_tsv(figures)
    else:
        typer.echo(render(results_table(figures, title=f"{benchmark}, {split}: figures in %")))


def _print_tsv(figures: dict[str, dict[str, dict[str, Any]]]) -> None:
    rows = [
        (system, stratum, measure, value)
        for system, strata in figures.items()
        for stratum, measures in strata.items()
        for measure, value in measures.items()
    ]
    print_tsv(("system", "stratum", "measure", "value"), rows)


@tune_app.command("bm25")
def bm25(
    benchmark: str = typer.Option("vosdroits", "--benchmark", "-b", help="Which benchmark."),
    split: str = typer.Option("dev", "--split", "-s", help="The questions to choose on; train+dev joins two."),
    field: str = typer.Option("headings+text", "--field", help="text or headings+text; either with +questions."),
    measure: str = typer.Option("recall@200", "--measure", help="What to choose by; the paper chose by R@200."),
    analyser: str = typer.Option("stems", "--analyser", help="stems or lemmas."),
    source: str | None = SOURCE,
    questions: Path | None = QUESTIONS,
    figure: Path | None = typer.Option(None, "--figure", help="Also draw the heat-map into this PNG."),
    form: Format = FORMAT,
) -> None:
    """Try BM25's k1 and b over the paper's grid (0 to 8 by 0.5, 0 to 1 by 0.1)."""
    from lexarbor.corpus.benchmarks.catalogue import build_benchmark
    from lexarbor.evaluation import check_drawing, heat_map
    from lexarbor.experiments.bm25_grid import tune_bm25
    from lexarbor.experiments.expansion import check_questions
    from lexarbor.search.fields import EXPANDED, FIELDS

    if field not in (*FIELDS, *EXPANDED):
        raise LexarborError(f"unknown field '{field}': choose one of {', '.join((*FIELDS, *EXPANDED))}")
    if "test" in split.split("+"):
        raise LexarborError("test is never tuned on: choose on dev")
    if field in EXPANDED:
        check_questions(questions)
    elif questions is not None:
        raise LexarborError(
            f"the field '{field}' has no questions: choose {' or '.join(EXPANDED)}, or leave --questions out"
        )
    if figure is not None:
        check_drawing(figure)
    with working(f"building {benchmark}"):
        built = build_benchmark(benchmark, source)
    with counting("settings") as advance:
        grid = tune_bm25(
            built, field, split=split, measure=measure, analysis=analyser, questions=questions, on_step=advance
        )
    if figure is not None:
        heat_map(
            grid.values, [f"{k1:g}" for k1 in grid.k1], [f"{b:g}" for b in grid.b],
            f"BM25 over {field}, {benchmark} {split}", figure,
            row_title="k1", column_title="b", value_title=measure,
        )  # fmt: skip
    best = grid.best()
    cells = [(k1, b, grid.values[i, j]) for i, k1 in enumerate(grid.k1) for j, b in enumerate(grid.b)]
    if form is Format.JSON:
        print_json(
            {"benchmark": benchmark, "split": split, "field": field, "measure": measure, "analyser": analyser,
             "best": {"k1": best.k1, "b": best.b, measure: float(grid.values.max())},
             "grid": [{"k1": k1, "b": b, measure: float(value)} for k1, b, value in cells]}
        )  # fmt: skip
    elif form is Format.TSV:
        print_tsv(("k1", "b", measure), cells)
    else:
        typer.echo(
            f"best of {len(cells)}: k1 = {best.k1:g}, b = {best.b:g}, {measure} = {100 * grid.values.max():.1f} %"
        )
    if figure is not None:
        say(f"heat-map: {figure}")
