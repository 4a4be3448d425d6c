"""Export the model that ships: the mean of three seeds of recipes/dsr-everyday.yaml, as ONNX int8.

    python benchmarks/ship_dsr.py STUDY/everyday-soup --data supervision

Writes src/lexarbor/shipped/encoder; the model card beside it is written by hand.
"""

import argparse
from pathlib import Path

from lexarbor.training.recipes import as_dict, read_recipe
from lexarbor.training.stages import export

ROOT = Path(__file__).parent.parent
SHIPPED = ROOT / "src" / "lexarbor" / "shipped" / "encoder"
PRETRAINING = ("pretrain", "pretrain-long", "pretrain-more")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("retriever", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--way", default="int8-smooth")
    given = parser.parse_args()
    recipes = {name: as_dict(read_recipe(ROOT / "recipes" / f"{name}.yaml")) for name in (*PRETRAINING, "dsr-everyday")}
    provenance = {
        "name": "lexarbor-dsr-fr",
        "mean_of_seeds": [0, 1, 2],
        "recipes": recipes,
    }
    shipped = export(given.retriever, SHIPPED, way=given.way, data=given.data, provenance=provenance)
    print(f"{SHIPPED}: {shipped.size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
