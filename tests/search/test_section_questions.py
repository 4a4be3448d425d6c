"""Everyday questions of sections: where rows stand among them, BM25 over them against the formula, those that ship."""

import json
import lzma
import re
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from six_articles import IDS as SIX_IDS
from six_articles import LAW as SIX
from six_articles import heading

from bm25_formula import lucene_bm25
from everyday_questions import ANIMAL_ROWS, ANIMALS, ELSEWHERE, EVERYDAY, HELD, NOISE, NOISE_ROWS
from lexarbor.corpus.sources import read_tiny
from lexarbor.errors import ModelError, SearchError
from lexarbor.files import shipped_path
from lexarbor.search import section_questions
from lexarbor.search.analysis import stems
from lexarbor.search.lexical import LexicalIndex
from lexarbor.search.section_questions import SectionQuestions, read_section_questions, shipped_questions

LAW = read_tiny().as_of(date(2026, 1, 1))
IDS = sorted(LAW.articles)
K1, B = 1.2, 0.4
SAID = ("toutou", "java", "hurle", "matou", "méchant", "dehors", "voisins", "malle")
PHRASES = st.lists(st.sampled_from(SAID), min_size=1, max_size=5).map(" ".join)
TOLD = st.dictionaries(st.sampled_from(("C", "S1", "S2", "S3", "S9")), st.lists(PHRASES, min_size=1, max_size=3))


@pytest.fixture(scope="module")
def tiny() -> SectionQuestions:
    found = SectionQuestions.build(LAW, IDS, EVERYDAY)
    assert found is not None
    return found


def test_rows_stand_among_the_questions_of_their_section_or_nowhere(tiny: SectionQuestions) -> None:
    assert tiny.questions == [list(EVERYDAY[section]) for section in HELD]
    places = dict.fromkeys(IDS, -1) | dict.fromkeys(NOISE_ROWS, 0) | dict.fromkeys(ANIMAL_ROWS, 1)
    assert dict(zip(IDS, tiny.places.tolist(), strict=True)) == places
    assert tiny.places.dtype == np.int32


@pytest.mark.parametrize(
    "question",
    [
        "Où est mon toutou ?",
        "Un toutou hurle dehors, et un toutou méchant",
        "RECUPERER le toutou des voisins au matin",
        "la divagation",  # words of the law alone
        "aboie",  # of another law's questions alone
        "?",
    ],
)
def test_a_row_has_the_bm25_of_its_section_s_questions_and_elsewhere_0(tiny: SectionQuestions, question: str) -> None:
    texts = [" ".join(EVERYDAY[section]) for section in HELD]
    of = dict(zip(HELD, lucene_bm25(texts, question, K1, B), strict=True))
    scores = tiny.scores(question)
    assert scores.tolist() == pytest.approx([of.get(LAW.articles[id].parent, 0) for id in IDS], rel=1e-5)
    assert scores.dtype == np.float32


def test_one_example_to_the_fourth_digit(tiny: SectionQuestions) -> None:
    found = dict(zip(IDS, tiny.scores("Où est mon toutou ?").tolist(), strict=True))
    # "toutou" gives two stems, each twice among the 16 of its section, one of two that have 16 and 22
    each = np.log(2) * 2 / (2 + 1.2 * (0.6 + 0.4 * 16 / 19))
    assert [found[id] for id in ANIMAL_ROWS] == pytest.approx([2 * each] * 4, abs=1e-4)
    assert sum(found.values()) == pytest.approx(8 * each, abs=1e-4)


@given(TOLD, PHRASES)
@settings(deadline=None)  # the first index imports bm25s
def test_scores_are_those_of_the_formula_over_the_sections_that_hold_articles(
    told: dict[str, list[str]], question: str
) -> None:
    held = {place: some for place, some in told.items() if place in {heading(id) for id in SIX_IDS}}
    found = SectionQuestions.build(SIX, SIX_IDS, told)
    if found is None:
        assert not held
        return
    of = dict(zip(held, lucene_bm25([" ".join(some) for some in held.values()], question, K1, B), strict=True))
    assert found.scores(question).tolist() == pytest.approx([of.get(heading(id), 0) for id in SIX_IDS], rel=1e-5)


