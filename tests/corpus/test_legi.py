import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from legi_package import Node, article, code, milliseconds, section, write_package
from lexarbor.corpus.law import Article, Code, Section, Version
from lexarbor.corpus.legi import read_legi
from lexarbor.errors import CorpusError
from npm_package import pack

SEA = "LEGITEXT000000000001"


@pytest.fixture
def tarball(tmp_path: Path) -> Path:
    return tmp_path / "legi-1.0.0.tgz"


def refusal(tarball: Path) -> str:
    with pytest.raises(CorpusError) as caught:
        read_legi(tarball)
    message = str(caught.value)
    assert message.startswith(str(tarball))
    assert "\n" not in message
    return message.removeprefix(str(tarball))


def test_a_package_is_a_tree_in_the_order_of_the_law(tarball: Path) -> None:
    sea = code(
        SEA,
        section(
            "LEGISCTA1",
            section("LEGISCTA2", article("LEGIARTI2", "L1-2"), article("LEGIARTI1", "L1-1"), cid="LEGISCTA0"),
            article("LEGIARTI3", "L2"),
            title=" Livre\n Ier ",
        ),
        article("LEGIARTI4", "Annexe  I"),
    )
    wind = code("LEGITEXT000000000000", article("LEGIARTI5"), title="Code des vents", since="2021-06-01")
    tree = read_legi(write_package(tarball, sea, wind))
    assert tree.name == "legi-1.0.0"
    assert tree.date == date(2021, 6, 1)
    assert [node.id for node in tree.nodes()] == [
        SEA,
        "LEGISCTA1",
        "LEGISCTA2",
        "LEGIARTI2",
        "LEGIARTI1",
        "LEGIARTI3",
        "LEGIARTI4",
        "LEGITEXT000000000000",
        "LEGIARTI5",
    ]
    assert tree.codes[SEA] == Code(SEA, "Code de la mer")
    assert tree.sections["LEGISCTA1"] == Section("LEGISCTA1", "Livre Ier", 1, SEA, "LEGISCTA1")
    assert tree.sections["LEGISCTA2"] == Section("LEGISCTA2", "Dispositions générales", 2, "LEGISCTA1", "LEGISCTA0")
    assert tree.articles["LEGIARTI1"].path == ("LEGISCTA1", "LEGISCTA2")
    assert tree.articles["LEGIARTI4"].number == "Annexe I"
    assert tree.articles["LEGIARTI4"].path == ()


def test_an_article_with_its_dates_and_versions(tarball: Path) -> None:
    told = [
        ("LEGIARTI1", "1945-10-05", "1999-12-31"),
        ("LEGIARTI2", "1999-12-31", "2030-01-01"),
        ("LEGIARTI3", "2030-01-01", None),
    ]
    node = article(
        "LEGIARTI2",
        "L1",
        "<p>Un.</p><p>Deux.</p>",
        cid="LEGIARTI1",
        start="1999-12-31",
        end="2030-01-01",
        versions=told,
        status="ABROGE_DIFF",
        plain="Un. Deux.",
        note="<p>NOTA :<br/>Se reporter au <a href='/x'>décret</a>.</p>",
    )
    tree = read_legi(write_package(tarball, code(SEA, node)))
    assert tree.articles["LEGIARTI2"] == Article(
        id="LEGIARTI2",
        number="L1",
        code=SEA,
        text="Un.\nDeux.",
        path=(),
        start=date(1999, 12, 31),
        end=date(2030, 1, 1),
        status="ABROGE_DIFF",
        cid="LEGIARTI1",
        note="NOTA :\nSe reporter au décret.",
    )
    assert tree.history == {
        "LEGIARTI1": (
            Version("LEGIARTI1", date(1945, 10, 5), date(1999, 12, 31)),
            Version("LEGIARTI2", date(1999, 12, 31), date(2030, 1, 1)),
            Version("LEGIARTI3", date(2030, 1, 1), None),
        )
    }


