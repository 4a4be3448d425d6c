"""Draws the articles whose citations are checked by hand, and lays them out for the checkers.

    python benchmarks/sample_citations.py FOLDER

writes FOLDER/sheet.txt: each article of the sample with every number-like mark in it in brackets, [17: L. 1234-9].
The marks come from a pattern looser than the grammar, so that a checker also sees what the grammar may miss.
Verdicts are kept in tests/corpus/gold/citations.jsonl as offsets, without text; tests/corpus/test_citations_gold.py
scores the grammar on them.
"""

import random
import re
import sys
from pathlib import Path

from lexarbor.corpus.law import Article
from lexarbor.corpus.sources import DEFAULT_LAW, read_law
from lexarbor.corpus.tree import LawTree

SEED = 20261115
MARKS = 300
LOOSE = re.compile(
    r"(?:\b(?:L\.?\s?O|[LRDA])[\s.*]{0,4}\d[\d‐‑–-]*(?:\s[A-Z]\b)?)|(?<=articles )\d[\d-]*|(?<=article )\d[\d-]*"
)


def draw(tree: LawTree) -> list[Article]:
    """Articles in random order until their marks are MARKS or more; an article with over 25 marks is passed over."""
    articles = sorted(tree.articles.values(), key=lambda article: article.id)
    random.Random(SEED).shuffle(articles)
    drawn: list[Article] = []
    marks = 0
    for article in articles:
        found = len(marks_in(article))
        if 0 < found <= 25:
            drawn.append(article)
            marks += found
        if marks >= MARKS:
            break
    return drawn


def marks_in(article: Article) -> list[tuple[int, int]]:
    return [mark.span() for mark in LOOSE.finditer(article.text)]


def main(folder: Path) -> None:
    tree = read_law(DEFAULT_LAW)
    lines: list[str] = []
    count = 0
    for article in draw(tree):
        lines.append(f"=== {article.id} (article {article.number} du {tree.codes[article.code].title})")
        at, shown = 0, ""
        for start, end in marks_in(article):
            shown += f"{article.text[at:start]}[{count}: {article.text[start:end]}]"
            at, count = end, count + 1
        lines += [shown + article.text[at:], ""]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sheet.txt").write_text("\n".join(lines), encoding="utf-8")
    print(f"{count} marks in {sum(line.startswith('===') for line in lines)} articles: {folder / 'sheet.txt'}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