@pytest.mark.parametrize(
    "questions",
    [
        {},
        {ELSEWHERE: ["Mon toutou aboie"]},
        {"VALSCTA0103": ["Mon toutou aboie"]},  # articles stand in the sections below it alone
        {HELD[0]: [], HELD[1]: ["Et le la ?"]},  # nothing to look for
    ],
)
def test_a_law_without_any_has_none(questions: dict[str, list[str]]) -> None:
    assert SectionQuestions.build(LAW, IDS, questions) is None


@pytest.mark.parametrize(
    ("question", "nearest"),
    [
        ("Mon toutou s'est fait la malle", 0),
        ("Le matou des voisins", 1),
        ("RECUPERER", 1),  # with or without accents
        ("Mon toutou", 2),  # of two that have the word, the one with fewer others
        ("toutou, malle", 0),
        ("Une java", 0),  # nothing shared: the first
        ("?", 0),
    ],
)
def test_the_nearest_question_shares_the_most_of_its_words(tiny: SectionQuestions, question: str, nearest: int) -> None:
    for id in ANIMAL_ROWS:
        assert tiny.nearest(IDS.index(id), tiny.terms(question)) == EVERYDAY[ANIMALS][nearest]


def test_a_row_of_no_such_section_has_no_nearest_question(tiny: SectionQuestions) -> None:
    for row in np.flatnonzero(tiny.places < 0).tolist():
        assert tiny.nearest(row, tiny.terms("Mon toutou s'est fait la malle")) is None
    asked = tiny.terms("Mon toutou s'est fait la malle")
    assert tiny.nearest(IDS.index(NOISE_ROWS[0]), asked) == EVERYDAY[NOISE][0]


def test_a_question_of_function_words_alone_is_near_to_nothing() -> None:
    found = SectionQuestions.build(SIX, SIX_IDS, {"S2": ["Et pourquoi ?", "Un toutou ?"]})
    assert found is not None
    row = SIX_IDS.index("c")
    assert [found.nearest(row, found.terms(asked)) for asked in ("toutou", "pourquoi")] == [
        "Un toutou ?",
        "Et pourquoi ?",
    ]


@given(st.lists(PHRASES, min_size=1, max_size=5), st.data())
@settings(deadline=None)
def test_nothing_is_nearer_to_a_question_than_itself(some: list[str], data: st.DataObject) -> None:
    found = SectionQuestions.build(SIX, SIX_IDS, {"S3": some})
    assert found is not None
    asked, analyse = data.draw(st.sampled_from(some)), stems()
    nearest = found.nearest(SIX_IDS.index("a"), found.terms(asked))
    assert nearest is not None and set(analyse(nearest)) == set(analyse(asked))


def test_what_was_saved_is_read(tiny: SectionQuestions, tmp_path: Path) -> None:
    tiny.save(tmp_path / "everyday")
    assert {path.relative_to(tmp_path / "everyday").as_posix() for path in tmp_path.rglob("*") if path.is_file()} == {
        *("questions.json", "places.npy", "bm25/terms.json", "bm25/starts.npy", "bm25/rows.npy", "bm25/weights.npy"),
    }  # fmt: skip
    found = SectionQuestions.load(tmp_path / "everyday", len(IDS))
    assert found.questions == tiny.questions
    assert found.places.tolist() == tiny.places.tolist() and found.places.dtype == np.int32
    for question in ("Un toutou hurle dehors", "Le matou des voisins", "divagation", "?"):
        assert found.scores(question).tolist() == tiny.scores(question).tolist()
        for row in range(len(IDS)):
            assert found.nearest(row, found.terms(question)) == tiny.nearest(row, tiny.terms(question))


