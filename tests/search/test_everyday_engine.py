"""The engine with everyday questions, over the tiny corpus and a toy encoder."""

import json
from pathlib import Path

import pytest

from bm25_formula import lucene_bm25
from everyday_questions import ANIMAL_ROWS, ANIMALS, EVERYDAY, HELD, NOISE, NOISE_ROWS
from lexarbor.corpus.sources import read_tiny
from lexarbor.search import Engine, Filters
from lexarbor.search.building import Models, make_index
from lexarbor.search.lexical import tuned
from lexarbor.search.ranking import Facts, Ranker, fused, shipped_weights
from lexarbor.search.scoring import Scorer
from lexarbor.search.store import EncoderOfIndex, open_index
from toy_encoder import Toy

QUESTION = "Où est passé mon toutou ?"
BOTH = "Le toutou des voisins"
"""Of animals first, and of noise."""


def scores(question: str) -> dict[str, float]:
    """By section, by the formula."""
    texts = [" ".join(EVERYDAY[section]) for section in HELD]
    return dict(zip(HELD, lucene_bm25(texts, question, 1.2, 0.4), strict=True))


def test_the_index_holds_the_leg_and_its_files(everyday: Path) -> None:
    told = json.loads((everyday / "manifest.json").read_text(encoding="utf-8"))
    assert (told["format"], told["legs"]) == ("lexarbor-index/5", ["dense", "bm25", "everyday"])
    assert {name for name in told["files"] if name.startswith("everyday/")} == {
        "everyday/questions.json", "everyday/places.npy", "everyday/bm25/terms.json", "everyday/bm25/starts.npy",
        "everyday/bm25/rows.npy", "everyday/bm25/weights.npy",
    }  # fmt: skip
    index = open_index(everyday)
    assert index.legs == ("dense", "bm25", "everyday")
    assert index.everyday is not None and index.everyday.questions == [list(EVERYDAY[section]) for section in HELD]


def test_the_articles_of_a_section_have_its_questions_for_a_reason(everyday_engine: Engine) -> None:
    answer = everyday_engine.search(BOTH, 61)
    expected = scores(answer.read_as or BOTH)
    assert len(answer.hits) == 61  # the dense leg has a score for all
    assert expected[ANIMALS] > expected[NOISE] > 0
    ranks = {ANIMALS: 1, NOISE: 5}  # behind four
    nearest = {ANIMALS: "Un toutou méchant", NOISE: "Mes voisins font la java jusqu'à trois heures du matin"}
    for hit in answer.hits:
        section = hit.article.parent
        assert hit.everyday == nearest.get(section)
        if section in HELD:
            assert list(hit.reasons)[-1] == "everyday"
            assert hit.reasons["everyday"].score == pytest.approx(expected[section], rel=1e-5)
            assert hit.reasons["everyday"].rank == ranks[section]
        else:
            assert "everyday" not in hit.reasons


def test_the_answer_tells_the_question_beside_its_score(everyday_engine: Engine) -> None:
    for hit in everyday_engine.search(QUESTION, 61).as_dict()["hits"]:
        if hit["id"] in ANIMAL_ROWS:
            score = pytest.approx(scores(QUESTION)[ANIMALS], abs=1e-4)
            told = {"score": score, "rank": 1, "question": {"text": "Un toutou méchant"}}
            assert hit["reasons"]["everyday"] == told
        else:
            assert "everyday" not in hit["reasons"]  # those of noise have questions, that share no word


def test_alone_it_finds_the_articles_of_the_sections_that_share_a_word(everyday_engine: Engine) -> None:
    hits = everyday_engine.search(BOTH, 61, legs=("everyday",)).hits
    assert tuple(hit.article.id for hit in hits) == (*ANIMAL_ROWS, *NOISE_ROWS)
    assert [hit.score for hit in hits] == pytest.approx([scores(BOTH)[ANIMALS]] * 4 + [scores(BOTH)[NOISE]] * 3)
    assert all(list(hit.reasons) == ["everyday"] for hit in hits)
    ranking = [(hit.article.id, hit.score) for hit in hits]
    assert everyday_engine.rank(BOTH, 61, legs=("everyday",)) == ranking
    assert everyday_engine.rank(BOTH, 2, legs=["everyday"]) == ranking[:2]


