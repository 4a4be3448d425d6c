"""Trials of a search (the paper's appendix "G-DSR Hyperparameter Tuning"): those that fall behind are given up, several
processes try together, and a stopped search goes on.

`python -m lexarbor.experiments.trials work/tuning/NAME.json --work work --worker 0` is one such process. Needs, beside
Optuna, only what training needs.
"""

import argparse
import json
import logging
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lexarbor.errors import LexarborError, TrainingError
from lexarbor.experiments.jobs import placed
from lexarbor.experiments.lab import Step, silent
from lexarbor.experiments.processes import locked, progress, run_together
from lexarbor.experiments.revisions import revision
from lexarbor.experiments.scales import merged
from lexarbor.experiments.searches import Search, at_work, is_repeat, open_study
from lexarbor.files import write_json

if TYPE_CHECKING:
    from optuna import Study, Trial
    from optuna.trial import FrozenTrial

    from lexarbor.experiments.objectives import Outcome, Told

    Task = Callable[[Mapping[str, Any], Path, int, Told], Outcome]

logger = logging.getLogger(__name__)
FAILED = 2
MOST_REFUSED = 5
"""So many refused trials, and none that was not, end a search: its base is amiss."""


def run_trials(search: Search, work: Path, worker: int = 0, *, on_step: Step = silent) -> None:
    """Try recipes, in this process, until the search has as many trials as it wants, those of other processes counted.
    One that breaks off unforeseen ends the process, and is told to have been stopped: the next would break off too.
    """
    with at_work(search, work):
        study = open_study(search, work, worker)
        tried = _objective(search, work, study, _task(search, work)) if _wants_more(study, search) else None
        while tried is not None and (trial := _next(search, work, study)) is not None:
            on_step(_tried(study) - 1, search.trials)  # this one is under way
            try:
                _try(study, trial, tried)
            except LexarborError:
                raise
            except Exception as error:
                raise TrainingError(
                    f"a trial of the search '{search.name}' broke off ({type(error).__name__}: {error}): the same "
                    "command goes on with the others"
                ) from error
            _check_refused(study)
        on_step(_tried(study), search.trials)


def _next(search: Search, work: Path, study: "Study") -> "Trial | None":
    """Another trial, where one is wanted. One process at a time looks and asks: they shall not all begin the last."""
    with locked(search.file(work, ".asking.lock")):
        return study.ask() if _wants_more(study, search) else None


def _try(study: "Study", trial: "Trial", tried: "Callable[[Trial], float]") -> None:
    """What a trial comes to, told to the study."""
    from optuna import TrialPruned
    from optuna.trial import TrialState

    try:
        value = tried(trial)
    except TrialPruned as error:
        study.tell(trial, state=TrialState.PRUNED)
        logger.info("trial %d was given up: %s", trial.number, error)
    except BaseException:
        study.tell(trial, state=TrialState.FAIL)
        raise
    else:
        study.tell(trial, value)
        logger.info("trial %d came to %.3f", trial.number, value)


def run_workers(search: Search, work: Path, workers: int, *, on_step: Step = silent) -> None:
    """The same by several processes, each with a log, or by this one where one is enough."""
    with at_work(search, work):
        study = open_study(search, work)
        if not _wants_more(study, search):
            return
    if workers == 1:
        run_trials(search, work, on_step=on_step)
        return
    path = search.file(work, ".json")
    write_json(path, asdict(search) | {"data": str(search.data)})
    command = [sys.executable, "-m", "lexarbor.experiments.trials", str(path), "--work", str(work)]
    logs = [search.file(work, f"-worker-{worker}.log") for worker in range(workers)]
    look = progress(lambda: _tried(study), search.trials, f"trials of the search {search.name}", on_step)
    failed = run_together([[*command, f"--worker={worker}"] for worker in range(workers)], logs, look)
    if failed:
        last = next(reversed(failed[0].read_text(encoding="utf-8", errors="replace").split("\n")[:-1]), "")
        raise TrainingError(f"{len(failed)} of {workers} searching processes failed ({last}): see {failed[0]}")


def _wants_more(study: "Study", search: Search) -> bool:
    """Trials under way are counted; drawing the same over and over is given up."""
    tried = _tried(study)
    return tried < search.trials and len(_live(study)) - tried < search.trials


def _tried(study: "Study") -> int:
    """How many recipes were tried, or are."""
    return sum(not is_repeat(trial) for trial in _live(study))


