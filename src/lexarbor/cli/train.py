"""`lexarbor train`: from a benchmark to a model that runs without torch, stage by stage."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from lexarbor.cli.bench import SOURCE
from lexarbor.cli.output import FORMAT, Format, counting, needing_train, print_pairs, say, working
from lexarbor.errors import TrainingError

if TYPE_CHECKING:
    from lexarbor.training.generate import GenerateReport
    from lexarbor.training.looking import TrainingReport

app = typer.Typer(help="Train the retriever by recipes, and export it. Needs the extra `train`.", no_args_is_help=True)

RECIPE = typer.Option(..., "--recipe", "-r", help="A YAML file with every hyper-parameter, e.g. recipes/dsr.yaml.")
DATA = typer.Option(..., "--data", "-d", help="A supervision folder, as `lexarbor train prepare` writes it.")
OUT = typer.Option(..., "--out", "-o", help="Folder to write to.")
SET = typer.Option(
    [], "--set", metavar="KEY=VALUE", help="Change a value of the recipe, e.g. optimisation.seed=1; may be repeated."
)
RESUME = typer.Option(False, "--resume", help="Go on from the last checkpoint in the folder.")
MODEL = "The folder of a trained retriever."


@app.command()
def prepare(
    benchmark: str = typer.Option("vosdroits", "--benchmark", "-b", help="Which benchmark's train questions."),
    learn_from: str = typer.Option(
        "train", "--learn-from", help="Questions to learn from; train+dev, for a final model, holds out test alone."
    ),
    source: str | None = SOURCE,
    kinds: str | None = typer.Option(
        None, "--kinds", help="Kinds of weak pairs, joined by commas, e.g. headings,sentence; all unless given."
    ),
    everyday: Path | None = typer.Option(
        None, "--everyday", help="A file of questions in everyday words: three more kinds (docs/training.md)."
    ),
    synthetic: list[Path] = typer.Option(
        [], "--synthetic", help="A file of questions as `lexarbor augment` writes it: one more kind; may be repeated."
    ),
    out: Path = OUT,
    form: Format = FORMAT,
) -> None:
    """Gather what models learn from: gold and weak pairs, BM25's negatives; nothing that is held out."""
    from lexarbor.supervision.preparation import prepare

    wanted = _names(kinds)
    with counting(f"preparing {benchmark}") as advance:
        folder = prepare(
            benchmark,
            out,
            learn_from=[part.strip() for part in learn_from.split("+") if part.strip()],
            source=source,
            kinds=wanted,
            synthetic=synthetic,
            everyday=everyday,
            on_step=advance,
        )
    held = {name: len(getattr(folder, name)) for name in ("articles", "passages", "pairs", "texts", "asked")}
    print_pairs(benchmark, {**folder.facts, **held, "kinds": dict(folder.kinds())}, form)
    say(f"written to {out}")


@app.command()
def vocabulary(recipe: Path = RECIPE, data: Path = DATA, out: Path = OUT, changes: list[str] = SET) -> None:
    """Learn a tokenizer alone, to be named as `tokenizer` in several recipes. Needs no torch."""
    with needing_train():
        from lexarbor.training import stages
    with working("learning a vocabulary"):
        pieces = stages.vocabulary(recipe, data, out, changes=changes)
    typer.echo(out)
    say(f"{pieces:,} pieces")


@app.command()
def pretrain(
    recipe: Path = RECIPE,
    data: Path = DATA,
    out: Path = OUT,
    changes: list[str] = SET,
    resume: bool = RESUME,
    half: Path | None = typer.Option(
        None, "--half", help="A folder for a copy of the model in 16 bits, half as large, to be carried elsewhere."
    ),
    form: Format = FORMAT,
) -> None:
    """Masked language modelling on the law's own language, from a checkpoint or from nothing."""
    with needing_train():
        from lexarbor.training import stages
    report = stages.pretrain(recipe, data, out, changes=changes, resume=resume, half=half)
    if report is not None:
        facts = {
            "folder": str(report.out),
            "steps": report.steps,
            "loss": round(report.loss, 4),
            "tokens_per_second": report.tokens_per_second,
            "seconds": report.seconds,
        }
        print_pairs("pretrain", facts, form)


