"""The stages as a command gives them, by paths: what `lexarbor train` and `python -m lexarbor.training` both call.

A recipe or a folder that is amiss, and an extra that is not installed, are told of before any long work, and a folder
made for a run that was then refused is taken away again.
"""

import json
import logging
import os
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from lexarbor.errors import LexarborError, MissingExtraError, ModelError, TrainingError
from lexarbor.supervision.folder import SupervisionFolder
from lexarbor.text.inputs import article_input
from lexarbor.text.vocabulary import learn_vocabulary, save_vocabulary
from lexarbor.training.recipes import STAGES, PretrainRecipe, Recipe, TextRecipe, as_dict, read_recipe
from lexarbor.training.texts import all_texts

if TYPE_CHECKING:
    from lexarbor.text.folder import ModelFolder
    from lexarbor.training.contrastive import TrainingReport

RECIPE, LOG = "recipe.yaml", "log.json"
SEED = 0
_NOISY = ("httpx", "transformers", "accelerate")

Stage = TypeVar("Stage", PretrainRecipe, TextRecipe)


class Pretrained(NamedTuple):
    """What a run of masked language modelling came to."""

    out: Path
    steps: int
    loss: float
    tokens_per_second: int | None
    """None where the run was too short to tell."""
    seconds: float


def vocabulary(recipe: Path, data: Path, out: Path, *, changes: Sequence[str] = ()) -> int:
    """A tokenizer alone, of the size that a recipe of any stage says; gives its number of pieces. Needs no torch."""
    shape = read_recipe(recipe, changes).architecture
    learned = learn_vocabulary(all_texts(SupervisionFolder.open(data)), shape.vocabulary)
    save_vocabulary(learned, out, longest=shape.positions)
    return int(learned.get_vocab_size())


def pretrain(
    recipe: Path,
    data: Path,
    out: Path,
    *,
    changes: Sequence[str] = (),
    resume: bool = False,
    half: Path | None = None,
) -> Pretrained | None:
    """Masked language modelling; `half` is a folder for a copy in 16 bits. Of the processes that `torchrun` started
    the first is told how it went.
    """
    chosen = _recipe(recipe, changes, PretrainRecipe)
    folder = SupervisionFolder.open(data)
    _need_torch()
    from lexarbor.training.pretrain import pretrain, write_half

    with _undone_if_refused(out):
        pretrain(chosen, all_texts(folder), out, resume=resume)
    if not is_first():
        return None
    if half is not None:
        write_half(out, half)
    written = json.loads((out / LOG).read_text(encoding="utf-8"))
    last, rate = written["log"][-1], written["tokens_per_second"]
    return Pretrained(out, last["step"], last["loss"], rate and round(rate), written["seconds"])


def text(recipe: Path, data: Path, out: Path, *, changes: Sequence[str] = (), resume: bool = False) -> "TrainingReport":
    """The dense statute retriever."""
    chosen = _recipe(recipe, changes, TextRecipe)
    folder = SupervisionFolder.open(data)
    _need_torch()
    from lexarbor.training.contrastive import train_text

    with _undone_if_refused(out):
        return train_text(chosen, folder, out, resume=resume)


def mine(model: Path, data: Path, out: Path, *, kinds: Sequence[str] = (), depth: int, skip: int = 0) -> int:
    """Hard negatives, found with a trained retriever; gives the number of pairs."""
    folder = SupervisionFolder.open(data)
    _need_torch()
    from lexarbor.training.mining import mine

    return mine(model, folder, out, kinds=kinds, depth=depth, skip=skip)


def export(retriever: Path, out: Path, *, way: str, data: Path | None = None) -> "ModelFolder":
    """A trained retriever as a model folder for use without torch; `int8-smooth` measures it on articles drawn from
    the supervision folder `data`.
    """
    if data is None and way == "int8-smooth":
        raise ModelError(
            "int8-smooth measures the model on articles: name a supervision folder that has some, or choose int8"
        )
    folder = None if data is None else SupervisionFolder.open(data)
    _need_torch()
    try:
        from lexarbor.text.export import SAMPLES, export
    except ModuleNotFoundError as error:
        raise MissingExtraError("the export", "train") from error
    from lexarbor.text.retriever import DenseStatuteRetriever

    model = DenseStatuteRetriever.load(retriever).eval()
    provenance: dict[str, Any] = {}
    with suppress(TrainingError):  # a retriever that another program wrote has none
        provenance["recipe"] = as_dict(read_recipe(retriever / RECIPE))
    samples: list[str] = []
    if folder is not None:
        drawn = random.Random(SEED).sample(folder.articles, min(SAMPLES, len(folder.articles)))
        samples = [article_input(article.headings, article.text, model.settings) for article in drawn]
        provenance["samples"] = folder.facts
    return export(model, out, way=way, samples=samples, provenance=provenance)


def is_first() -> bool:
    """Of the processes that `torchrun` started: the one that speaks and writes."""
    return os.environ.get("RANK", "0") == "0"


def _recipe(path: Path, changes: Sequence[str], stage: type[Stage]) -> Stage:
    recipe: Recipe = read_recipe(path, changes)
    if not isinstance(recipe, stage):
        wanted = next(name for name, kind in STAGES.items() if kind is stage)
        raise TrainingError(f"{path} is a recipe of the stage {recipe.stage}, not {wanted}")
    return recipe


def _need_torch() -> None:
    """Refuse where torch is missing; where it is there, keep its companions quiet."""
    try:
        import torch  # noqa: F401
        import transformers.utils.logging
    except ImportError as error:
        raise MissingExtraError("training", "train") from error
    transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # ours is enough
    for noisy in _NOISY:
        logging.getLogger(noisy).setLevel(logging.WARNING)


@contextmanager
def _undone_if_refused(out: Path) -> Iterator[None]:
    """A run claims its folder by writing its recipe there. Where it is refused after that, e.g. for a checkpoint that
    is not there, the claim is given back: the folder could not be named again otherwise.
    """
    was_there, held = out.is_dir(), _names(out)
    try:
        yield
    except LexarborError:
        if not held and is_first() and _names(out) == [RECIPE]:
            (out / RECIPE).unlink()
            if not was_there:
                out.rmdir()
        raise


def _names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()] if folder.is_dir() else []
