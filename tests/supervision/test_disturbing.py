"""Questions disturbed: what each disturbance changes, and what it leaves."""

import hashlib
import json
import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexarbor.corpus.benchmarks.catalogue import written_split
from lexarbor.supervision.disturbing import with_typo, without_accents

REWRITTEN = Path(__file__).parents[2] / "benchmarks" / "rewritten.jsonl"
FRENCH = st.text(alphabet="aabcdeeéèêçàùœlmnnopsstzAÉZ '-?1_", max_size=40)


def first_letters(text: str) -> list[str]:
    return [word[0] for word in re.findall(r"[^\W\d_]+", text)]


def difference(before: str, after: str) -> tuple[str, str]:
    """What is left of two texts without what they begin and end with in common."""
    while before and after and before[0] == after[0]:
        before, after = before[1:], after[1:]
    while before and after and before[-1] == after[-1]:
        before, after = before[:-1], after[:-1]
    return before, after


@given(st.one_of(FRENCH, st.text()), st.text())
def test_a_typo_is_one_slip_in_a_long_word_past_its_first_letter(text: str, seed: str) -> None:
    typed = with_typo(text, seed)
    assert typed == with_typo(text, seed)
    assert first_letters(typed) == first_letters(text)
    if not re.search(r"[^\W\d_]{5}", text):
        assert typed == text
        return
    before, after = difference(text, typed)
    assert typed != text
    assert abs(len(typed) - len(text)) <= 1
    assert (len(before) <= 1 and len(after) <= 1) or (len(before) == 2 and after == before[::-1])
    short = re.compile(r"(?<![^\W\d_])[^\W\d_]{1,3}(?![^\W\d_])")  # a long word keeps at least four letters
    assert short.findall(typed) == short.findall(text)


def test_every_kind_of_typo_is_drawn_and_every_one_is_told() -> None:
    drawn = {with_typo("Le congé.", str(seed)) for seed in range(2000)}
    dropped = {"Le cngé.", "Le cogé.", "Le coné.", "Le cong."}
    doubled = {"Le coongé.", "Le conngé.", "Le conggé.", "Le congéé."}
    swapped = {"Le cnogé.", "Le cogné.", "Le conég."}
    pressed = {f"Le c{key}ngé." for key in "ipçàkl"} | {f"Le co{key}gé." for key in "bhj"}
    pressed |= {f"Le con{key}é." for key in "fhtyvb"} | {f"Le cong{key}." for key in "az"}
    assert drawn == dropped | doubled | swapped | pressed


def test_a_capital_stays_one_and_letters_without_a_key_or_all_alike_are_no_trouble() -> None:
    assert all(with_typo("CONGÉ", str(seed)).isupper() for seed in range(200))
    assert {with_typo("ooooo", str(seed)) for seed in range(200)} >= {"oooo", "oooooo"}
    assert {with_typo("βββββ", str(seed)) for seed in range(200)} == {"ββββ", "ββββββ"}


@given(st.one_of(FRENCH, st.text()))
def test_no_mark_is_left_without_accents(text: str) -> None:
    bare = without_accents(text)
    assert not any(unicodedata.combining(letter) for letter in unicodedata.normalize("NFD", bare))
    assert not set("œŒæÆ").intersection(bare)
    assert without_accents(bare) == bare


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("Où l'élève reçoit-il son dû ?", "Ou l'eleve recoit-il son du ?"),
        ("Œuvres et mœurs, ex æquo", "Oeuvres et moeurs, ex aequo"),
        ("e\u0301te\u0301", "ete"),
    ],
)
def test_accents_and_ligatures_are_taken_off(text: str, bare: str) -> None:
    assert without_accents(text) == bare


def test_the_rewritten_questions_are_the_first_hundred_of_dev_by_hash() -> None:
    lines = REWRITTEN.read_text(encoding="utf-8").splitlines()
    rewritten = {row["id"]: row["everyday"] for row in map(json.loads, lines)}
    dev = sorted(written_split("vosdroits")["dev"], key=lambda id: hashlib.sha256(id.encode()).hexdigest())
    assert list(rewritten) == dev[:100]
    assert len(lines) == len(rewritten) == len(set(rewritten.values())) == 100
    for text in rewritten.values():
        assert text == text.strip() == unicodedata.normalize("NFC", text)
        assert 6 <= len(re.findall(r"[\w'-]+", text)) <= 25, text
