"""The `lexarbor` command: its sub-commands, and how errors reach a person."""

import atexit
import gc
import io
import logging
import os
import sys
from typing import Any

import typer

from lexarbor import __version__
from lexarbor.cli import augment, bench, corpus, encode, evaluation, experiment, mcp, round_trip, search, serve, train
from lexarbor.errors import LexarborError

app = typer.Typer(
    name="lexarbor",
    help="Ask a legal question in everyday words, get the statutory articles that govern it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_USAGE_ERROR: Any = typer.BadParameter.__base__
"""A wrong option or command; typer shows only this one of its children."""

app.add_typer(corpus.app, name="corpus")
app.add_typer(bench.app, name="bench")
app.command("index")(search.index)
app.command("search")(search.search)
app.command("run")(search.run)
app.command("serve")(serve.serve)
app.command("mcp")(mcp.mcp)
app.command("encode")(encode.encode)
app.command("augment")(augment.augment)
app.command("round-trip")(round_trip.round_trip)
app.command("evaluate")(evaluation.evaluate)
app.command("experiment")(experiment.experiment)
app.add_typer(evaluation.tune_app, name="tune")
app.add_typer(train.app, name="train")


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


def main() -> None:
    """Run the command line. What Lexarbor refuses is one line on stderr and exit code 2, never a traceback."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal that lacks a character still shows the rest
    atexit.register(gc.freeze)  # a law that is held would be looked through for garbage once more: a tenth of a second
    sys.exit(_run(sys.argv[1:]))


def _run(arguments: list[str]) -> int:
    """The exit code. Not typer's own `app()`: that would frame a wrong option in a box and fail on a closed pipe."""
    command = typer.main.get_command(app)
    try:
        with command.make_context("lexarbor", arguments) as context:
            command.invoke(context)
    except typer.Exit as done:
        return done.exit_code
    except _USAGE_ERROR as error:
        return _refuse(error.format_message())
    except (BrokenPipeError, SystemExit) as end:
        if isinstance(end, SystemExit) and not isinstance(end.__context__, BrokenPipeError):  # rich makes it of one
            raise
        # the reader of a pipe went away (`lexarbor search … | head`): nothing is wrong
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (LexarborError, OSError) as error:
        return _refuse(str(error))
    except KeyboardInterrupt:
        return 130
    return 0


def _refuse(message: str) -> int:
    if message:  # empty where no command was given, and the help shown instead
        typer.echo(f"lexarbor: {' '.join(message.split())}", err=True)
    return 2
