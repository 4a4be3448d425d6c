"""When a trial is given up. Needs Optuna."""

from statistics import median

from optuna import Study
from optuna.pruners import BasePruner
from optuna.trial import FrozenTrial, TrialState

from lexarbor.experiments.searches import is_repeat

FIRST = 2
"""The look from which on a trial may be given up."""


class MedianOfRecipes(BasePruner):
    """Gives a trial up whose best look so far is below the median of what others had at this look, as Optuna's own
    does; but a recipe that was drawn again counts once. A sampler draws the best again and again: counted each time,
    they would be the median.
    """

    def __init__(self, startup: int) -> None:
        self.startup = startup
        """Trials that end before any is given up."""

    def prune(self, study: Study, trial: FrozenTrial) -> bool:
        look = trial.last_step
        ended = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        others = [one.intermediate_values for one in ended if not is_repeat(one)]
        there = [values[look] for values in others if look in values]
        if look is None or look < FIRST or len(others) < self.startup or not there:
            return False
        return max(trial.intermediate_values.values()) < median(there)
