"""`lexarbor corpus update`: the newest law, what changed in it, and the way back."""

import json
import os
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any, NoReturn

import pytest

from legi_package import Node, article, code
from lexarbor.cli import indexes
from lexarbor.corpus import packages, sources, updates
from registry import NAME, Registry

Command = Callable[..., Any]
OLD, NEW = f"{NAME}@1.9.0", f"{NAME}@1.10.0"
HELD = f"{OLD}, as of 2025-12-01"


def sea(since: str, *articles: Node) -> Node:
    return code("LEGITEXT1", *articles, since=since)


def port(*articles: Node) -> Node:
    return code("LEGITEXT2", *articles, title="Code du port")


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Registry:
    """1.9.0 is pinned and the latest."""
    registry = Registry(tmp_path / "registry")
    first = article("LEGIARTI1", "L1", "<p>Nul ne court sur le quai.</p>")
    pinned = registry.publish("1.9.0", sea("2025-12-01", first, article("LEGIARTI2", "L2")))
    monkeypatch.setenv("PATH", str(registry.bin), prepend=os.pathsep)
    monkeypatch.setattr(packages, "PACKAGES", {OLD: pinned})
    monkeypatch.setattr(sources, "DEFAULT_LAW", OLD)
    monkeypatch.setattr(sources, "SNAPSHOTS", {OLD: date(2025, 12, 1)})
    return registry


@pytest.fixture
def newer(registry: Registry) -> Registry:
    """1.10.0 is the latest: one article amended, one repealed, 21 new ones in another code."""
    first = article("LEGIARTI3", "L1", "<p>Nul ne nage.</p>", cid="LEGIARTI1")
    many = [article(f"LEGIARTI{n}", f"P{n}") for n in range(10, 31)]
    registry.publish("1.10.0", sea("2026-01-01", first), port(*many))
    return registry


