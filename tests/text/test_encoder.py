"""The encoder for use: torch's vectors without torch, each from its text alone."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tiny_exports import FLAT, HIERARCHICAL, TEXTS, exported, retriever, torch_articles, torch_questions
from tokenizers import Tokenizer

from lexarbor.errors import ModelError
from lexarbor.text.encoder import TextEncoder
from lexarbor.text.folder import Manifest, ModelFolder, files_of, writing
from lexarbor.text.settings import EncoderSettings

BOTH = pytest.mark.parametrize("settings", [FLAT, HIERARCHICAL], ids=["flat", "hierarchical"])
ODD = ["", " ", "a", "\x00", "nul\x00 dedans", "🏛️⚖️", "\ud800", "moitié \udcff", "\u202e", "é" * 10_000, "mot " * 2_500]


@BOTH
def test_vectors_are_those_of_torch(settings: EncoderSettings) -> None:
    encoder = TextEncoder.open(exported(settings))
    model = retriever(settings)
    np.testing.assert_allclose(encoder.encode_questions(TEXTS), torch_questions(model, TEXTS), atol=1e-5, rtol=1e-5)
    np.testing.assert_allclose(encoder.encode_articles(TEXTS), torch_articles(model, TEXTS), atol=1e-5, rtol=1e-5)


@BOTH
def test_a_vector_does_not_depend_on_its_company_nor_on_the_threads(settings: EncoderSettings) -> None:
    folder = exported(settings, way="int8")
    together = TextEncoder.open(folder, threads=3)
    alone = TextEncoder.open(folder, threads=1)
    for encode, encode_alone in (
        (together.encode_questions, alone.encode_questions),
        (together.encode_articles, alone.encode_articles),
    ):
        found = encode(TEXTS)
        assert np.array_equal(found, np.concatenate([encode_alone([text]) for text in TEXTS]))
        assert np.array_equal(found[::-1], encode(reversed(TEXTS)))
        assert len({row.tobytes() for row in found}) > 5  # and texts are told apart


def test_length_is_one_where_the_cosine_compares() -> None:
    by_cosine = TextEncoder.open(exported(FLAT, way="int8")).encode_articles(TEXTS)
    np.testing.assert_allclose(np.linalg.norm(by_cosine, axis=1), 1, atol=1e-6)
    by_dot = TextEncoder.open(exported(HIERARCHICAL)).encode_articles(TEXTS)
    assert np.ptp(np.linalg.norm(by_dot, axis=1)) > 0.1


def test_the_shape_and_kind_of_what_comes_out() -> None:
    encoder = TextEncoder.open(str(exported(FLAT)))
    assert (encoder.settings, encoder.dimension) == (FLAT, 32)
    assert encoder.checksum == ModelFolder.open(exported(FLAT)).checksum
    none, some = encoder.encode_questions([]), encoder.encode_articles(text for text in TEXTS)
    assert (none.shape, none.dtype) == ((0, 32), np.float32)
    assert (some.shape, some.dtype) == ((len(TEXTS), 32), np.float32)


@BOTH
def test_odd_texts_get_vectors_too(settings: EncoderSettings) -> None:
    encoder = TextEncoder.open(exported(settings, way="int8"))
    for found in (encoder.encode_questions(ODD), encoder.encode_articles(ODD)):
        assert found.shape == (len(ODD), 32)
        assert np.isfinite(found).all()


def test_half_a_character_is_the_replacement_character() -> None:
    encoder = TextEncoder.open(exported(FLAT))
    found = encoder.encode_questions(["\ud83d moitié", "� moitié", "\ud83c\udfdb", "🏛"])
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[2], found[3])


def test_what_is_longer_than_the_model_reads_is_not_read() -> None:
    encoder = TextEncoder.open(exported(FLAT))
    long = " ".join(TEXTS)
    assert np.array_equal(*encoder.encode_articles([long, f"{long} mais aussi"]))
    assert np.array_equal(*encoder.encode_questions([long, f"{long} mais aussi"]))
    assert not np.array_equal(encoder.encode_articles([long]), encoder.encode_questions([long]))


def test_lengths_that_a_tokenizer_was_trained_with_do_not_cut_texts(tmp_path: Path) -> None:
    def cut(path: Path) -> None:
        tokenizer = Tokenizer.from_file(str(path))
        tokenizer.enable_truncation(4)
        tokenizer.enable_padding(length=50)
        tokenizer.save(str(path))

    encoder = TextEncoder.open(copied(tmp_path, {"tokenizer.json": cut}))
    assert np.array_equal(encoder.encode_articles(TEXTS), TextEncoder.open(exported(FLAT)).encode_articles(TEXTS))


def copied(folder: Path, edits: dict[str, Callable[[Path], object]], dimension: int = 32) -> Path:
    """The flat model with some files edited, under checksums that fit."""
    known = ModelFolder.open(exported(FLAT)).manifest
    with writing(folder, Manifest(known.settings, dimension, known.special_tokens, {})) as building:
        for name in files_of(known.settings):
            shutil.copy(exported(FLAT) / name, building / name)
            edits.get(name, bool)(building / name)
    return folder


def test_a_graph_that_onnxruntime_cannot_run_is_refused(tmp_path: Path) -> None:
    folder = copied(tmp_path, {"encoder.onnx": lambda path: path.write_bytes(b"no graph")})
    with pytest.raises(ModelError, match=r"encoder.onnx: onnxruntime [\d.]+ cannot run it .*; install a newer"):
        TextEncoder.open(folder)


def test_a_tokenizer_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    folder = copied(tmp_path, {"tokenizer.json": lambda path: path.write_text('{"version": "9"}')})
    with pytest.raises(ModelError, match=r"tokenizer.json: the tokenizers library cannot read it .*; install a newer"):
        TextEncoder.open(folder)


def test_another_dimension_than_the_manifest_says_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"gives vectors of 32 numbers where the manifest says 16"):
        TextEncoder.open(copied(tmp_path, {}, dimension=16))


def test_threads_are_at_least_one() -> None:
    with pytest.raises(ModelError, match="0 threads cannot encode"):
        TextEncoder.open(exported(FLAT), threads=0)


def test_nothing_of_it_loads_torch() -> None:
    code = (
        "import sys; from lexarbor.text import corpus_vectors; from lexarbor.text.encoder import TextEncoder; "
        "print(TextEncoder.open(sys.argv[1]).encode_articles(['salarié']).shape); "
        "print(*sorted(name.split('.')[0] for name in sys.modules))"
    )
    command = [sys.executable, "-c", code, str(exported(HIERARCHICAL))]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    shape, loaded = done.stdout.splitlines()
    assert shape == "(1, 32)"
    assert not {"torch", "transformers", "onnx", "sentence_transformers"} & set(loaded.split())
