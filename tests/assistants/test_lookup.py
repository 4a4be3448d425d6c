"""What an assistant looks up has what a citation needs, of the law of the right day."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import pytest

from lexarbor.assistants import Lookup
from lexarbor.assistants.lookup import MOST_HITS
from lexarbor.corpus.law import Article, Code
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import SearchError
from lexarbor.search import Engine
from lexarbor.search.building import build_index
from lexarbor.search.lexical import BM25Settings

QUESTION = "Le voisin doit-il procéder à l'élagage de ses branchages ?"
COMMUNAL = "Code communal de Valombre"
EARLIER = date(2016, 5, 1)
Engines = dict[date | None, Engine]


def test_a_hit_has_what_a_citation_needs(library: Lookup) -> None:
    found = library.search_law(QUESTION, 3)
    assert found["law_as_of"] == "2026-01-01"
    assert found["codes"] == [COMMUNAL, "Code des fêtes, marchés et jardins de Valombre"]
    assert "warning" not in found
    assert [hit["rank"] for hit in found["hits"]] == [1, 2, 3]
    best = found["hits"][0]
    assert best.pop("reasons")
    assert best.pop("passage") in library.law.articles["VALARTI0018"].text
    assert best.pop("place").split(" › ") == [
        COMMUNAL,
        "Partie législative",
        "Titre Ier : Tranquillité et salubrité",
        "Chapitre II : Salubrité et cadre de vie",
        "Plantations et arbres",
    ]
    assert best == {
        "rank": 1,
        "id": "VALARTI0018",
        "number": "L123-2",
        "code": COMMUNAL,
        "url": None,
        "in_force_since": "2015-01-01",
        "in_force_until": None,
    }


def test_a_question_that_was_mended_is_told_as_it_was_read(library: Lookup, hybrid: Path) -> None:
    mistyped = "Quelle autorisaton pour des travux et des constrctions ?"
    right = "Quelle autorisation pour des travaux et des constructions ?"
    whole = Lookup(lambda day: Engine.open(hybrid))
    read, plain = whole.search_law(mistyped), whole.search_law(right)
    assert (read.pop("read_as"), plain.pop("read_as")) == (right, None)
    assert read == plain
    assert library.search_law(mistyped)["read_as"] is None  # words alone are looked for as they are


def test_an_article_by_its_number_is_found_and_what_is_not_held_is_named(library: Lookup) -> None:
    found = library.search_law("L112-1 et L999-9 du code communal de Valombre")
    assert [hit["number"] for hit in found["hits"]][:1] == ["L112-1"]
    assert found["not_held"] == ["L999-9 (code communal de Valombre)"]


@pytest.mark.parametrize("codes", [COMMUNAL, [COMMUNAL], ("VALTEXT01",)])
def test_a_search_keeps_to_codes_and_headings(library: Lookup, codes: str | list[str]) -> None:
    everywhere = {hit["code"] for hit in library.search_law("le maire de la commune", MOST_HITS)["hits"]}
    assert len(everywhere) == 2
    hits = library.search_law("le maire de la commune", MOST_HITS, codes, "tranquillité publique")["hits"]
    assert {hit["code"] for hit in hits} == {COMMUNAL}
    assert all("Tranquillité publique" in hit["place"] for hit in hits)


@pytest.mark.parametrize("nothing", [None, "", []])
def test_no_code_means_all(library: Lookup, nothing: str | list[str] | None) -> None:
    assert library.search_law(QUESTION, codes=nothing, under=nothing) == library.search_law(QUESTION)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"question": " "}, "the question is empty"),
        ({"question": QUESTION, "k": 0}, "k is 0: ask for 1 to 100 articles"),
        ({"question": QUESTION, "k": 101}, "k is 101: ask for 1 to 100 articles"),
        ({"question": QUESTION, "codes": ["Code civil"]}, "the code 'Code civil' is not held; held are Code communal"),
        ({"question": QUESTION, "under": "xylophone"}, "no heading of this law has the words 'xylophone'"),
    ],
)
def test_what_cannot_be_searched_is_refused(library: Lookup, asked: dict[str, object], message: str) -> None:
    with pytest.raises(SearchError, match=message):
        library.search_law(**asked)  # type: ignore[arg-type]


def test_an_article_is_read_whole_with_its_neighbours_and_citations(library: Lookup) -> None:
    article = library.read_article("VALARTI0029")
    assert article["law_as_of"] == "2026-01-01"
    assert (article["number"], article["code"]) == ("L231-1", COMMUNAL)
    assert article["place"].startswith(f"{COMMUNAL} › Partie législative › ")
    assert (article["in_force_since"], article["in_force_until"]) == ("2015-01-01", None)
    assert article["text"] == library.law.articles["VALARTI0029"].text
    assert article["before"] == []
    assert [other["number"] for other in article["after"]] == ["L231-2"]
    assert [other["number"] for other in article["cites"]] == ["L121-1", "L121-2", "R211-4"]
    assert article["cited_by"] == [{"id": "VALARTI0041", "number": "R211-4", "code": COMMUNAL, "url": None}]


def test_an_article_of_the_french_codes_has_its_link(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("linked") / "index"
    articles = [
        Article("LEGIARTI1", "L1", "C", "Un chien.", ()),
        Article("LEGIARTI2", "L2", "C", "Un chat.", (), note="!"),
    ]
    build_index(LawTree([Code("C", "Code"), *articles]), folder, source="own", settings=BM25Settings())
    library = Lookup(lambda day: Engine.open(folder))
    link = "https://www.legifrance.gouv.fr/codes/article_lc/LEGIARTI"
    assert library.search_law("chien")["hits"][0]["url"] == f"{link}1"
    article = library.read_article("LEGIARTI2")
    assert (article["url"], article["note"], article["before"][0]["url"]) == (f"{link}2", "!", f"{link}1")
    assert article["law_as_of"] is None
    assert "warning" not in article


def test_an_unknown_id_is_refused_with_the_way_to_one(library: Lookup) -> None:
    with pytest.raises(
        SearchError, match="no article in force on 2026-01-01 has the id 'L112-1': take one that search_"
    ):
        library.read_article("L112-1")


def test_codes_are_listed_with_what_is_in_force(library: Lookup) -> None:
    told = library.list_codes()
    assert told["law_as_of"] == "2026-01-01"
    assert [code["id"] for code in told["codes"]] == ["VALTEXT01", "VALTEXT02"]
    assert sum(code["articles"] for code in told["codes"]) == 61


def test_the_law_of_another_day_is_searched_and_read(library: Lookup) -> None:
    found = library.search_law("L113-2 du code communal de Valombre", as_of=EARLIER)
    assert (found["law_as_of"], found["hits"][0]["id"]) == ("2016-05-01", "VALARTI0010")
    assert library.search_law("L113-2 du code communal de Valombre")["hits"][0]["id"] == "VALARTI0070"
    assert library.read_article("VALARTI0010", EARLIER)["in_force_until"] == "2022-07-01"
    with pytest.raises(SearchError, match="with the same as_of"):
        library.read_article("VALARTI0010")


def test_a_day_is_opened_once_and_that_of_the_law_never(engines: Engines) -> None:
    opened: list[date | None] = []

    def open_engine(day: date | None) -> Engine:
        opened.append(day)
        return engines[day]

    library = Lookup(open_engine)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda day: library.search_law(QUESTION, as_of=day), [EARLIER, date(2026, 1, 1), None] * 8))
    assert opened == [None, EARLIER]


def test_nothing_is_opened_for_what_is_no_question(library: Lookup) -> None:
    with pytest.raises(SearchError, match="the question is empty"):
        library.search_law("", as_of=date(2020, 1, 1))  # a day that no engine is there for


def test_old_law_comes_with_a_warning(library: Lookup, set_today: Callable[..., None]) -> None:
    set_today(2026, 4, 1)
    assert "warning" not in library.list_codes()
    set_today(2026, 4, 2)
    for told in (library.list_codes(), library.search_law(QUESTION), library.read_article("VALARTI0029")):
        assert told["warning"].startswith("this law is 91 days old: ")
    assert "warning" not in library.search_law(QUESTION, as_of=EARLIER)


def test_a_day_after_all_that_is_held_comes_with_a_warning(engines: Engines) -> None:
    library = Lookup(lambda day: engines[None])
    told = library.search_law(QUESTION, as_of=date(2026, 2, 1))
    assert told["warning"] == "the newest law held is of 2026-01-01: what has changed since then is not known"
