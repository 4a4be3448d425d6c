from collections.abc import Mapping
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexarbor.corpus.benchmarks.splits import draw, draw_disjoint, near_equal, near_groups, title_words

TITLES = {f"q{count:03}": f"Sujet{count} numéro{count} de la commune" for count in range(200)}
"""Two hundred titles of which no two are near-equal."""

_WORDS = "chat chien bail loyer école jardin impôt le la de une".split()
_titles = st.dictionaries(
    st.integers(0, 99).map("q{}".format),
    st.lists(st.sampled_from(_WORDS), min_size=1, max_size=6).map(" ".join),
    max_size=40,
)


@st.composite
def _labelled(draw: st.DrawFn) -> tuple[dict[str, str], dict[str, set[str]]]:
    titles = draw(_titles)
    articles = st.sets(st.integers(0, 25).map("A{}".format), min_size=1, max_size=4)
    return titles, {id: draw(articles) for id in titles}


def home(parts: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """The part of each question; fails where one is in two."""
    placed = [(id, name) for name, ids in parts.items() for id in ids]
    assert len(dict(placed)) == len(placed)
    return dict(placed)


# Near-equal titles


def test_a_title_is_its_words_without_case_accents_and_function_words() -> None:
    words = title_words("La Période d'ESSAI d'un salarié")
    assert words.all == {"la", "periode", "d", "essai", "un", "salarie"}
    assert words.content == {"periode", "essai", "salarie"}
    assert title_words("Que de la").content == {"que", "de", "la"}
    assert title_words("?!").all == title_words("?!").content == frozenset()


@pytest.mark.parametrize(
    ("first", "second", "near"),
    [
        ("Période d'essai", "La période d’essai", True),
        ("un deux trois quatre", "un deux trois quatre cinq", True),  # 4 of 5 with "un", 3 of 4 without
        ("Congé parental à temps plein du salarié", "Congé parental à temps partiel du salarié", False),  # 6 of 8
        ("Le congé de la mère à la maison le soir", "Le congé de la mère à la maison le matin", False),  # 7 of 9
        ("deux trois quatre cinq", "deux trois quatre cinq six", True),  # 4 of 5
        ("deux trois quatre", "deux trois quatre cinq", False),  # 3 of 4
        ("Permis de construire", "Permis de démolir", False),
        ("", "", True),
        ("", "permis", False),
    ],
)
def test_titles_are_near_equal_from_four_fifths_of_their_words_on(first: str, second: str, near: bool) -> None:
    assert near_equal(title_words(first), title_words(second)) is near
    assert near_equal(title_words(second), title_words(first)) is near


def test_titles_near_through_others_are_one_group() -> None:
    titles = {
        "c": "deux trois quatre cinq six sept",
        "a": "deux trois quatre cinq",
        "b": "deux trois quatre cinq six",
        "z": "autre chose",
    }
    assert not near_equal(title_words(titles["a"]), title_words(titles["c"]))
    assert near_groups(titles) == [["a", "b", "c"], ["z"]]


@given(_titles)
def test_groups_part_the_questions_and_keep_near_titles_together(titles: dict[str, str]) -> None:
    groups = near_groups(titles)
    assert sorted(id for group in groups for id in group) == sorted(titles)
    group_of = {id: number for number, group in enumerate(groups) for id in group}
    for first, second in combinations(titles, 2):
        if near_equal(title_words(titles[first]), title_words(titles[second])):
            assert group_of[first] == group_of[second]


# The main split


def test_the_shares_of_the_draw() -> None:
    assert {name: len(ids) for name, ids in draw(TITLES).items()} == {"train": 130, "dev": 30, "test": 40}


def test_the_draw_is_the_same_whatever_the_order_of_the_questions() -> None:
    backwards = dict(reversed(TITLES.items()))
    assert draw(TITLES) == draw(backwards)
    assert all(list(ids) == sorted(ids) for ids in draw(backwards).values())


def test_the_draw_is_random() -> None:
    test = draw(TITLES)["test"]
    assert test[-1] > "q150"
    assert test[0] < "q050"


@given(_titles)
def test_every_question_is_in_one_part_and_near_titles_in_the_same(titles: dict[str, str]) -> None:
    parts = draw(titles)
    part = home(parts)
    assert set(part) == set(titles)
    for group in near_groups(titles):
        assert len({part[id] for id in group}) == 1
    assert len(parts["test"]) <= 0.2 * len(titles)
    assert len(parts["dev"]) <= 0.15 * len(titles)


# The article-disjoint split


def test_questions_that_share_an_article_stay_together() -> None:
    gold = {id: [f"A{int(id[1:]) // 2}"] for id in TITLES}
    parts = draw_disjoint(TITLES, gold)
    part = home(parts)
    assert set(part) == set(TITLES)
    assert all(part[f"q{2 * pair:03}"] == part[f"q{2 * pair + 1:03}"] for pair in range(100))
    assert {name: len(ids) for name, ids in parts.items()} == {"train": 130, "dev": 30, "test": 40}


def test_a_question_that_ties_all_others_is_left_out() -> None:
    gold = {id: [id] for id in TITLES} | {"q000": list(TITLES)}
    parts = draw_disjoint(TITLES, gold)
    assert set(home(parts)) == set(TITLES) - {"q000"}
    assert all(parts.values())


def test_a_question_set_aside_comes_back_to_the_only_part_it_touches() -> None:
    gold = {id: ["popular", id] for id in list(TITLES)[:40]} | {id: [id] for id in list(TITLES)[40:]}
    part = home(draw_disjoint(TITLES, gold))
    tied = [part[id] for id in list(TITLES)[:40] if id in part]
    assert len(tied) == 40
    assert len(set(tied)) == 1


@given(_labelled())
def test_no_gold_article_is_in_two_parts(labelled: tuple[dict[str, str], dict[str, set[str]]]) -> None:
    titles, gold = labelled
    parts = draw_disjoint(titles, gold)
    part = home(parts)
    assert set(part) <= set(titles)
    seen = [set().union(*(gold[id] for id in ids)) for ids in parts.values()]
    assert all(not first & second for first, second in combinations(seen, 2))
    for group in near_groups(titles):
        assert len({part[id] for id in group if id in part}) <= 1


@given(_labelled())
def test_the_disjoint_draw_does_not_depend_on_the_order_of_anything(
    labelled: tuple[dict[str, str], dict[str, set[str]]],
) -> None:
    titles, gold = labelled
    backwards = dict(reversed(gold.items()))
    assert draw_disjoint(titles, gold) == draw_disjoint(dict(reversed(titles.items())), backwards)


@pytest.mark.parametrize("count", [0, 1, 2, 9])
def test_few_questions_can_be_split_too(count: int) -> None:
    titles = dict(list(TITLES.items())[:count])
    assert set(home(draw_disjoint(titles, {id: [id] for id in titles}))) == set(titles)
