import gc
import json
from collections.abc import Iterator
from dataclasses import FrozenInstanceError
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from law_trees import content, trees

from lexarbor.corpus.jsonl import FORMAT, read_jsonl, read_lines, write_jsonl
from lexarbor.corpus.law import Article, Code, Section, Version
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import CorpusError, LexarborError

LAW = {"kind": "law", "format": FORMAT, "name": "little", "as_of": "2026-01-01"}
CODE = {"kind": "code", "id": "C1", "title": "Code de la mer"}
SECTION = {"kind": "section", "id": "S1", "parent": "C1", "title": "Livre Ier"}
ARTICLE = {"kind": "article", "id": "A1", "parent": "S1", "number": "L1", "text": "Texte."}


def lines_of(*records: Any) -> list[str]:
    return [record if isinstance(record, str) else json.dumps(record) for record in records]


def read(*records: Any) -> LawTree:
    return read_lines(lines_of(*records), "law.jsonl")


def test_the_fields_of_a_law() -> None:
    tree = read(
        LAW,
        CODE,
        SECTION | {"cid": "S0"},
        SECTION | {"id": "S2", "parent": "S1"},
        ARTICLE
        | {"cid": "A0", "start": "2020-01-01", "end": "2030-01-01", "status": "VIGUEUR", "note": "N."}
        | {"also": ["S2", "C1"], "versions": [["A0", None, "2020-01-01"]]},
    )
    assert (tree.name, tree.date) == ("little", date(2026, 1, 1))
    assert list(tree.nodes()) == [
        Code("C1", "Code de la mer"),
        Section("S1", "Livre Ier", 1, "C1", "S0"),
        Section("S2", "Livre Ier", 2, "S1"),
        Article(
            "A1", "L1", "C1", "Texte.", ("S1",), date(2020, 1, 1), date(2030, 1, 1), "VIGUEUR", "A0", "N.",
            (("S1", "S2"), ()),
        ),
    ]  # fmt: skip
    assert tree.history == {
        "A0": (Version("A0", None, date(2020, 1, 1)), Version("A1", date(2020, 1, 1), date(2030, 1, 1)))
    }


def test_what_is_left_out_or_null_is_not_known() -> None:
    nulls = dict.fromkeys(("cid", "start", "end", "status", "note", "also", "versions"))
    short = read({**LAW, "as_of": None}, CODE, SECTION, ARTICLE)
    assert short.date is None
    assert short.articles["A1"] == Article("A1", "L1", "C1", "Texte.", ("S1",), cid="A1")
    assert content(read({**LAW, "as_of": None}, CODE, SECTION | {"cid": None}, ARTICLE | nulls)) == content(short)


def test_a_section_may_come_after_what_stands_below_it() -> None:
    tree = read(LAW, ARTICLE, SECTION, CODE)
    assert tree.headings(tree.articles["A1"]) == ("Code de la mer", "Livre Ier")


@pytest.mark.parametrize("step", [1, -1], ids=["downwards", "upwards"])
def test_a_deep_chain_is_read(step: int) -> None:
    chain = [SECTION | {"id": f"S{level}", "parent": f"S{level - 1}"} for level in range(2, 5001)]
    tree = read(LAW, CODE, *[SECTION, *chain][::step], ARTICLE | {"parent": "S5000"})
    assert tree.articles["A1"].path == tuple(f"S{level}" for level in range(1, 5001))
    assert all(section.id == f"S{section.level}" for section in tree.sections.values())


def test_blank_lines_a_byte_order_mark_and_odd_separators_are_no_matter(tmp_path: Path) -> None:
    path = tmp_path / "law.jsonl"
    records = (LAW, CODE, SECTION, {**ARTICLE, "text": "Un\u2028deux\x85trois"})
    text = "\r\n\r\n".join(json.dumps(record, ensure_ascii=False) for record in records)
    path.write_bytes(b"\xef\xbb\xbf" + text.encode() + b"\n")
    assert read_jsonl(path).articles["A1"].text == "Un\u2028deux\x85trois"


def test_two_lines_of_one_cid_tell_one_history() -> None:
    first = Version("A1", date(2000, 1, 1), date(2010, 1, 1))
    second = Version("A2", date(2010, 1, 1), None)
    tree = read(
        LAW,
        CODE,
        SECTION,
        ARTICLE | {"cid": "A0", "start": "2000-01-01", "end": "2010-01-01", "versions": [["A2", "2010-01-01", None]]},
        ARTICLE | {"id": "A2", "cid": "A0", "start": "2010-01-01", "versions": [["A1", "2000-01-01", "2010-01-01"]]},
    )
    assert tree.history == {"A0": (first, second)}


