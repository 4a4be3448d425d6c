"""The stages as a command gives them, by paths: what `lexarbor train` and `python -m lexarbor.training` both call.

A recipe or a folder that is amiss, and an extra that is not installed, are told of before any long work, and a folder
made for a run that was then refused is taken away again.
"""

import json
import logging
import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from lexarbor.errors import MissingExtraError, ModelError, TrainingError
from lexarbor.files import check_file, check_folder
from lexarbor.supervision import augmentation
from lexarbor.supervision.augmentation import Augmented
from lexarbor.supervision.folder import Passage, SupervisionFolder
from lexarbor.supervision.sampling import Sampling
from lexarbor.supervision.texts import all_texts
from lexarbor.text.inputs import article_input
from lexarbor.text.vocabulary import learn_vocabulary, save_vocabulary
from lexarbor.training.graph_recipe import GraphRecipe
from lexarbor.training.recipes import STAGES, GenerateRecipe, PretrainRecipe, Recipe, TextRecipe, as_dict, read_recipe
from lexarbor.training.runs import LOG, RECIPE, data_checksum, is_first, undone_if_refused

if TYPE_CHECKING:
    from lexarbor.text.folder import ModelFolder
    from lexarbor.training.generate import GenerateReport
    from lexarbor.training.looking import TrainingReport

SEED = 0
_PACKAGES = ("torch", "transformers", "accelerate", "safetensors")
_NOISY = ("httpx", "transformers", "accelerate")

Stage = TypeVar("Stage", PretrainRecipe, TextRecipe, GraphRecipe, GenerateRecipe)


class Pretrained(NamedTuple):
    """What a run of masked language modelling came to."""

    out: Path
    steps: int
    loss: float
    tokens_per_second: int | None
    """None where the run was too short to tell."""
    seconds: float


def vocabulary(recipe: Path, data: Path, out: Path, *, changes: Sequence[str] = ()) -> int:
    """A tokenizer alone, of the size that a recipe says; gives its number of pieces. Needs no torch."""
    chosen = read_recipe(recipe, changes)
    if isinstance(chosen, GraphRecipe):
        raise TrainingError(f"{recipe} is a recipe of the stage graph, which reads no words: give one of another stage")
    shape = chosen.architecture
    folder = SupervisionFolder.open(data)
    check_folder(out)
    learned = learn_vocabulary(all_texts(folder), shape.vocabulary)
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
    if half is not None:
        if half.resolve() == out.resolve():
            raise TrainingError(f"{half}: the copy in 16 bits would replace the model itself; give it another folder")
        check_folder(half)
    _need_torch()
    from lexarbor.training.pretrain import pretrain, write_half

    with undone_if_refused(out):
        pretrain(chosen, all_texts(folder), out, resume=resume, data=data_checksum(folder))
    if not is_first():
        return None
    if half is not None:
        write_half(out, half)
    written = json.loads((out / LOG).read_text(encoding="utf-8"))
    last, rate = written["log"][-1], written["tokens_per_second"]
    return Pretrained(out, last["step"], last["loss"], rate and round(rate), written["seconds"])


def text(
    recipe: Path, data: Path, out: Path, *, changes: Sequence[str] = (), resume: bool = False
) -> "TrainingReport | None":
    """The dense statute retriever; of several processes the first is told how it went."""
    chosen = _recipe(recipe, changes, TextRecipe)
    folder = SupervisionFolder.open(data)
    _need_torch()
    from lexarbor.training.contrastive import train_text

    with undone_if_refused(out):
        report = train_text(chosen, folder, out, resume=resume)
    return report if is_first() else None


def graph(
    recipe: Path, data: Path, out: Path, *, changes: Sequence[str] = (), resume: bool = False
) -> "TrainingReport | None":
    """The legislative graph encoder; of several processes the first is told how it went."""
    chosen = _recipe(recipe, changes, GraphRecipe)
    folder = SupervisionFolder.open(data)
    _need_torch("torch_geometric")
    from lexarbor.training.graph import train_graph

    with undone_if_refused(out):
        report = train_graph(chosen, folder, out, resume=resume)
    return report if is_first() else None


