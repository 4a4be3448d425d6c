"""The tiny corpus prepared for searches, a language model of random weights, and recipes of a few steps over them."""

from pathlib import Path
from typing import Any

import pytest

from lexarbor.experiments.searches import Search
from lexarbor.supervision.folder import SupervisionFolder
from lexarbor.supervision.preparation import prepare
from lexarbor.supervision.texts import all_texts
from lexarbor.text.retriever import DenseStatuteRetriever
from lexarbor.text.settings import EncoderSettings
from lexarbor.training.fresh import write_fresh
from lexarbor.training.hyperparameters import Architecture

SHAPE = Architecture(layers=1, hidden=16, heads=2, intermediate=32, positions=512, vocabulary=400)


class Tiny:
    """A folder with supervision, a language model and a retriever."""

    def __init__(self, folder: Path) -> None:
        self.data, self.bert, self.dsr = folder / "data", folder / "bert", folder / "dsr"
        prepare("tiny", self.data, kinds=["headings"])
        write_fresh(SHAPE, all_texts(SupervisionFolder.open(self.data)), self.bert, dropout=0.0, seed=0)
        settings = EncoderSettings(max_tokens=48, question_tokens=32, headings=False)
        DenseStatuteRetriever.from_checkpoint(self.bert, settings).save(self.dsr)

    def text(self, **changes: Any) -> Search:
        """Of retrievers, as recipes/dsr-tiny.yaml has them."""
        base = {
            "stage": "text",
            "start": str(self.bert),
            "encoder": {"max_tokens": 128, "question_tokens": 64},
            "dropout": 0.1,
            "loss": {"name": "contrastive", "temperature": 0.05},
            "supervision": {"kinds": {"gold": 2, "headings": 1}, "positives": 2},
            "optimisation": {"batch_size": 16, "steps": 3, "learning_rate": 1e-3, "warmup": 0.1},
            "watching": {"log_every": 1},
        }
        values: dict[str, Any] = {"name": "dsr", "space": "dsr", "base": base, "data": self.data}
        return Search(**{**values, "trials": 2, "looks": 2, **changes})

    def graph(self, **changes: Any) -> Search:
        """Of graph encoders, as recipes/lge-tiny.yaml has them."""
        base = {
            "stage": "graph",
            "encoder": str(self.dsr),
            "graph": {"layer": "hearing", "layers": 2},
            "loss": {"name": "contrastive", "temperature": 0.05},
            "supervision": {"kinds": {"gold": 1}},
            "optimisation": {"batch_size": 12, "epochs": 1, "learning_rate": 1e-2, "warmup": 0.1},
            "watching": {"log_every": 1},
        }
        values: dict[str, Any] = {"name": "lge", "space": "lge", "base": base, "data": self.data}
        return Search(**{**values, "trials": 3, "looks": 2, **changes})


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    """Not to be written to."""
    import torch

    torch.set_num_threads(1)
    return Tiny(tmp_path_factory.mktemp("tiny"))
