"""Questions in everyday words and mistyped ones: how they are read, what they are paired with, those of recipes/."""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from invented import bridges

from lexarbor.corpus.benchmarks.catalogue import written_split
from lexarbor.corpus.sources import read_tiny_questions
from lexarbor.errors import TrainingError
from lexarbor.supervision import preparation
from lexarbor.supervision.disturbing import with_typo, without_accents
from lexarbor.supervision.everyday import (
    TYPED,
    EverydayQuestions,
    disturbed_pairs,
    everyday_pairs,
    read_everyday,
)
from lexarbor.supervision.folder import Pair
from lexarbor.supervision.guard import LeakageGuard
from lexarbor.supervision.preparation import prepare

ROOT = Path(__file__).parents[2]
OURS = (ROOT / "recipes" / "everyday.jsonl", ROOT / "recipes" / "everyday-rural.jsonl")
REWRITTEN = ROOT / "benchmarks" / "rewritten.jsonl"
LAW = bridges("Les piles.", "Les arches.", "Les tabliers.")
GOLD = {"F1": frozenset({"A03", "A01"})}
DEV = "Ai-je le droit de passer la tondeuse le dimanche matin ?"
"""V13 of the tiny benchmark."""


def written(path: Path, *lines: object) -> Path:
    path.write_text("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines), encoding="utf-8")
    return path


def test_lines_are_of_sheets_or_of_sections(tmp_path: Path) -> None:
    path = written(
        tmp_path / "q.jsonl",
        {"id": "F1", "questions": ["On me vire ?", "viré"]},
        {"section": "S1", "questions": ["Et le pont ?"]},
    )
    path.write_text(path.read_text(encoding="utf-8").replace("\n", "\n \n"), encoding="utf-8")
    assert read_everyday(path) == [
        EverydayQuestions(("On me vire ?", "viré"), sheet="F1"),
        EverydayQuestions(("Et le pont ?",), section="S1"),
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", 'expected {"id" or "section", "questions": […]} (Expecting'),
        ("[]", 'expected {"id" or "section", "questions": […]} ('),
        ('"F1"', 'expected {"id" or "section", "questions": […]} ('),
        ('{"id": "F1"}', 'expected {"id" or "section", "questions": […]} (\'questions\')'),
        ('{"id": "F1", "questions": null}', 'expected {"id" or "section", "questions": […]} ('),
        ('{"questions": ["Quoi ?"]}', 'expected one of "id" and "section", and questions that are text'),
        ('{"id": "F1", "section": "S1", "questions": ["Quoi ?"]}', 'expected one of "id" and "section"'),
        ('{"id": 1, "questions": ["Quoi ?"]}', 'expected one of "id" and "section"'),
        ('{"id": " ", "questions": ["Quoi ?"]}', 'expected one of "id" and "section"'),
        ('{"id": "F1", "questions": ["Quoi ?", ""]}', 'expected one of "id" and "section"'),
        ('{"id": "F1", "questions": ["Quoi ?", 3]}', 'expected one of "id" and "section"'),
        ('{"id": "F1", "questions": "Quoi"}', 'expected one of "id" and "section"'),
        ('{"id": "F1", "questions": {"Quoi ?": 1}}', 'expected one of "id" and "section"'),
    ],
)
def test_a_bad_line_is_told_with_its_place(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text(f'{{"id": "F1", "questions": ["Quoi ?"]}}\n\n{line}\n', encoding="utf-8")
    with pytest.raises(TrainingError) as told:
        read_everyday(path)
    assert str(told.value).startswith(f"{path}, line 3: {message}")


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "latin.jsonl").write_bytes(b'{"id": "F\xe9"}')
    for name in ("none.jsonl", "latin.jsonl", ""):
        with pytest.raises(TrainingError, match=r"cannot be read \(.*\); give a JSONL file of everyday questions"):
            read_everyday(tmp_path / name)


