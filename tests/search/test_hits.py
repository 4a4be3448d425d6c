"""An answer as the command line and the API write it."""

import json
from dataclasses import replace
from datetime import date

from lexarbor.corpus.law import Article, Code, Section
from lexarbor.corpus.tree import LawTree
from lexarbor.search.hits import Answer, Group, Hit, Reason, legifrance_url, sheet_url
from lexarbor.search.outside import Outside
from lexarbor.search.recollection import Recalled, Remembered

NODES = (
    Code("C1", "Code communal"),
    Section("S1", "Titre Ier", 1, "C1"),
    Article(
        "LEGIARTI2", "L1", "C1", "Texte.", ("S1",), date(2015, 1, 1), date(2027, 1, 1), "ABROGE_DIFF", cid="LEGIARTI1"
    ),
    Article("X1", "L2", "C1", "Autre.", ()),
)


def answer(law: LawTree) -> Answer:
    first, second = law.articles.values()
    return Answer(
        "Que faire ?",
        (
            Hit(first, 2.00004, 1, "Texte.", {"bm25": Reason(2.00004, 1)}),
            Hit(second, 1.23456, 2, "Autre.", {"bm25": Reason(1.23456, 2)}),
        ),
        law,
    )


def test_the_keys_are_those_that_were_agreed_on() -> None:
    told = answer(LawTree(NODES, date=date(2026, 1, 1))).as_dict()
    assert list(told) == ["question", "read_as", "law_as_of", "codes", "not_held", "outside", "hits"]
    for hit in told["hits"]:
        assert " ".join(hit) == "rank id cid number code path score start end status url passage marks reasons"


def test_every_value() -> None:
    told = json.loads(json.dumps(answer(LawTree(NODES, date=date(2026, 1, 1))).as_dict()))
    assert told == {
        "question": "Que faire ?",
        "read_as": None,
        "law_as_of": "2026-01-01",
        "codes": ["Code communal"],
        "not_held": [],
        "outside": None,
        "hits": [
            {
                "rank": 1,
                "id": "LEGIARTI2",
                "cid": "LEGIARTI1",
                "number": "L1",
                "code": "Code communal",
                "path": ["Titre Ier"],
                "score": 2.0,
                "start": "2015-01-01",
                "end": "2027-01-01",
                "status": "ABROGE_DIFF",
                "url": "https://www.legifrance.gouv.fr/codes/article_lc/LEGIARTI2",
                "passage": "Texte.",
                "marks": [],
                "reasons": {"bm25": {"score": 2.0, "rank": 1}},
            },
            {
                "rank": 2,
                "id": "X1",
                "cid": "X1",
                "number": "L2",
                "code": "Code communal",
                "path": [],
                "score": 1.2346,
                "start": None,
                "end": None,
                "status": "",
                "url": None,
                "passage": "Autre.",
                "marks": [],
                "reasons": {"bm25": {"score": 1.2346, "rank": 2}},
            },
        ],
    }


def test_law_without_a_date_has_none_to_tell() -> None:
    assert answer(LawTree(NODES)).as_dict()["law_as_of"] is None


def test_only_law_of_legifrance_has_a_page_there() -> None:
    assert legifrance_url(NODES[3]) is None  # type: ignore[arg-type]


def test_the_hits_of_one_section_stand_together_in_the_order_of_each_section_s_best() -> None:
    more = Article("X2", "L3", "C1", "Encore.", ("S1",))
    law = LawTree((*NODES, more))
    first, second, third = law.articles.values()
    hits = tuple(Hit(article, 3.0 - rank, rank, "") for rank, article in enumerate((second, first, third), start=1))
    found = Answer("Que faire ?", hits, law)
    assert found.groups() == [
        Group(("Code communal",), hits[:1]),
        Group(("Code communal", "Titre Ier"), hits[1:]),
    ]
    told = found.as_dict(grouped=True)
    assert list(told)[-2:] == ["hits", "groups"]
    assert told["groups"] == [
        {"code": "Code communal", "path": [], "hits": ["X1"]},
        {"code": "Code communal", "path": ["Titre Ier"], "hits": ["LEGIARTI2", "X2"]},
    ]
    assert "groups" not in found.as_dict()
    assert [hit["id"] for hit in told["hits"]] == ["X1", "LEGIARTI2", "X2"]  # ranks stay as they were


def test_sections_of_the_same_name_are_not_one() -> None:
    twins = (Section("S2", "Titre Ier", 1, "C1"), Article("X2", "L3", "C1", "Encore.", ("S2",)))
    law = LawTree((*NODES, *twins))
    hits = tuple(Hit(article, 1.0, rank, "") for rank, article in enumerate(law.articles.values(), start=1))
    assert [len(group.hits) for group in Answer("Que faire ?", hits, law).groups()] == [1, 1, 1]


def test_no_hits_make_no_groups() -> None:
    assert Answer("Que faire ?", (), LawTree(NODES)).as_dict(grouped=True)["groups"] == []


def test_a_question_that_was_mended_is_told_as_it_was_read() -> None:
    found = replace(answer(LawTree(NODES)), question="Qeu faire ?", read_as="Que faire ?")
    assert list(found.as_dict().items())[:2] == [("question", "Qeu faire ?"), ("read_as", "Que faire ?")]


def test_what_lies_outside_is_told_with_its_chance_and_codes() -> None:
    found = replace(answer(LawTree(NODES)), outside=Outside(0.98765, ("Code civil",)))
    assert found.as_dict()["outside"] == {"chance": 0.988, "codes": ["Code civil"]}


def test_a_remembered_question_is_told_where_memory_is_a_reason() -> None:
    law = LawTree(NODES)
    article = next(iter(law.articles.values()))
    recalled = Recalled(Remembered("F12", 2020), 0.87654, True)
    hit = Hit(article, 1.0, 1, "", {"memory": Reason(0.5, 1)}, recalled=recalled)
    (told,) = Answer("Que faire ?", (hit,), law).as_dict()["hits"]
    assert told["reasons"] == {
        "memory": {
            "score": 0.5,
            "rank": 1,
            "question": {
                "id": "F12",
                "text": None,
                "year": 2020,
                "url": "https://www.service-public.fr/particuliers/vosdroits/F12",
                "likeness": 0.8765,
                "amended_since": True,
            },
        }
    }
    (told,) = Answer("Que faire ?", (replace(hit, reasons={"bm25": Reason(1.0, 1)}),), law).as_dict()["hits"]
    assert told["reasons"] == {"bm25": {"score": 1.0, "rank": 1}}


def test_an_everyday_question_is_told_where_its_leg_is_a_reason() -> None:
    law = LawTree(NODES)
    article = next(iter(law.articles.values()))
    hit = Hit(article, 1.0, 1, "", {"everyday": Reason(0.54321, 2)}, everyday="Et mon toutou ?")
    (told,) = Answer("Que faire ?", (hit,), law).as_dict()["hits"]
    assert told["reasons"] == {"everyday": {"score": 0.5432, "rank": 2, "question": {"text": "Et mon toutou ?"}}}
    (told,) = Answer("Que faire ?", (replace(hit, reasons={"bm25": Reason(1.0, 1)}),), law).as_dict()["hits"]
    assert told["reasons"] == {"bm25": {"score": 1.0, "rank": 1}}


def test_only_a_sheet_has_a_page() -> None:
    assert sheet_url(Remembered("N19", 2020)) == "https://www.service-public.fr/particuliers/vosdroits/N19"
    assert sheet_url(Remembered("F1", text="Ma question ?")) is None
    assert sheet_url(Remembered("V01")) is None