@pytest.mark.parametrize(
    ("milliseconds", "day"),
    [
        (1209600000000, date(2008, 5, 1)),
        (0, date(1970, 1, 1)),
        (-1, date(1969, 12, 31)),
        (-763430400000, date(1945, 10, 23)),
        (32472144000000 - 1, date(2998, 12, 31)),
        (32472144000000, None),
        (99999999999999, None),
    ],
)
def test_days_are_counted_in_milliseconds_and_2999_is_no_end(
    tarball: Path, milliseconds: int, day: date | None
) -> None:
    node = article("LEGIARTI1", versions=[])
    node["data"]["dateFin"] = milliseconds
    assert read_legi(write_package(tarball, code(SEA, node))).articles["LEGIARTI1"].end == day


def test_what_a_package_leaves_empty(tarball: Path) -> None:
    bare = article("LEGIARTI1", None, None, status=None, note=None)
    plain = article("LEGIARTI2", "L2", "", plain="Sans  balise.")
    plain["data"]["nota"] = "Une note."
    tree = read_legi(write_package(tarball, code(SEA, bare, plain)))
    one, two = tree.articles.values()
    assert (one.number, one.text, one.status, one.note) == ("", "", "", "")
    assert (two.text, two.note) == ("Sans balise.", "Une note.")


def test_an_article_without_a_list_of_versions_is_its_own_version(tarball: Path) -> None:
    tree = read_legi(write_package(tarball, code(SEA, article("LEGIARTI1", versions=[]))))
    assert tree.history == {"LEGIARTI1": (Version("LEGIARTI1", date(2008, 5, 1), None),)}


def test_one_article_at_two_places_is_one_article(tarball: Path) -> None:
    twice = article("LEGIARTI1")
    tree = read_legi(
        write_package(
            tarball,
            code(SEA, section("LEGISCTA1", twice, twice), section("LEGISCTA2", article("LEGIARTI2"), twice), twice),
        )
    )
    assert list(tree.articles) == ["LEGIARTI1", "LEGIARTI2"]
    assert tree.articles["LEGIARTI1"].path == ("LEGISCTA1",)
    assert tree.articles["LEGIARTI1"].other_paths == (("LEGISCTA2",), ())
    assert tree.children("LEGISCTA1") == ("LEGIARTI1",)
    assert tree.children("LEGISCTA2") == ("LEGIARTI2", "LEGIARTI1")
    assert tree.children(SEA) == ("LEGISCTA1", "LEGISCTA2", "LEGIARTI1")


def test_one_id_with_two_texts_is_refused(tarball: Path) -> None:
    two = code(
        SEA,
        section("LEGISCTA1", article("LEGIARTI1")),
        section("LEGISCTA2", article("LEGIARTI1", html="<p>Autre.</p>")),
    )
    message = refusal(write_package(tarball, two))
    assert message.startswith(": article LEGIARTI1 (L1) stands at two places with two texts; one id must have one text")


@pytest.mark.parametrize(
    ("codes", "complaint"),
    [
        (
            [code(SEA, section("LEGISCTA1"), section("LEGISCTA1"))],
            ": the id 'LEGISCTA1' is used twice: give each code, section and article its own; use another version",
        ),
        (
            [
                code(SEA, section("LEGISCTA1", article("LEGIARTI1"))),
                code("LEGITEXT000000000002", section("LEGISCTA2", article("LEGIARTI1"))),
            ],
            ": article 'LEGIARTI1': there is no section 'LEGISCTA2' under 'LEGITEXT000000000001'; use another version",
        ),
    ],
)
def test_a_tree_that_does_not_hold_together_is_refused(tarball: Path, codes: list[Node], complaint: str) -> None:
    assert refusal(write_package(tarball, *codes)).startswith(complaint)


def test_a_package_without_codes_is_no_legi_package(tarball: Path) -> None:
    pack(tarball, {"package.json": b"{}", "data/index.json": b"[]", "LEGITEXT1.json": b"{}"})
    assert refusal(tarball) == (
        ": no data/LEGITEXT….json inside, so this is not a LEGI package; fetch one with `lexarbor corpus fetch`"
    )


WHOLE = json.dumps(code(SEA, section("LEGISCTA1", article("LEGIARTI1")))).encode()


