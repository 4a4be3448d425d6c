"""`lexarbor round-trip`: what stays is written, what came back is told."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_cli_errors import refused

from lexarbor.corpus.sources import read_tiny
from lexarbor.supervision.round_trip import round_trip
from lexarbor.supervision.synthetic import SyntheticQuestion, read_synthetic, write_synthetic

Command = Callable[..., Any]

QUESTIONS = [
    SyntheticQuestion("VALARTI0055", "Combien coûte une place au marché ?", "tiny-mt5", -1.0),
    SyntheticQuestion("VALARTI0009", "Quel éléphant ?", "tiny-mt5", -2.0),
    SyntheticQuestion("LEGIARTI1", "Combien coûte une place au marché ?", "tiny-mt5", -3.0),
]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    write_synthetic(QUESTIONS, Path("q.jsonl"))
    return folder


def test_what_comes_back_is_kept_and_told(lexarbor: Command, here: Path) -> None:
    arguments = ("-l", "tiny", "-o", "kept.jsonl.xz", "--legs", " bm25,", "--depth", "3", "-f", "json")
    code, out, err = lexarbor("round-trip", "q.jsonl", *arguments)
    assert (code, err) == (0, "written to kept.jsonl.xz\n")
    assert read_synthetic(Path("kept.jsonl.xz")) == QUESTIONS[:1]
    assert json.loads(out) == {
        "law": "tiny",
        "depth": 3,
        "asked": 3,
        "distinct": 2,
        "of_unknown_articles": 1,
        "kept": 1,
        "share": 0.3333,
        "share_by": {"bm25": 0.3333},
        "by_every_leg": 1,
        "by_one_alone": {"bm25": 1},
    }


def test_both_legs_search_unless_one_is_named(lexarbor: Command, here: Path) -> None:
    code, out, err = lexarbor("round-trip", "q.jsonl", "--law", "tiny", "--out", "kept.jsonl", "-f", "tsv")
    assert code == 0
    assert err.endswith("written to kept.jsonl\n")
    found = round_trip(QUESTIONS, read_tiny())
    assert read_synthetic(Path("kept.jsonl")) == found.kept
    rows = dict(line.split("\t") for line in out.splitlines())
    shares = found.report["share_by"]
    assert rows["share_by"] == f"bm25 {shares['bm25']}, dense {shares['dense']}"
    assert (rows["asked"], rows["depth"]) == ("3", "10")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("none.jsonl -l tiny -o kept.jsonl", "none.jsonl: no such file of synthetic questions"),
        ("bad.jsonl -l tiny -o kept.jsonl", "bad.jsonl, line 2: not a synthetic question"),
        ("strange.jsonl -l tiny -o kept.jsonl --legs bm25", "none of the 1 questions is about an article in force of"),
        ("q.jsonl -l nowhere -o kept.jsonl", "nowhere: no such file, and no law by that name"),
        ("q.jsonl -l tiny -o none/kept.jsonl", "cannot write none/kept.jsonl: there is no folder none; make it first"),
        ("q.jsonl -l tiny -o q.jsonl --legs bm25", "q.jsonl: is there already; give another file"),
        ("q.jsonl -l tiny -o ../here/strange.jsonl --legs bm25", "../here/strange.jsonl: is there already; give"),
        ("q.jsonl -l tiny -o kept.jsonl --legs bm25,splade", "unknown leg 'splade': choose among bm25, dense"),
        ("q.jsonl -l tiny -o kept.jsonl --legs ,", "no leg was named: choose among bm25, dense"),
        ("q.jsonl -l tiny -o kept.jsonl --depth 0", "Invalid value for '--depth'"),
        ("q.jsonl -l tiny", "Missing option '--out' / '-o'"),
    ],
)
def test_what_is_wrong_is_told_in_a_line_and_nothing_written(
    lexarbor: Command, here: Path, arguments: str, message: str
) -> None:
    write_synthetic(QUESTIONS[2:], Path("strange.jsonl"))
    Path("bad.jsonl").write_text(Path("strange.jsonl").read_text(encoding="utf-8") + '{"article": "V', encoding="utf-8")
    before = {path.name: path.read_bytes() for path in here.iterdir()}
    assert refused(lexarbor("round-trip", *arguments.split())).startswith(message)
    assert {path.name: path.read_bytes() for path in here.iterdir()} == before
