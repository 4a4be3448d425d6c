"""The engine with all its legs, over the tiny corpus and the shipped models."""

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from lexarbor.corpus.questions import AnsweredQuestion, Question
from lexarbor.corpus.sources import read_tiny, read_tiny_questions
from lexarbor.errors import ModelError, SearchError
from lexarbor.search import Engine, Filters
from lexarbor.search import engine as engine_module
from lexarbor.search.building import Models, make_index
from lexarbor.search.lexical import tuned
from lexarbor.search.outside import Outside
from lexarbor.search.ranking import Facts, Ranker, fused, shipped_weights
from lexarbor.search.recollection import Remembered
from lexarbor.search.scoring import Scorer
from lexarbor.search.store import EncoderOfIndex, Index, write_index

QUESTION = "Le voisin doit-il procéder à l'élagage de ses branchages ?"
REMEMBERED = "Mon chien s'est sauvé et quelqu'un l'a attrapé : comment le récupérer ?"
"""V02, answered by VALARTI0070 and VALARTI0011."""
STRANGE = "Quel temps fera-t-il demain sur la plage ?"
ALL = [question.text for question in read_tiny_questions().questions.values()]


def made(models: Models, cache: Path, *own: AnsweredQuestion) -> Index:
    settings = tuned("headings+text")
    return make_index(read_tiny(), source="tiny", settings=settings, models=models, questions=own, cache=cache)


def test_every_leg_tells_its_score_and_rank(whole: Engine) -> None:
    best, *others = whole.search(QUESTION, 61).hits
    assert best.article.number == "L123-2"
    assert list(best.reasons) == ["dense", "bm25", "memory"] and best.reasons["bm25"].rank == 1
    assert len(others) == 60  # the dense leg has a score for all
    for leg in ("dense", "bm25", "memory"):
        alone = dict(whole.rank(QUESTION, 61, legs=(leg,)))
        told = {hit.article.id: hit.reasons[leg].score for hit in (best, *others) if leg in hit.reasons}
        assert told == alone
        ranks = [hit.reasons[leg].rank for hit in (best, *others) if leg in hit.reasons]
        assert sorted(ranks)[0] == 1 and max(ranks) <= len(ranks)


def test_scores_fall_from_one_to_the_next(whole: Engine) -> None:
    for question in ALL:
        scores = [score for _, score in whole.rank(question, 61)]
        assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("legs", [("dense",), ("bm25",), ("memory",), ("bm25", "dense"), ("memory", "dense")])
def test_legs_switch_on_and_off(whole: Engine, legs: tuple[str, ...]) -> None:
    hits = whole.search(QUESTION, 61, legs=legs).hits
    assert {leg for hit in hits for leg in hit.reasons} == set(legs)
    assert whole.rank(QUESTION, 61, legs=legs) == [(hit.article.id, hit.score) for hit in hits]
    assert whole.rank(QUESTION, 61, legs=list(reversed(legs))) == whole.rank(QUESTION, 61, legs=legs)


def test_all_legs_by_name_are_all_legs(whole: Engine) -> None:
    assert whole.rank(QUESTION, 61, legs=("memory", "bm25", "dense")) == whole.rank(QUESTION, 61)


def test_legs_that_are_unknown_or_not_held_are_refused(whole: Engine, engine: Engine) -> None:
    with pytest.raises(SearchError, match=r"unknown leg 'sparse': choose among dense, bm25, memory, everyday$"):
        whole.search(QUESTION, legs=("dense", "sparse"))
    with pytest.raises(SearchError, match=r"no leg was named: choose among dense, bm25, memory$"):
        whole.rank(QUESTION, 10, legs=())
    with pytest.raises(SearchError, match=r"this index has no leg 'dense', it has bm25: build it again with `lexarbor"):
        engine.search(QUESTION, legs=("dense",))
    assert engine.rank(QUESTION, 5, legs=("bm25",)) == engine.rank(QUESTION, 5)


def test_words_alone_score_as_in_an_index_of_words_alone(whole: Engine, engine: Engine) -> None:
    for question in ALL:
        answer = whole.search(question, 61, legs=("bm25",))
        assert [(hit.article.id, hit.score) for hit in answer.hits] == engine.rank(answer.read_as or question, 61)


def test_the_legs_together_are_ranked_by_the_learned_weights_or_else_fused(whole: Engine) -> None:
    index, learned = whole.index, shipped_weights()
    assert index.around is not None and index.recollection is not None
    scorer = Scorer(index)
    for legs in (("dense", "bm25", "memory"), ("dense", "bm25"), ("bm25", "memory")):
        scored = scorer.score(QUESTION, legs)
        facts = Facts(index.around, index.recollection.popularity if "memory" in legs else None)
        if frozenset(legs) in learned:
            expected = Ranker(learned[frozenset(legs)], facts).scores(scored.legs)
        else:
            expected = fused(scored.legs)
        assert (scored.total == expected).all()
        assert list(scored.legs) == list(legs)
    assert frozenset({"bm25", "memory"}) not in learned  # or this test has lost its second half


