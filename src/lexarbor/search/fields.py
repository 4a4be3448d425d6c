"""Which words of an article are searched."""

from collections.abc import Callable, Mapping, Sequence

from lexarbor.corpus.law import Article
from lexarbor.corpus.tree import LawTree

Field = Callable[[LawTree, Article], str]


def text(law: LawTree, article: Article) -> str:
    return article.text


def headings_and_text(law: LawTree, article: Article) -> str:
    """The titles above the article, then its text: a heading often says what the text takes for granted."""
    return "\n".join((*law.headings(article), article.text))


FIELDS: dict[str, Field] = {"text": text, "headings+text": headings_and_text}

QUESTIONS = "+questions"
"""How the name of an expanded field ends."""
EXPANDED = tuple(f"{name}{QUESTIONS}" for name in FIELDS)
"""Fields followed by the questions that a model asked about the article (docT5query)."""


def expanded(name: str, questions: Mapping[str, Sequence[str]]) -> Field:
    """An expanded field by name; `questions` are those of each article, by its id. What repeats counts as often."""
    field = FIELDS[name.removesuffix(QUESTIONS)]
    return lambda law, article: "\n".join((field(law, article), *questions.get(article.id, ())))
