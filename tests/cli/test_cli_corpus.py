"""`lexarbor corpus`: packages into the cache, a look into the law."""

import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lexarbor.corpus import packages
from lexarbor.corpus.packages import Package, sha512

Command = Callable[..., Any]
SPEC = "@lexarbor/valombre@1.0.0"


@pytest.fixture
def tarball(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package that Lexarbor pins, for the length of a test."""
    inside, path = tmp_path / "package.json", tmp_path / "valombre.tgz"
    inside.write_text("{}", encoding="utf-8")
    with tarfile.open(path, "w:gz") as archive:
        archive.add(inside, "package/package.json")
    pinned = Package("@lexarbor/valombre", "1.0.0", sha512(path))
    monkeypatch.setattr(packages, "PACKAGES", {SPEC: pinned})
    return path


def test_a_tarball_at_hand_is_checked_and_kept(lexarbor: Command, tarball: Path, tmp_path: Path) -> None:
    kept = tmp_path / "cache" / "lexarbor-valombre-1.0.0.tgz"
    assert lexarbor("corpus", "fetch", SPEC, "--tarball", tarball) == (0, f"{kept}\n", "")
    assert kept.read_bytes() == tarball.read_bytes()
    assert lexarbor("corpus", "fetch", SPEC) == (0, f"{kept}\n", "")  # from the cache: no npm is asked


def test_a_tarball_that_is_not_the_pinned_one_is_refused(lexarbor: Command, tarball: Path, tmp_path: Path) -> None:
    tarball.write_bytes(tarball.read_bytes() + b"\0")
    code, out, err = lexarbor("corpus", "fetch", SPEC, "--tarball", tarball)
    assert (code, out) == (2, "")
    assert err.startswith(f"lexarbor: {tarball} refused as {SPEC}: its checksum is sha512-")
    assert err.count("\n") == 1
    assert list((tmp_path / "cache").iterdir()) == []


def test_one_tarball_is_one_package(lexarbor: Command, tarball: Path) -> None:
    code, out, err = lexarbor("corpus", "fetch", SPEC, "@lexarbor/other@1.0.0", "--tarball", tarball)
    assert (code, out) == (2, "")
    assert err.startswith("lexarbor: --tarball holds one package: name that one")


def test_a_package_that_is_not_pinned_is_refused(lexarbor: Command, tarball: Path) -> None:
    code, out, err = lexarbor("corpus", "fetch", "left-pad@1.0.0")
    assert (code, out) == (2, "")
    assert err == f"lexarbor: 'left-pad@1.0.0' is not a pinned package: choose one of {SPEC}\n"


def test_the_law_in_json(lexarbor: Command) -> None:
    code, out, err = lexarbor("corpus", "show", "--law", "tiny", "--format", "json")
    assert (code, err) == (0, "")
    assert json.loads(out) == {
        "law": "tiny",
        "law_as_of": "2026-01-01",
        "codes": [
            {"id": "VALTEXT01", "code": "Code communal de Valombre", "articles": 46, "sections": 21, "depth": 4},
            {
                "id": "VALTEXT02",
                "code": "Code des fêtes, marchés et jardins de Valombre",
                "articles": 18,
                "sections": 9,
                "depth": 4,
            },
        ],
        "articles": 64,
        "sections": 30,
        "not_held": [],
    }


def test_the_law_in_tsv_and_as_a_table(lexarbor: Command) -> None:
    assert lexarbor("corpus", "show", "--law", "tiny", "-f", "tsv").out.splitlines() == [
        "id\tcode\tarticles\tsections\tdepth",
        "VALTEXT01\tCode communal de Valombre\t46\t21\t4",
        "VALTEXT02\tCode des fêtes, marchés et jardins de Valombre\t18\t9\t4",
    ]
    table = lexarbor("corpus", "show", "--law", "tiny").out
    assert table.splitlines()[0].rstrip() == "tiny, as of 2026-01-01: 64 articles, 30 sections"
    assert "Code communal de Valombre" in table


def test_a_number_that_two_codes_have_shows_both_articles(lexarbor: Command) -> None:
    code, out, err = lexarbor("corpus", "show", "L111-1", "--law", "tiny", "-f", "json")
    assert (code, err) == (0, "")
    assert [article["id"] for article in json.loads(out)] == ["VALARTI0001", "VALARTI0046"]
    lines = lexarbor("corpus", "show", "L111-1", "--law", "tiny", "-f", "tsv").out.splitlines()
    assert [line.split("\t")[0] for line in lines] == ["id", "VALARTI0001", "VALARTI0046"]
    table = lexarbor("corpus", "show", "L111-1", "--law", "tiny").out
    assert "règles de vie commune" in table
    assert "la tenue des foires et marchés" in table


@pytest.mark.parametrize(
    "reference", ["article L. 111-1 du code des fêtes, marchés et jardins de Valombre", "VALARTI0046"]
)
def test_an_article_of_one_code_by_reference_or_id(lexarbor: Command, reference: str) -> None:
    (article,) = json.loads(lexarbor("corpus", "show", reference, "--law", "tiny", "-f", "json").out)
    assert article == {
        "id": "VALARTI0046",
        "number": "L111-1",
        "place": "Code des fêtes, marchés et jardins de Valombre › Partie législative › Titre Ier : Fêtes › "
        "Chapitre Ier : Organisation des réjouissances publiques › Dispositions générales",
        "law_as_of": "2026-01-01",
        "start": "2015-01-01",
        "end": None,
        "status": "VIGUEUR",
        "text": "Le présent code régit les réjouissances publiques, la tenue des foires et marchés et l'attribution "
        "des parcelles de culture. Les principes énoncés aux articles L. 111-1 à L. 111-3 du code communal de "
        "Valombre lui sont applicables.",
        "note": "",
        "cites": ["L111-1", "L111-2", "L111-2-1", "L111-3"],
        "cited_by": [],
    }


@pytest.mark.parametrize(
    ("day", "id", "end"), [("2020-01-01", "VALARTI0010", "2022-07-01"), ("2022-07-01", "VALARTI0070", None)]
)
def test_an_article_as_it_was_on_a_day(lexarbor: Command, day: str, id: str, end: str | None) -> None:
    done = lexarbor("corpus", "show", "L113-2", "--law", "tiny", "--as-of", day, "-f", "json")
    assert [(article["id"], article["end"]) for article in json.loads(done.out)] == [(id, end)]


def test_what_was_in_force_but_is_not_held_is_said_on_the_side(lexarbor: Command) -> None:
    code, out, err = lexarbor("corpus", "show", "--law", "tiny", "--as-of", "2012-01-01", "-f", "json")
    assert code == 0
    assert json.loads(out)["not_held"] == ["VALARTI0030"]
    assert err == "1 articles had a version in force that day whose text no snapshot holds.\n"


@pytest.mark.parametrize("day", ["31/12/2020", "2020-13-01", "demain", ""])
def test_what_is_not_a_day_is_refused(lexarbor: Command, day: str) -> None:
    assert lexarbor("corpus", "show", "--law", "tiny", "--as-of", day) == (
        2,
        "",
        f"lexarbor: '{day}' is not a day: write it as YYYY-MM-DD, e.g. 2021-03-01\n",
    )


@pytest.mark.parametrize("reference", ["L999-9", "le chien", "L111-1 du code civil"])
def test_a_reference_to_nothing_is_refused(lexarbor: Command, reference: str) -> None:
    code, out, err = lexarbor("corpus", "show", reference, "--law", "tiny")
    assert (code, out) == (2, "")
    assert err == (
        f"lexarbor: '{reference}' names no article in force on 2026-01-01; the codes held are "
        "Code communal de Valombre, Code des fêtes, marchés et jardins de Valombre\n"
    )


def test_a_version_that_is_not_held_is_said_to_be_so(lexarbor: Command) -> None:
    code, out, err = lexarbor("corpus", "show", "L231-2", "--law", "tiny", "--as-of", "2012-01-01")
    assert (code, out) == (2, "")
    assert err == "lexarbor: 'L231-2': the version of 2012-01-01 is not held: read a snapshot nearer to that day too\n"


@pytest.mark.parametrize(
    ("reference", "ids"),
    [
        ("l. 211-1 du code communal de Valombre", ["VALARTI0020"]),
        ("Annexe à l'article R211-4", ["VALARTI0042"]),
        ("l113-1 a", ["VALARTI0008"]),
    ],
)
def test_what_stands_alone_is_a_reference_in_any_spelling(lexarbor: Command, reference: str, ids: list[str]) -> None:
    code, out, _ = lexarbor("corpus", "show", reference, "--law", "tiny", "-f", "json")
    assert (code, [article["id"] for article in json.loads(out)]) == (0, ids)


def test_a_day_after_the_newest_snapshot_is_told(lexarbor: Command) -> None:
    code, _, err = lexarbor("corpus", "show", "--law", "tiny", "--as-of", "2030-01-01")
    assert (code, err) == (0, "The newest snapshot is of 2026-01-01: what has changed since then is not known.\n")


def test_a_laws_text_does_not_steer_the_terminal(lexarbor: Command, tmp_path: Path) -> None:
    law = tmp_path / "law.jsonl"
    records = [
        {"kind": "law", "format": "lexarbor-law/1", "name": "red"},
        {"kind": "code", "id": "C", "title": "Code"},
        {"kind": "article", "id": "A1", "parent": "C", "number": "L1-1", "text": "Le chien \x1b[31mrouge\x07."},
    ]
    law.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    for form in ("table", "tsv"):
        code, out, _ = lexarbor("corpus", "show", "L1-1", "--law", law, "-f", form)
        assert code == 0 and "Le chien [31mrouge." in out
