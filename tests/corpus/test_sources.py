import sys
from datetime import date
from pathlib import Path

import pytest

from legi_package import article, code, write_package
from lexarbor.corpus import packages
from lexarbor.corpus.bsard import write_bsard
from lexarbor.corpus.jsonl import write_jsonl
from lexarbor.corpus.law import Article, Code
from lexarbor.corpus.sources import DEFAULT_LAW, FORMATS, read_law, read_tiny, read_tiny_questions, snapshots_around
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import CorpusError, FetchError, MissingExtraError


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache that remembers no update of the law."""
    monkeypatch.setenv("LEXARBOR_CACHE", str(tmp_path / "cache"))


def refusal(source: str, format: str | None = None) -> str:
    with pytest.raises(CorpusError) as caught:
        read_law(source, format=format)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.fixture(scope="module")
def tiny() -> LawTree:
    return read_tiny()


@pytest.fixture
def legi(tmp_path: Path) -> Path:
    return write_package(tmp_path / "legi-data-1.0.0.tgz", code("LEGITEXT1", article("LEGIARTI1")))


def test_tiny_is_two_codes_with_their_questions(tiny: LawTree) -> None:
    assert (len(tiny.codes), len(tiny.sections), len(tiny)) == (2, 30, 64)
    assert tiny.date == date(2026, 1, 1)
    assert max(section.level for section in tiny.sections.values()) == 4
    assert list(tiny.nodes()) == list(read_law("tiny").nodes())
    questions = read_tiny_questions()
    assert len(questions.questions) == 24
    assert all(questions.qrels[id] <= tiny.articles.keys() for id in questions.questions)


def test_tiny_is_the_law_of_a_day_too(tiny: LawTree) -> None:
    today, before = tiny.as_of(date(2026, 1, 1)), tiny.as_of(date(2015, 1, 1))
    assert {"VALARTI0070", "VALARTI0071"} <= today.articles.keys()
    assert {"VALARTI0010", "VALARTI0050"} <= before.articles.keys()
    assert not {"VALARTI0010", "VALARTI0050"} & today.articles.keys()
    assert (today.not_held, before.not_held) == (frozenset(), frozenset())


def test_a_legi_tarball_by_path(legi: Path) -> None:
    assert list(read_law(str(legi)).articles) == ["LEGIARTI1"]


def test_a_jsonl_file_by_path(tiny: LawTree, tmp_path: Path) -> None:
    path = tmp_path / "tiny.jsonl"
    write_jsonl(tiny, path)
    assert list(read_law(str(path)).nodes()) == list(tiny.nodes())


@pytest.mark.parametrize("name", ["", "articles_fr.csv"])
def test_a_bsard_folder_or_its_articles_by_path(tiny: LawTree, tmp_path: Path, name: str) -> None:
    write_bsard(tiny, read_tiny_questions(), tmp_path / "bsard")
    tree = read_law(str(tmp_path / "bsard" / name))
    assert tree.name == "bsard"
    assert [one.text for one in tree.articles.values()] == [one.text for one in tiny.articles.values()]


def test_a_package_by_name_is_fetched(legi: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def fetch(package: packages.Package) -> Path:
        asked.append(package.spec)
        return legi

    monkeypatch.setattr(packages, "fetch", fetch)
    assert list(read_law(DEFAULT_LAW).articles) == ["LEGIARTI1"]
    assert asked == ["@socialgouv/legi-data@2.513.0"]


def test_a_package_that_is_not_pinned_is_refused() -> None:
    with pytest.raises(FetchError, match=r"'@socialgouv/legi-data@0\.0\.1' is not a pinned package: choose one of"):
        read_law("@socialgouv/legi-data@0.0.1")


@pytest.mark.parametrize("source", ["", "  ", ",", " , "])
def test_no_name_is_refused(source: str) -> None:
    assert refusal(source) == f"no law was named: give 'tiny', a package like '{DEFAULT_LAW}', or a file by path"


@pytest.mark.parametrize("source", ["Tiny", "code-du-travail", "absent.jsonl", "absent/articles.csv", "a\0b"])
def test_an_unknown_name_is_refused(source: str) -> None:
    assert refusal(source) == (
        f"{source}: no such file, and no law by that name; known are 'tiny', packages like '{DEFAULT_LAW}', "
        "and files of the formats legi, jsonl, bsard"
    )


def test_a_name_no_file_can_have_is_refused() -> None:
    assert refusal("x" * 5000).startswith("x" * 5000 + ": ")


def test_a_format_that_the_name_does_not_tell_must_be_said(legi: Path, tmp_path: Path) -> None:
    renamed = legi.rename(tmp_path / "law.bin")
    untold = f"{renamed}: its format cannot be told from its name; say --law-format legi|jsonl|bsard"
    assert refusal(str(renamed)) == untold
    assert list(read_law(str(renamed), format="legi").articles) == ["LEGIARTI1"]


def test_the_format_said_is_the_one_used(legi: Path) -> None:
    assert "not UTF-8 text" in refusal(str(legi), "jsonl")


@pytest.mark.parametrize("source", ["tiny", "absent", DEFAULT_LAW])
def test_an_unknown_format_is_refused(source: str) -> None:
    assert refusal(source, "xml") == "unknown format 'xml': choose one of legi, jsonl, bsard"


def test_bsard_by_name_is_looked_for_on_the_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtraError, match="reading BSARD from the hub"):
        read_law("maastrichtlawtech/bsard", format="bsard")


def test_a_new_format_is_one_line_in_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_words(path: Path) -> LawTree:
        return LawTree([Code("C", path.name), Article("A", "1", "C", path.read_text(), ())])

    monkeypatch.setitem(FORMATS, "words", (r".*\.txt$", read_words))
    (tmp_path / "law.txt").write_text("Nul ne court.")
    assert read_law(str(tmp_path / "law.txt")).articles["A"].text == "Nul ne court."


def test_sources_joined_by_commas_are_snapshots_of_one_law(tmp_path: Path) -> None:
    old = write_package(tmp_path / "old.tgz", code("LEGITEXT1", article("LEGIARTI1"), since="2010-01-01"))
    new = write_package(tmp_path / "new.tgz", code("LEGITEXT1", article("LEGIARTI2"), since="2020-01-01"))
    tree = read_law(f"{new}, {old},")
    assert (tree.name, tree.date) == ("new", date(2020, 1, 1))
    assert list(tree.as_of(date(2015, 1, 1)).articles) == ["LEGIARTI1", "LEGIARTI2"]
    assert list(tree.as_of(date(2021, 1, 1)).articles) == ["LEGIARTI2"]


def test_sources_that_cannot_be_joined_are_refused(legi: Path) -> None:
    assert "two snapshots carry the same date" in refusal(f"{legi},{legi}")
    assert refusal(f"tiny,{legi.parent / 'absent.tgz'}").startswith(f"{legi.parent / 'absent.tgz'}: no such file")


@pytest.mark.parametrize(
    ("day", "versions"),
    [
        (date(2021, 12, 14), ["2.24.0", "2.100.0", "2.229.0", "2.263.0", "2.513.0"]),
        (date(2021, 12, 15), ["2.100.0", "2.229.0", "2.263.0", "2.513.0"]),
        (date(2023, 7, 1), ["2.263.0", "2.513.0"]),
        (date(2026, 3, 27), ["2.513.0"]),
        (date(2030, 1, 1), ["2.513.0"]),
    ],
)
def test_the_snapshots_around_a_day_tell_its_law(day: date, versions: list[str]) -> None:
    assert [spec.rpartition("@")[2] for spec in snapshots_around(day).split(",")] == versions


def test_a_day_before_the_oldest_snapshot_is_refused() -> None:
    with pytest.raises(CorpusError, match="2020-03-19: the oldest snapshot of the law that is held is of 2020-03-20"):
        snapshots_around(date(2020, 3, 19))
