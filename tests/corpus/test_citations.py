from collections.abc import Iterable
from datetime import date

import pytest

from lexarbor.corpus.citations import LONGEST_RANGE, ReferenceResolver
from lexarbor.corpus.law import Article, Code
from lexarbor.corpus.references import Home, Reference, parse
from lexarbor.corpus.sources import read_tiny
from lexarbor.corpus.tree import LawTree

TOWN, FAIR = "VALTEXT01", "VALTEXT02"
DAY = date(2026, 1, 1)


@pytest.fixture(scope="module")
def tiny() -> LawTree:
    return read_tiny()


@pytest.fixture(scope="module")
def resolver(tiny: LawTree) -> ReferenceResolver:
    return ReferenceResolver(tiny)


def law(*numbers: str, title: str = "Code des ponts", text: str = "…") -> LawTree:
    """A code of articles whose ids are their numbers."""
    return LawTree([Code("C", title), *(Article(number, number, "C", text, ()) for number in numbers)], date=DAY)


def codes(*titles: str) -> ReferenceResolver:
    return ReferenceResolver(LawTree([Code(title, title) for title in titles]))


def resolve(tree: LawTree, words: str, here: str | None = "C") -> list[tuple[str, ...]]:
    resolver = ReferenceResolver(tree)
    return [resolver.resolve(reference, here=here) for reference in parse(words)]


def ids(*numbers: int) -> tuple[str, ...]:
    return tuple(f"VALARTI{number:04}" for number in numbers)


# A reference and the articles it names


def test_a_number_is_looked_up_in_the_code_named_or_else_here(tiny: LawTree) -> None:
    words = "L. 111-2 du code des fêtes, marchés et jardins de Valombre et L. 111-2"
    assert resolve(tiny, words, here=TOWN) == [ids(47), ids(2)]
    assert resolve(tiny, words, here=None) == [ids(47), ()]


def test_of_several_versions_the_one_in_force_is_meant(tiny: LawTree) -> None:
    assert resolve(tiny, "L. 113-2", here=TOWN) == [ids(70)]
    assert resolve(tiny, "L. 112-3", here=FAIR) == [ids(71)]
    assert resolve(tiny.as_of(date(2020, 6, 1)), "L. 113-2", here=TOWN) == [ids(10)]


def test_what_is_repealed_or_unknown_names_nothing(tiny: LawTree) -> None:
    assert resolve(tiny, "articles L. 211-4, L. 999-1 et 12", here=TOWN) == [(), (), ()]


def test_a_star_a_suffix_and_a_second_place_are_found(tiny: LawTree) -> None:
    assert resolve(tiny, "R. 212-1, L. 113-1 A et R. 211-3", here=TOWN) == [ids(43), ids(8), ids(40)]


def test_a_capital_that_begins_a_sentence_is_no_suffix() -> None:
    tree = law("L5-1", "L5-2", "L5-2 A", "L5-2 bis")
    assert resolve(tree, "L. 5-1 A défaut") == [("L5-1",)]
    assert resolve(tree, "L. 5-2 A défaut") == [("L5-2 A",)]
    assert resolve(tree, "L. 5-2 bis A") == [("L5-2 bis",)]


def test_another_ordinal_is_another_article() -> None:
    assert resolve(law("L5-1"), "L. 5-1 bis") == [()]


def test_a_law_has_no_articles_here() -> None:
    tree = law("5", "L5-1")
    assert resolve(tree, "article 5 de la loi, article 5") == [(), ("5",)]
    assert resolve(tree, "articles L. 5-1 et 5 de la loi") == [("L5-1",), ()]


def test_without_a_date_every_version_counts_and_the_first_is_meant() -> None:
    versions = [
        Article(f"v{year}", "L1", "C", "…", (), date(year, 1, 1), date(year + 5, 1, 1)) for year in (2010, 2015)
    ]
    assert resolve(LawTree([Code("C", "Code des ponts"), *versions]), "article L. 1") == [("v2010",)]


# Ranges