@app.command()
def text(
    recipe: Path = RECIPE,
    data: Path = DATA,
    out: Path = OUT,
    changes: list[str] = SET,
    resume: bool = RESUME,
    form: Format = FORMAT,
) -> None:
    """Contrastive learning of the dense statute retriever."""
    with needing_train():
        from lexarbor.training import stages
    report = stages.text(recipe, data, out, changes=changes, resume=resume)
    if report is not None:
        _tell("text", report, {"dev": _rounded(report.dev)}, form)


@app.command()
def graph(
    recipe: Path = RECIPE,
    data: Path = DATA,
    out: Path = OUT,
    changes: list[str] = SET,
    resume: bool = RESUME,
    form: Format = FORMAT,
) -> None:
    """Train the legislative graph encoder, by which each article hears those around it, over a trained retriever."""
    with needing_train():
        from lexarbor.training import stages
    report = stages.graph(recipe, data, out, changes=changes, resume=resume)
    if report is not None:
        _tell("graph", report, {"dev": _rounded(report.dev)}, form)


@app.command()
def generate(
    recipe: Path = RECIPE,
    data: Path = DATA,
    out: Path = OUT,
    changes: list[str] = SET,
    resume: bool = RESUME,
    form: Format = FORMAT,
) -> None:
    """Train a generator that writes questions which an article answers, for `lexarbor augment`."""
    with needing_train():
        from lexarbor.training import stages
    report = stages.generate(recipe, data, out, changes=changes, resume=resume)
    if report is not None:
        loss = None if report.dev_loss is None else round(report.dev_loss, 4)
        _tell("generate", report, {"dev_loss": loss}, form)


@app.command()
def mine(
    model: Path = typer.Option(..., "--model", "-m", help=MODEL),
    data: Path = DATA,
    out: Path = typer.Option(..., "--out", "-o", help="The JSONL file to write, for supervision.negatives."),
    kinds: str | None = typer.Option(None, "--kinds", help="Kinds of pairs, joined by commas; all unless given."),
    depth: int = typer.Option(50, "--depth", min=1, help="Negatives kept of each pair."),
    skip: int = typer.Option(0, "--skip", min=0, help="Of the best, left out: they may well answer."),
) -> None:
    """Find hard negatives with a trained retriever: what it ranks highest though nobody labelled it."""
    wanted = _names(kinds)
    with needing_train():
        from lexarbor.training import stages
    with working("mining"):
        pairs = stages.mine(model, data, out, kinds=wanted, depth=depth, skip=skip)
    typer.echo(out)
    say(f"{pairs:,} pairs")


@app.command()
def export(
    retriever: Path = typer.Argument(..., help=MODEL),
    out: Path = OUT,
    way: str = typer.Option("int8-smooth", "--way", help="float32, int8, int8-smooth or int8-blocks."),
    data: Path | None = typer.Option(
        None, "--data", "-d", help="A supervision folder: int8-smooth is measured on articles drawn from it."
    ),
    form: Format = FORMAT,
) -> None:
    """Export a retriever to ONNX: a model folder that is read without torch."""
    with needing_train():
        from lexarbor.training import stages
    with working("exporting"):
        model = stages.export(retriever, out, way=way, data=data)
    facts = {"folder": str(out), "way": way, "megabytes": round(model.size / 1e6, 1), "checksum": model.checksum}
    print_pairs("export", facts, form)


def _tell(stage: str, report: "TrainingReport | GenerateReport", dev: dict[str, object], form: Format) -> None:
    facts = {
        "folder": str(report.out),
        "steps": report.steps,
        "kept_step": report.kept_step,
        "loss": round(report.loss, 4),
        **dev,
        "seconds": report.seconds,
    }
    print_pairs(stage, facts, form)


def _rounded(figures: dict[str, float]) -> dict[str, float]:
    return {name: round(value, 4) for name, value in figures.items()}


def _names(joined: str | None) -> tuple[str, ...]:
    """Names joined by commas; none where nothing was given."""
    if joined is None:
        return ()
    names = tuple(name.strip() for name in joined.split(",") if name.strip())
    if not names:
        raise TrainingError("no kind was named: write kinds joined by commas, or leave --kinds out for all")
    return names
