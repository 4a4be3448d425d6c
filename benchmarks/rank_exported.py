"""Rank the asked questions of a supervision folder with an exported model, as benchmarks/study_dsr.py does with torch:
for models that were trained on a machine without a GPU.

    python benchmarks/rank_exported.py MODEL --data supervision --out RANKINGS/gold-0.npz
"""

import argparse
from pathlib import Path

import numpy as np

from lexarbor.corpus.packages import cache_folder
from lexarbor.supervision.folder import SupervisionFolder
from lexarbor.text.corpus_vectors import encode_inputs
from lexarbor.text.encoder import TextEncoder
from lexarbor.text.inputs import article_input
from study_dsr import DEPTH, save_ranking


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="a folder of `lexarbor train export`")
    parser.add_argument("--data", type=Path, required=True, help="a folder of `lexarbor train prepare`")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    folder = SupervisionFolder.open(given.data)
    encoder = TextEncoder.open(given.model)
    inputs = [article_input(one.headings, one.text, encoder.settings) for one in folder.articles]
    articles = encode_inputs(encoder, inputs, cache_folder() / "vectors")
    scores = encoder.encode_questions([one.text for one in folder.asked]) @ articles.T  # (asked, articles)
    rows = np.argsort(-scores, axis=1, kind="stable")[:, :DEPTH]
    save_ranking(given.out, folder.asked, rows)


if __name__ == "__main__":
    main()
