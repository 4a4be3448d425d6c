from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from snapshots import article, ids, new_year, section, snapshot, versions, year

from lexarbor.corpus.law import Article, Section, Version
from lexarbor.corpus.tree import LawTree
from lexarbor.corpus.versions import join
from lexarbor.errors import CorpusError

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