def test_a_range_follows_the_order_of_the_code(tiny: LawTree) -> None:
    assert resolve(tiny, "articles L. 111-1 à L. 111-3", here=TOWN) == [ids(1, 2, 3, 4)]
    assert resolve(tiny, "articles L. 113-1 A à L. 113-2", here=TOWN) == [ids(8, 9, 70)]
    assert resolve(tiny, "articles L. 112-3 à L. 112-5", here=FAIR) == [ids(71, 51, 52)]


def test_a_range_crosses_headings_but_not_codes(tiny: LawTree) -> None:
    assert resolve(tiny, "articles R. 212-3 à R. 999-9", here=TOWN) == [()]
    assert resolve(tiny, "articles L. 112-3 à L. 113-1", here=TOWN) == [ids(7, 8, 9)]


def test_a_range_reaches_as_far_as_its_numbers_do_where_an_end_is_repealed(tiny: LawTree) -> None:
    assert resolve(tiny, "articles L. 211-2 à L. 211-4", here=TOWN) == [ids(21, 22)]
    tree = law("L1-2", "L1-3", "L1-10", "L1-12", "L2-1")
    assert resolve(tree, "articles L. 1-1 à L. 1-9") == [("L1-2", "L1-3")]
    assert resolve(tree, "articles L. 1-4 à L. 1-11") == [("L1-10",)]
    assert resolve(tree, "articles L. 1-4 à L. 1-9") == [()]
    assert resolve(tree, "articles L. 1-12 à L. 3-1") == [()]


def test_a_range_the_wrong_way_round_is_empty() -> None:
    assert resolve(law("L1", "L2", "L3"), "articles L. 3 à L. 1") == [()]


def test_a_range_over_too_many_articles_is_empty() -> None:
    tree = law(*(f"L1-{count}" for count in range(1, LONGEST_RANGE + 2)))
    (longest,) = resolve(tree, f"articles L. 1-1 à L. 1-{LONGEST_RANGE}")
    assert len(longest) == LONGEST_RANGE == 100
    assert resolve(tree, f"articles L. 1-1 à L. 1-{LONGEST_RANGE + 1}") == [()]
    assert resolve(tree, f"articles L. 1-1 à L. 1-{'9' * 5_000}") == [()]


# Names of codes


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("code communal de Valombre", TOWN),
        ("Code communal de VALOMBRE, qui fixe", TOWN),
        ("code des fêtes, marchés et jardins de Valombre et à l'article L", FAIR),
        ("code des fetes marches et jardins de valombre", FAIR),
        ("code communal", None),
        ("code communal de Valombreuse", None),
        ("code civil", None),
        ("", None),
    ],
)
def test_a_code_is_known_by_its_title(resolver: ReferenceResolver, words: str, expected: str | None) -> None:
    assert resolver.code(words) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("code du travail et de la prévoyance", "Code du travail"),
        ("code du travail maritime", None),
        ("code du travail applicable à Mayotte", None),
        ("ancien code du travail", None),
        ("code rural", "Code rural et de la pêche maritime"),
        ("code rural et de la pêche maritime", "Code rural et de la pêche maritime"),
        ("code rural ancien", None),
        ("C. trav.", "Code du travail"),
        ("C. trav. numérique", "Code du travail"),
        ("C. traver.", None),
        ("CRPM", "Code rural et de la pêche maritime"),
        ("CSS", None),
        ("code de la sécurité sociale", None),
        ("C. civ.", None),
    ],
)
def test_short_names_and_homonyms(words: str, expected: str | None) -> None:
    assert codes("Code du travail", "Code rural et de la pêche maritime").code(words) == expected


def test_the_longest_title_wins() -> None:
    held = codes("Code des ponts", "Code des ponts et chaussées", "Code des ponts et")
    assert held.code("code des ponts et chaussées de France") == "Code des ponts et chaussées"
    assert held.code("code des ponts et canaux") == "Code des ponts et"
    assert held.code("code des ponts, puis") == "Code des ponts"