def generate(
    recipe: Path, data: Path, out: Path, *, changes: Sequence[str] = (), resume: bool = False
) -> "GenerateReport | None":
    """A generator of questions; of several processes the first is told how it went."""
    chosen = _recipe(recipe, changes, GenerateRecipe)
    folder = SupervisionFolder.open(data)
    _need_torch()
    from lexarbor.training.generate import train_generator

    with undone_if_refused(out):
        report = train_generator(chosen, folder, out, resume=resume)
    return report if is_first() else None


def augment(
    model: str,
    articles: Sequence[Passage],
    out: Path,
    sampling: Sampling,
    *,
    settings: Mapping[str, Any] = {},
    batch_size: int = augmentation.BATCH_SIZE,
    resume: bool = False,
    on_step: Callable[[int, int], None] = lambda done, total: None,
) -> Augmented:
    """Questions that articles answer, written by a generator; `settings` are those of its own that are changed."""
    _need_torch()
    from lexarbor.training.arguments import fitting
    from lexarbor.training.generator import QuestionGenerator, read_settings

    augmentation.check_out(out, resume=resume)
    chosen = replace(read_settings(model), **settings)
    generator = QuestionGenerator.open(model, settings=chosen)
    with fitting(f"{batch_size} articles", "start anew, in another file, with a lower --batch-size"):
        return augmentation.augment(
            generator, articles, out, sampling, batch_size=batch_size, resume=resume, on_step=on_step
        )


def mine(model: Path, data: Path, out: Path, *, kinds: Sequence[str] = (), depth: int, skip: int = 0) -> int:
    """Hard negatives, found with a trained retriever; gives the number of pairs."""
    if depth < 1 or skip < 0:
        raise TrainingError(f"depth is {depth}, skip is {skip}: expected a depth of 1 or more and a skip of 0 or more")
    folder = SupervisionFolder.open(data)
    check_file(out)
    _need_torch()
    from lexarbor.training.mining import mine

    return mine(model, folder, out, kinds=kinds, depth=depth, skip=skip)


def export(
    retriever: Path, out: Path, *, way: str, data: Path | None = None, provenance: Mapping[str, Any] = {}
) -> "ModelFolder":
    """A trained retriever as a model folder for use without torch; `int8-smooth` measures it on articles drawn from
    the supervision folder `data`. The manifest tells the run's recipe, where the samples come from, and `provenance`.
    """
    if data is None and way == "int8-smooth":
        raise ModelError(
            "int8-smooth measures the model on articles: name a supervision folder that has some, or choose int8"
        )
    folder = None if data is None else SupervisionFolder.open(data)
    check_folder(out)
    _need_torch()
    try:
        from lexarbor.text.export import SAMPLES, export
    except ModuleNotFoundError as error:
        raise MissingExtraError("the export", "train") from error
    from lexarbor.text.retriever import DenseStatuteRetriever

    model = DenseStatuteRetriever.load(retriever).eval()
    told: dict[str, Any] = {}
    with suppress(TrainingError):  # a retriever that another program wrote has none
        told["recipe"] = as_dict(read_recipe(retriever / RECIPE))
    samples: list[str] = []
    if folder is not None:
        drawn = random.Random(SEED).sample(folder.articles, min(SAMPLES, len(folder.articles)))
        samples = [article_input(article.headings, article.text, model.settings) for article in drawn]
        told["samples"] = folder.facts
    return export(model, out, way=way, samples=samples, provenance={**told, **provenance})


def _recipe(path: Path, changes: Sequence[str], stage: type[Stage]) -> Stage:
    recipe: Recipe = read_recipe(path, changes)
    if not isinstance(recipe, stage):
        wanted = next(name for name, kind in STAGES.items() if kind is stage)
        raise TrainingError(f"{path} is a recipe of the stage {recipe.stage}, not {wanted}")
    return recipe


def _need_torch(*more: str) -> None:
    """Refuse where torch or one of its companions is missing; where they are there, keep them quiet."""
    if any(find_spec(package) is None for package in (*_PACKAGES, *more)):
        raise MissingExtraError("training", "train")
    import transformers.utils.logging

    transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # ours is enough
    for noisy in _NOISY:
        logging.getLogger(noisy).setLevel(logging.WARNING)
