from datetime import date
from typing import Any

import pytest

from lexarbor.corpus.law import Article, Code, Section, Version
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import CorpusError

SEA = Code("sea", "Code de la mer")
WIND = Code("wind", "Code des vents")
BOOK = Section("book", "Livre Ier", 1, "sea")
GENERAL = Section("general", "Dispositions générales", 2, "book")
SPECIAL = Section("special", "Dispositions spéciales", 2, "book")
OTHER = Section("other", "Dispositions générales", 1, "wind")


def article(id: str, code: str, *path: str, **fields: Any) -> Article:
    return Article(id, f"L{id}", code, f"Texte {id}.", path, **fields)


NODES = (
    SEA,
    article("0", "sea"),
    BOOK,
    article("1", "sea", "book"),
    GENERAL,
    article("2", "sea", "book", "general"),
    article("3", "sea", "book", "general"),
    SPECIAL,
    article("4", "sea", "book", "special"),
    article("5", "sea"),
    WIND,
    OTHER,
    article("6", "wind", "other"),
)
WALK = ("sea", "0", "book", "1", "general", "2", "3", "special", "4", "5", "wind", "other", "6")


@pytest.fixture
def tree() -> LawTree:
    return LawTree(NODES, date=date(2026, 1, 1), name="little")


def test_everything_is_held_in_the_order_of_the_law(tree: LawTree) -> None:
    assert list(tree.codes) == ["sea", "wind"]
    assert list(tree.sections) == ["book", "general", "special", "other"]
    assert list(tree.articles) == ["0", "1", "2", "3", "4", "5", "6"]
    assert len(tree) == 7
    assert repr(tree) == "LawTree(little, 2026-01-01: 7 articles, 4 sections, 2 codes)"


@pytest.mark.parametrize(
    ("id", "parent", "ancestors"),
    [
        ("sea", None, ()),
        ("0", "sea", ("sea",)),
        ("general", "book", ("sea", "book")),
        ("3", "general", ("sea", "book", "general")),
    ],
)
def test_what_stands_above(tree: LawTree, id: str, parent: str | None, ancestors: tuple[str, ...]) -> None:
    assert tree.parent(id) == parent
    assert tree.ancestors(id) == ancestors


@pytest.mark.parametrize(
    ("id", "children"),
    [
        ("sea", ("0", "book", "5")),
        ("book", ("1", "general", "special")),
        ("general", ("2", "3")),
        ("3", ()),
    ],
)
def test_what_stands_directly_below(tree: LawTree, id: str, children: tuple[str, ...]) -> None:
    assert tree.children(id) == children


def test_siblings_are_the_other_articles_under_the_same_heading(tree: LawTree) -> None:
    assert tree.siblings("2") == ("3",)
    assert tree.siblings("0") == ("5",)
    assert tree.siblings("1") == ()
    assert tree.siblings("sea") == ()


def test_headings_are_titles_from_the_code_downwards(tree: LawTree) -> None:
    assert tree.headings(tree.articles["3"]) == ("Code de la mer", "Livre Ier", "Dispositions générales")
    assert tree.headings(tree.articles["0"]) == ("Code de la mer",)


def test_two_equal_headings_are_two_nodes(tree: LawTree) -> None:
    assert tree.title("general") == tree.title("other") == "Dispositions générales"
    assert tree.children("general") == ("2", "3")
    assert tree.children("other") == ("6",)


def test_the_walk_is_depth_first(tree: LawTree) -> None:
    assert tuple(tree.walk()) == WALK
    assert tuple(tree.walk("general")) == ("general", "2", "3")
    assert tuple(tree.walk("3")) == ("3",)


def test_nodes_and_positions_follow_the_walk(tree: LawTree) -> None:
    assert tuple(tree.nodes()) == NODES
    assert tree.positions == {"0": 0, "1": 1, "2": 2, "3": 3, "4": 4, "5": 5, "6": 6}


def test_nodes_may_come_level_by_level() -> None:
    by_level = sorted(NODES, key=lambda node: (isinstance(node, Article), not isinstance(node, Code)))
    tree = LawTree(by_level)
    assert tuple(tree.walk("book")) == ("book", "general", "2", "3", "special", "4", "1")
    assert tree.positions["1"] == 3


@pytest.fixture
def twice() -> LawTree:
    """Article 4 stands under "general" too, which comes before its own first place."""
    second = article("4", "sea", "book", "special", other_paths=(("book", "general"), ()))
    return LawTree([second if node.id == "4" else node for node in NODES])


def test_an_article_at_several_places_is_one_article(twice: LawTree) -> None:
    assert len(twice) == 7
    assert twice.children("general") == ("2", "3", "4")
    assert twice.children("special") == ("4",)
    assert twice.children("sea") == ("0", "book", "5", "4")
    assert twice.siblings("2") == ("3", "4")
    assert twice.siblings("4") == ()
    assert twice.parent("4") == "special"
    assert tuple(twice.walk("book")) == ("book", "1", "general", "2", "3", "4", "special", "4")


def test_nodes_and_positions_count_the_first_place_alone(twice: LawTree) -> None:
    assert tuple(node.id for node in twice.nodes()) == WALK
    assert twice.positions["4"] == 4
    again = LawTree(twice.nodes())
    assert {id: again.children(id) for id in again.sections} == {id: twice.children(id) for id in twice.sections}