def test_a_version_told_twice_is_as_it_was_told_first() -> None:
    told = [["A0", "2000-01-01", None], ["A0", "2001-01-01", None], ["A1", None, None]]
    tree = read(LAW, CODE, SECTION, ARTICLE | {"start": "2010-01-01", "versions": told})
    assert tree.history == {"A1": (Version("A1", None, None), Version("A0", date(2000, 1, 1), None))}


def test_a_version_told_with_other_dates_keeps_them(tmp_path: Path) -> None:
    told = Version("A1", date(2000, 1, 1), date(2010, 1, 1))
    tree = LawTree([Code("C1", ""), Article("A1", "", "C1", "", (), date(2001, 1, 1))], history={"A1": [told]})
    write_jsonl(tree, tmp_path / "law.jsonl")
    assert read_jsonl(tmp_path / "law.jsonl").history == {"A1": (told,)}


def test_the_lines_that_are_written(tmp_path: Path) -> None:
    tree = LawTree(
        [
            Code("C1", "Code de l'été"),
            Section("S1", "Livre Ier", 1, "C1", "S0"),
            Article("A1", "L1", "C1", "Un\ndeux", ("S1",), date(2020, 1, 1), other_paths=((),)),
            Article("A2", "L2", "C1", "", ("S1",), cid="A0", status="VIGUEUR"),
        ],
        name="little",
        history={"A0": [Version("A0", None, date(1999, 1, 1))]},
    )
    path = tmp_path / "law.jsonl"
    write_jsonl(tree, path)
    assert path.read_text(encoding="utf-8").splitlines() == [
        '{"kind": "law", "format": "lexarbor-law/1", "name": "little"}',
        '{"kind": "code", "id": "C1", "title": "Code de l\'été"}',
        '{"kind": "section", "id": "S1", "parent": "C1", "title": "Livre Ier", "cid": "S0"}',
        '{"kind": "article", "id": "A1", "parent": "S1", "number": "L1", "text": "Un\\ndeux", "start": "2020-01-01", '
        '"also": ["C1"]}',
        '{"kind": "article", "id": "A2", "parent": "S1", "number": "L2", "text": "", "cid": "A0", "status": "VIGUEUR", '
        '"versions": [["A0", null, "1999-01-01"]]}',
    ]
    assert content(read_jsonl(path)) == content(tree)


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(LexarborError, match=r"cannot write .*absent"):
        write_jsonl(read(LAW), tmp_path / "absent" / "law.jsonl")


