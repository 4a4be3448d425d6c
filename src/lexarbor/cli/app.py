"""The `lexarbor` command: its sub-commands, and how errors reach a person."""

import logging
import os
import sys

import typer

from lexarbor import __version__
from lexarbor.cli import bench, corpus, evaluation, search
from lexarbor.errors import LexarborError

app = typer.Typer(
    name="lexarbor",
    help="Ask a legal question in everyday words, get the statutory articles that govern it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(corpus.app, name="corpus")
app.add_typer(bench.app, name="bench")
app.command("index")(search.index)
app.command("search")(search.search)
app.command("run")(search.run)
app.command("evaluate")(evaluation.evaluate)
app.add_typer(evaluation.tune_app, name="tune")


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Print the version."),
    verbose: bool = typer.Option(False, "--verbose", "-v", help="Tell on stderr what is being done."),
) -> None:
    logging.basicConfig(
        level=logging.INFO if verbose else logging.WARNING, format="lexarbor: %(message)s", stream=sys.stderr
    )
    logging.getLogger("bm25s").setLevel(logging.ERROR)  # it tells of each step as if it were a warning


def main() -> None:
    """Run the command line. What Lexarbor refuses is one line on stderr and exit code 2, never a traceback."""
    try:
        app()
    except LexarborError as error:
        message = " ".join(str(error).split())
        typer.echo(f"lexarbor: {message}", err=True)
        sys.exit(2)
    except BrokenPipeError:  # the reader of a pipe went away (`lexarbor search … | head`): nothing is wrong
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