def test_sizes_count_what_stands_below(tree: LawTree) -> None:
    assert tree.sizes == {"sea": 6, "book": 4, "general": 2, "special": 1, "wind": 1, "other": 1}


def test_roots_are_the_codes_of_sections(tree: LawTree) -> None:
    assert tree.roots == {"book": "sea", "general": "sea", "special": "sea", "other": "wind"}


def test_an_article_at_two_places_counts_once_in_what_is_above_both(twice: LawTree) -> None:
    assert twice.sizes == {
        id: len({below for below in twice.walk(id) if below in twice.articles})
        for id in (*twice.codes, *twice.sections)
    }


def test_an_old_version_leads_to_the_article_held() -> None:
    history = {"first": [Version("older", None, date(2020, 1, 1)), Version("held", date(2020, 1, 1), None)]}
    tree = LawTree([SEA, article("held", "sea", cid="first")], history=history)
    for id in ("older", "held", "first"):
        assert tree.in_place_of(id) == tree.articles["held"]
    assert tree.in_place_of("unheard of") is None


def test_history_tells_of_every_held_version() -> None:
    old = Version("2-old", date(2000, 1, 1), date(2010, 1, 1))
    tree = LawTree(
        [SEA, article("2", "sea", cid="2-cid", start=date(2010, 1, 1)), article("3", "sea")], history={"2-cid": [old]}
    )
    assert tree.history == {
        "2-cid": (old, Version("2", date(2010, 1, 1), None)),
        "3": (Version("3", None, None),),
    }


def test_history_keeps_the_dates_it_was_given() -> None:
    told = Version("2", date(2010, 1, 1), date(2020, 1, 1))
    tree = LawTree([SEA, article("2", "sea", start=date(2011, 1, 1))], history={"2": [told]})
    assert tree.history == {"2": (told,)}


def test_a_node_is_found_by_its_id(tree: LawTree) -> None:
    assert tree.node("sea") is SEA
    assert tree.node("book") is BOOK
    assert tree.node("3") is NODES[6]


def test_an_unknown_id_is_named(tree: LawTree) -> None:
    for ask in (tree.node, tree.parent, tree.children, tree.ancestors, tree.siblings, lambda id: list(tree.walk(id))):
        with pytest.raises(CorpusError, match="nothing in the law 'little' has the id 'absent'"):
            ask("absent")
    with pytest.raises(CorpusError, match="no code or section of the law 'little' has the id '3'"):
        tree.title("3")


@pytest.mark.parametrize(
    ("nodes", "complaint"),
    [
        ([SEA, GENERAL], "section 'general' is an orphan: its parent 'book' is not in the tree"),
        ([GENERAL, Section("sub", "", 3, "general")], "section 'general' is an orphan: its parent 'book' is not"),
        ([SEA, Section("a", "", 1, "a")], "section 'a' is its own ancestor: a → a"),
        (
            [SEA, Section("a", "", 1, "b"), Section("b", "", 1, "c"), Section("c", "", 1, "a")],
            "section 'a' is its own ancestor: a → b → c → a",
        ),
        ([SEA, article("1", "sea"), Section("below", "", 1, "1")], "section 'below' is an orphan: its parent '1'"),
        ([SEA, BOOK, Section("book", "", 1, "sea")], "the id 'book' is used twice"),
        ([SEA, article("sea", "sea")], "the id 'sea' is used twice"),
        ([SEA, article("1", "sea"), article("1", "sea")], "the id '1' is used twice"),
        ([SEA, article("1", "wind")], "article '1' belongs to code 'wind', which is not in the tree"),
        ([SEA, article("1", "sea", "book")], "article '1': there is no section 'book' under 'sea'"),
        (
            [SEA, BOOK, GENERAL, article("1", "sea", "general")],
            "article '1': there is no section 'general' under 'sea'",
        ),
        (
            [SEA, BOOK, WIND, OTHER, article("1", "sea", "book", other_paths=(("other",),))],
            "article '1': there is no section 'other' under 'sea'",
        ),
        (
            [SEA, BOOK, WIND, article("1", "sea", "book"), article("2", "wind", "book")],
            "article '2': there is no section 'book' under 'wind'",
        ),
        ([SEA, article("1", "sea"), article("2", "wind")], "article '2' belongs to code 'wind', which is not in the"),
        (
            [SEA, BOOK, article("0", "sea", "book"), article("1", "sea", "book", other_paths=(("book",),))],
            "article '1' stands twice at the same place",
        ),
        (
            [SEA, BOOK, article("1", "sea", "book", other_paths=(("book",),))],
            "article '1' stands twice at the same place",
        ),
    ],
)
def test_a_tree_that_does_not_hold_together_is_refused(nodes: list[Code | Section | Article], complaint: str) -> None:
    with pytest.raises(CorpusError, match=complaint):
        LawTree(nodes)


def test_a_deep_tree_is_walked() -> None:
    sections = [Section(str(level), "", level, str(level - 1) if level > 1 else "sea") for level in range(1, 3001)]
    deep = article("end", "sea", *(section.id for section in sections))
    tree = LawTree([SEA, *sections, deep], date=date(2026, 1, 1))
    assert len(tree.ancestors("end")) == 3001
    assert list(tree.walk())[-1] == "end"
    assert tuple(tree.as_of(date(2026, 1, 1)).nodes()) == tuple(tree.nodes())
