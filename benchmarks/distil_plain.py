"""A retriever that reads articles without their headings, taught by one that reads them.

    python benchmarks/distil_plain.py study/first-soup --data supervision --out study/plain-taught

The article tower, given the text alone, learns the vectors that the teacher gives to headings and text: their
direction, and how they score for train questions and headings. Questions keep the teacher's tower. On two cores half an
hour; `OUT.npz` then holds the rankings that benchmarks/report_dsr.py scores.

The row 'plain-taught' of results/dsr-*.md was made by a draft of this script with the same phases and losses, and
ranked in ONNX int8; this tidied version has only been tried for a few steps.
"""

import argparse
import random
import time
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from lexarbor.supervision.folder import SupervisionFolder
from lexarbor.text.retriever import DenseStatuteRetriever
from lexarbor.training.ranking import Dev, article_vectors, question_vectors
from lexarbor.training.tokens import TokenRows, unpacked
from study_dsr import write_ranking

ASKING = ("gold", "description", "train_chapter")
"""Kinds whose questions the scores are compared for, and so many headings."""
HEADINGS = 3000
BATCH = 32
WINDOW = 40 * BATCH
"""Articles that are sorted by length together."""
COMPARED = 1024
"""Questions drawn for each batch."""
SCORES_WEIGHT = 10.0


class Phase(NamedTuple):
    """A run of steps in which the rate climbs to its peak and falls."""

    steps: int
    until_zero: int
    """Steps after which the rate would be zero."""
    rate: float
    warmup: int
    dropout: bool


PHASES = (Phase(400, 859, 3e-4, 60, True), Phase(160, 160, 2e-4, 20, False))
"""As it was run: dropout kept the loss up, so the first phase was cut short and a second one without it followed."""


def batches(rows: TokenRows, draw: np.random.Generator) -> list[NDArray[np.int64]]:
    """One pass over all articles, in batches of like length."""
    order = draw.permutation(len(rows))
    found: list[NDArray[np.int64]] = []
    for start in range(0, len(rows), WINDOW):
        window = order[start : start + WINDOW]
        window = window[np.argsort(rows.longest[window], kind="stable")]
        blocks = [window[at : at + BATCH] for at in range(0, len(window), BATCH)]
        draw.shuffle(blocks)
        found += blocks
    return found


def teach(
    student: DenseStatuteRetriever, rows: TokenRows, wanted: Tensor, asked: Tensor, phase: Phase, seed: int
) -> None:
    """Move the article tower towards the wanted vectors (articles, d); `asked` are questions (n, d)."""
    parameters = list(student.article_encoder.parameters())
    optimiser = torch.optim.AdamW(parameters, lr=phase.rate, weight_decay=0.01)
    student.train(phase.dropout)
    draw, left = np.random.default_rng(seed), []
    device = wanted.device.type
    for step in range(phase.steps):
        left = left or batches(rows, draw)
        chosen = left.pop()
        for group in optimiser.param_groups:
            group["lr"] = phase.rate * min(1, (step + 1) / phase.warmup) * (1 - step / phase.until_zero)
        packed = rows.pack(chosen, 2 * BATCH)
        with torch.autocast(device, dtype=torch.bfloat16):
            read = [student.encode_article_ids(*group) for group in unpacked(packed)]
        vectors = functional.normalize(torch.cat(read).float()[packed["order"]], dim=1)  # (BATCH, d)
        apart = vectors - wanted[torch.from_numpy(chosen)]
        some = asked[torch.randint(len(asked), (COMPARED,))]
        direction = apart.pow(2).sum(1).mean() / 2  # 1 - cosine
        loss = direction + SCORES_WEIGHT * (apart @ some.T).pow(2).mean()
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.step()
        if step % 50 == 49:
            print(
                f"{time.strftime('%H:%M:%S')} step {step + 1}: 1 - cosine {float(direction.detach()):.4f}", flush=True
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("teacher", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, help="of each phase, to try it out")
    given = parser.parse_args()
    folder = SupervisionFolder.open(given.data)
    teacher = DenseStatuteRetriever.load(given.teacher)
    plain = replace(teacher.settings, headings=False, shared=False)
    student = DenseStatuteRetriever.load(given.teacher, plain)
    headings = [pair.question for pair in folder.pairs if pair.kind == "headings"]
    questions = [pair.question for pair in folder.pairs if pair.kind in ASKING]
    questions += random.Random(0).sample(headings, min(HEADINGS, len(headings)))
    asked = functional.normalize(question_vectors(teacher, questions, questions).values, dim=1)
    wanted = functional.normalize(article_vectors(teacher, folder.articles).values, dim=1)
    dev = Dev(student, folder.articles, [one for one in folder.asked if one.split == "dev"])
    for seed, phase in enumerate(PHASES):
        phase = phase._replace(steps=min(phase.steps, given.steps or phase.steps))
        teach(student, dev.article_rows, wanted, asked, phase, seed)
    student.save(given.out)
    print(write_ranking(given.out.name, folder, dev, given.out.parent))


if __name__ == "__main__":
    main()