@pytest.fixture
def indexed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What is indexed, in place of an index."""
    calls: list[tuple[Any, ...]] = []
    monkeypatch.setattr(indexes, "build", lambda *arguments: calls.append(arguments))
    return calls


def kept(tmp_path: Path) -> list[str]:
    cache = tmp_path / "cache"
    return sorted(path.name for path in cache.iterdir()) if cache.exists() else []


@pytest.mark.parametrize("options", [(), ("--check",), ("--no-index",)])
def test_the_newest_law_is_up_to_date(
    lexarbor: Command, registry: Registry, tmp_path: Path, options: tuple[str, ...]
) -> None:
    told = f"up to date: the law is of 2025-12-01 ({OLD})\n"
    assert lexarbor("corpus", "update", *options) == (0, told, "")
    assert kept(tmp_path) == []


def test_a_registry_that_is_behind_changes_nothing(lexarbor: Command, registry: Registry, tmp_path: Path) -> None:
    registry.publish("1.8.99", sea("2024-01-01", article("LEGIARTI1")))
    assert lexarbor("corpus", "update").out.startswith("up to date: the law is of 2025-12-01")
    assert kept(tmp_path) == []


def test_check_only_tells(lexarbor: Command, newer: Registry, tmp_path: Path) -> None:
    assert lexarbor("corpus", "update", "--check") == (
        0,
        f"a newer law is published, {NEW}: take it with `lexarbor corpus update`; held is {OLD}, of 2025-12-01\n",
        "",
    )
    code, out, err = lexarbor("corpus", "update", "--check", "-f", "json")
    assert (code, err) == (0, "")
    assert json.loads(out) == {"status": "newer published", "law": OLD, "law_as_of": "2025-12-01", "newest": NEW}
    assert f"newest\t{NEW}" in lexarbor("corpus", "update", "--check", "-f", "tsv").out.splitlines()
    assert all(call.startswith("view ") for call in newer.calls)
    assert kept(tmp_path) == []


def test_a_newer_law_is_taken_compared_and_indexed(
    lexarbor: Command, newer: Registry, tmp_path: Path, indexed: list[tuple[Any, ...]]
) -> None:
    code, out, err = lexarbor("corpus", "update", "--format", "json")
    index = tmp_path / "cache" / "index"
    assert (code, err) == (0, f"indexed: {index}\n")
    told = json.loads(out)
    new = told["articles"].pop("new")
    assert told == {
        "status": "updated",
        "law": NEW,
        "law_as_of": "2026-01-01",
        "before": OLD,
        "before_as_of": "2025-12-01",
        "new": 21,
        "amended": 1,
        "repealed": 1,
        "codes": [
            {"id": "LEGITEXT1", "code": "Code de la mer", "new": 0, "amended": 1, "repealed": 1},
            {"id": "LEGITEXT2", "code": "Code du port", "new": 21, "amended": 0, "repealed": 0},
        ],
        "articles": {
            "amended": [{"id": "LEGIARTI3", "number": "L1", "code": "Code de la mer"}],
            "repealed": [{"id": "LEGIARTI2", "number": "L2", "code": "Code de la mer"}],
        },
        "index": str(index),
    }
    assert [article["number"] for article in new] == [f"P{n}" for n in range(10, 30)]
    assert indexed == [(index, NEW, None)]
    assert sources.default_law() == NEW
    assert lexarbor("corpus", "update").out == f"up to date: the law is of 2026-01-01 ({NEW})\n"
    assert json.loads(lexarbor("corpus", "show", "-f", "json").out)["law_as_of"] == "2026-01-01"
    assert lexarbor("corpus", "fetch").out == f"{tmp_path / 'cache' / 'lexarbor-mer-1.10.0.tgz'}\n"


def test_what_changed_in_tsv_and_for_people(lexarbor: Command, newer: Registry) -> None:
    code, out, err = lexarbor("corpus", "update", "--no-index", "-f", "tsv")
    assert (code, err) == (0, "not indexed yet: `lexarbor index` does it, until then searches do not see it\n")
    assert out.splitlines() == [
        "id\tcode\tnew\tamended\trepealed",
        "LEGITEXT1\tCode de la mer\t0\t1\t1",
        "LEGITEXT2\tCode du port\t21\t0\t0",
    ]
    lexarbor("corpus", "update", "--pinned", "--no-index")
    lines = lexarbor("corpus", "update", "--no-index").out.splitlines()
    assert lines[0] == f"{NEW}, as of 2026-01-01; before: {HELD}"
    assert lines[-3].startswith("new: Code du port P10, P11, ") and lines[-3].endswith(", P29; and 1 more")
    assert lines[-2:] == ["amended: Code de la mer L1", "repealed: Code de la mer L2"]


def test_each_code_has_its_share_of_the_numbers_told(lexarbor: Command, registry: Registry) -> None:
    many = [article(f"LEGIARTI{n}", f"L{n}") for n in range(10, 40)]
    registry.publish("1.10.0", sea("2026-01-01", *many), port(article("LEGIARTI50", "P1"), article("LEGIARTI51", "P2")))
    told = json.loads(lexarbor("corpus", "update", "--no-index", "-f", "json").out)["articles"]["new"]
    assert [article["number"] for article in told] == [*(f"L{n}" for n in range(10, 28)), "P1", "P2"]


def test_a_code_that_is_no_longer_published_is_told(lexarbor: Command, registry: Registry) -> None:
    registry.publish("1.10.0", code("LEGITEXT2", article("LEGIARTI9"), title="Code du port", since="2026-01-01"))
    done = lexarbor("corpus", "update", "--no-index")
    assert done.code == 0
    assert done.err.startswith(
        "Code de la mer is no longer in the package; `lexarbor corpus update --pinned` goes back\n"
    )


def test_an_index_of_ones_own_is_not_written_over(
    lexarbor: Command, newer: Registry, indexed: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEXARBOR_INDEX", "/my/index")
    code, out, err = lexarbor("corpus", "update")
    assert (code, out, indexed) == (2, "", [])
    assert "$LEXARBOR_INDEX names the index /my/index" in err and f"the law stays {OLD}" in err
    assert lexarbor("corpus", "update", "--no-index")[0] == 0


def test_the_index_of_the_newer_law_is_the_one_searched(lexarbor: Command, newer: Registry) -> None:
    def searched() -> tuple[str, bool, bool]:
        found = json.loads(lexarbor("search", "nager ou courir sur le quai", "-k", "50", "-f", "json").out)
        ids = {hit["id"] for hit in found["hits"]}
        return found["law_as_of"], "LEGIARTI1" in ids, "LEGIARTI3" in ids

    assert lexarbor("corpus", "update").code == 0
    assert searched() == ("2026-01-01", False, True)
    assert lexarbor("corpus", "update", "--pinned").code == 0
    assert searched() == ("2025-12-01", True, False)


def test_the_way_back_needs_neither_npm_nor_the_law_held(
    lexarbor: Command, newer: Registry, tmp_path: Path, indexed: list[tuple[Any, ...]]
) -> None:
    lexarbor("corpus", "update")
    newer.does("exit 1")
    (tmp_path / "cache" / "lexarbor-mer-1.10.0.tgz").unlink()
    index = tmp_path / "cache" / "index"
    told = f"the law is the pinned one, {OLD}, of 2025-12-01\n"
    assert lexarbor("corpus", "update", "--pinned") == (0, told, f"indexed: {index}\n")
    assert indexed == [(index, NEW, None), (index, OLD, None)]
    assert sources.default_law() == OLD
    code, out, err = lexarbor("corpus", "update", "--pinned", "-f", "json")
    assert (code, err, len(indexed)) == (0, "", 2)  # nothing to index again
    assert json.loads(out) == {"status": "pinned", "law": OLD, "law_as_of": "2025-12-01", "index": None}


@pytest.mark.parametrize(
    "moment",
    [
        (packages, "fetch"),
        (updates, "read_legi"),
        (updates, "compare"),
        (indexes, "build"),
        (updates, "make_current"),
        (updates, "write_json"),
    ],
    ids=lambda moment: moment[1],
)
def test_whenever_it_is_interrupted_the_law_of_before_stays(
    lexarbor: Command, newer: Registry, monkeypatch: pytest.MonkeyPatch, moment: tuple[Any, str]
) -> None:
    def interrupt(*arguments: Any, **options: Any) -> NoReturn:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(indexes, "build", lambda *arguments: None)
        patched.setattr(*moment, interrupt)
        assert lexarbor("corpus", "update") == (130, "", "")
    assert sources.default_law() == OLD
    assert lexarbor("corpus", "update", "--no-index").code == 0  # and the next one goes through
    assert sources.default_law() == NEW


def test_an_index_that_cannot_be_built_leaves_the_law_of_before(
    lexarbor: Command, newer: Registry, tmp_path: Path
) -> None:
    taken = tmp_path / "cache" / "index"
    taken.mkdir(parents=True)
    (taken / "photo.png").touch()
    code, out, err = lexarbor("corpus", "update")
    assert (code, out) == (2, "")
    assert err.startswith(f"lexarbor: {taken}: holds something else than an index")
    assert err.endswith(f"; the law stays {HELD}\n")
    assert sources.default_law() == OLD


@pytest.mark.parametrize("options", [(), ("--check",)])
def test_without_a_network_the_law_stays_and_it_is_said(
    lexarbor: Command, registry: Registry, tmp_path: Path, options: tuple[str, ...]
) -> None:
    registry.does("""echo '{"error": {"summary": "getaddrinfo ENOTFOUND law.example"}}'; exit 1""")
    assert lexarbor("corpus", "update", *options) == (
        2,
        "",
        f"lexarbor: {NAME}@latest could not be fetched: npm said “getaddrinfo ENOTFOUND”: check the network, "
        f"or index a .tgz of the law by path with `lexarbor index --law FILE.tgz`; the law stays {HELD}\n",
    )
    assert kept(tmp_path) == []


def test_a_network_that_fails_halfway_leaves_the_law(lexarbor: Command, newer: Registry, tmp_path: Path) -> None:
    newer.does(f"[ $1 = view ] && cat '{newer.folder}/latest.json'")
    code, out, err = lexarbor("corpus", "update")
    assert (code, out) == (2, "")
    assert err.startswith(f"lexarbor: {NEW} could not be fetched: ")
    assert err.endswith(f"or give its .tgz with `lexarbor index --law FILE.tgz`; the law stays {HELD}\n")
    assert kept(tmp_path) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--check", "--pinned"),
            "--check looks for a newer law and --pinned goes back to an older one: say one of them",
        ),
        (("2.514.0",), "Got unexpected extra argument"),
        (("--format", "xml"), "Invalid value for '--format' / '-f'"),
    ],
)
def test_what_makes_no_sense_is_refused(
    lexarbor: Command, newer: Registry, tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    code, out, err = lexarbor("corpus", "update", *options)
    assert (code, out) == (2, "")
    assert err.startswith(f"lexarbor: {message}") and err.count("\n") == 1
    assert (newer.calls, kept(tmp_path)) == ([], [])


def test_a_cache_that_is_a_file_is_told(lexarbor: Command, newer: Registry, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file, not a folder", encoding="utf-8")
    code, out, err = lexarbor("corpus", "update")
    assert (code, out) == (2, "")
    assert f"cannot be kept in {tmp_path / 'cache'}" in err and err.count("\n") == 1


def test_a_record_of_nonsense_is_told_and_written_anew(lexarbor: Command, registry: Registry, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "updates.json").write_text('{"current": "../../etc/passwd"}', encoding="utf-8")
    assert lexarbor("corpus", "update", "--check").out == f"up to date: the law is of 2025-12-01 ({OLD})\n"
    assert lexarbor("corpus", "update", "--pinned").code == 0
    assert updates.read_updates() == ({}, None)


@pytest.mark.real
def test_the_real_registry_is_asked(lexarbor: Command, tmp_path: Path) -> None:
    done = lexarbor("corpus", "update", "--check", "-f", "json")
    told = json.loads(done.out)
    assert (done.code, told["law"], told["law_as_of"]) == (0, sources.DEFAULT_LAW, "2026-03-27")
    assert told["newest"].startswith("@socialgouv/legi-data@")
    assert kept(tmp_path) == []
