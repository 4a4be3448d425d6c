"""A retriever that is ranked as it begins, as DPR of the hub is: nothing is learned, and what it finds is kept."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from tiny_search import Tiny, tiny

from lexarbor.experiments.job_trainer import JobTrainer
from lexarbor.experiments.jobs import Job, ranking_path, read_facts
from lexarbor.supervision.folder import SupervisionFolder
from lexarbor.text.retriever import DenseStatuteRetriever

__all__ = ["tiny"]


def test_a_retriever_is_ranked_as_it_begins(tiny: Tiny, tmp_path: Path) -> None:
    shutil.copytree(tiny.data, tmp_path / "data" / "train")
    recipe = dict(tiny.text().base)
    job_trainer = JobTrainer(tmp_path)
    untrained = Job("dpr-untrained", recipe, trained=False)
    job_trainer.run(untrained)
    job_trainer.run(Job("dpr-0", recipe))
    facts, learned = (read_facts(tmp_path, key) for key in ("dpr-untrained", "dpr-0"))
    assert (facts["steps"], facts["seconds"], learned["steps"]) == (0, 0.0, 3)
    assert facts["parameters"] == learned["parameters"]
    assert facts["dev"].keys() == learned["dev"].keys()
    assert untrained.is_done(tmp_path)

    begun = DenseStatuteRetriever.load(untrained.folder(tmp_path))
    as_written = DenseStatuteRetriever.from_checkpoint(tiny.bert, begun.settings)
    for name, weights in as_written.state_dict().items():
        assert weights.allclose(begun.state_dict()[name], atol=1e-6), name

    with np.load(ranking_path(tmp_path, "dpr-untrained")) as held, np.load(ranking_path(tmp_path, "dpr-0")) as other:
        asked, rows = held["asked"].tolist(), held["rows"]
        assert not np.array_equal(rows, other["rows"])
    folder = SupervisionFolder.open(tiny.data)
    place = {f"{one.split} {one.id}": one for one in folder.asked}
    dev = [number for number, label in enumerate(asked) if label.startswith("dev ")]
    ids = [article.id for article in folder.articles]
    found = [
        len({ids[row] for row in rows[number][:10]} & set(place[asked[number]].gold)) / len(place[asked[number]].gold)
        for number in dev
    ]
    assert facts["dev"]["recall@10"] == pytest.approx(sum(found) / len(found), abs=1e-6)
