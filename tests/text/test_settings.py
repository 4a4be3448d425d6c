"""The encoder's settings: what is impossible is refused by name, what is saved is read back."""

import json
from pathlib import Path
from typing import Any

import pytest

from lexarbor.errors import ModelError, TrainingError
from lexarbor.text.settings import EncoderSettings

PAPER = EncoderSettings("hierarchical", max_tokens=1024, pooling="cls", chunk_pooling="max", shared=False)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"article": "whole"}, "article is 'whole': choose one of first, hierarchical"),
        ({"pooling": "max"}, "pooling is 'max': choose one of cls, mean"),
        ({"chunk_pooling": "cls"}, "chunk_pooling is 'cls': choose one of mean, max"),
        ({"similarity": "l2"}, "similarity is 'l2': choose one of cosine, dot, euclidean"),
        ({"headings": "yes"}, "headings is 'yes': write true or false"),
        ({"shared": 1}, "shared is 1: write true or false"),
        ({"max_tokens": 2}, "max_tokens is 2: give a whole number of 3 or more"),
        ({"question_tokens": 2}, "question_tokens is 2"),
        ({"chunk_tokens": 2}, "chunk_tokens is 2"),
        ({"overlap": -1}, "overlap is -1: give a whole number of 0 or more"),
        ({"max_tokens": "256"}, "max_tokens is '256'"),
        ({"max_tokens": 256.0}, "max_tokens is 256.0"),
        ({"overlap": True}, "overlap is True"),
        ({"article": "hierarchical", "overlap": 126}, "holds 126 of the text and cannot repeat 126"),
        ({"article": "hierarchical", "max_tokens": 125}, "max_tokens is 125, less than the 126 tokens"),
    ],
)
def test_an_impossible_setting_is_refused_by_name(values: dict[str, Any], told: str) -> None:
    with pytest.raises(TrainingError, match=told):
        EncoderSettings(**values)
    with pytest.raises(ModelError, match=rf"m/settings\.json: .*{told}"):
        EncoderSettings.from_dict(values, "m/settings.json")


def test_chunks_are_only_checked_where_there_are_chunks() -> None:
    assert EncoderSettings(overlap=500, max_tokens=16).article_tokens == 16


@pytest.mark.parametrize(
    ("max_tokens", "overlap", "chunks"), [(1024, 0, 9), (1024, 12, 9), (1008, 0, 8), (126, 0, 1), (127, 0, 2)]
)
def test_the_most_chunks_of_an_article(max_tokens: int, overlap: int, chunks: int) -> None:
    assert EncoderSettings("hierarchical", max_tokens=max_tokens, overlap=overlap).max_chunks == chunks


def test_read_in_one_pass_an_article_is_one_chunk_of_all_its_tokens() -> None:
    flat = EncoderSettings(max_tokens=1024)
    assert (flat.max_chunks, flat.article_tokens, flat.hierarchical) == (1, 1024, False)
    assert (PAPER.article_tokens, PAPER.hierarchical) == (128, True)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    PAPER.write(path)
    assert EncoderSettings.read(path) == PAPER
    assert json.loads(path.read_text(encoding="utf-8")) == PAPER.as_dict()


def test_a_key_that_is_missing_has_its_default() -> None:
    assert EncoderSettings.from_dict({"pooling": "cls"}) == EncoderSettings(pooling="cls")


@pytest.mark.parametrize(
    ("key", "told"), [("poolings", "did you mean 'pooling'"), ("zz", "known are article, max_tokens")]
)
def test_an_unknown_key_is_named(key: str, told: str) -> None:
    with pytest.raises(ModelError, match=f"unknown setting '{key}'; {told}"):
        EncoderSettings.from_dict({key: 1})


@pytest.mark.parametrize("content", [None, "{", "[]"])
def test_a_file_without_settings_is_named(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "settings.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(ModelError, match=r"settings\.json"):
        EncoderSettings.read(path)
