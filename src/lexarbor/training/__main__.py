"""`python -m lexarbor.training`: the stages on a machine that has little but torch (no typer, no search).

python -m lexarbor.training pretrain --recipe recipes/pretrain.yaml --data supervision --out models/pretrain
python -m lexarbor.training text --recipe recipes/dsr.yaml --data supervision --out models/text --set start=…
"""

import argparse
import logging
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from lexarbor.errors import LexarborError
from lexarbor.supervision.augmentation import BATCH_SIZE
from lexarbor.supervision.folder import SupervisionFolder
from lexarbor.supervision.sampling import Sampling
from lexarbor.training import stages

FAILED = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one stage; what Lexarbor refuses is one line on stderr and exit code 2."""
    given = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stderr)
    try:
        _run(given)
    except LexarborError as error:
        sys.stderr.write(f"lexarbor: {' '.join(str(error).split())}\n")
        return FAILED
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m lexarbor.training", description="Train a model of Lexarbor.")
    parsers = parser.add_subparsers(dest="stage", required=True)
    for name, told in (
        ("vocabulary", "a tokenizer alone, for `tokenizer` in several recipes; needs no torch"),
        ("pretrain", "masked language modelling on the law's own language"),
        ("text", "the dense statute retriever"),
        ("graph", "the legislative graph encoder, over a trained retriever"),
        ("generate", "a generator of questions"),
        ("augment", "questions that articles answer, written by a generator"),
        ("mine", "hard negatives, found with a trained retriever"),
    ):
        stage = parsers.add_parser(name, help=told, description=told)
        stage.add_argument("--data", type=Path, required=True, help="a folder of `lexarbor train prepare`")
        stage.add_argument("--out", type=Path, required=True, help="where the result is written")
        if name == "mine":
            stage.add_argument("--model", type=Path, required=True, help="the folder of a trained retriever")
            stage.add_argument("--kind", action="append", default=[], help="of pairs; all where none is named")
            stage.add_argument("--depth", type=int, default=50, help="negatives kept of each pair")
            stage.add_argument("--skip", type=int, default=0, help="of the best, left out: they may well answer")
            continue
        if name == "augment":
            stage.add_argument("--model", required=True, help="a folder of the stage generate, or a name on the hub")
            stage.add_argument("--prefix", help="words that say what is wanted; the model's own unless given")
            for known in fields(Sampling):  # questions, top_k, top_p, temperature, seed
                option = f"--{known.name.replace('_', '-')}"
                stage.add_argument(option, type=type(known.default), default=known.default)
            stage.add_argument("--batch-size", type=int, default=BATCH_SIZE, help="articles that are read together")
            stage.add_argument("--resume", action="store_true", help="go on where a run was stopped")
            continue
        stage.add_argument("--recipe", type=Path, required=True, help="a YAML file, e.g. recipes/pretrain.yaml")
        stage.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change one of its values")
        if name != "vocabulary":
            stage.add_argument("--resume", action="store_true", help="go on from the last checkpoint in --out")
        if name == "pretrain":
            stage.add_argument("--half", type=Path, help="a folder for a copy of the model in 16 bits, half as large")
    return parser


def _run(given: argparse.Namespace) -> None:
    if given.stage == "mine":
        stages.mine(given.model, given.data, given.out, kinds=given.kind, depth=given.depth, skip=given.skip)
        return
    if given.stage == "augment":
        stages.augment(
            given.model,
            SupervisionFolder.open(given.data).articles,
            given.out,
            Sampling(**{known.name: getattr(given, known.name) for known in fields(Sampling)}),
            settings={} if given.prefix is None else {"prefix": given.prefix},
            batch_size=given.batch_size,
            resume=given.resume,
        )
        return
    recipe = (given.recipe, given.data, given.out)
    if given.stage == "vocabulary":
        stages.vocabulary(*recipe, changes=given.set)
    elif given.stage == "pretrain":
        stages.pretrain(*recipe, changes=given.set, resume=given.resume, half=given.half)
    elif given.stage == "graph":
        stages.graph(*recipe, changes=given.set, resume=given.resume)
    elif given.stage == "generate":
        stages.generate(*recipe, changes=given.set, resume=given.resume)
    else:
        stages.text(*recipe, changes=given.set, resume=given.resume)


if __name__ == "__main__":
    sys.exit(main())