def test_without_the_dense_leg_only_what_another_finds_is_found(whole: Engine) -> None:
    by_words = {id for id, _ in whole.rank(QUESTION, 61, legs=("bm25",))}
    by_memory = {id for id, _ in whole.rank(QUESTION, 61, legs=("memory",))}
    assert {id for id, _ in whole.rank(QUESTION, 61, legs=("bm25", "memory"))} == by_words | by_memory
    assert len(by_words | by_memory) < 61


@pytest.mark.parametrize("legs", [None, ("dense",), ("memory",), ("dense", "memory"), ("bm25",)])
@pytest.mark.parametrize("question", ["?", "🐶", "— …"])
def test_a_question_without_a_word_finds_nothing(whole: Engine, question: str, legs: tuple[str, ...] | None) -> None:
    answer = whole.search(question, legs=legs)
    assert (answer.hits, answer.outside) == ((), None)
    assert whole.rank(question, 10, legs=legs) == []


def test_words_of_another_script_are_words(whole: Engine) -> None:
    assert len(whole.search("隣の犬がうるさい", 61).hits) == 61


def test_a_remembered_question_tells_what_answered_it(whole: Engine) -> None:
    ranking = whole.rank(REMEMBERED, 61, legs=("memory",))
    assert {id for id, _ in ranking[:2]} == {"VALARTI0070", "VALARTI0011"}
    assert [score for _, score in ranking[:2]] == pytest.approx([1, 1], abs=0.02)
    for hit in whole.search(REMEMBERED, 61).hits:
        if hit.article.id in ("VALARTI0070", "VALARTI0011"):
            assert hit.recalled is not None
            assert hit.recalled.question == Remembered("V02", text=REMEMBERED)
            assert hit.recalled.likeness == pytest.approx(1, abs=1e-3)
            assert hit.reasons["memory"].rank == 1


def test_a_question_that_is_remembered_lifts_its_article(whole: Engine, models: Models, vector_cache: Path) -> None:
    lesson = AnsweredQuestion(Question("beach", STRANGE), ("VALARTI0042",))
    index = made(models, vector_cache, lesson)
    taught = Engine(index, encoder=models.encoder)
    before, after = ([id for id, _ in one.rank(STRANGE, 61)].index("VALARTI0042") for one in (whole, taught))
    assert before > 5 and after < 3
    told = next(hit for hit in taught.search(STRANGE).as_dict()["hits"] if hit["id"] == "VALARTI0042")
    assert told["reasons"]["memory"]["rank"] == 1
    assert told["reasons"]["memory"]["question"] == {
        "id": "beach",
        "text": STRANGE,
        "year": None,
        "url": None,
        "likeness": pytest.approx(1, abs=1e-3),
        "amended_since": False,
    }


def test_without_the_memory_leg_nothing_is_recalled(whole: Engine) -> None:
    assert all(hit.recalled is None for hit in whole.search(REMEMBERED, legs=("dense", "bm25")).hits)


def test_a_filter_leaves_the_order_of_what_it_keeps(whole: Engine) -> None:
    fairs = Filters(codes=("Code des fêtes, marchés et jardins de Valombre",))
    for question in ALL[:6]:
        found = whole.rank(question, 61)
        kept = [one for one in found if whole.index.law.articles[one[0]].code == "VALTEXT02"]
        assert 0 < len(kept) < 61
        assert whole.rank(question, 61, fairs) == kept
        assert whole.rank(question, 3, fairs) == kept[:3]


def test_many_questions_are_answered_as_each_alone(whole: Engine) -> None:
    legs, part = ("dense", "bm25"), Filters(codes=("VALTEXT01",))
    together = whole.search_all(ALL[:8], 5, part, legs=legs)
    assert [answer.as_dict() for answer in together] == [
        whole.search(question, 5, part, legs=legs).as_dict() for question in ALL[:8]
    ]
    assert whole.search_all([]) == []


def test_asking_for_fewer_gives_the_head_of_the_list(whole: Engine) -> None:
    for question in ALL[:6]:
        assert whole.rank(question, 4) == whole.rank(question, 61)[:4]


