"""Learn when to say "not in these codes", and write src/lexarbor/shipped/outside.json and results/outside-SPLIT.md.

    python benchmarks/train_outside.py dev     learn, choose the chance from which it is said by dev, measure
    python benchmarks/train_outside.py test    measure what ships on VosDroits test and Travail: once

Inside are the questions of VosDroits, outside the sheets that cite only texts that are not held. Learned is from dev
and the choosing half of the outside questions, these each without its own place in the memory: the encoder has learned
from train's questions, which look more at home than any new one would. The chance is chosen, and dev's false alarms are
told, by weights that left a fifth of dev out; measured is on the other half of the outside questions. The engine is
the shipped one over the benchmark's law.
"""

import json
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from lexarbor.corpus.benchmarks.catalogue import build_benchmark
from lexarbor.corpus.benchmarks.outside import OutsideQuestion, read_outside_questions
from lexarbor.corpus.packages import cache_folder
from lexarbor.search.building import make_index, shipped_models
from lexarbor.search.lexical import tuned
from lexarbor.search.outside import FEATURES, FORMAT, SHIPPED, Judge, codes_of, outside_features, read_judge
from lexarbor.search.recollection import Recollection
from lexarbor.search.scoring import Scorer

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "src" / "lexarbor" / "shipped" / SHIPPED
FALSE_ALARMS = 0.05
"""Of dev's questions, at the most."""
DECAY = 3e-2

Floats = NDArray[np.float32]


class Looker:
    """Features of questions, by the shipped engine over the benchmark's law."""

    def __init__(self) -> None:
        self.benchmark = build_benchmark("vosdroits")
        models = shipped_models()
        index = make_index(
            self.benchmark.law,
            source="vosdroits",
            settings=tuned("headings+text"),
            models=models,
            cache=cache_folder() / "vectors",
        )
        assert index.recollection is not None
        self.memory: Recollection = index.recollection
        self._place = {question.id: number for number, question in enumerate(self.memory.questions)}
        self._scorer = Scorer(index, models.encoder)
        self._legs = index.legs

    def likeness(self, text: str) -> Floats:
        found = self._scorer.score(text, self._legs).likeness
        assert found is not None
        return found

    def features(self, asked: Iterable[tuple[str, str]]) -> Floats:
        """(q, f) of questions by id and text; one that is remembered is looked at as if it were not."""
        rows = []
        for id, text in asked:
            scored = self._scorer.score(text, self._legs)
            if (own := self._place.get(id)) is not None and scored.likeness is not None:
                scored.likeness[own] = -1
            found = outside_features(scored, self.memory.outside)
            assert found is not None
            rows.append(found)
        return np.stack(rows)


def fitted(inside: Floats, outside: Floats) -> tuple[Floats, float]:
    """Weights and bias of a logistic regression in which both kinds count alike."""
    rows = np.concatenate([inside, outside])
    centre, spread = rows.mean(0), rows.std(0)
    x = torch.from_numpy((rows - centre) / spread)
    y = torch.cat([torch.zeros(len(inside)), torch.ones(len(outside))])
    share = torch.cat([torch.full((len(part),), 0.5 / len(part)) for part in (inside, outside)])
    values = torch.zeros(rows.shape[1] + 1, requires_grad=True)
    optimiser = torch.optim.LBFGS([values], max_iter=200, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        each = torch.nn.functional.binary_cross_entropy_with_logits(x @ values[:-1] + values[-1], y, reduction="none")
        found = (share * each).sum() + DECAY * (values[:-1] ** 2).sum()
        found.backward()
        return found

    optimiser.step(loss)
    weights = values.detach().numpy()
    scaled = weights[:-1] / spread
    return scaled, float(weights[-1] - scaled @ centre)


def learn(looker: Looker, outside: list[OutsideQuestion]) -> float:
    """Write what ships; gives the share of false alarms on dev, each fifth of it judged without it."""
    dev = looker.features((q.id, q.text) for q in looker.benchmark.questions.split("dev"))
    choose = looker.features((one.id, one.text) for one in outside if one.split == "choose")
    chances = np.zeros(len(dev))
    fifths = np.random.default_rng(0).permutation(len(dev)) % 5
    for fifth in range(5):
        weights, bias = fitted(dev[fifths != fifth], choose)
        judge = Judge(tuple(weights.tolist()), bias, 1.0)
        chances[fifths == fifth] = [judge.chance(row) for row in dev[fifths == fifth]]
    allowed = int(FALSE_ALARMS * len(chances))
    threshold = round(float(np.sort(chances)[::-1][allowed]) + 1e-4, 4)  # so many are above it, and no more
    weights, bias = fitted(dev, choose)
    told = {name: round(float(weight), 5) for name, weight in zip(FEATURES, weights, strict=True)}
    content = {
        "format": FORMAT,
        "learned_from": "vosdroits dev, outside questions of the choosing half",
        "weights": told,
        "bias": round(bias, 5),
        "threshold": threshold,
    }
    TARGET.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return float(np.mean(chances >= threshold))


def report(looker: Looker, outside: list[OutsideQuestion], which: str, alarms: float | None) -> None:
    judge = read_judge(TARGET)

    def row(name: str, asked: Iterable[tuple[str, str]]) -> str:
        said = [judge.chance(row) >= judge.threshold for row in looker.features(asked)]
        return f"| {name} | {len(said)} | {100 * np.mean(said):.1f} |"

    if alarms is None:
        test = (("VosDroits test", looker.benchmark), ("Travail", build_benchmark("travail")))
        rows = [
            row(f"{name}, inside: false alarms", ((q.id, q.text) for q in one.questions.split("test")))
            for name, one in test
        ]
    else:
        later = [one for one in outside if one.split == "report"]
        named = [one for one in later if one.codes]
        dev = len(looker.benchmark.questions.split("dev"))
        rows = [
            f"| VosDroits dev, inside: false alarms | {dev} | {100 * alarms:.1f} |",
            row("outside, reporting half: recognised", ((one.id, one.text) for one in later)),
            row("of these, naming a code", ((one.id, one.text) for one in named)),
            row("of these, naming none", ((one.id, one.text) for one in later if not one.codes)),
        ]
        right = [bool(set(one.codes) & set(codes_of(looker.memory, looker.likeness(one.text)))) for one in named]
        rows.append(
            f"| naming a code: it is among the codes that would be said | {len(right)} | {100 * np.mean(right):.1f} |"
        )
    lines = [
        f'# "Not in these codes", on {which}',
        "",
        f"`python benchmarks/train_outside.py {which}`. Said from a chance of {judge.threshold} on, chosen so that at",
        f"most {100 * FALSE_ALARMS:.0f} % of dev's questions hear it. The text encoder has read nearly all outside",
        "sheets (titles and paragraphs, as weak pairs), those of the reporting half too: the share that is recognised",
        "is of titles that it knows, and may be lower for new ones.",
        "",
        "| questions | number | % |",
        "|---|---|---|",
        *rows,
    ]
    (ROOT / "results" / f"outside-{which}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


def main(which: str) -> None:
    looker = Looker()
    outside = read_outside_questions(looker.benchmark.law) if which == "dev" else []
    report(looker, outside, which, learn(looker, outside) if which == "dev" else None)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in ("dev", "test"):
        sys.exit(__doc__)
    main(sys.argv[1])