@given(st.text())
@settings(max_examples=30, deadline=None)
def test_any_text_is_saved_as_it_is(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder = tmp_path_factory.mktemp("any") / "everyday"
    made = SectionQuestions.build(SIX, SIX_IDS, {"S3": ["Un toutou ?", text]})
    assert made is not None
    made.save(folder)
    assert SectionQuestions.load(folder, 6).questions == [["Un toutou ?", text]]


@pytest.mark.parametrize("rows", [0, 60, 62])
def test_places_of_another_number_of_rows_are_refused(tiny: SectionQuestions, tmp_path: Path, rows: int) -> None:
    tiny.save(tmp_path / "everyday")
    with pytest.raises(SearchError, match=rf"everyday: places are \(61,\) for {rows} articles"):
        SectionQuestions.load(tmp_path / "everyday", rows)


@pytest.mark.parametrize("places", [[0, 2], [-2, 0], [7], [-1, 1, 2]])
def test_places_that_name_no_section_are_refused(places: list[int]) -> None:
    questions = [["Un toutou ?"], ["Un matou ?"]]
    lexical = LexicalIndex.build(["Un toutou ?", "Un matou ?"])
    with pytest.raises(SearchError, match="places name sections that are not among 2"):
        SectionQuestions(questions, np.array(places, dtype=np.int32), lexical)


def test_a_file_has_a_line_for_each_section(tmp_path: Path) -> None:
    path = tmp_path / "everyday.jsonl.xz"
    lines = [
        {"section": "S2", "questions": ["Un toutou\u2028perdu ?", "Mon œil"]},
        {"section": "S1", "questions": ["A"]},
    ]
    text = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    for content in (text, f"{text}\n"):
        path.write_bytes(lzma.compress(content.encode()))
        assert read_section_questions(path) == {"S2": ("Un toutou\u2028perdu ?", "Mon œil"), "S1": ("A",)}


LINE = b'{"section": "S1", "questions": ["Un toutou ?"]}\n'
WHOLE = lzma.compress(LINE)
BROKEN = {
    "empty": b"",
    "no xz": LINE,
    "cut short": WHOLE[: len(WHOLE) // 2],
    "without its end": WHOLE[:-12],
    "another byte": WHOLE[:30] + bytes([WHOLE[30] ^ 1]) + WHOLE[31:],
    "no UTF-8": lzma.compress(b'{"section": "S1", "questions": ["\x80"]}'),
    "no JSON": lzma.compress(b'{"section": '),
    "an empty line": lzma.compress(b"\n"),
    "a list": lzma.compress(b'["S1"]'),
    "a number": lzma.compress(b"3"),
    "no section": lzma.compress(b'{"questions": ["Un toutou ?"]}'),
    "no questions": lzma.compress(b'{"section": "S1"}'),
    "letters": lzma.compress(b'{"section": "S1", "questions": "Un toutou ?"}'),
    "a section twice": lzma.compress(2 * LINE),
    "a number of questions": lzma.compress(b'{"section": "S1", "questions": 3}'),
    "sections": lzma.compress(b'{"section": ["S1"], "questions": ["Un toutou ?"]}'),
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_a_broken_file_is_refused_by_its_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "everyday.jsonl.xz"
    path.write_bytes(content)
    told = r"everyday\.jsonl\.xz: no questions that can be read \(.+\); install Lexarbor again$"
    with pytest.raises(ModelError, match=told):
        read_section_questions(path)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.jsonl.xz", tmp_path):
        with pytest.raises(ModelError, match=rf"{path}: no questions that can be read \(.+\); install Lexarbor again$"):
            read_section_questions(path)


def test_the_shipped_file_has_questions_with_words_by_ids_of_sections() -> None:
    shipped, analyse = shipped_questions(), stems()
    assert len(shipped) > 1000
    for section, questions in shipped.items():
        assert re.fullmatch(r"LEGISCTA\d{12}", section)
        assert questions and len(set(questions)) == len(questions), section
        for question in questions:
            assert question == question.strip() and question.isprintable() and analyse(question), section


def test_no_shipped_section_stands_twice() -> None:
    with lzma.open(shipped_path(section_questions.SHIPPED), "rt", encoding="utf-8") as file:
        assert sum(1 for _ in file) == len(shipped_questions())


def test_a_copy_without_the_file_has_no_questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(section_questions, "shipped_path", lambda name: tmp_path / name)
    assert shipped_questions.__wrapped__() == {}
