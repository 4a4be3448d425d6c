"""An answer as the command line and the API write it."""

import json
from datetime import date

from lexarbor.corpus.law import Article, Code, Section
from lexarbor.corpus.tree import LawTree
from lexarbor.search.hits import Answer, Hit, Reason, legifrance_url

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
    assert list(told) == ["question", "law_as_of", "codes", "not_held", "hits"]
    for hit in told["hits"]:
        assert " ".join(hit) == "rank id cid number code path score start end status url passage marks reasons"


def test_every_value() -> None:
    told = json.loads(json.dumps(answer(LawTree(NODES, date=date(2026, 1, 1))).as_dict()))
    assert told == {
        "question": "Que faire ?",
        "law_as_of": "2026-01-01",
        "codes": ["Code communal"],
        "not_held": [],
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
