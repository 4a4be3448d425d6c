"""The published packages: what their readers must find in them, to the article."""

import re
from datetime import date

import pytest

from lexarbor.corpus.legi import read_legi
from lexarbor.corpus.packages import fetch, package
from lexarbor.corpus.sources import SNAPSHOTS, read_law, snapshots_around
from lexarbor.corpus.tree import LawTree
from lexarbor.corpus.versions import join

pytestmark = pytest.mark.real

VERSIONS = ("1.1.19", "1.46.0", "2.24.0", "2.100.0", "2.229.0", "2.263.0", "2.513.0")


@pytest.fixture(scope="module")
def snapshots() -> dict[str, LawTree]:
    return {version: read_legi(fetch(package(f"@socialgouv/legi-data@{version}"))) for version in VERSIONS}


@pytest.fixture(scope="module")
def joined(snapshots: dict[str, LawTree]) -> LawTree:
    return join(snapshots.values())


def test_the_newest_package(snapshots: dict[str, LawTree]) -> None:
    tree = snapshots["2.513.0"]
    assert (len(tree), len(tree.sections), len(tree.codes)) == (29_115, 11_020, 4)
    assert tree.date == date(2026, 3, 27)
    assert max(section.level for section in tree.sections.values()) == 9  # ten with the code
    assert sum(article.status == "" for article in tree.articles.values()) == 9


def test_the_package_of_the_benchmark_has_three_articles_at_two_places(snapshots: dict[str, LawTree]) -> None:
    tree = snapshots["1.46.0"]
    assert len(tree) == 27_519
    assert sum(1 + len(article.other_paths) for article in tree.articles.values()) == 27_522
    assert sum(id in tree.articles for id in tree.walk()) == 27_522
    assert [len(article.other_paths) for article in tree.articles.values() if article.other_paths] == [1, 1, 1]
    assert tree.date == date(2020, 11, 4)


@pytest.mark.parametrize("version", VERSIONS)
def test_no_markup_is_left_in_a_text(snapshots: dict[str, LawTree], version: str) -> None:
    tag = re.compile(r"</?(p|br|div|table|tbody|tr|td|th|ul|li|a|b|i|em|strong|sup|sub|font|center)\b|&nbsp;|<!--")
    for article in snapshots[version].articles.values():
        for text in (article.text, article.note):
            assert not tag.search(text), article.id
            assert all(line == " ".join(line.split()) != "" for line in text.splitlines()), article.id


def test_tables_keep_their_rows_and_notes_their_lists(snapshots: dict[str, LawTree]) -> None:
    articles = snapshots["2.513.0"].articles
    limits = articles["LEGIARTI000023018851"].text.splitlines()
    assert sum(" | " in line for line in limits) > 10
    assert any("si t < 2,6 . 10-9 alors H" in line for line in limits)
    assert sum(line.startswith("- Arrêté du ") for line in articles["LEGIARTI000030620587"].note.splitlines()) > 10


@pytest.mark.parametrize(
    ("day", "not_held"), [(date(2021, 3, 1), 32), (date(2022, 6, 1), 118), (date(2024, 6, 1), 294)], ids=str
)
def test_versions_that_no_package_holds_are_counted(joined: LawTree, day: date, not_held: int) -> None:
    now = joined.as_of(day)
    assert len(now.not_held) == not_held
    assert all(article.in_force(day) for article in now.articles.values())
    assert len({article.cid for article in now.articles.values()}) == len(now)
    assert now.not_held.isdisjoint(article.cid for article in now.articles.values())


def test_the_days_of_the_snapshots_are_those_that_are_told(snapshots: dict[str, LawTree], joined: LawTree) -> None:
    assert {f"@socialgouv/legi-data@{version}": tree.date for version, tree in snapshots.items()} == SNAPSHOTS
    few = read_law(snapshots_around(date(2021, 3, 1))).as_of(date(2021, 3, 1))
    missing = joined.as_of(date(2021, 3, 1)).articles.keys() ^ few.articles.keys()
    assert missing == {"LEGIARTI000039806656"}  # L3252-10, which only the snapshots of 2020 hold as of that day


def test_each_snapshot_is_the_law_of_its_own_day(snapshots: dict[str, LawTree], joined: LawTree) -> None:
    """The newest to the article; the others but for what a later law changed with effect before that day."""
    for tree in snapshots.values():
        assert tree.date is not None
        now = joined.as_of(tree.date)
        differing = now.articles.keys() ^ tree.articles.keys()
        assert len(differing) < 0.01 * len(tree)
        if tree.date == joined.date:
            assert (differing, now.not_held) == (set(), frozenset())
            assert list(now.articles) == list(tree.articles)
