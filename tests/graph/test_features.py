"""What each node is before it hears any other."""

from pathlib import Path

import numpy as np
import pytest

from lexarbor.corpus.law import Article, Code, Section
from lexarbor.corpus.sources import read_tiny
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import GraphError
from lexarbor.graph.features import encode_nodes, node_inputs
from lexarbor.graph.legislation import legislative_graph
from lexarbor.text.corpus_vectors import encode_law
from lexarbor.text.settings import EncoderSettings
from toy_encoder import Toy

LAW = LawTree(
    [
        Code("sea", "Code de la mer"),
        Section("book", "Livre Ier", 1, "sea"),
        Section("general", "Dispositions générales", 2, "book"),
        Article("2", "L2", "sea", "Le capitaine commande.", ("book", "general")),
        Article("1", "L1", "sea", "La mer est libre.", ()),
        Code("wind", "Code des vents"),
        Section("other", "Dispositions générales", 1, "wind"),
        Article("3", "L3", "wind", "Le vent souffle.", ("other",)),
    ]
)


def test_with_headings_each_node_is_read_below_those_above_it() -> None:
    assert node_inputs(LAW, legislative_graph(LAW), EncoderSettings(headings=True)) == [
        "Code de la mer",
        "Code de la mer\nLivre Ier",
        "Code de la mer > Livre Ier\nDispositions générales",
        "Code des vents",
        "Code des vents\nDispositions générales",
        "Code de la mer\nLa mer est libre.",
        "Code de la mer > Livre Ier > Dispositions générales\nLe capitaine commande.",
        "Code des vents > Dispositions générales\nLe vent souffle.",
    ]


def test_without_headings_each_node_is_its_own_words() -> None:
    assert node_inputs(LAW, legislative_graph(LAW), EncoderSettings(headings=False)) == [
        "Code de la mer",
        "Livre Ier",
        "Dispositions générales",
        "Code des vents",
        "Dispositions générales",
        "La mer est libre.",
        "Le capitaine commande.",
        "Le vent souffle.",
    ]


def test_one_node_of_several_headings_is_read_at_the_first() -> None:
    graph = legislative_graph(LAW, merge_headings=True)
    assert node_inputs(LAW, graph, EncoderSettings())[:4] == [
        "Code de la mer",
        "Code de la mer\nLivre Ier",
        "Code de la mer > Livre Ier\nDispositions générales",
        "Code des vents",
    ]


def test_nodes_are_encoded_in_order_and_equal_ones_once() -> None:
    toy, steps = Toy(EncoderSettings(headings=False)), list[tuple[int, int]]()
    graph = legislative_graph(LAW)
    found = encode_nodes(toy, LAW, graph, on_step=lambda done, total: steps.append((done, total)))
    assert np.array_equal(found, Toy().encode_articles(node_inputs(LAW, graph, toy.settings)))
    assert len(toy.asked) == 7
    assert steps[-1] == (8, 8)


def test_articles_share_the_cache_with_those_of_the_law(tmp_path: Path) -> None:
    law = read_tiny()
    encode_law(Toy(), law, tmp_path)
    first, second = Toy(), Toy()
    graph = legislative_graph(law)
    found = encode_nodes(first, law, graph, tmp_path)
    assert len(first.asked) == len(graph.sections)
    assert np.array_equal(encode_nodes(second, law, graph, tmp_path), found)
    assert second.asked == []
    assert found.shape == (graph.size, 4)


def test_a_graph_of_another_law_is_refused() -> None:
    graph = legislative_graph(LAW)
    fewer = LawTree([node for node in LAW.nodes() if node.id != "3"], name="fewer")
    with pytest.raises(GraphError, match=r"the graph has the article '3', which the law 'fewer' does not have"):
        node_inputs(fewer, graph, EncoderSettings())
    with pytest.raises(GraphError, match=r"the code or section 'sea', which the law 'tiny' does not have"):
        node_inputs(read_tiny(), graph, EncoderSettings())