def test_it_needs_no_encoder(everyday: Path, everyday_engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(self: EncoderOfIndex) -> None:
        raise AssertionError("an encoder was opened")

    monkeypatch.setattr(EncoderOfIndex, "open", opened)
    engine = Engine.open(everyday)
    for legs in (("everyday",), ("bm25", "everyday")):
        assert engine.rank(BOTH, 61, legs=legs) == everyday_engine.rank(BOTH, 61, legs=legs)


@pytest.mark.parametrize("legs", [("dense", "bm25", "everyday"), ("dense", "everyday"), ("bm25", "everyday")])
def test_with_others_it_is_ranked_by_the_learned_weights_or_else_fused(
    everyday_engine: Engine, legs: tuple[str, ...]
) -> None:
    index, learned = everyday_engine.index, shipped_weights()
    assert index.around is not None
    scored = Scorer(index, Toy()).score(BOTH, legs)  # type: ignore[arg-type]
    weights = learned.get(frozenset(legs))
    expected = fused(scored.legs) if weights is None else Ranker(weights, Facts(index.around)).scores(scored.legs)
    assert tuple(scored.legs) == legs
    assert scored.total.tolist() == expected.tolist()
    found = dict(zip(index.article_ids, scored.total.tolist(), strict=True))
    assert found.items() >= dict(everyday_engine.rank(BOTH, 61, legs=tuple(reversed(legs)))).items()


def test_without_the_dense_leg_what_words_or_everyday_questions_find_is_found(everyday_engine: Engine) -> None:
    apart = [{id for id, _ in everyday_engine.rank(BOTH, 61, legs=(leg,))} for leg in ("bm25", "everyday")]
    together = {id for id, _ in everyday_engine.rank(BOTH, 61, legs=("bm25", "everyday"))}
    assert together == apart[0] | apart[1]
    assert apart[0] - apart[1] and apart[1] - apart[0] and len(together) < 61


def test_without_the_leg_no_everyday_question_is_told(everyday_engine: Engine) -> None:
    for hit in everyday_engine.search(QUESTION, 61, legs=("dense", "bm25")).hits:
        assert hit.everyday is None and "everyday" not in hit.reasons


@pytest.mark.parametrize("question", ["La divagation des animaux", "?", "🐶", "Et pourquoi pas ?"])
def test_a_question_that_shares_no_word_with_any_finds_nothing_by_it(everyday_engine: Engine, question: str) -> None:
    assert everyday_engine.search(question, legs=("everyday",)).hits == ()
    assert not any("everyday" in hit.reasons for hit in everyday_engine.search(question, 61).hits)


def test_it_is_asked_the_question_as_it_was_read(everyday_engine: Engine) -> None:
    mistyped = everyday_engine.search("Avant trois hueres", legs=("everyday",))
    right = everyday_engine.search("Avant trois heures", legs=("everyday",))
    assert (mistyped.read_as, right.read_as) == ("Avant trois heures", None)
    assert mistyped.hits == right.hits
    assert right.hits[0].everyday == EVERYDAY[NOISE][0]


def test_a_filter_holds_for_it_too(everyday_engine: Engine) -> None:
    under = Filters(under=(NOISE,))
    assert [id for id, _ in everyday_engine.rank(BOTH, 61, under, legs=("everyday",))] == list(NOISE_ROWS)
    assert everyday_engine.rank(BOTH, 61, Filters(codes=("VALTEXT02",)), legs=("everyday",)) == []


def test_opened_again_from_disk_it_answers_as_it_did_when_it_was_made(everyday_engine: Engine) -> None:
    models = Models(Toy(), everyday=EVERYDAY)  # type: ignore[arg-type]
    index = make_index(read_tiny(), source="tiny", settings=tuned("headings+text"), models=models)
    fresh = Engine(index, encoder=models.encoder)
    for question in (QUESTION, BOTH, "Un matou hurle dehors", "La divagation des animaux", "L112-1", "?"):
        for legs in (None, ("everyday",)):
            opened = everyday_engine.search(question, 61, explain=True, legs=legs)
            made = fresh.search(question, 61, explain=True, legs=legs)
            assert opened.as_dict(grouped=True) == made.as_dict(grouped=True)
            assert [hit.everyday for hit in opened.hits] == [hit.everyday for hit in made.hits]
