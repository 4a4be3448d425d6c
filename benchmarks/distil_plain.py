"""A retriever that reads articles without their headings, taught by one that reads them.

    python benchmarks/distil_plain.py study --data supervision

For each `study/first-SEED` of benchmarks/study_dsr.py a `study/taught-SEED`, with its rankings. The article tower,
given the text alone, learns the vectors that the teacher gives to headings and text: their direction, and how they
score for train questions and headings. Questions keep the teacher's tower. On an H200 a minute a seed.
The rows 'taught' of results/dsr-*.md were made by a draft of this script with the same settings.
"""

import argparse
import random
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from lexarbor.supervision.folder import SupervisionFolder
from lexarbor.text.retriever import DenseStatuteRetriever
from lexarbor.training.looking import dev_questions
from lexarbor.training.ranking import Dev, article_vectors, question_vectors
from lexarbor.training.tokens import TokenRows, to_device, unpacked
from study_dsr import write_ranking

ASKING = ("gold", "description", "train_chapter")
"""Kinds whose questions the scores are compared for, and so many headings."""
HEADINGS = 3000
COMPARED = 2048
"""Questions drawn for each batch."""
SCORES_WEIGHT = 10.0
BATCH = 256
WINDOW = 20 * BATCH
"""Articles that are sorted by length together."""
STEPS, WARMUP, RATE = 1600, 100, 5e-4
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


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
    student: DenseStatuteRetriever, rows: TokenRows, wanted: Tensor, asked: Tensor, *, steps: int, seed: int
) -> None:
    """Move the article tower towards the wanted vectors (articles, d); `asked` are questions (n, d). Without dropout,
    which keeps the student away from what it should equal.
    """
    torch.manual_seed(seed)
    draw = np.random.default_rng(seed)
    parameters = list(student.article_encoder.parameters())
    optimiser = torch.optim.AdamW(parameters, lr=RATE, weight_decay=0.01)
    student.eval()
    left: list[NDArray[np.int64]] = []
    for step in range(steps):
        left = left or batches(rows, draw)
        chosen = left.pop()
        for group in optimiser.param_groups:
            group["lr"] = RATE * min(1, (step + 1) / WARMUP) * (1 - step / steps)
        packed = to_device(rows.pack(chosen, BATCH), DEVICE)
        with torch.autocast(DEVICE.type, dtype=torch.bfloat16):
            read = [student.encode_article_ids(*group) for group in unpacked(packed)]
        vectors = functional.normalize(torch.cat(read).float()[packed["order"]], dim=1)  # (BATCH, d)
        apart = vectors - wanted[torch.from_numpy(chosen).to(DEVICE)]
        some = asked[torch.randint(len(asked), (COMPARED,), device=DEVICE)]
        direction = apart.pow(2).sum(1).mean() / 2  # 1 - cosine
        loss = direction + SCORES_WEIGHT * (apart @ some.T).pow(2).mean()
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.step()
        if step % 100 == 99:
            print(
                f"{time.strftime('%H:%M:%S')} step {step + 1}: 1 - cosine {float(direction.detach()):.4f}", flush=True
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", type=Path, help="the folder that study_dsr.py wrote")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, default=STEPS)
    given = parser.parse_args()
    folder = SupervisionFolder.open(given.data)
    headings = [pair.question for pair in folder.pairs if pair.kind == "headings"]
    questions = [pair.question for pair in folder.pairs if pair.kind in ASKING]
    questions += random.Random(0).sample(headings, min(HEADINGS, len(headings)))
    for seed in given.seeds:
        source = given.study / f"first-{seed}"
        teacher = DenseStatuteRetriever.load(source).to(DEVICE)
        plain = replace(teacher.settings, headings=False, shared=False)
        student = DenseStatuteRetriever.load(source, plain).to(DEVICE)
        asked = functional.normalize(question_vectors(teacher, questions, questions).values, dim=1)
        wanted = functional.normalize(article_vectors(teacher, folder.articles).values, dim=1)
        dev = Dev(student, folder.articles, dev_questions(folder))
        teach(student, dev.article_rows, wanted, asked, steps=given.steps, seed=seed)
        student.save(given.study / f"taught-{seed}")
        print(f"taught-{seed}", write_ranking(f"taught-{seed}", folder, dev.article_rows, given.study), flush=True)


if __name__ == "__main__":
    main()