def test_a_train_sheet_s_questions_ask_for_its_gold() -> None:
    held = [EverydayQuestions(("On me vire ?", "viré"), sheet="F1")]
    assert list(everyday_pairs(held, GOLD, LAW, LeakageGuard(()))) == [
        Pair("everyday", "On me vire ?", ("A01", "A03"), source="F1"),
        Pair("everyday", "viré", ("A01", "A03"), source="F1"),
    ]


def test_a_section_s_questions_ask_for_the_articles_right_below() -> None:
    held = [EverydayQuestions((f"Et {section} ?",), section=section) for section in ("S1", "S2")]
    assert list(everyday_pairs(held, {}, LAW, LeakageGuard(()))) == [
        Pair("everyday_section", "Et S1 ?", ("A01", "A03")),  # A02 stands in S2, which is inside
        Pair("everyday_section", "Et S2 ?", ("A02",)),
    ]


def test_unknown_sheets_and_sections_are_passed_over() -> None:
    held = [EverydayQuestions(("Quoi ?",), sheet="F2"), EverydayQuestions(("Quoi ?",), section="F1")]
    guard = LeakageGuard(["Quoi ?"])
    assert list(everyday_pairs(held, GOLD, LAW, guard)) == []
    assert not guard.kept_out  # it is not asked of them


def test_what_comes_near_a_title_held_out_is_refused() -> None:
    guard = LeakageGuard(["Vendre au marché"])
    held = [
        EverydayQuestions(("Au marché, vendre ?", "Vendre un âne au marché noir"), sheet="F1"),
        EverydayQuestions(("vendre au marché",), section="S2"),
    ]
    found = everyday_pairs(held, GOLD, LAW, guard)
    assert [pair.question for pair in found] == ["Vendre un âne au marché noir"]
    assert guard.kept_out == {"everyday": 1, "everyday_section": 1}


def test_pairs_are_disturbed_in_turn_and_keep_all_but_their_words() -> None:
    asked = "Où l'élève est-il logé ?"
    pairs = [Pair(kind, asked, ("A01",), ("A02",), "où", True, "F1") for kind in TYPED[:4]]
    first, second, third, fourth = disturbed_pairs(pairs)
    assert first == Pair("disturbed", "Ou l'eleve est-il loge ?", ("A01",), ("A02",), "où", True, "F1")
    assert fourth == first
    assert second.question == with_typo(asked, f"1 {asked}")
    assert third.question == without_accents(with_typo(asked, f"2 {asked}"))
    assert len({one.question for one in (first, second, third)}) == 3
    for one in (second, third):
        assert (one.kind, one.positives, one.negatives, one.source) == ("disturbed", ("A01",), ("A02",), "F1")


def test_kinds_that_nobody_types_are_not_disturbed() -> None:
    others = [Pair(kind, "Le congé d'été", ("A01",)) for kind in ("sentence", "citation", "train_text", "disturbed")]
    typed = [Pair("gold", "Le congé d'été", ("A01",))]
    assert [pair.question for pair in disturbed_pairs(others + typed)] == ["Le conge d'ete"]  # its turn is the first


def test_a_question_that_stays_the_same_makes_no_pair() -> None:
    short = [Pair("gold", "Et si on part ?", ("A01",)) for _ in range(3)]
    assert list(disturbed_pairs(short)) == []


