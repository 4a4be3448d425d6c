"""What each node of the graph is before it hears any other: a text, and the text encoder's vector of it."""

from pathlib import Path

from lexarbor.corpus.tree import LawTree
from lexarbor.errors import GraphError
from lexarbor.graph.legislation import LegislativeGraph, section_headings
from lexarbor.text.corpus_vectors import ArticleEncoder, OnStep, Vectors, encode_inputs
from lexarbor.text.inputs import article_input
from lexarbor.text.known_vectors import KnownVectors
from lexarbor.text.settings import EncoderSettings


def node_inputs(law: LawTree, graph: LegislativeGraph, settings: EncoderSettings) -> list[str]:
    """What the text encoder reads of each node, in the order of the rows.

    An article is read as everywhere; a section is its own title, below the titles above it where the settings read
    headings. A node that stands for several equal headings is read at the place of the first.
    """
    headings = section_headings(law)
    found: list[str] = []
    for id in graph.sections:
        if id not in headings:
            raise GraphError(_strange("code or section", id, law))
        *above, title = headings[id]
        found.append(article_input(above, title, settings))
    for id in graph.articles:
        if id not in law.articles:
            raise GraphError(_strange("article", id, law))
        article = law.articles[id]
        found.append(article_input(law.headings(article), article.text, settings))
    return found


def encode_nodes(
    encoder: ArticleEncoder,
    law: LawTree,
    graph: LegislativeGraph,
    cache: Path | None = None,
    on_step: OnStep = lambda done, total: None,
    known: KnownVectors | None = None,
) -> Vectors:
    """Each node as a vector (size, d), in the order of the rows; equal texts are encoded once.

    `cache` and `on_step` are as in `lexarbor.text.corpus_vectors.encode_law`, and the articles' vectors are shared;
    `known` as in `encode_inputs`.
    """
    return encode_inputs(encoder, node_inputs(law, graph, encoder.settings), cache, on_step, known)


def _strange(what: str, id: str, law: LawTree) -> str:
    return f"the graph has the {what} '{id}', which the law '{law.name}' does not have; make the graph of this law"