@pytest.mark.parametrize(
    ("records", "line", "complaint"),
    [
        (['{"kind": "law", "fo'], 1, "not valid JSON (Unterminated string starting at at column 17), the line may be"),
        ([LAW, ARTICLE | {"parent": "S9"}, "un texte"], 3, "not valid JSON (Expecting value at column 1)"),
        ([LAW, json.dumps(CODE) + "\x85\n"], 2, "not valid JSON (Extra data at column"),
        ([LAW, CODE, "un texte"], 3, "not valid JSON (Expecting value at column 1)"),
        ([LAW, "[" * 100_000], 2, "maximum recursion depth exceeded"),
        ([LAW, [CODE]], 2, "expected a JSON object, found list"),
        (["null"], 1, "expected a JSON object, found NoneType"),
        ([LAW, {"id": "C1"}], 2, "the field 'kind' is missing"),
        ([LAW, {"kind": "code", "id": "C1"}], 2, "the field 'title' is missing"),
        ([LAW, CODE, {"kind": "section", "id": "S1", "title": ""}], 3, "the field 'parent' is missing"),
        ([LAW, CODE, SECTION, {"kind": "article", "id": "A1"}], 4, "the field 'number' is missing"),
        ([{"kind": "law", "name": "little"}], 1, "the field 'format' is missing"),
        ([LAW | {"format": "lexarbor-law/2"}], 1, "the format is 'lexarbor-law/2', this reader knows 'lexarbor-law/1'"),
        ([LAW | {"name": 5}], 1, "the field 'name' must be text, found int"),
        ([LAW | {"as_of": "someday"}], 1, "expected a date like '2026-01-31', found 'someday'"),
        ([CODE], 1, 'the first line must be of kind "law"'),
        ([LAW, CODE, LAW], 3, 'a second line of kind "law"'),
        ([LAW, {"kind": "chapter", "id": "S1"}], 2, "unknown kind 'chapter', expected law, code, section or article"),
        ([LAW, CODE | {"id": 5}], 2, "the field 'id' must be text, found int"),
        ([LAW, CODE | {"id": ""}], 2, "an id must be a word without spaces around it, found ''"),
        ([LAW, CODE | {"id": " C1"}], 2, "an id must be a word without spaces around it, found ' C1'"),
        ([LAW, CODE, SECTION | {"cid": 5}], 3, "the field 'cid' must be text, found int"),
        ([LAW, CODE, SECTION | {"parent": ["C1"]}], 3, "the field 'parent' must be text, found list"),
        ([LAW, CODE, SECTION, ARTICLE | {"text": None}], 4, "the field 'text' must be text, found NoneType"),
        ([LAW, CODE, SECTION, ARTICLE | {"text": "\ud800"}], 4, "the field 'text' holds half a character"),
        ([LAW, CODE, SECTION | {"title": "L’été \udfff"}], 3, "the field 'title' holds half a character"),
        ([LAW, CODE, SECTION, ARTICLE | {"status": True}], 4, "the field 'status' must be text, found bool"),
        ([LAW, CODE, SECTION, ARTICLE | {"note": {}}], 4, "the field 'note' must be text, found dict"),
        (
            [LAW, CODE, SECTION, ARTICLE | {"start": "2026-13-01"}],
            4,
            "expected a date like '2026-01-31', found '2026-13",
        ),
        ([LAW, CODE, SECTION, ARTICLE | {"end": []}], 4, "expected a date like '2026-01-31', found []"),
        ([LAW, CODE, SECTION, ARTICLE | {"end": 20260101}], 4, "expected a date like '2026-01-31', found 20260101"),
        ([LAW, CODE, SECTION, ARTICLE | {"also": "C1"}], 4, "the field 'also' must be a list, found str"),
        (
            [LAW, CODE, SECTION, ARTICLE | {"also": [5]}],
            4,
            "'also' must name other places by their ids, each once, found 5",
        ),
        ([LAW, CODE, SECTION, ARTICLE | {"also": ["S1"]}], 4, "each once, found 'S1'"),
        ([LAW, CODE, SECTION, ARTICLE | {"also": ["S9"]}], 4, "'A1' is an orphan: its parent 'S9' is not in the file"),
        (
            [LAW, CODE, SECTION, CODE | {"id": "C2"}, ARTICLE | {"also": ["C2"]}],
            5,
            "article 'A1' stands in two codes, 'C1' and 'C2'",
        ),
        ([LAW, CODE, SECTION, ARTICLE | {"versions": "A0"}], 4, "the field 'versions' must be a list, found str"),
        (
            [LAW, CODE, SECTION, ARTICLE | {"versions": [["A0", None]]}],
            4,
            "a version must be [id, start, end], found ['A",
        ),
        (
            [LAW, CODE, SECTION, ARTICLE | {"versions": [["A0", "?", None]]}],
            4,
            "expected a date like '2026-01-31', found",
        ),
        ([LAW, CODE, "", SECTION, SECTION], 5, "the id 'S1' is used twice: line 4 has it already"),
        ([LAW, CODE, SECTION, ARTICLE, ARTICLE], 5, "the id 'A1' is used twice: line 4 has it already"),
        ([LAW, CODE, SECTION, ARTICLE, ARTICLE | {"id": "C1"}], 5, "the id 'C1' is used twice: line 2 has it"),
        (
            [LAW, CODE, SECTION, ARTICLE, ARTICLE | {"text": "Autre."}],
            5,
            "the id 'A1' is used twice, with two texts: line 4 has it already",
        ),
        ([LAW, CODE, SECTION, ARTICLE | {"parent": "S9"}], 4, "'A1' is an orphan: its parent 'S9' is not in the file"),
        ([LAW, ARTICLE, SECTION | {"parent": "C9"}], 3, "'S1' is an orphan: its parent 'C9' is not in the file"),
        ([LAW, CODE, SECTION, ARTICLE, ARTICLE | {"id": "A2", "parent": "A1"}], 5, "its parent 'A1' is an article"),
        ([LAW, CODE, SECTION, ARTICLE, SECTION | {"id": "S2", "parent": "A1"}], 5, "its parent 'A1' is an article"),
        ([LAW, CODE, SECTION | {"parent": "S1"}], 3, "section 'S1' is its own ancestor: S1 → S1"),
        (
            [LAW, CODE, ARTICLE, SECTION | {"parent": "S2"}, SECTION | {"id": "S2", "parent": "S1"}],
            4,
            "section 'S1' is its own ancestor: S1 → S2 → S1",
        ),
        (
            [LAW, ARTICLE | {"parent": "S2"}, SECTION | {"id": "S2", "parent": "S1"}, SECTION | {"parent": "S1"}],
            4,
            "section 'S1' is its own ancestor: S1 → S1",
        ),
    ],
)
def test_a_bad_line_is_named(records: list[Any], line: int, complaint: str) -> None:
    with pytest.raises(CorpusError) as caught:
        read(*records)
    message = str(caught.value)
    assert message.startswith(f"law.jsonl, line {line}: ")
    assert complaint in message
    assert message.endswith("; see docs/jsonl-format.md")
    assert "\n" not in message