def test_prepared_with_everyday_questions_there_are_three_kinds_more(tmp_path: Path) -> None:
    gold = read_tiny_questions().qrels
    path = written(
        tmp_path / "q.jsonl",
        {"id": "V01", "questions": ["Le voisin met la musique à fond", DEV]},
        {"id": "V13", "questions": ["Le gazon des voisins, le week-end ?"]},
        {"section": "VALSCTA0106", "questions": ["Mon chien doit-il être tenu en laisse ?"]},
        {"section": "VALSCTA9999", "questions": ["Et ma chèvre ?"]},
    )
    plain = prepare("tiny", tmp_path / "plain", kinds=["citation"])
    folder = prepare("tiny", tmp_path / "out", kinds=["citation"], everyday=path)
    assert list(folder.kinds()) == ["gold", "citation", "everyday", "everyday_section", "disturbed"]
    assert folder.facts["kept_out_by_the_guard"] == {"everyday": 1}
    assert folder.pairs[: len(plain.pairs)] == plain.pairs
    asked, section, *disturbed = folder.pairs[len(plain.pairs) :]
    assert asked.question == "Le voisin met la musique à fond"
    assert (asked.positives, asked.source) == (tuple(sorted(gold["V01"])), "V01")
    assert asked.negatives and not set(asked.negatives) & set(asked.positives)
    held = ("VALARTI0008", "VALARTI0009", "VALARTI0011", "VALARTI0070")  # not VALARTI0010, the wording before
    assert section == Pair("everyday_section", "Mon chien doit-il être tenu en laisse ?", held)
    before = [pair for pair in folder.pairs if pair.kind in ("gold", "everyday", "everyday_section")]
    assert disturbed == list(disturbed_pairs(before))
    assert len(before) - 3 <= len(disturbed) <= len(before)
    told = {(pair.positives, pair.negatives, pair.source) for pair in before}
    assert {(pair.positives, pair.negatives, pair.source) for pair in disturbed} <= told


def test_without_such_a_file_nothing_is_disturbed(tmp_path: Path) -> None:
    assert not {"everyday", "everyday_section", "disturbed"} & set(prepare("tiny", tmp_path).kinds())


def test_a_bad_file_is_met_before_long_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparation, "build_benchmark", lambda name, source: pytest.fail("the law was read"))
    with pytest.raises(TrainingError, match=r"q\.jsonl, line 1: expected"):
        prepare("tiny", tmp_path / "out", everyday=written(tmp_path / "q.jsonl", {"id": "V01"}))
    assert not (tmp_path / "out").exists()


def test_held_out_sheets_are_not_asked_for(invented: Callable[[], None], tmp_path: Path) -> None:
    invented()
    rows = [{"id": f"F{number}", "questions": [f"Et la chose numéro {number} ?"]} for number in range(1, 7)]
    path = written(tmp_path / "q.jsonl", *rows, {"id": "F1", "questions": ["Vendre au marché ?"]})
    folder = prepare("vosdroits", tmp_path / "out", kinds=["citation"], everyday=path)
    asked = [(pair.kind, pair.question) for pair in folder.pairs if pair.kind.startswith("everyday")]
    assert asked == [("everyday", "Et la chose numéro 1 ?")]  # F2 is of dev, F3 of test, the others have no gold
    assert folder.facts["kept_out_by_the_guard"]["everyday"] == 1


def test_our_questions_are_of_the_train_sheets_and_of_sections() -> None:
    held = [one for path in OURS for one in read_everyday(path)]
    split = written_split("vosdroits")
    sheets = {one.sheet: one.questions for one in held if one.sheet}
    sections = {one.section: one.questions for one in held if one.section}
    assert len(held) == len(sheets) + len(sections)  # each once
    assert len(sheets) == 528 and sheets.keys() == set(split["train"])
    assert not sheets.keys() & {*split["dev"], *split["test"]}
    assert {len(questions) for questions in sheets.values()} == {8}
    assert {len(questions) for questions in sections.values()} == {1, 2, 3, 4}
    assert len(sections) == 5383 + 1253 and all(re.fullmatch(r"LEGISCTA\d{12}", id) for id in sections)


def test_our_questions_differ_and_none_is_one_that_dev_is_asked_by() -> None:
    each = [one.questions for path in OURS for one in read_everyday(path)]
    assert all(len(set(questions)) == len(questions) for questions in each)
    ours = [question for questions in each for question in questions]
    again = [question for question, times in Counter(ours).items() if times > 1]
    assert len(again) < 10  # a law and its decree may have a section each that answer the same
    for question in ours:
        assert question == question.strip() == unicodedata.normalize("NFC", question)
    rewritten = (json.loads(line)["everyday"] for line in REWRITTEN.read_text(encoding="utf-8").splitlines())
    guard = LeakageGuard(rewritten)
    assert [question for question in ours if guard.is_near(question)] == []