def test_a_homonym_that_is_held_is_meant() -> None:
    held = codes("Code du travail", "Code du travail maritime")
    assert held.code("code du travail maritime") == "Code du travail maritime"


def test_a_title_without_latin_letters_captures_nothing() -> None:
    assert codes("民法").code("code civil") is None
    assert codes("民法").code("?") is None


def test_where_a_reference_points() -> None:
    held = codes("Code des ponts")

    def code_of(code: str | Home) -> str | None:
        return held.code_of(Reference("1", "1", code, 0, 1), here="Code d'ici")

    assert code_of("code des ponts") == "Code des ponts"
    assert code_of("code civil") is None
    assert code_of(Home.HERE) == "Code d'ici"
    assert code_of(Home.ELSEWHERE) is None


# Citations between articles


def test_the_citations_of_the_tiny_corpus(tiny: LawTree) -> None:
    expected = {
        6: [31], 7: [5, 47], 70: [11], 13: [3], 14: [35], 16: [36], 21: [20], 22: [20, 21], 26: [24],
        29: [12, 13, 41], 31: [5, 9, 15], 34: [5], 35: [14], 38: [20], 41: [29], 45: [57],
        46: [1, 2, 3, 4], 48: [47], 52: [24, 25, 26, 28], 55: [61], 56: [15], 58: [21, 53], 61: [55], 62: [43],
    }  # fmt: skip
    assert list(tiny.citations.pairs()) == [
        (*ids(citing), *ids(cited)) for citing, all_cited in expected.items() for cited in all_cited
    ]


def test_cites_and_cited_by_are_two_sides_of_the_same(tiny: LawTree) -> None:
    assert tiny.citations.cites(*ids(58)) == ids(21, 53)
    assert tiny.citations.cited_by(*ids(5)) == ids(7, 31, 34)
    assert tiny.citations.cited_by(*ids(20)) == ids(21, 22, 38)
    assert tiny.citations.cites(*ids(1)) == tiny.citations.cited_by(*ids(62)) == ()
    turned = {(citing, cited) for cited in tiny.articles for citing in tiny.citations.cited_by(cited)}
    assert turned == set(tiny.citations.pairs())


def test_a_mention_tells_where_it_stands_and_what_it_names(tiny: LawTree) -> None:
    text = tiny.articles[ids(52)[0]].text
    mentions = tiny.citations.mentions(*ids(52))
    assert [text[mention.reference.start : mention.reference.end] for mention in mentions] == [
        "L. 221-1 à L. 221-3",
        "L. 222-2",
    ]
    assert [mention.articles for mention in mentions] == [ids(24, 25, 26), ids(28)]
    assert tiny.citations.mentions(*ids(2)) == ()  # it cites a code that is not held


def test_an_article_is_cited_once_and_never_by_itself() -> None:
    tree = law("L1", "L2", "L3", text="Vu les articles L. 1 à L. 3, l'article L. 2 et l'article L. 1.")
    assert pairs(tree.citations.pairs()) == ["L1 L2", "L1 L3", "L2 L1", "L2 L3", "L3 L1", "L3 L2"]


def pairs(found: Iterable[tuple[str, str]]) -> list[str]:
    return [f"{citing} {cited}" for citing, cited in found]


def numbered(*numbers: str) -> ReferenceResolver:
    articles = (Article(number, number, "C", "…", ()) for number in numbers)
    return ReferenceResolver(LawTree([Code("C", "Code des ponts"), *articles]))


def test_where_a_code_counts_both_decrees_in_one_row_either_letter_finds_a_number() -> None:
    resolver = numbered("R1-1", "D1-2", "R1-3")
    (moved, span) = parse("articles D. 1-1 et R. 1-2 à R. 1-3")
    assert resolver.resolve(moved, here="C") == ("R1-1",)
    assert resolver.resolve(span, here="C") == ("D1-2", "R1-3")


def test_where_a_code_counts_them_apart_the_letter_decides() -> None:
    resolver = numbered("R1-1", "D1-1", "R1-2")
    assert resolver.resolve(parse("article D. 1-2")[0], here="C") == ()
