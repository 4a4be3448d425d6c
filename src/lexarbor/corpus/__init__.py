"""The tree of law: its nouns, its readers, references between articles, and versions in force."""

from lexarbor.corpus.law import Article, Code, Section, Version
from lexarbor.corpus.questions import Question, QuestionSet
from lexarbor.corpus.sources import read_law
from lexarbor.corpus.tree import LawTree

__all__ = ["Article", "Code", "LawTree", "Question", "QuestionSet", "Section", "Version", "read_law"]
