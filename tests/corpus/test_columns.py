import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from law_trees import content, trees

from lexarbor.corpus.columns import read_columns, write_columns
from lexarbor.corpus.law import Article, Code, Version
from lexarbor.corpus.sources import read_tiny
from lexarbor.corpus.tree import LawTree


@settings(deadline=None)
@given(tree=trees())
def test_what_is_written_in_columns_is_read_back(tree: LawTree, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "law.json"
    write_columns(tree, path)
    assert content(read_columns(path)) == content(tree)


def test_the_tiny_law_is_the_same_from_columns(tmp_path: Path) -> None:
    tree = read_tiny()
    write_columns(tree, tmp_path / "law.json")
    assert content(read_columns(tmp_path / "law.json")) == content(tree)


def test_a_history_is_told_only_where_the_tree_does_not_know_it_by_itself(tmp_path: Path) -> None:
    nodes = [Code("C1", "Code"), Article("A1", "1", "C1", "Un.", ()), Article("A2", "2", "C1", "Deux.", ())]
    tree = LawTree(nodes, history={"A2": [Version("A0", None, None)]})
    write_columns(tree, tmp_path / "law.json")
    told = json.loads((tmp_path / "law.json").read_text(encoding="utf-8"))
    assert told["history"] == {"A2": [["A0", None, None], ["A2", None, None]]}
    assert told["order"] == "caa"
