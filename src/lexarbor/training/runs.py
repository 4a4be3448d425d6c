"""A run's folder: whose it is, what a stopped run goes on from, and what is taken away when a run is refused.

    out/recipe.yaml     every hyper-parameter
    out/data.sha256     of the supervision folder's manifest, which holds the checksums of all its files; in the stage
                        graph, of the retrievers too
    out/log.json        written last: a run that has it has finished
    out/checkpoints/    what an unfinished run goes on from; gone when it has finished
    out/runs/           TensorBoard's logs, where the recipe asks for them

Needs no torch, so that what is amiss is told of without it.
"""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lexarbor.errors import LexarborError, TrainingError
from lexarbor.files import folder_at, replacing, sha256
from lexarbor.training.recipes import Recipe, as_dict, read_recipe, write_recipe

RECIPE, DATA, LOG, CHECKPOINTS, TENSORBOARD = "recipe.yaml", "data.sha256", "log.json", "checkpoints", "runs"
WEIGHTS = "model.safetensors"
"""Of a checkpoint."""


def is_first() -> bool:
    """Of the processes that `torchrun` started: the one that speaks and writes."""
    return os.environ.get("RANK", "0") == "0"


def claim(recipe: Recipe, out: Path, *, resume: bool, data: str = "") -> Path | None:
    """Make the folder this run's, with its recipe and the checksum of its data; gives the checkpoint to go on from, if
    asked for and there.
    """
    folder_at(out)
    if resume:
        _check_resumed(recipe, out, data)
    # of several processes the first looks before it writes; the others may see what it has written
    if is_first():
        if not resume and any(out.iterdir()):
            raise TrainingError(f"{out} is not empty: give a new folder, or resume what is in it")
        if resume and any(out.iterdir()) and not (out / RECIPE).is_file():
            raise TrainingError(
                f"{out} is not empty, and no run's: it has no {RECIPE}; give a run's folder or a new one"
            )
        if data:
            with replacing(out / DATA) as temporary:
                temporary.write_text(f"{data}\n", encoding="utf-8")
        write_recipe(recipe, out / RECIPE)
    return last_checkpoint(out / CHECKPOINTS) if resume else None


def _check_resumed(recipe: Recipe, out: Path, data: str) -> None:
    """Refuse to go on with what is finished, kept nothing to go on from, or was begun otherwise."""
    if (out / LOG).is_file():
        raise TrainingError(f"{out} holds a run that has finished: give a new folder")
    before = read_recipe(out / RECIPE) if (out / RECIPE).is_file() else recipe
    if not (recipe.watching.save_every and before.watching.save_every):
        raise TrainingError("watching.save_every is 0, so nothing was kept to resume from: set it and start anew")
    held, now = as_dict(before), as_dict(recipe)
    different = [key for key in now if key != "watching" and now[key] != held.get(key)]
    if different:
        raise TrainingError(f"{out} was begun with another {different[0]}: resume with its own {RECIPE}")
    saved = out / DATA
    if data and saved.is_file() and saved.read_text(encoding="utf-8").strip() != data:
        raise TrainingError(
            f"{out} was begun with other data: resume with the supervision "
            "folder, and the retrievers where it has some, that it was begun with"
        )


def data_checksum(folder: object) -> str:
    """Of the manifest of supervision that lies on disk; empty for what is in memory only."""
    path = getattr(folder, "path", None)
    try:
        return sha256(path / "manifest.json") if isinstance(path, Path) else ""
    except OSError as error:
        raise TrainingError(f"{path}: its manifest cannot be read ({error.strerror or error})") from error


def last_checkpoint(folder: Path) -> Path | None:
    """The newest whole checkpoint below a folder: the trainer's state is the last file that is written."""
    found = []
    for path in folder.glob("checkpoint-*"):
        number = path.name.removeprefix("checkpoint-")
        if number.isdigit() and _is_whole(path):
            found.append((int(number), path))
    return max(found)[1] if found else None


def _is_whole(checkpoint: Path) -> bool:
    try:
        json.loads((checkpoint / "trainer_state.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return (checkpoint / WEIGHTS).is_file()


def finish(out: Path) -> None:
    """Take away what only an unfinished run needs."""
    shutil.rmtree(out / CHECKPOINTS, ignore_errors=True)


@contextmanager
def undone_if_refused(out: Path) -> Iterator[None]:
    """A run claims its folder by what it writes there. Where it is refused after that, e.g. for a batch that does not
    fit, the claim is given back: the folder could not be named again otherwise.
    """
    was_there, held = out.is_dir(), out.is_dir() and any(out.iterdir())
    try:
        yield
    except LexarborError:
        if not held and is_first() and out.is_dir() and last_checkpoint(out / CHECKPOINTS) is None:
            for name in (RECIPE, DATA):
                (out / name).unlink(missing_ok=True)
            for name in (CHECKPOINTS, TENSORBOARD):
                shutil.rmtree(out / name, ignore_errors=True)
            if not was_there and not any(out.iterdir()):
                out.rmdir()
        raise
