"""What the tests of several rooms share."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from lexarbor.search.building import Models

settings.register_profile("lexarbor", deadline=None)  # machines are shared: how long a case takes says nothing
settings.load_profile("lexarbor")
os.environ["HF_HUB_OFFLINE"] = "1"  # before transformers is imported: no test may reach the hub


@pytest.fixture(scope="session")
def models() -> "Models":
    """The shipped encoder, graph encoder, vectors and question memory."""
    from lexarbor.search.building import shipped_models

    return shipped_models()


@pytest.fixture(scope="session")
def vector_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the vectors of the tiny corpus are kept, so that it is encoded once."""
    return tmp_path_factory.mktemp("vectors")


@pytest.fixture(scope="session")
def hybrid(models: "Models", vector_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of the tiny corpus with all legs: its train questions are remembered. Not to be written to."""
    from lexarbor.corpus.questions import AnsweredQuestion
    from lexarbor.corpus.sources import read_tiny, read_tiny_questions
    from lexarbor.search.building import build_index
    from lexarbor.search.lexical import tuned

    questions = read_tiny_questions()
    folder = tmp_path_factory.mktemp("hybrid") / "index"
    build_index(
        read_tiny(),
        folder,
        source="tiny",
        settings=tuned("headings+text"),
        models=models,
        questions=[AnsweredQuestion(one, tuple(questions.qrels[one.id])) for one in questions.split("train")],
        cache=vector_cache,
    )
    return folder


@pytest.fixture(scope="session")
def everyday(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of the tiny corpus by a toy encoder, with everyday questions of two sections. Not to be written to."""
    from everyday_questions import EVERYDAY
    from lexarbor.corpus.sources import read_tiny
    from lexarbor.search.building import Models, build_index
    from lexarbor.search.lexical import tuned
    from toy_encoder import Toy

    folder = tmp_path_factory.mktemp("everyday") / "index"
    models = Models(Toy(), everyday=EVERYDAY)  # type: ignore[arg-type]
    build_index(read_tiny(), folder, source="tiny", settings=tuned("headings+text"), models=models)
    return folder
