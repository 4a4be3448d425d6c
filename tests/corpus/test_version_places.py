from collections.abc import Sequence

import pytest
from snapshots import CODE, article, ids, new_year, section, snapshot, versions, year

from lexarbor.corpus.law import Article, Code, Section
from lexarbor.corpus.tree import LawTree
from lexarbor.corpus.versions import join


def test_a_new_version_takes_the_place_of_its_article() -> None:
    old = snapshot(2010, section("s"), article("a.1", "s"), article("b.1", "s"), article("c.1"))
    new = snapshot(2020, article("b.1"), article("a.2", since=2015), article("c.1"), section("t"))
    now = join([old, new]).as_of(new_year(2016))
    assert ids(now) == ["s", "a.2", "b.1", "c.1"]
    assert now.articles["a.2"].path == ("s",)


def test_an_article_keeps_its_other_places() -> None:
    old = snapshot(2010, section("s"), article("a.1", "s", other_paths=(("t",),)), section("t"), article("b.1", "t"))
    new = snapshot(2020, section("s"), article("a.2", "s", since=2015))
    now = join([old, new]).as_of(new_year(2016))
    assert ids(now) == ["s", "a.2", "t", "b.1"]
    assert now.children("t") == ("b.1", "a.2")


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (["a.1", "n.1", "b.1", "c.1"], ["a.1", "n.1", "b.1", "c.1"]),
        (["n.1", "a.1", "b.1", "c.1"], ["n.1", "a.1", "b.1", "c.1"]),
        (["a.1", "b.1", "c.1", "n.1"], ["a.1", "b.1", "c.1", "n.1"]),
        (["a.2", "n.1", "b.2", "c.2"], ["a.1", "n.1", "b.1", "c.1"]),
        (["n.1", "a.2", "b.2"], ["n.1", "a.1", "b.1", "c.1"]),
        (["a.1", "n.1", "m.1", "b.1"], ["a.1", "n.1", "m.1", "b.1", "c.1"]),
        (["b.1", "m.1", "x.1", "n.1", "c.1"], ["a.1", "b.1", "m.1", "n.1", "c.1"]),
        (["n.1"], ["a.1", "b.1", "c.1", "n.1"]),
    ],
    ids=["between", "first", "last", "between new versions", "before new versions", "two", "far", "alone"],
)
def test_a_new_article_is_placed_among_its_neighbours(order: Sequence[str], expected: Sequence[str]) -> None:
    since = {"n.1": 2014, "m.1": 2014, "x.1": 2017, "a.2": 2018, "b.2": 2018, "c.2": 2018}
    old = snapshot(2010, section("s"), *(article(id, "s", until=2018) for id in ("a.1", "b.1", "c.1")))
    new = snapshot(
        2020,
        section("s"),
        *(article(id, "s", since=since.get(id, 2000)) for id in order),
        history={cid: versions((f"{cid}.1", 2000, 2018)) for cid in "abc" if f"{cid}.2" in order},
    )
    assert ids(join([old, new]).as_of(new_year(2016))) == ["s", *expected]


def test_a_new_section_comes_with_its_article_and_among_its_neighbours() -> None:
    old = snapshot(2010, section("s"), article("a.1", "s"), section("u"), article("c.1", "u"))
    new = snapshot(
        2020,
        section("s"),
        article("a.1", "s"),
        section("t"),
        section("tt", "t", 2),
        article("b.1", "t", "tt", since=2014),
        section("u"),
        article("c.1", "u"),
    )
    now = join([old, new]).as_of(new_year(2015))
    assert ids(now) == ["s", "a.1", "t", "tt", "b.1", "u", "c.1"]
    assert now.sections["tt"] == new.sections["tt"]
    assert ids(join([old, new]).as_of(new_year(2013))) == ["s", "a.1", "u", "c.1"]


def test_a_renamed_section_is_matched_by_its_cid() -> None:
    old = snapshot(2010, section("s.1", cid="s"), article("a.1", "s.1"))
    new = snapshot(2020, section("s.2", cid="s"), article("a.1", "s.2"), article("b.1", "s.2", since=2014))
    tree = join([old, new])
    assert ids(tree.as_of(new_year(2015))) == ["s.1", "a.1", "b.1"]
    assert ids(tree.as_of(new_year(2020))) == ["s.2", "a.1", "b.1"]