@pytest.mark.parametrize(
    ("spoiled", "complaint"),
    [
        (b"", '{path}: no first line {{"kind": "law", "format": "lexarbor-law/1", …}}; is this a law file?'),
        (b"\n \n", '{path}: no first line {{"kind": "law", "format": "lexarbor-law/1", …}}; is this a law file?'),
        ("\n{'été'}".encode("latin-1"), "{path}, line 2: not UTF-8 text; save the file as UTF-8"),
        (json.dumps(LAW).encode("utf-16"), "{path}, line 1: not UTF-8 text; save the file as UTF-8"),
        (None, "{path}: cannot be read (No such file or directory); give the path of a JSONL law file"),
    ],
    ids=["empty", "blank", "latin-1", "utf-16", "missing"],
)
def test_a_bad_file_is_named(tmp_path: Path, spoiled: bytes | None, complaint: str) -> None:
    path = tmp_path / "law.jsonl"
    if spoiled is not None:
        path.write_bytes(spoiled)
    with pytest.raises(CorpusError) as caught:
        read_jsonl(path)
    assert str(caught.value) == complaint.format(path=path)


def test_a_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"cannot be read \(Is a directory\)"):
        read_jsonl(tmp_path)


def test_nodes_are_as_if_made_by_their_own_class() -> None:
    tree = read(LAW, CODE, SECTION, ARTICLE)
    section, article = Section("S1", "Livre Ier", 1, "C1"), Article("A1", "L1", "C1", "Texte.", ("S1",))
    for held, made in ((tree.sections["S1"], section), (tree.articles["A1"], article)):
        assert (type(held), held, hash(held), repr(held)) == (type(made), made, hash(made), repr(made))
        with pytest.raises(FrozenInstanceError):
            held.id = "B1"  # type: ignore[misc]


@pytest.fixture
def collector() -> Iterator[None]:
    yield
    gc.unfreeze()
    gc.enable()


@pytest.mark.parametrize("on", [True, False])
@pytest.mark.parametrize("end", [ARTICLE, "un texte"], ids=["good", "bad"])
def test_the_collector_is_paused_and_put_back(collector: None, on: bool, end: Any) -> None:
    if not on:
        gc.disable()

    def lines() -> Iterator[str]:
        assert not gc.isenabled()
        assert "A1" in read(LAW, CODE, SECTION, ARTICLE).articles  # a reader within the other
        assert not gc.isenabled()
        yield from lines_of(LAW, CODE, SECTION, end)

    if end == ARTICLE:
        read_lines(lines(), "law.jsonl")
    else:
        with pytest.raises(CorpusError):
            read_lines(lines(), "law.jsonl")
    assert gc.isenabled() == on


def test_what_others_froze_stays_frozen(collector: None) -> None:
    gc.freeze()
    frozen = gc.get_freeze_count()
    read(LAW, CODE, SECTION, ARTICLE)
    assert frozen > 0
    assert gc.get_freeze_count() > frozen // 2  # some may have been freed meanwhile


@settings(deadline=None)
@given(tree=trees())
def test_what_is_written_is_read_back(tree: LawTree, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "round-trip.jsonl"
    write_jsonl(tree, path)
    assert content(read_jsonl(path)) == content(tree)


@settings(deadline=None)
@given(tree=trees(), data=st.data())
def test_lines_in_any_order_are_the_same_nodes(
    tree: LawTree, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "any-order.jsonl"
    write_jsonl(tree, path)
    first, *lines = path.read_text(encoding="utf-8").split("\n")
    shuffled = read_lines([first, *data.draw(st.permutations(lines))], "law.jsonl")
    assert (shuffled.codes, shuffled.sections, shuffled.articles) == (tree.codes, tree.sections, tree.articles)


values = st.sampled_from(["C1", "S1", "A1", "", "2020-01-01", None, 5, [], {}, ["S1"], [["A0", None, None]]])
fields = st.sampled_from("id parent number text title cid start end status note also versions".split())
some_records = st.builds(
    lambda record, spoiled: record | spoiled,
    st.sampled_from([LAW, CODE, SECTION, ARTICLE]),
    st.dictionaries(fields, values, max_size=2),
)


@settings(deadline=None)
@given(st.lists(some_records, max_size=6))
def test_no_records_end_in_another_exception(records: list[dict[str, Any]]) -> None:
    try:
        tree = read(LAW, CODE, SECTION, *records)
    except CorpusError as error:
        assert str(error).startswith("law.jsonl, line ")
    else:
        assert "S1" in tree.sections
