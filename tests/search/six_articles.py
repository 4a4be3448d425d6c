"""A law of six articles that cite each other: small enough to look at each of them in turn."""

import numpy as np

from lexarbor.corpus.law import Article, Code, Section
from lexarbor.corpus.tree import LawTree
from lexarbor.search.links import Links
from lexarbor.search.surroundings import Surroundings

LAW = LawTree(
    [
        Code("C", "Code"),
        Article("f", "1", "C", "Six.", ()),
        Section("S1", "Titre Ier", 1, "C"),
        Article("b", "2", "C", "Le deuxième.", ("S1",)),
        Section("S2", "Chapitre Ier", 2, "S1"),
        Article("d", "3", "C", "Un texte plus long que les autres.", ("S1", "S2")),
        Article("c", "4", "C", "Trois.", ("S1", "S2")),
        Section("S3", "Chapitre II", 2, "S1"),
        Article("a", "5", "C", "Le premier par son nom.", ("S1", "S3")),
        Article("e", "6", "C", "", ("S1", "S3")),
    ]
)
IDS = tuple(sorted(LAW.articles))
CITATIONS = (("a", "b"), ("a", "c"), ("c", "b"), ("d", "b"), ("f", "a"), ("e", "e"))
"""Citing and cited."""
PAIRS = np.array([[IDS.index(end) for end in pair] for pair in CITATIONS], dtype=np.int32)
AROUND = Surroundings.build(LAW, IDS, Links(PAIRS, len(IDS)))


def heading(id: str) -> str:
    """What an article stands under: a section or, for the first, the code."""
    return (LAW.articles[id].path or (LAW.articles[id].code,))[-1]


def above(id: str) -> str:
    """What that stands under; the code is not under anything else."""
    place = heading(id)
    return LAW.sections[place].parent if place in LAW.sections else place
