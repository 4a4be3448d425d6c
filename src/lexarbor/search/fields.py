"""Which words of an article are searched."""

from collections.abc import Callable

from lexarbor.corpus.law import Article
from lexarbor.corpus.tree import LawTree


def text(law: LawTree, article: Article) -> str:
    return article.text


def headings_and_text(law: LawTree, article: Article) -> str:
    """The titles above the article, then its text: a heading often says what the text takes for granted."""
    return "\n".join((*law.headings(article), article.text))


FIELDS: dict[str, Callable[[LawTree, Article], str]] = {"text": text, "headings+text": headings_and_text}
