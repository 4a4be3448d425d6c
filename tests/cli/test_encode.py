"""`lexarbor encode`: every article in force, going on where it stopped, written whole or not at all."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from test_cli_errors import CODE, refused

from lexarbor import files
from lexarbor.corpus.sources import read_tiny
from lexarbor.graph.encoder import LegislativeGraphEncoder
from lexarbor.graph.model_folder import GraphModelFolder, write_model
from lexarbor.graph.settings import GraphSettings
from lexarbor.graph.shipped import open_shipped_graph
from lexarbor.text import corpus_vectors, shipped, vectors_folder
from lexarbor.text.encoder import TextEncoder
from lexarbor.text.export import export
from lexarbor.text.inputs import article_input
from lexarbor.text.retriever import DenseStatuteRetriever
from lexarbor.text.settings import EncoderSettings
from lexarbor.training.fresh import write_fresh
from lexarbor.training.hyperparameters import Architecture

Command = Callable[..., Any]

LAW = '{"kind": "law", "format": "lexarbor-law/1", "name": "rivage", "as_of": "2026-01-01"}'
ARTICLES = (
    '{"kind": "article", "id": "B", "parent": "C1", "number": "2", "text": "La pêche est libre."}',
    '{"kind": "article", "id": "A", "parent": "C1", "number": "1", "text": "Le port ferme à minuit."}',
    '{"kind": "article", "id": "C", "parent": "C1", "number": "3", "text": "La chasse aussi.", "end": "2025-01-01"}',
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model folder with random weights; not to be written to."""
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("model")
    shape = Architecture(layers=1, hidden=32, heads=2, intermediate=32, positions=64, vocabulary=400)
    texts = [article.text for article in read_tiny().articles.values()]
    start = write_fresh(shape, texts, folder / "start", dropout=0.0, seed=0)
    settings = EncoderSettings(max_tokens=64, question_tokens=16)
    export(DenseStatuteRetriever.from_checkpoint(start, settings).eval(), folder / "model", way="float32")
    return folder / "model"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    Path("law.jsonl").write_text("\n".join((LAW, CODE, *ARTICLES)), encoding="utf-8")
    return folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def manifest(folder: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((Path(folder) / "manifest.json").read_text(encoding="utf-8"))
    return found


def test_each_article_in_force_is_a_row(lexarbor: Command, here: Path, model: Path) -> None:
    code, out, err = lexarbor("encode", "-l", "law.jsonl", "-m", model, "-o", "vectors")
    assert (code, out) == (0, "vectors\n")
    assert err.startswith("2 articles: ")
    assert err.endswith(" articles a second\n")
    encoder = TextEncoder.open(model)
    vectors = np.load("vectors/vectors.npy")
    assert vectors.dtype == np.float32
    wanted = encoder.encode_articles(["Code\nLe port ferme à minuit.", "Code\nLa pêche est libre."])
    assert np.array_equal(vectors, wanted)
    assert json.loads(Path("vectors/ids.json").read_text(encoding="utf-8")) == ["A", "B"]
    told = manifest("vectors")
    told.pop("lexarbor")
    assert told.pop("files") == {
        name: hashlib.sha256(Path("vectors", name).read_bytes()).hexdigest() for name in ("vectors.npy", "ids.json")
    }
    assert told == {
        "format": "lexarbor-vectors/1",
        "model": encoder.checksum,
        "law": "rivage",
        "source": "law.jsonl",
        "law_as_of": "2026-01-01",
        "articles": 2,
        "dimension": 32,
    }
    assert names(here / "vectors") == ["ids.json", "manifest.json", "vectors.npy"]


def test_the_shipped_model_is_the_default(
    lexarbor: Command, here: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shipped, "shipped_model", lambda: model)
    assert lexarbor("encode", "-l", "law.jsonl", "-o", "vectors").code == 0
    assert manifest("vectors")["model"] == TextEncoder.open(model).checksum


def test_what_was_stopped_goes_on(
    lexarbor: Command, here: Path, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus_vectors, "BLOCK", 8)
    plain, read = TextEncoder.encode_articles, []

    def until(most: int) -> Callable[..., Any]:
        def encode(self: TextEncoder, inputs: Iterable[str]) -> Any:
            if len(read) >= most:
                raise KeyboardInterrupt
            texts = list(inputs)
            read.extend(texts)
            return plain(self, texts)

        return encode

    asked = ("encode", "-l", "tiny", "-m", model, "-o", "vectors")
    monkeypatch.setattr(TextEncoder, "encode_articles", until(16))
    assert lexarbor(*asked) == (130, "", "")
    assert not Path("vectors").exists()
    monkeypatch.setattr(TextEncoder, "encode_articles", until(999))
    code, _, err = lexarbor(*asked)
    assert code == 0
    assert err.startswith("61 articles, 16 of them kept from before: ")
    assert len(read) == len(set(read)) == 61
    assert [path.suffix for path in (tmp_path / "cache" / "vectors").iterdir()] == [".vectors"] * 2
    again = lexarbor(*asked)
    assert again == (0, "vectors\n", "61 articles, 61 of them kept from before: nothing to encode\n")
    assert len(read) == 61
    assert lexarbor(*asked, "--cache", "elsewhere").err.startswith("61 articles: ")
    assert len(list(Path("elsewhere").iterdir())) == 1


def test_a_folder_that_cannot_be_replaced_stays_as_it_was(
    lexarbor: Command, here: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert lexarbor("encode", "-l", "tiny", "-m", model, "-o", "vectors").code == 0
    before = {path.name: path.read_bytes() for path in Path("vectors").iterdir()}

    def full(path: Path) -> str:
        if "ids" in path.name:
            raise OSError(28, "No space left on device")
        return "0"

    with monkeypatch.context() as patched:
        patched.setattr(vectors_folder, "sha256", full)
        line = refused(lexarbor("encode", "-l", "law.jsonl", "-m", model, "-o", "vectors"))
    assert line.startswith("cannot write ")
    assert line.endswith("No space left on device")
    assert {path.name: path.read_bytes() for path in Path("vectors").iterdir()} == before
    assert lexarbor("encode", "-l", "law.jsonl", "-m", model, "-o", "vectors").code == 0
    assert manifest("vectors")["articles"] == 2


def damaged(model: Path) -> Path:
    folder = Path(shutil.copytree(model, "damaged"))
    content = bytearray((folder / "encoder.onnx").read_bytes())
    content[len(content) // 2] ^= 1
    (folder / "encoder.onnx").write_bytes(content)
    return folder


def test_a_model_with_a_wrong_checksum_is_refused(lexarbor: Command, here: Path, model: Path) -> None:
    line = refused(lexarbor("encode", "-l", "tiny", "-m", damaged(model), "-o", "vectors"))
    assert line.startswith("damaged/encoder.onnx: damaged or exchanged, its checksum is not the manifest's; ")
    assert names(here) == ["damaged", "law.jsonl"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("-l tiny -m none -o vectors", "none: no model there, it has no manifest.json; give the folder of an exported"),
        ("-l none -m MODEL -o vectors", "none: no such file, and no law by that name; known are 'tiny', "),
        ("-l tiny -m MODEL -o law.jsonl", "law.jsonl: is a file; give the name of a folder"),
        ("-l tiny -m MODEL -o law.jsonl/below", "law.jsonl/below: HERE/law.jsonl is a file; give the name of a folder"),
        ("-l tiny -m MODEL -o vectors --cache law.jsonl", "law.jsonl: is a file"),
        ("-l tiny -m MODEL -o vectors --threads 0", "Invalid value for '--threads'"),
        ("-l empty.jsonl -m MODEL -o vectors", "the law 'rivage' holds no article in force: nothing to encode"),
        ("-l tiny -m MODEL", "Missing option '--out' / '-o'"),
    ],
)
def test_what_is_wrong_is_told_in_a_line_and_nothing_written(
    lexarbor: Command, here: Path, model: Path, arguments: str, message: str
) -> None:
    Path("empty.jsonl").write_text("\n".join((LAW, CODE, ARTICLES[2])), encoding="utf-8")
    line = refused(lexarbor("encode", *arguments.replace("MODEL", str(model)).split()))
    assert line.startswith(message.replace("HERE", str(here)))
    assert names(here) == ["empty.jsonl", "law.jsonl"]


def test_a_folder_that_may_not_be_written_in_is_told_before_the_law_is_read(
    lexarbor: Command, here: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files.os, "access", lambda path, how: how != os.W_OK)  # root may all
    line = refused(lexarbor("encode", "-l", "none", "-m", model, "-o", "vectors"))
    assert line == f"vectors: nothing may be written in {here}; give another folder"


@pytest.fixture
def graph_model(here: Path, model: Path) -> Path:
    """A graph encoder for the random model, as it is before it has learned."""
    encoder = TextEncoder.open(model)
    untrained = LegislativeGraphEncoder(GraphSettings(layers=1), encoder.dimension)
    folder = here / "graph"
    write_model(folder, untrained.settings, encoder.dimension, encoder.checksum, untrained.to_arrays())
    return folder


def test_with_a_graph_articles_hear_those_around_them(
    lexarbor: Command, here: Path, model: Path, graph_model: Path
) -> None:
    assert lexarbor("encode", "-l", "law.jsonl", "-m", model, "-o", "plain")[0] == 0
    code, out, err = lexarbor("encode", "-l", "law.jsonl", "-m", model, "-g", graph_model, "-o", "heard")
    assert (code, out) == (0, "heard\n")
    assert err.startswith("3 articles and headings, 2 of them kept from before: ")
    plain, heard = (np.load(Path(name, "vectors.npy")) for name in ("plain", "heard"))
    encoder = TextEncoder.open(model)
    title = encoder.encode_articles([article_input((), json.loads(CODE)["title"], encoder.settings)])[0]
    expected = plain + 0.05 * (title + plain[::-1])  # each hears the code above it and the one article beside it
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.allclose(heard, expected, atol=1e-4)
    assert manifest("heard")["graph"] == GraphModelFolder.open(graph_model).checksum
    assert "graph" not in manifest("plain")


def test_a_graph_encoder_of_another_encoder_is_refused(lexarbor: Command, here: Path, model: Path) -> None:
    told = refused(lexarbor("encode", "-l", "law.jsonl", "-m", model, "-g", "shipped", "-o", "heard"))
    assert open_shipped_graph().encoder in told
    assert TextEncoder.open(model).checksum in told
    assert "graph encoder" in refused(lexarbor("encode", "-l", "law.jsonl", "-m", model, "-g", "nowhere", "-o", "v"))
    assert not Path("heard").exists()
