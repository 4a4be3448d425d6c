"""Draw the figures of trials again from results/tune-*.json, for searches whose journals are gone.

python benchmarks/draw_trials.py
"""

import json
from pathlib import Path

from lexarbor.experiments.trial_reports import draw_trials

RESULTS = Path(__file__).parent.parent / "results"


def main() -> None:
    for path in sorted(RESULTS.glob("tune-*.json")):
        told = json.loads(path.read_text(encoding="utf-8"))
        if "trials" in told:  # a grid has none
            figure = path.with_name(f"{path.stem}-trials.png")
            draw_trials(told["search"]["space"], told["search"]["measure"], told["trials"], figure)
            print(figure)


if __name__ == "__main__":
    main()
