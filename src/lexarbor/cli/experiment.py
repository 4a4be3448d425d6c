"""`lexarbor experiment`: the paper's tables and figures, one command each."""

import logging
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from lexarbor.cli.bench import SOURCE
from lexarbor.cli.output import counting, needing_train, say
from lexarbor.errors import LexarborError

ALL = "all"


def experiment(
    name: str | None = typer.Argument(None, help="Which one; `all` of them; their list where none is named."),
    benchmark: str = typer.Option("vosdroits", "--benchmark", "-b", help="Which benchmark."),
    source: str | None = SOURCE,
    split: str = typer.Option("", "--split", "-s", help="The questions to score on: test for main, else dev."),
    scale: str = typer.Option(
        "", "--scale", help="How large models are: paper, small or tiny; bsard has paper, tiny has tiny, others small."
    ),
    train_on: str = typer.Option("train", "--train-on", help="What models learn from: train, or train+dev."),
    seeds: int = typer.Option(0, "--seeds", min=0, help="How many, for main; the scale's number unless given."),
    trials: int = typer.Option(0, "--trials", min=0, help="How many, for a search; the scale's number unless given."),
    questions: Path | None = typer.Option(
        None, "--questions", help="Synthetic questions of the law, as `lexarbor augment` writes them."
    ),
    models: Path | None = typer.Option(
        None,
        "--models",
        help="Another work folder, whose language models are taken (vosdroits' for vosdroits-disjoint).",
    ),
    hub: bool = typer.Option(False, "--hub", help="Also run rows whose models come from the Hugging Face hub."),
    starts: list[str] = typer.Option(
        [],
        "--start",
        metavar="NAME",
        help="For language-models, a further one to start from: its name on the hub, or a folder.",
    ),
    changes: list[str] = typer.Option(
        [], "--set", metavar="KEY=VALUE", help="Change a value of the scale, e.g. text.optimisation.epochs=2."
    ),
    workers: int = typer.Option(1, "--workers", min=1, help="Processes that train side by side."),
    only: str = typer.Option("", "--only", help="One part alone: prepare, train or report."),
    work: Path | None = typer.Option(None, "--work", help="Folder for models and rankings; in the cache if not given."),
    out: Path = typer.Option(Path("results"), "--out", "-o", help="Folder for tables and figures."),
) -> None:
    """Run, or resume, an experiment of the paper; writes Markdown, LaTeX, JSON and PNG."""
    from lexarbor.corpus.packages import cache_folder
    from lexarbor.experiments import running
    from lexarbor.experiments.catalogue import EXPERIMENTS
    from lexarbor.experiments.catalogue import experiment as named
    from lexarbor.experiments.lab import Lab
    from lexarbor.files import check_folder

    if name is None:
        for known, found in EXPERIMENTS.items():
            typer.echo(f"{known:16}{found.told}")
        typer.echo(f"{ALL:16}all of these")
        return
    names = list(EXPERIMENTS) if name == ALL else [name]
    for known in names:
        named(known)
    if only and only not in running.PARTS:
        raise LexarborError(f"--only is '{only}': choose one of {', '.join(running.PARTS)}")
    if only in ("", "report"):
        check_folder(out)
    if work is not None:
        check_folder(work)
    if questions is not None and not questions.is_file():
        raise LexarborError(f"--questions {questions}: no such file; `lexarbor augment` writes one")
    with _resumable(), counting(name) as advance:
        lab = Lab(
            benchmark,
            work or cache_folder() / "experiments" / benchmark,
            source=source,
            split=split,
            scale=scale,
            train_on=train_on,
            seeds=seeds,
            workers=workers,
            trials=trials,
            questions=questions,
            models=models,
            hub=hub,
            starts=tuple(starts),
            changes=tuple(changes),
            on_step=advance,
        )
        with needing_train():
            running.check_options(lab, names)
            if only != "prepare":
                running.check(lab, names)
            if only in ("", "prepare"):
                running.prepare(lab, names)
            failed = running.train(lab, names) if only in ("", "train") else {}
            reported = names if only in ("", "report") else []
            # without its models a search was not run: what is told at the end is why
            reported = [one for one in reported if not running.unsearched(lab, one, failed)]
            untold = []
            for one in reported:
                try:
                    written = running.report(lab, one, out, command_line(), names)
                except LexarborError as error:
                    if name != ALL and not failed:
                        raise
                    say(f"{one}: {error}")
                    untold.append(one)
                    continue
                for path in written:
                    typer.echo(path)
    if failed:
        raise LexarborError(running.told_failures(failed, lab.work))
    if untold:
        raise LexarborError(
            f"{len(untold)} of {len(reported)} could not be told of, as said above: {', '.join(untold)}"
        )
    if only in ("prepare", "train") and not running.needs_training(names):
        say(f"{name} trains nothing: it has no part but its report")


@contextmanager
def _resumable() -> Iterator[None]:
    """Tell what is trained where no bar can be seen, and that a stopped call loses nothing."""
    told = logging.getLogger("lexarbor.experiments")
    level = told.level
    if not sys.stderr.isatty():
        told.setLevel(logging.INFO)
    try:
        yield
    except KeyboardInterrupt:
        say("stopped: the same command goes on from here")
        raise
    finally:
        told.setLevel(level)


def command_line() -> str:
    """As it was typed, for the report."""
    return shlex.join(["lexarbor", *sys.argv[1:]])
