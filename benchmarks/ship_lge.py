"""The graph encoder that ships: one, or the mean of the weights of several seeds, into src/lexarbor/shipped/graph.

    python benchmarks/ship_lge.py lge/hearing-0 [lge/hearing-1 …]

Each is a folder that benchmarks/study_lge.py wrote, trained over the shipped text encoder.
"""

import sys
from pathlib import Path

import numpy as np

from lexarbor.graph.model_folder import GraphModelFolder, write_model
from lexarbor.text.shipped import open_shipped

OUT = Path(__file__).parent.parent / "src" / "lexarbor" / "shipped" / "graph"


def main(members: list[Path]) -> None:
    models = [GraphModelFolder.open(member) for member in members]
    first = models[0]
    if any((model.settings, model.encoder) != (first.settings, first.encoder) for model in models):
        sys.exit("the models have other settings or encoders than the first: their weights have no mean")
    if first.encoder != (shipped := open_shipped().checksum):
        sys.exit(f"the models were trained over {first.encoder}, what ships is {shipped}")
    mean = {
        name: np.mean([model.weights[name].astype(np.float32) for model in models], axis=0) for name in first.weights
    }
    told = {**first.provenance, "mean_of": [member.name for member in members]}
    write_model(OUT, first.settings, first.dimension, first.encoder, mean, told)
    print(OUT, sum(path.stat().st_size for path in OUT.iterdir()), "bytes")


if __name__ == "__main__":
    main([Path(path) for path in sys.argv[1:]])
