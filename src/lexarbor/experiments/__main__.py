"""`python -m lexarbor.experiments`: the training half of experiments, on a machine that has little but torch.

    python -m lexarbor.experiments main gnns --work lab --workers 4

trains what `lexarbor experiment main` and `gnns` need, from the supervision that `lexarbor experiment main --only
prepare` wrote into lab/data where the law was; `lexarbor experiment main --only report` scores it there again.
"""

import argparse
import logging
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lexarbor.errors import LexarborError, MissingExtraError, TrainingError
from lexarbor.experiments.lab import Lab
from lexarbor.experiments.workers import read_plan, run_worker

FAILED, INTERRUPTED = 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Train; what Lexarbor refuses is one line on stderr and exit code 2."""
    parser = argparse.ArgumentParser(prog="python -m lexarbor.experiments", description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", help="experiments, e.g. main gnns")
    parser.add_argument("--work", type=Path, required=True, help="the folder with data/, where models are kept")
    parser.add_argument("--benchmark", default="vosdroits")
    parser.add_argument("--scale", default="")
    parser.add_argument("--train-on", default="train")
    parser.add_argument("--seeds", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--trials", type=int, default=0)
    parser.add_argument("--questions", type=Path, help="synthetic questions that data/ was prepared with")
    parser.add_argument("--models", type=Path, help="another work folder, whose language models are taken")
    parser.add_argument("--hub", action="store_true")
    parser.add_argument("--start", action="append", default=[], help="a further language model, by hub name or folder")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--jobs", default="", help="of these experiments, the named jobs alone, joined by commas")
    parser.add_argument(
        "--tuned", default="", choices=("", "dsr", "wide"), help="learn by the best that this search found"
    )
    parser.add_argument("--plan", type=Path, help=argparse.SUPPRESS)  # of a worker
    given = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stderr)
    try:
        if given.plan is not None:
            run_worker(read_plan(given.plan), given.work, call=given.plan.stem)
        else:
            if not given.names:
                raise TrainingError("no experiment is named: say which models to train, e.g. main gnns")
            _train(given)
    except ModuleNotFoundError as error:
        missing = MissingExtraError(f"training ('{error.name}' is missing)", "train")
        sys.stderr.write(f"lexarbor: {missing}\n")
        return FAILED
    except (LexarborError, OSError) as error:
        sys.stderr.write(f"lexarbor: {' '.join(str(error).split())}\n")
        return FAILED
    except KeyboardInterrupt:
        sys.stderr.write("lexarbor: stopped: the same command goes on from here\n")
        return INTERRUPTED
    return 0


def _train(given: argparse.Namespace) -> None:
    from lexarbor.experiments.running import told_failures, train

    lab = Lab(
        given.benchmark,
        given.work,
        scale=given.scale,
        train_on=given.train_on,
        seeds=given.seeds,
        workers=given.workers,
        trials=given.trials,
        questions=given.questions,
        models=given.models,
        hub=given.hub,
        starts=tuple(given.start),
        changes=tuple(given.set),
    )
    if given.tuned:
        from lexarbor.experiments.tune_models import chosen

        lab = replace(lab, changes=(*lab.changes, *chosen(lab, given.tuned)))
        logging.getLogger(__name__).info("tuned: %s", " ".join(lab.changes))
    failed = train(lab, given.names, [key for key in given.jobs.split(",") if key])
    if failed:
        raise TrainingError(told_failures(failed, lab.work))


if __name__ == "__main__":
    sys.exit(main())