def test_a_new_section_renamed_between_two_later_snapshots_is_one_place() -> None:
    first = snapshot(2010, article("z.1"))
    second = snapshot(2020, article("z.1"), section("s.1", cid="s"), article("a.1", "s.1", since=2012, until=2016))
    third = snapshot(
        2022,
        article("z.1"),
        section("s.2", cid="s"),
        article("b.1", "s.2", since=2013),
        history={"a": versions(("a.1", 2012, 2016))},
    )
    assert ids(join([first, second, third]).as_of(new_year(2014))) == ["z.1", "s.1", "a.1", "b.1"]


def test_a_moved_section_is_kept_apart_from_the_one_the_base_knows() -> None:
    old = snapshot(
        2010, section("p"), section("s", "p", 2), article("a.1", "p", "s"), section("q"), article("z.1", "q")
    )
    new = snapshot(
        2020,
        section("p"),
        section("q"),
        section("s", "q", 2),
        article("a.1", "q", "s"),
        article("b.1", "q", "s", since=2014),
        article("c.1", "q", "s", since=2014),
        article("z.1", "q"),
    )
    now = join([old, new]).as_of(new_year(2015))
    assert ids(now) == ["p", "s", "a.1", "q", "s@q", "b.1", "c.1", "z.1"]
    assert now.headings(now.articles["b.1"]) == ("Code de la mer", "Titre q", "Titre s")


def test_a_moved_section_has_the_level_of_its_place() -> None:
    old = snapshot(2010, section("s", cid="s"), article("a.1", "s"), section("q"), article("z.1", "q"))
    new = snapshot(
        2020,
        section("q"),
        section("r", "q", 2),
        section("s.2", "r", 3, cid="s"),
        article("b.1", "q", "r", "s.2", since=2014),
        article("z.1", "q"),
    )
    now = join([old, new]).as_of(new_year(2015))
    assert now.articles["b.1"].path == ("q", "r", "s.2@r")
    assert {one.id: one.level for one in now.sections.values()} == {"s": 1, "q": 1, "r": 2, "s.2@r": 3}


def test_an_article_of_another_snapshot_comes_with_its_other_places() -> None:
    old = snapshot(2010, section("s.1", cid="s"), article("a.1", "s.1"), section("t"), article("c.1", "t"))
    new = snapshot(
        2020,
        section("s.2", cid="s"),
        article("a.1", "s.2"),
        section("t"),
        article("b.1", "t", since=2014, other_paths=(("s.2",), ("u",), ())),
        article("c.1", "t"),
        section("u"),
    )
    now = join([old, new]).as_of(new_year(2015))
    assert ids(now) == ["s.1", "a.1", "t", "b.1", "c.1", "u"]
    assert now.articles["b.1"].other_paths == (("s.1",), ("u",), ())
    assert now.children("s.1") == ("a.1", "b.1")


def test_two_places_that_are_one_in_the_base_are_named_once() -> None:
    old = snapshot(2010, section("s", cid="s"), article("a.1", "s"))
    split = (section("s.1", cid="s"), section("s.2", cid="s"))
    new = snapshot(2020, *split, article("a.1", "s.1"), article("b.1", "s.1", since=2014, other_paths=(("s.2",),)))
    now = join([old, new]).as_of(new_year(2015)).articles["b.1"]
    assert (now.path, now.other_paths) == (("s",), ())


def test_a_new_code_comes_last_with_its_articles() -> None:
    wind = Code("wind", "Code des vents")
    old = snapshot(2010, article("a.1"))
    new = LawTree(
        [wind, Section("w", "Livre Ier", 1, "wind"), Article("w.1", "1", "wind", "Vent.", ("w",), year(2014)), CODE],
        date=new_year(2020),
    )
    assert ids(join([old, new]).as_of(new_year(2015))) == ["a.1", "wind", "w", "w.1"]


def test_an_article_missing_from_the_base_comes_from_the_snapshot_of_its_text() -> None:
    """The oldest snapshot holds it at another place, under a section that the later ones do not have."""
    tree = join(
        [
            snapshot(2010, section("s"), article("a.1", "s")),
            snapshot(2012, article("b.1")),
            snapshot(2020, section("t"), article("a.1", "t"), article("b.1")),
        ]
    )
    assert ids(tree.as_of(new_year(2015))) == ["t", "a.1", "b.1"]