def test_an_article_named_by_its_number_comes_first_with_the_reasons_of_every_leg(whole: Engine) -> None:
    answer = whole.search("Quelles nuisances sonores vise l'article L. 123-2 du code communal de Valombre ?", 4)
    first, *others = answer.hits
    assert first.article.number == "L123-2" and first.reasons["reference"] == (1.0, 1)
    assert {"dense", "bm25"} < set(first.reasons)
    assert not any("reference" in hit.reasons for hit in others)
    scores = [hit.score for hit in answer.hits]
    assert scores == sorted(scores, reverse=True) and len(set(scores)) == 4
    alone = whole.search("L112-1 du code communal de Valombre")
    assert [hit.article.id for hit in alone.hits] == ["VALARTI0005"]


def test_an_article_is_read_by_its_id_with_what_stands_around_it(whole: Engine) -> None:
    hit = whole.read("VALARTI0006")
    law = whole.index.law
    assert (hit.article, hit.passage, hit.reasons) == (law.articles["VALARTI0006"], "", {})
    assert hit.around is not None
    assert [article.number for article in hit.around.before + hit.around.after] == ["L112-1", "L112-3"]
    assert tuple(article.id for article in hit.around.cites) == law.citations.cites("VALARTI0006")
    assert tuple(article.id for article in hit.around.cited_by) == law.citations.cited_by("VALARTI0006")
    for id in ("VALARTI0010", "VALARTI9999", ""):  # a wording before, none, nothing
        with pytest.raises(SearchError, match=f"no article in force of the law 'tiny' has the id '{id}'"):
            whole.read(id)


def test_threads_that_share_an_engine_get_the_answers_of_one(whole: Engine, hybrid: Path) -> None:
    alone = [whole.search(question).as_dict() for question in ALL]
    shared = Engine.open(hybrid)  # its encoder not opened yet
    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(lambda question: shared.search(question).as_dict(), ALL)) == alone


def altered(hybrid: Path, folder: Path, **changes: object) -> Path:
    """A copy of the index whose manifest says something else."""
    shutil.copytree(hybrid, folder)
    told = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    (folder / "manifest.json").write_text(json.dumps(told | changes), encoding="utf-8")
    return folder


def test_an_index_whose_encoder_is_another_now_is_refused(hybrid: Path, tmp_path: Path) -> None:
    other = {"checksum": "0123456789abcdef" * 4, "folder": None}
    engine = Engine.open(altered(hybrid, tmp_path / "index", encoder=other))
    with pytest.raises(
        SearchError,
        match=r"the index has vectors of the encoder 0123456789ab, the shipped encoder is now [0-9a-f]{12}; build it "
        r"again with `lexarbor index`",
    ):
        engine.search(QUESTION)
    assert engine.rank(QUESTION, 3, legs=("bm25",))  # words need no encoder


def test_an_encoder_that_is_gone_is_named(hybrid: Path, tmp_path: Path) -> None:
    gone = {"checksum": "0" * 64, "folder": str(tmp_path / "gone")}
    engine = Engine.open(altered(hybrid, tmp_path / "index", encoder=gone))
    with pytest.raises(ModelError, match=f"{tmp_path / 'gone'}: no"):
        engine.search(QUESTION)


def test_an_encoder_in_a_folder_is_opened_from_there(models: Models, vector_cache: Path, tmp_path: Path) -> None:
    index = made(Models(models.encoder, models.encoder.folder.path), vector_cache)
    write_index(index, tmp_path / "index", field="headings+text")
    engine = Engine.open(tmp_path / "index")
    assert engine.index.encoder == EncoderOfIndex(models.encoder.checksum, models.encoder.folder.path)
    assert engine.rank(QUESTION, 61) == Engine(index, encoder=models.encoder).rank(QUESTION, 61)


def test_what_lies_outside_is_said_unless_an_article_is_named_or_a_part_asked_for(
    whole: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = Outside(0.91234, ("Code civil", "Code rural"))
    monkeypatch.setattr(engine_module, "judged", lambda scored, recollection: said)
    answer = whole.search(QUESTION)
    assert answer.outside == said and answer.hits
    assert answer.as_dict()["outside"] == {"chance": 0.912, "codes": ["Code civil", "Code rural"]}
    assert whole.search("L112-1").outside is None
    assert whole.search(QUESTION, filters=Filters(codes=("VALTEXT01",))).outside is None


def test_the_tiny_corpus_remembers_too_little_to_say_what_lies_outside(whole: Engine) -> None:
    assert all(whole.search(question).outside is None for question in (STRANGE, *ALL[:3]))


def test_dense_scores_are_cosines(whole: Engine) -> None:
    scores = np.array([score for _, score in whole.rank(QUESTION, 61, legs=("dense",))])
    assert (np.abs(scores) <= 1.01).all() and scores.std() > 0
