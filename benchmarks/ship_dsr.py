"""Export the model that ships: the mean of the study's three models of recipes/dsr.yaml, as ONNX int8.

    python benchmarks/ship_dsr.py STUDY/first-soup --data supervision

Writes src/lexarbor/shipped/encoder; the model card beside it is written by hand.
"""

import argparse
import random
from pathlib import Path

from lexarbor.supervision.folder import SupervisionFolder
from lexarbor.text.export import SAMPLES, export
from lexarbor.text.inputs import article_input
from lexarbor.text.retriever import DenseStatuteRetriever
from lexarbor.training.recipes import as_dict, read_recipe

ROOT = Path(__file__).parent.parent
SHIPPED = ROOT / "src" / "lexarbor" / "shipped" / "encoder"
PRETRAINING = ("pretrain", "pretrain-short", "pretrain-long")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("retriever", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--way", default="int8-smooth")
    given = parser.parse_args()
    folder = SupervisionFolder.open(given.data)
    model = DenseStatuteRetriever.load(given.retriever).eval()
    drawn = random.Random(0).sample(folder.articles, SAMPLES)
    recipes = {name: as_dict(read_recipe(ROOT / "recipes" / f"{name}.yaml")) for name in (*PRETRAINING, "dsr")}
    provenance = {
        "name": "lexarbor-dsr-fr",
        "mean_of_seeds": [0, 1, 2],
        "supervision": folder.facts,
        "recipes": recipes,
    }
    samples = [article_input(article.headings, article.text, model.settings) for article in drawn]
    shipped = export(model, SHIPPED, way=given.way, samples=samples, provenance=provenance)
    print(f"{SHIPPED}: {shipped.size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
