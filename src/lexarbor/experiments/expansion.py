"""The questions that articles are expanded with: of a file, or those that come with Lexarbor."""

from collections import defaultdict
from pathlib import Path

from lexarbor.corpus.tree import LawTree
from lexarbor.errors import BenchmarkError
from lexarbor.search.fields import EXPANDED, FIELDS, Field, expanded
from lexarbor.supervision.synthetic import read_synthetic, shipped_questions


def check_questions(path: Path | None) -> None:
    """Refuse, before long work, a file that cannot be read, or none where none is shipped."""
    read_synthetic(path or shipped_questions())


def questions_of(law: LawTree, path: Path | None = None) -> dict[str, list[str]]:
    """The questions of each article, by its id, in a file or else in the shipped one. Of other laws none is taken."""
    source = path or shipped_questions()
    found: defaultdict[str, list[str]] = defaultdict(list)
    for one in read_synthetic(source):
        if one.article in law.articles:
            found[one.article].append(one.question)
    if not found:
        raise BenchmarkError(
            f"{source}: no question there is about an article of the law '{law.name}'; make some from that law with "
            "`lexarbor augment`, and name the file with --questions"
        )
    return dict(found)


def field_of(name: str, law: LawTree, questions: Path | None = None) -> Field:
    """A field by name, with the questions of a file, or the shipped ones, where its name asks for them."""
    return expanded(name, questions_of(law, questions)) if name in EXPANDED else FIELDS[name]
