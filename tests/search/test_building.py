"""From a law to an index with the shipped models."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from six_articles import LAW as SIX

from lexarbor.corpus.questions import AnsweredQuestion, Question, read_answered
from lexarbor.corpus.sources import read_tiny, read_tiny_questions
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import LexarborError, ModelError, SearchError
from lexarbor.search import Engine
from lexarbor.search.building import Models, build_index, make_index
from lexarbor.search.lexical import tuned
from lexarbor.search.recollection import Remembered
from lexarbor.search.shipped_memory import Sheet, SheetMemory, words_checksum
from lexarbor.search.store import Index, open_index
from lexarbor.text.corpus_vectors import encode_law
from lexarbor.text.encoder import TextEncoder
from lexarbor.text.inputs import article_input
from lexarbor.text.known_vectors import KnownVectors, write_known
from lexarbor.text.settings import EncoderSettings
from toy_encoder import Toy

TINY = read_tiny()
SETTINGS = tuned("headings+text")


def made(models: Models | None, *own: AnsweredQuestion, law: LawTree = SIX, cache: Path | None = None) -> Index:
    return make_index(law, source="any", settings=SETTINGS, models=models, questions=own, cache=cache)


def own(text: str, *articles: str, id: str = "q1") -> AnsweredQuestion:
    return AnsweredQuestion(Question(id, text), articles)


def test_an_index_with_models_holds_all_legs_and_names_its_encoder(hybrid: Path, models: Models) -> None:
    told = json.loads((hybrid / "manifest.json").read_text(encoding="utf-8"))
    assert told["format"] == "lexarbor-index/5"
    assert told["legs"] == ["dense", "bm25", "memory"]
    assert told["encoder"] == {"checksum": models.encoder.checksum, "folder": None}
    assert {name for name in told["files"] if not name.startswith("bm25/")} == {
        "citations.npy", "dense/scales.npy", "dense/vectors.npy", "law.json", "memory/labels.npy",
        "memory/questions.jsonl", "memory/vectors.npy", "places.npy", "words.tsv",
    }  # fmt: skip
    index = open_index(hybrid)
    assert index.legs == ("dense", "bm25", "memory")
    assert index.dense is not None and index.dense.vectors.shape == (61, models.encoder.dimension)


def test_opened_again_from_disk_it_answers_as_it_did_when_it_was_made(
    hybrid: Path, models: Models, vector_cache: Path
) -> None:
    questions = read_tiny_questions()
    remembered = [own(one.text, *questions.qrels[one.id], id=one.id) for one in questions.split("train")]
    fresh = Engine(made(models, *remembered, law=TINY, cache=vector_cache), encoder=models.encoder)
    opened = Engine.open(hybrid)
    for question in questions.questions.values():
        answer = opened.search(question.text, 20, explain=True).as_dict(grouped=True)
        assert answer == fresh.search(question.text, 20, explain=True).as_dict(grouped=True)


def test_the_dense_leg_is_the_product_of_enriched_vectors(models: Models) -> None:
    plain = made(replace(models, enricher=None))
    enriched = made(models)
    assert plain.dense is not None and enriched.dense is not None
    held = plain.dense.vectors * plain.dense.scales[:, None]
    exact = encode_law(models.encoder, SIX).vectors
    assert np.abs(held - exact).max() <= np.abs(exact).max() / 254 * 1.001
    assert not np.allclose(held, enriched.dense.vectors * enriched.dense.scales[:, None], atol=0.01)


def test_without_models_there_are_words_alone() -> None:
    index = made(None)
    assert (index.legs, index.encoder, index.around, index.dense) == (("bm25",), None, None, None)
    with pytest.raises(SearchError, match="questions are remembered by their vectors: index with an encoder"):
        made(None, own("Un chien ?", "a"))


def test_a_law_of_which_nothing_is_remembered_has_no_memory(models: Models) -> None:
    assert models.memory is not None and models.everyday  # they speak of the French codes
    assert made(models).legs == ("dense", "bm25")


def test_everyday_questions_are_a_leg_where_a_section_of_the_law_has_some() -> None:
    for everyday, legs in (
        ({"S2": ["Un toutou ?"]}, ("dense", "bm25", "everyday")),
        ({"S2": ["Un toutou ?"], "S9": ["Un matou ?"]}, ("dense", "bm25", "everyday")),
        ({"S9": ["Un matou ?"]}, ("dense", "bm25")),
        ({}, ("dense", "bm25")),
    ):
        assert made(Models(Toy(), everyday=everyday)).legs == legs  # type: ignore[arg-type]


def test_an_encoder_that_is_compared_by_distance_is_refused() -> None:
    with pytest.raises(SearchError, match="give an encoder of cosine or dot"):
        Models(Toy(EncoderSettings(similarity="euclidean")))  # type: ignore[arg-type]


def test_a_graph_encoder_of_another_text_encoder_is_refused_before_the_work(models: Models) -> None:
    steps: list[tuple[int, int]] = []
    other = Toy()
    with pytest.raises(ModelError, match="the graph encoder was trained on vectors of the text encoder"):
        make_index(
            SIX, source="six", settings=SETTINGS, models=replace(models, encoder=other),  # type: ignore[arg-type]
            on_step=lambda *step: steps.append(step),
        )  # fmt: skip
    assert (other.asked, steps) == ([], [])


def test_a_place_that_holds_something_else_is_refused_before_the_work(models: Models, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine", encoding="utf-8")
    steps: list[tuple[int, int]] = []
    with pytest.raises(LexarborError, match="holds something else than an index"):
        build_index(
            SIX, tmp_path, source="six", settings=SETTINGS, models=models, on_step=lambda *step: steps.append(step)
        )
    assert steps == []


def test_steps_tell_of_articles_and_headings(models: Models) -> None:
    steps: list[tuple[int, int]] = []
    make_index(SIX, source="", settings=SETTINGS, models=models, on_step=lambda *step: steps.append(step))
    assert steps[0] == (0, 10) and steps[-1] == (10, 10)  # six articles, three sections, one code


NAMED = {
    "VALARTI0070": ["VALARTI0070"],
    "VALARTI0010": ["VALARTI0070"],  # its `cid`
    "article L. 113-2 du code communal de Valombre": ["VALARTI0070"],
    "L112-1 code communal de Valombre": ["VALARTI0005"],
    "L112-1": ["VALARTI0005", "VALARTI0048"],  # of each code that has one
    "articles L. 112-1 à L. 112-3 du code communal de Valombre": ["VALARTI0005", "VALARTI0006", "VALARTI0007"],
}


def test_an_own_question_names_its_articles_by_id_cid_or_number(models: Models, vector_cache: Path) -> None:
    asked = [own(f"Un chien {named} ?", named, id=f"q{place}") for place, named in enumerate(NAMED)]
    index = made(models, *asked, law=TINY, cache=vector_cache)
    assert index.recollection is not None
    labels = index.recollection.labels
    for place, ids in enumerate(NAMED.values()):
        assert [index.article_ids[row] for row in labels[labels[:, 0] == place, 1]] == ids
    assert not labels[:, 2].any()
    assert index.recollection.questions == tuple(Remembered(one.id, text=one.text) for one, _ in asked)
    vector = models.encoder.encode_questions([asked[2].question.text])[0]
    assert index.recollection.likeness(vector)[2] == pytest.approx(1, abs=1e-3)


def test_an_article_named_twice_counts_once(models: Models) -> None:
    index = made(models, own("Un chien ?", "b", "2", "article 2 du code"), own("Un chat ?", "a", "b", id="q2"))
    assert index.recollection is not None
    assert index.recollection.labels.tolist() == [[0, 1, 0], [1, 0, 0], [1, 1, 0]]


@pytest.mark.parametrize("named", ["VALARTI9999", "L. 999-1 du code communal de Valombre", "1240 du code civil", "hm"])
def test_an_article_that_is_not_held_is_refused_with_its_question(models: Models, named: str) -> None:
    with pytest.raises(SearchError, match=rf"question 'q7' is answered by '{named}', which is no article in force of"):
        made(models, own("Un chat ?", "a"), own("Un chien ?", "b", named, id="q7"))


def test_questions_come_from_a_file(models: Models, tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text('{"id": "1", "text": "Un chien ?", "gold": ["article 2 du code", "a"]}\n', encoding="utf-8")
    index = made(models, *read_answered(path))
    assert index.recollection is not None and index.recollection.labels.tolist() == [[0, 0, 0], [0, 1, 0]]


def sheets(models: Models, encoder: str | None = None) -> SheetMemory:
    """A memory of two sheets: one is answered by the article b, the other by law that is not held."""
    found = (
        Sheet(Remembered("F1", 2020), (("b", words_checksum("Le deuxième.")),)),
        Sheet(Remembered("F2", 2020, elsewhere=("Code civil",))),
    )
    vectors = models.encoder.encode_questions(["Un deuxième ?", "Un divorce ?"])
    return SheetMemory(encoder or models.encoder.checksum, found, vectors)


def test_own_questions_stand_behind_those_that_ship(models: Models) -> None:
    index = made(replace(models, memory=sheets(models)), own("Un chien ?", "d", "a"))
    assert index.recollection is not None
    assert [question.id for question in index.recollection.questions] == ["F1", "F2", "q1"]
    assert index.recollection.labels.tolist() == [[0, 1, 0], [2, 0, 0], [2, 3, 0]]
    assert index.recollection.outside.tolist() == [False, True, False]


def test_a_memory_of_another_encoder_is_left_aside(models: Models) -> None:
    assert made(replace(models, memory=sheets(models))).legs == ("dense", "bm25", "memory")
    assert made(replace(models, memory=sheets(models, "0" * 64))).legs == ("dense", "bm25")
    index = made(replace(models, memory=sheets(models, "0" * 64)), own("Un chien ?", "a"))
    assert index.recollection is not None and [one.id for one in index.recollection.questions] == ["q1"]


def test_known_vectors_are_taken_before_the_cache_and_nothing_is_encoded(
    models: Models, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder, cache = models.encoder, tmp_path / "cache"
    exact = encode_law(encoder, SIX, cache)  # all of it is in the cache too
    inputs = [
        article_input(SIX.headings(SIX.articles[id]), SIX.articles[id].text, encoder.settings) for id in exact.ids
    ]
    write_known(tmp_path / "known", encoder.checksum, dict(zip(inputs, exact.vectors, strict=True)), {})
    known = KnownVectors.open(tmp_path / "known")

    def encoded(self: TextEncoder, inputs: object) -> None:
        raise AssertionError(f"encoded again: {inputs}")

    monkeypatch.setattr(TextEncoder, "encode_articles", encoded)
    assert (encode_law(encoder, SIX, cache).vectors == exact.vectors).all()
    found = encode_law(encoder, SIX, cache, known=known).vectors
    assert (found == np.stack([known.read([text])[text] for text in inputs])).all()
    assert not (found == exact.vectors).all()
    step = np.abs(exact.vectors).max(axis=1) / 127
    assert (np.abs(found - exact.vectors).max(axis=1) <= step / 2 * 1.001).all()
    index = make_index(SIX, source="six", settings=SETTINGS, models=Models(encoder, known=known), cache=cache)
    assert index.dense is not None
    assert index.dense.vectors * index.dense.scales[:, None] == pytest.approx(found, abs=1e-6)


def test_known_vectors_of_another_encoder_are_not_taken(models: Models, tmp_path: Path) -> None:
    write_known(tmp_path / "known", "0" * 64, {"Six.": np.ones(models.encoder.dimension)}, {})
    known = KnownVectors.open(tmp_path / "known")
    assert (encode_law(models.encoder, SIX, known=known).vectors == encode_law(models.encoder, SIX).vectors).all()
