from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexarbor.corpus.law import Article, Code, Section, Version
from lexarbor.corpus.tree import LawTree
from lexarbor.corpus.versions import join
from lexarbor.errors import CorpusError

CODE = Code("code", "Code de la mer")


def year(number: int | None) -> date | None:
    return date(number, 1, 1) if number else None


def new_year(number: int) -> date:
    return date(number, 1, 1)


def article(id: str, *path: str, since: int | None = 2000, until: int | None = None, **fields: Any) -> Article:
    """`id` is "cid.version"."""
    cid = id.partition(".")[0]
    return Article(id, cid, "code", f"Texte {id}.", path, year(since), year(until), cid=cid, **fields)


def section(id: str, parent: str = "code", level: int = 1, *, cid: str = "") -> Section:
    return Section(id, f"Titre {id}", level, parent, cid)


def versions(*told: tuple[str, int | None, int | None]) -> list[Version]:
    return [Version(id, year(since), year(until)) for id, since, until in told]


def snapshot(
    day: date | int | None, *nodes: Section | Article, history: dict[str, list[Version]] | None = None
) -> LawTree:
    return LawTree([CODE, *nodes], date=new_year(day) if isinstance(day, int) else day, history=history)


def ids(tree: LawTree) -> list[str]:
    return [node.id for node in tree.nodes()][1:]


# In force


@pytest.mark.parametrize(
    ("start", "end", "in_force"),
    [
        (None, None, True),
        (2020, None, True),
        (2021, None, False),
        (None, 2021, True),
        (None, 2020, False),
        (2019, 2020, False),
        (2020, 2021, True),
        (2020, 2020, False),
        (2021, 2019, False),
    ],
)
def test_a_version_binds_from_its_start_to_the_day_before_its_end(
    start: int | None, end: int | None, in_force: bool
) -> None:
    tree = snapshot(2019, article("a.1", since=start, until=end))
    assert tree.articles["a.1"].in_force(new_year(2020)) is in_force
    assert ("a.1" in tree.as_of(new_year(2020)).articles) is in_force


def test_the_end_is_the_first_day_out_of_force() -> None:
    tree = snapshot(2019, article("a.1", since=2020, until=2021))
    days = [date(2019, 12, 31), date(2020, 1, 1), date(2020, 12, 31), date(2021, 1, 1)]
    assert [len(tree.as_of(day)) for day in days] == [0, 1, 1, 0]


def test_status_words_decide_nothing() -> None:
    tree = snapshot(
        2020,
        article("a.1", status="ABROGE"),
        article("b.1", status="VIGUEUR", until=2010),
        article("c.1", status="ABROGE_DIFF"),
        article("d.1", status="VIGUEUR_DIFF", since=2030),
        article("e.1", status=""),
    )
    assert ids(tree.as_of(new_year(2020))) == ["a.1", "c.1", "e.1"]
    assert tree.as_of(new_year(2020)).articles["a.1"].status == "ABROGE"


def test_a_law_without_dates_is_in_force_on_every_day() -> None:
    tree = snapshot(None, article("a.1", since=None), section("s"), article("b.1", "s", since=None))
    now = tree.as_of(new_year(1850))
    assert tuple(now.nodes()) == tuple(tree.nodes())
    assert now.date == new_year(1850)
    assert now.not_held == frozenset()


def test_of_two_held_versions_the_one_of_that_day_is_taken() -> None:
    tree = snapshot(2020, article("a.1", until=2010), article("a.2", since=2010), article("b.1"))
    assert ids(tree.as_of(new_year(2005))) == ["a.1", "b.1"]
    assert ids(tree.as_of(new_year(2015))) == ["a.2", "b.1"]


def test_where_two_held_versions_claim_a_day_the_later_is_the_law() -> None:
    tree = snapshot(2020, article("a.1", since=2010), article("a.9", since=2000), article("a.8", since=2010))
    assert ids(tree.as_of(new_year(2005))) == ["a.9"]
    assert ids(tree.as_of(new_year(2015))) == ["a.8"]


# What is not held


def test_a_version_that_is_not_held_is_named_and_never_the_nearest_given() -> None:
    told = versions(("a.1", 2000, 2010), ("a.2", 2010, 2018), ("a.3", 2018, None))
    tree = snapshot(2020, article("a.3", since=2018), article("b.1"), history={"a": told})
    before = tree.as_of(new_year(2015))
    assert ids(before) == ["b.1"]
    assert before.not_held == {"a"}
    assert tree.as_of(new_year(2018)).not_held == frozenset()
    assert tree.as_of(new_year(1990)).not_held == frozenset()
    assert len(tree.as_of(new_year(1990))) == 0


