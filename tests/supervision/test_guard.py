"""What the leakage guard refuses."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lexarbor.corpus.benchmarks.splits import near_equal, title_words
from lexarbor.supervision.guard import LeakageGuard

_words = st.sampled_from("chat chien bail loyer école jardin impôt vélo train route pont l' le la de une".split())
_titles = st.lists(_words, max_size=16, unique=True)


@st.composite
def _with_others(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A title, and others that differ from it by a few words or by all."""
    title = draw(_titles)
    held_out = draw(st.lists(_titles, max_size=10))
    for _ in range(draw(st.integers(0, 5))):
        kept = title[draw(st.integers(0, 3)) :]
        held_out.append(kept + draw(st.lists(_words, max_size=3)))
    return " ".join(title), [" ".join(words) for words in held_out]


@pytest.mark.parametrize(
    ("title", "near"),
    [
        ("Période d'essai", True),
        ("La période d'essai", True),  # by its content
        ("PERIODE D’ESSAI ?", True),  # by all its words
        ("Rupture de la période d'essai", False),
        ("Faut-il une autorisation pour vendre des œufs le dimanche au marché ?", True),  # eleven words of twelve
        ("Faut-il une autorisation pour vendre des œufs au marché ?", False),  # eight words of twelve
        ("Autre chose", False),
        ("", False),
        ("… ?", False),
    ],
)
def test_near_equal_by_all_words_or_by_content(title: str, near: bool) -> None:
    guard = LeakageGuard(
        ["Période d'essai", "Faut-il une autorisation pour vendre des œufs frais le dimanche au marché ?", "…"]
    )
    assert guard.is_near(title) is near
    assert guard.is_near(title) is near  # as it is remembered


def test_refusals_are_counted_by_kind() -> None:
    guard = LeakageGuard(["Période d'essai"], ["F1", "F2"])
    asked = [("La période d'essai", "sheet"), ("Le bail", "sheet"), ("La période d'essai", "sheet")]
    assert [guard.admits(title, kind) for title, kind in asked] == [False, True, False]
    assert not guard.admits("Essai, période", "headings")
    assert guard.kept_out == {"sheet": 2, "headings": 1}
    assert guard.sheets == {"F1", "F2"}


def test_asking_counts_nothing() -> None:
    guard = LeakageGuard(["Période d'essai"])
    assert guard.is_near("Période d'essai")
    assert not guard.kept_out


def test_nothing_held_out_refuses_nothing() -> None:
    assert LeakageGuard([]).admits("Période d'essai", "sheet")


@given(_with_others())
@example(("chat chien bail loyer zèbre", ["chat chien bail loyer"]))  # the rarest word is the one that differs
@settings(max_examples=300)
def test_no_near_title_is_overlooked(titles: tuple[str, list[str]]) -> None:
    title, held_out = titles
    words = title_words(title)
    near = any(near_equal(words, title_words(other)) for other in held_out)
    assert LeakageGuard(held_out).is_near(title) is (near and bool(words.all))