@pytest.mark.parametrize(
    "content", [b"", b"PK\x03\x04", WHOLE[:-20], WHOLE + b"}", b"\xff\xfe{", b"[" * 100_000], ids=lambda b: str(b[:8])
)
def test_truncated_or_foreign_json_is_named(tarball: Path, content: bytes) -> None:
    pack(tarball, {f"data/{SEA}.json": content})
    message = refusal(tarball)
    assert message.startswith(f", data/{SEA}.json: not valid JSON (")
    assert message.endswith("the file is truncated or foreign, fetch the package again")


def spoiled(spoil: Callable[[dict[str, Any]], object]) -> Node:
    node = article("LEGIARTI2")
    spoil(node["data"])
    return code(SEA, section("LEGISCTA1", article("LEGIARTI1"), node))


@pytest.mark.parametrize(
    ("foreign", "complaint"),
    [
        ([], ": not the shape of a LEGI code (TypeError: "),
        (None, ": not the shape of a LEGI code (TypeError: "),
        ({"name": "legi"}, ": not the shape of a LEGI code (KeyError: 'data')"),
        ({"data": {"id": SEA}}, ": not the shape of a LEGI code (KeyError: 'title')"),
        (code(SEA, since="demain"), ": not the shape of a LEGI code (ValueError: Invalid isoformat string: 'demain')"),
        (code(5), ": not the shape of a LEGI code (ValueError: the id must be a word, found 5)"),  # type: ignore[arg-type]
        (code(SEA) | {"children": None}, ": not the shape of a LEGI code (TypeError: "),
        (code(SEA, code("LEGITEXT2")), ": not the shape of a LEGI code (ValueError: unknown node type 'code')"),
        (
            code(SEA, section("LEGISCTA1", section(""))),
            ", after LEGISCTA1: not the shape of a LEGI code (ValueError: the id",
        ),
        (spoiled(lambda data: data.pop("cid")), ", after LEGIARTI1: not the shape of a LEGI code (KeyError: 'cid')"),
        (
            spoiled(lambda data: data.update(cid=None)),
            ", after LEGIARTI1: not the shape of a LEGI code (ValueError: the cid",
        ),
        (spoiled(lambda data: data.update(num=5)), ", after LEGIARTI1: not the shape of a LEGI code (AttributeError: "),
        (
            spoiled(lambda data: data.update(texteHtml=5)),
            ", after LEGIARTI1: not the shape of a LEGI code (TypeError: ",
        ),
        (
            spoiled(lambda data: data.update(dateDebut=None)),
            ", after LEGIARTI1: not the shape of a LEGI code (TypeError: ",
        ),
        (
            spoiled(lambda data: data.update(dateDebut="2020")),
            ", after LEGIARTI1: not the shape of a LEGI code (TypeError: ",
        ),
        (
            spoiled(lambda data: data.update(dateFin=10**18)),
            ", after LEGIARTI1: not the shape of a LEGI code (OverflowError: ",
        ),
        (
            spoiled(lambda data: data.update(dateFin=10**30)),
            ", after LEGIARTI1: not the shape of a LEGI code (OverflowError: ",
        ),
        (
            spoiled(lambda data: data.update(articleVersions=[{}])),
            ", after LEGIARTI1: not the shape of a LEGI code (KeyError: ",
        ),
    ],
)
def test_json_of_another_shape_is_named_with_its_place(tarball: Path, foreign: Any, complaint: str) -> None:
    pack(tarball, {f"data/{SEA}.json": foreign})
    message = refusal(tarball)
    assert message.startswith(f", data/{SEA}.json{complaint}")
    assert message.endswith("; expected nested {type, data, children} with ids, titles and dates")


def test_a_broken_tarball_is_named(tarball: Path) -> None:
    write_package(tarball, code(SEA, article("LEGIARTI1")))
    tarball.write_bytes(tarball.read_bytes()[:-10])
    assert refusal(tarball).startswith(": not a whole .tgz package (")


def test_the_helper_counts_days_as_legi_does() -> None:
    assert milliseconds("2008-05-01") == 1209600000000
    assert milliseconds(None) == milliseconds("2999-01-01") == 32472144000000