def test_a_day_already_asked_gives_the_same_answer_again() -> None:
    told = versions(("a.1", 2000, 2018), ("a.2", 2018, None))
    old = snapshot(2010, article("b.1"), article("c.1"), history={"c": versions(("c.0", 1990, 2000))})
    tree = join([old, snapshot(2020, article("a.2", since=2018), history={"a": told})])
    once = tree.as_of(new_year(2015))
    assert ids(once) == ["b.1", "c.1"]
    assert once.not_held == {"a"}
    again = once.as_of(new_year(2015))
    assert tuple(again.nodes()) == tuple(once.nodes())
    assert again.not_held == once.not_held
    assert once.as_of(new_year(1995)).not_held == {"c"}


# Several snapshots


def test_the_newest_snapshot_is_shown_and_each_day_answered_from_its_own() -> None:
    old = snapshot(2010, article("a.1"))
    new = snapshot(2020, article("a.2", since=2015), history={"a": versions(("a.1", 2000, 2015), ("a.2", 2015, None))})
    tree = join([new, old])
    assert ids(tree) == ["a.2"]
    assert (tree.date, tree.earlier) == (new_year(2020), (old,))
    assert ids(tree.as_of(new_year(2012))) == ["a.1"]
    assert ids(tree.as_of(new_year(2015))) == ["a.2"]
    assert ids(tree.as_of(new_year(2025))) == ["a.2"]


def test_the_end_comes_from_the_newest_snapshot_that_knows_the_version() -> None:
    first = snapshot(2010, article("a.1"))
    second = snapshot(2011, article("a.1", until=2030))
    third = snapshot(2020, article("a.2", since=2014), history={"a": versions(("a.1", 2000, 2013))})
    assert join([first, second]).as_of(new_year(2012)).articles["a.1"].end == new_year(2030)
    tree = join([first, second, third])
    assert tree.as_of(new_year(2012)).articles["a.1"].end == new_year(2013)
    assert len(tree.as_of(new_year(2013))) == 0
    assert tree.as_of(new_year(2013)).not_held == frozenset()
    assert ids(tree.as_of(new_year(2014))) == ["a.2"]


def test_an_article_gone_from_a_later_snapshot_ended_by_its_day() -> None:
    tree = join([snapshot(2010, article("a.1"), article("b.1")), snapshot(2020, article("b.1")), snapshot(2024)])
    gone = tree.as_of(date(2019, 12, 31))
    assert ids(gone) == ["a.1", "b.1"]
    assert gone.articles["a.1"].end == new_year(2020)
    assert ids(tree.as_of(new_year(2020))) == ["b.1"]
    assert ids(tree.as_of(new_year(2024))) == []


def test_an_article_that_ended_before_it_was_gone_keeps_its_end() -> None:
    tree = join([snapshot(2010, article("a.1", until=2015)), snapshot(2020)])
    assert tree.as_of(new_year(2014)).articles["a.1"].end == new_year(2015)
    assert len(tree.as_of(new_year(2015))) == 0


def test_an_article_gone_and_back_has_the_dates_of_the_last_to_know() -> None:
    tree = join([snapshot(2010, article("a.1")), snapshot(2015), snapshot(2020, article("a.1"))])
    assert tree.as_of(new_year(2018)).articles["a.1"].end is None


def test_a_version_that_a_later_list_leaves_out_ended_by_that_day() -> None:
    withdrawn = snapshot(2010, article("a.1"))
    corrected = snapshot(2012, article("a.2", since=2011, until=2013), history={"a": versions(("a.3", 2016, None))})
    tree = join([withdrawn, corrected])
    assert ids(tree.as_of(date(2010, 6, 1))) == ["a.1"]
    assert ids(tree.as_of(new_year(2012))) == ["a.2"]
    assert ids(tree.as_of(new_year(2014))) == []
    assert tree.as_of(new_year(2014)).not_held == frozenset()
    assert tree.as_of(new_year(2016)).not_held == {"a"}


def test_a_version_called_off_before_it_began_is_forgotten() -> None:
    planned = snapshot(2010, article("a.1"), history={"a": versions(("a.1", 2000, 2015), ("a.2", 2015, None))})
    called_off = snapshot(2012, article("a.1", until=2015))
    assert planned.as_of(new_year(2016)).not_held == {"a"}
    assert join([planned, called_off]).as_of(new_year(2016)).not_held == frozenset()


def test_a_version_to_come_is_not_forgotten_while_its_article_is_away() -> None:
    told = versions(("a.1", 2000, 2012), ("a.2", 2015, None))
    away = [snapshot(2010, article("a.1", until=2012), history={"a": told}), snapshot(2013)]
    assert join(away).as_of(new_year(2013)).not_held == frozenset()
    assert join(away).as_of(new_year(2016)).not_held == {"a"}
    assert join([*away, snapshot(2020)]).as_of(new_year(2020)).not_held == frozenset()