def _live(study: "Study") -> "list[FrozenTrial]":
    """All trials but those that were stopped with their process."""
    from optuna.trial import TrialState

    states = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.RUNNING)
    return study.get_trials(deepcopy=False, states=states)


def _objective(search: Search, work: Path, study: "Study", task: "Task") -> "Callable[[Trial], float]":
    from optuna import TrialPruned

    now = revision()

    def tried(trial: "Trial") -> float:
        trial.set_user_attr("revision", now)
        chosen: Mapping[str, Any] = {
            key: trial.suggest_categorical(key, values) for key, values in search.values.choices.items()
        }
        if (earlier := _earlier(study, trial)) is not None:
            return _again(trial, earlier)

        def on_look(look: int, last: bool, figures: dict[str, float]) -> None:
            trial.report(figures[search.measure], look)
            trial.set_user_attr("figures", figures)
            if not last and trial.should_prune():
                raise TrialPruned(f"below the median at look {look}")

        values = placed(merged(search.base, search.values.recipe_values(chosen)), work)
        began = time.perf_counter()
        try:
            with tempfile.TemporaryDirectory(prefix=f"{search.name}.trial-", dir=work / "tuning") as folder:
                outcome = task(values, Path(folder) / "run", search.looks, on_look)
        except LexarborError as error:  # given up, not failed: the sampler learns from those to keep away
            trial.set_user_attr("refused", " ".join(str(error).split()))
            raise TrialPruned(str(error)) from error
        finally:
            trial.set_user_attr("seconds", round(time.perf_counter() - began, 1))
        for name in ("figures", "parameters", "steps"):
            trial.set_user_attr(name, getattr(outcome, name))
        return outcome.figures[search.measure]

    return tried


def _earlier(study: "Study", trial: "Trial") -> "FrozenTrial | None":
    """A trial that ended with the same values."""
    from optuna.trial import TrialState

    ended = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE, TrialState.PRUNED))
    return next((one for one in ended if one.params == trial.params and not is_repeat(one)), None)


def _again(trial: "Trial", earlier: "FrozenTrial") -> float:
    """What the same recipe came to: training is a function of it."""
    from optuna import TrialPruned

    trial.set_user_attr("same_as", earlier.number)
    for look, value in earlier.intermediate_values.items():
        trial.report(value, look)
    if earlier.value is None or not earlier.state.name == "COMPLETE":
        raise TrialPruned(f"as trial {earlier.number}")
    return earlier.value


def _check_refused(study: "Study") -> None:
    """Trials under way count for something once they have looked at dev."""
    trials = [
        one for one in _live(study) if not is_repeat(one) and (one.state.is_finished() or one.intermediate_values)
    ]
    refused = [one for one in trials if "refused" in one.user_attrs]
    if len(refused) >= MOST_REFUSED and len(refused) == len(trials):
        raise TrainingError(f"all {len(refused)} trials were refused: {refused[-1].user_attrs['refused']}")


def _task(search: Search, work: Path) -> "Task":
    from lexarbor.supervision.folder import SupervisionFolder

    folder = SupervisionFolder.open(search.data)
    if not any(one.split == "dev" and one.gold for one in folder.asked):
        raise TrainingError(f"{search.data} has no dev questions, which a search chooses by: prepare one that has")
    from lexarbor.experiments.objectives import TASKS  # torch: after what can be refused without it

    return TASKS[search.values.stage](folder, work / "tuning", lambda: locked(work / "tuning" / "views.lock"))


def _read_search(path: Path) -> Search:
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
        return Search(**held | {"data": Path(held["data"])})
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise TrainingError(f"{path}: no search that `lexarbor experiment` wrote ({error})") from error


def main() -> int:
    """One process of a search; what Lexarbor refuses is one line on stderr and exit code 2."""
    parser = argparse.ArgumentParser(prog="python -m lexarbor.experiments.trials", description=run_trials.__doc__)
    parser.add_argument("search", type=Path, help="a file that `run_workers` wrote")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--worker", type=int, default=0)
    given = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stderr)
    try:
        run_trials(_read_search(given.search), given.work, given.worker)
    except (LexarborError, OSError) as error:
        if error.__cause__ is not None:  # for the log: what a person is told is its last line
            logger.info("what was behind it", exc_info=error.__cause__)
        sys.stderr.write(f"lexarbor: {' '.join(str(error).split())}\n")
        return FAILED
    return 0


if __name__ == "__main__":
    sys.exit(main())
