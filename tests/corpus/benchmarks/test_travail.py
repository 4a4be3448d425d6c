from datetime import date
from pathlib import Path

import pytest

from lexarbor.corpus.benchmarks.travail import AskedSection, label, read_sections
from lexarbor.corpus.benchmarks.vosdroits import Labelled, Unresolved
from lexarbor.corpus.citations import LONGEST_RANGE
from lexarbor.corpus.law import Article, Code
from lexarbor.corpus.questions import Question
from lexarbor.corpus.sources import read_tiny
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import CorpusError
from npm_package import pack

MEMBER = "data/fiches-travail.json"
CODE = "LEGITEXT0001"


def cited(*numbers: str, code: str = CODE) -> dict[str, object]:
    """References as the package has them; a number in brackets lies inside a range and has no text."""
    articles = [
        {"cid": f"C-{number.strip('[]')}"} | ({} if number.startswith("[") else {"text": number}) for number in numbers
    ]
    return {code: {"articles": articles}}


def sheet(*sections: tuple[str, dict[str, object]], title: str = "Le repos des ânes") -> dict[str, object]:
    return {
        "pubId": "s1",
        "title": title,
        "sections": [{"title": heading, "references": references} for heading, references in sections],
    }


def cids(*numbers: str) -> frozenset[str]:
    return frozenset(f"C-{number}" for number in numbers)


def section(title: str, *cids: str, sheet_title: str = "Vie au bourg", id: str = "s1-0") -> AskedSection:
    return AskedSection(id, sheet_title, title, frozenset(cids))


# Reading


def test_sections_titled_by_a_question_that_cite_articles(tmp_path: Path) -> None:
    tarball = pack(
        tmp_path / "package.tgz",
        {
            MEMBER: [
                sheet(
                    ("Qui  peut se\nreposer ?", cited("L1")),
                    ("Le principe", cited("L2")),
                    ("Et la nuit ?", {}),
                    ("Quand ? Combien ?", cited("L3") | cited("L4", code="LEGITEXT0002")),
                )
            ],
            "index.js": b"not read",
        },
    )
    assert read_sections(tarball) == [
        AskedSection("s1-0", "Le repos des ânes", "Qui peut se reposer ?", cids("L1")),
        AskedSection("s1-3", "Le repos des ânes", "Quand ? Combien ?", cids("L3", "L4")),
    ]


@pytest.mark.parametrize(
    ("references", "expected"),
    [
        (cited("L1", "[L2]", "[L3]", "L4", "L9"), cids("L1", "L2", "L3", "L4", "L9")),
        (cited("L1", "[L2]", "[L3]"), cids("L1", "L2", "L3")),  # its end was cited before
        (cited("L1", code="unknown"), None),  # the package could not tell the code
        ({CODE: {"articles": [{"text": "L7"}, {"text": "L1", "cid": "C-L1"}]}}, cids("L1")),  # nor the article
        (cited("L0", *(f"[L{count}]" for count in range(1, 99)), "L99"), cids(*(f"L{count}" for count in range(100)))),
        (cited("L0", *(f"[L{count}]" for count in range(1, 100)), "L100", "[L101]", "L102"),
         cids("L0", "L100", "L101", "L102")),
    ],
)  # fmt: skip
def test_a_range_is_written_out_between_its_ends(
    tmp_path: Path, references: dict[str, object], expected: frozenset[str] | None
) -> None:
    found = read_sections(pack(tmp_path / "package.tgz", {MEMBER: [sheet(("Quand ?", references))]}))
    assert [asked.cids for asked in found] == ([expected] if expected else [])
    assert LONGEST_RANGE == 100


@pytest.mark.parametrize(
    "content",
    [b"[{", b"3", b'{"sections": []}', [{"pubId": "s1"}], [sheet(("Quand ?", {CODE: {}}))], b"[" * 100_000],
)
def test_a_file_that_is_not_the_ministrys_is_refused(tmp_path: Path, content: object) -> None:
    with pytest.raises(CorpusError, match=f"{MEMBER}: not the Ministry's sheets .*fetch it again"):
        read_sections(pack(tmp_path / "package.tgz", {MEMBER: content}))


def test_a_package_without_the_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=f"not the Ministry's sheets .*KeyError: '{MEMBER}'"):
        read_sections(pack(tmp_path / "package.tgz", {"data/index.json": []}))


# Labelling


def test_a_section_becomes_a_question_under_its_sheets_title() -> None:
    labelled = label([section("Qui garde l'âne ?", "VALARTI0001", "VALARTI0002")], read_tiny(), [])
    assert labelled.questions == {"s1-0": Question("s1-0", "Vie au bourg : Qui garde l'âne ?", "Vie au bourg")}
    assert labelled.qrels == {"s1-0": {"VALARTI0001", "VALARTI0002"}}
    assert (labelled.references, labelled.unresolved) == (2, ())


def test_articles_are_found_by_cid_in_the_version_in_force() -> None:
    labelled = label([section("Où est l'âne ?", "VALARTI0010", "elsewhere")], read_tiny(), [])
    assert labelled.qrels == {"s1-0": {"VALARTI0070"}}
    assert (labelled.references, labelled.unresolved) == (2, (Unresolved("s1-0", "elsewhere"),))


def test_a_version_that_is_not_in_force_is_no_gold() -> None:
    to_come = Article("v2", "L1", "C", "…", (), date(2030, 1, 1), cid="c1")
    now = Article("v1", "L1", "C", "…", (), date(2010, 1, 1), date(2030, 1, 1), cid="c1")
    law = LawTree([Code("C", "Code des ponts"), now, to_come], date=date(2026, 1, 1))
    assert label([section("Quand ?", "c1")], law, []).qrels == {"s1-0": {"v1"}}


def test_a_section_without_an_article_held_is_left_out() -> None:
    assert label([section("Qui garde l'âne ?", "elsewhere")], read_tiny(), []) == Labelled({}, {}, 0, ())


@pytest.mark.parametrize(
    ("known", "kept"),
    [
        ("Qui garde l'âne", False),  # near the section's title
        ("La vie au bourg", False),  # near its sheet's
        ("Vie au bourg : qui garde l'âne", False),  # near both together
        ("Qui garde l'âne et le mulet en hiver", True),
    ],
)
def test_a_section_near_a_known_title_is_left_out(known: str, kept: bool) -> None:
    labelled = label([section("Qui garde l'âne ?", "VALARTI0001")], read_tiny(), ["Autre chose", known])
    assert list(labelled.questions) == list(labelled.qrels) == (["s1-0"] if kept else [])