def test_a_version_held_by_a_later_snapshot_alone_is_found() -> None:
    told = versions(("a.1", 2000, 2012), ("a.2", 2012, None))
    tree = join([snapshot(2010, article("a.1"), history={"a": told}), snapshot(2020, article("a.2", since=2012))])
    assert ids(tree.as_of(new_year(2014))) == ["a.2"]
    assert tree.as_of(new_year(2014)).not_held == frozenset()


def test_the_text_is_that_of_the_nearest_snapshot() -> None:
    def worded(day: int, text: str) -> LawTree:
        return snapshot(day, Article("a.1", "L1", "code", text, (), year(2000), cid="a"))

    tree = join([worded(2010, "Avant."), worded(2015, "Corrigé."), worded(2020, "Encore corrigé.")])
    assert [tree.as_of(new_year(day)).articles["a.1"].text for day in (2005, 2012, 2015, 2030)] == [
        "Avant.",
        "Avant.",
        "Corrigé.",
        "Encore corrigé.",
    ]


# Places


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


# Joining


def test_snapshots_without_a_date_cannot_be_joined() -> None:
    with pytest.raises(CorpusError, match="the law 'law' carries no date: only dated snapshots can be joined"):
        join([snapshot(2010), snapshot(None)])


def test_two_snapshots_of_one_day_cannot_be_joined() -> None:
    with pytest.raises(CorpusError, match="two snapshots carry the same date among 2010-01-01, 2010-01-01, 2012-01-01"):
        join([snapshot(2010), snapshot(2012), snapshot(2010)])


def test_nothing_cannot_be_joined() -> None:
    with pytest.raises(CorpusError, match="no snapshot to join"):
        join([])


def test_joined_snapshots_can_be_joined_again() -> None:
    first, second, third = (snapshot(day, article(f"a.{day}", since=day, until=day + 1)) for day in (2010, 2012, 2014))
    tree = join([third, join([second, first])])
    assert [snapshot.date for snapshot in tree.earlier] == [new_year(2010), new_year(2012)]
    assert [ids(tree.as_of(new_year(day))) for day in (2010, 2011, 2012, 2014)] == [
        ["a.2010"],
        [],
        ["a.2012"],
        ["a.2014"],
    ]


# Any history

DAYS = [date(2020, 1, 1) + timedelta(days=10 * step) for step in range(12)]
maybe_days = st.none() | st.sampled_from(DAYS)


@st.composite
def histories(draw: st.DrawFn) -> list[LawTree]:
    """Snapshots that know and hold some of the versions of a few articles, with dates that may contradict."""
    found = []
    for day in sorted(draw(st.lists(st.sampled_from(DAYS), unique=True, min_size=1, max_size=4))):
        told: dict[str, list[Version]] = {}
        nodes: list[Section | Article] = [section("s.1"), section(f"t.{draw(st.integers(1, 2))}", cid="t")]
        for cid in "abc":
            for number in draw(st.lists(st.integers(1, 4), unique=True, max_size=4)):
                version = Version(f"{cid}.{number}", draw(maybe_days), draw(maybe_days))
                told.setdefault(cid, []).append(version)
                if draw(st.booleans()):
                    path = draw(st.sampled_from([(), ("s.1",), (nodes[1].id,)]))
                    nodes.append(
                        Article(version.id, cid, "code", f"Texte {day}.", path, version.start, version.end, cid=cid)
                    )
        held = {node.cid for node in nodes if isinstance(node, Article)}
        found.append(snapshot(day, *nodes, history={cid: told[cid] for cid in held}))
    return found


@settings(deadline=None)
@given(histories(), st.sampled_from(DAYS))
def test_the_law_of_a_day_holds_only_what_is_in_force_and_once(snapshots: list[LawTree], day: date) -> None:
    now = join(snapshots).as_of(day)
    assert now.date == day
    assert all(article.in_force(day) for article in now.articles.values())
    cids = [article.cid for article in now.articles.values()]
    assert len(set(cids)) == len(cids)
    assert not now.not_held & set(cids)
    assert now.not_held <= {cid for snapshot in snapshots for cid in snapshot.history}
    texts = {(article.id, article.text) for snapshot in snapshots for article in snapshot.articles.values()}
    assert {(article.id, article.text) for article in now.articles.values()} <= texts


@settings(deadline=None)
@given(histories(), st.sampled_from(DAYS))
def test_what_the_newest_snapshot_says_of_a_version_is_believed(snapshots: list[LawTree], day: date) -> None:
    now = join(snapshots).as_of(day)
    newest = snapshots[-1]
    for cid, told in newest.history.items():
        binding = [version for version in told if version.in_force(day)]
        if binding:
            assert cid in now.not_held or cid in {article.cid for article in now.articles.values()}
        for version in told:
            if version.id in now.articles:
                assert (now.articles[version.id].start, now.articles[version.id].end) == version[1:]
