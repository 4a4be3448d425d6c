"""Bayesian search for hyper-parameters, by Optuna: a search, what it keeps, and which processes are at it.

work/tuning/NAME.journal        all trials, a line for each thing that happened
work/tuning/NAME.json           the search, for further processes
work/tuning/NAME.lock           locked by each process that searches, as long as it lives
work/tuning/NAME-worker-0.log   what a process told
work/tuning/views-….npz         vectors that trials of a graph encoder share
"""

import json
import logging
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lexarbor.errors import MissingExtraError, TrainingError
from lexarbor.evaluation.measures import MEASURES
from lexarbor.experiments.scales import merged
from lexarbor.experiments.spaces import Space, space_of
from lexarbor.files import folder_at

if TYPE_CHECKING:
    from types import ModuleType

    from optuna import Study
    from optuna.trial import FrozenTrial

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Search:
    """What is searched for, and how."""

    name: str
    space: str
    """A name of `SPACES`."""
    base: Mapping[str, Any]
    """A job's recipe, with "@JOB" where it names another's output, that chosen values are laid over."""
    data: Path
    """A folder of `lexarbor train prepare` that has dev questions."""
    trials: int = 100
    """Recipes to try, those that were given up counted."""
    looks: int = 4
    """At dev, on the way of a trial; at each it may be given up."""
    seed: int = 0
    measure: str = "recall@200"
    startup: int = 5
    """Trials that end before any is given up for being below their median."""
    made: str = ""
    """A checksum of what trials begin from and learn from, wherever that lies; empty where it is not there."""

    def __post_init__(self) -> None:
        for name in ("trials", "looks"):
            if getattr(self, name) < 1:
                raise TrainingError(f"{name} is {getattr(self, name)}: expected 1 or more")
        if self.measure not in MEASURES:
            raise TrainingError(f"measure is '{self.measure}': choose one of {', '.join(MEASURES)}")
        if self.base.get("stage") != self.values.stage:
            raise TrainingError(
                f"the space '{self.space}' is for recipes of the stage '{self.values.stage}', the base is of "
                f"'{self.base.get('stage')}': give another of them"
            )

    @property
    def values(self) -> Space:
        return space_of(self.space)

    def file(self, work: Path, ending: str) -> Path:
        """A file of this search below the experiment's folder."""
        return work / "tuning" / f"{self.name}{ending}"

    def known_by(self) -> dict[str, Any]:
        """What may not change when a search goes on. More trials may be asked for, folders moved, and what is searched
        for may have got another value in the base, which no trial reads.
        """
        first = self.values.recipe_values({key: values[0] for key, values in self.values.choices.items()})
        told = {"space": self.space, "base": merged(self.base, first), "measure": self.measure, "looks": self.looks}
        if self.made:
            told["models or supervision"] = self.made
        found: dict[str, Any] = json.loads(json.dumps(told))
        return found


def open_study(search: Search, work: Path, worker: int = 0) -> "Study":
    """The search as Optuna keeps it, begun if it was not."""
    optuna = _optuna()
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    from lexarbor.experiments.pruning import MedianOfRecipes

    folder_at(work / "tuning")
    try:
        study: Study = optuna.create_study(
            storage=JournalStorage(JournalFileBackend(str(search.file(work, ".journal")))),
            study_name=search.name,
            direction="maximize",
            pruner=MedianOfRecipes(search.startup),
            load_if_exists=True,
        )
    except (ValueError, KeyError) as error:
        raise TrainingError(
            f"{search.file(work, '.journal')}: no journal of a search ({error}); remove it, or give another --work"
        ) from error
    # not the same draws again where a search goes on
    (seed,) = np.random.SeedSequence([search.seed, worker, len(study.trials)]).generate_state(1)
    study.sampler = optuna.samplers.TPESampler(multivariate=True, constant_liar=True, seed=int(seed))
    held, now = study.user_attrs.get("search"), search.known_by()
    if held is None:
        study.set_user_attr("search", now)
    elif other := next((key for key in now if held.get(key, now[key]) != now[key]), ""):
        raise TrainingError(
            f"{search.file(work, '.journal')} was begun with another {other}: give another --work, or remove the file"
        )
    return study


def is_repeat(trial: "FrozenTrial") -> bool:
    """Whether a trial drew a recipe that had been tried: it was not trained again."""
    return "same_as" in trial.user_attrs


@contextmanager
def at_work(search: Search, work: Path) -> Iterator[None]:
    """Locked together with the other processes of this search. Where there is none, what a killed one left is told to
    have failed: a lock ends with its process, however that ended.
    """
    import fcntl

    folder_at(work / "tuning")
    with search.file(work, ".lock").open("a+") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pass  # another lives
        else:
            _clear_up(search, work)
        fcntl.lockf(file, fcntl.LOCK_SH)
        yield


def _clear_up(search: Search, work: Path) -> None:
    """After processes that were killed: half a line of the journal, trials under way, their folders."""
    journal = search.file(work, ".journal")
    for folder in journal.parent.glob(f"{search.name}.trial-*"):
        shutil.rmtree(folder, ignore_errors=True)
    if not journal.is_file():
        return
    journal.with_name(f"{journal.name}.lock").unlink(missing_ok=True)  # Optuna's own, which others would wait for
    written = journal.read_bytes()
    if not written.endswith(b"\n"):
        os.truncate(journal, written.rfind(b"\n") + 1)
    study = open_study(search, work)
    from optuna.trial import TrialState

    for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
        logger.warning("trial %d of the search %s was stopped: it is told to have failed", trial.number, search.name)
        study.tell(trial.number, state=TrialState.FAIL)


def check_optuna() -> None:
    """Refuse to search, before long work, where what searches is not installed."""
    _optuna()


def _optuna() -> "ModuleType":
    try:
        import optuna
    except ImportError as error:
        raise MissingExtraError("searching for hyper-parameters", "train") from error
    optuna.logging.disable_default_handler()
    optuna.logging.enable_propagation()
    optuna.logging.set_verbosity(optuna.logging.WARNING)  # what is told of trials is told by us
    return optuna
