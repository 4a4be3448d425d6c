"""Precision and recall of the citation grammar on the citations checked by hand.

    python benchmarks/measure_citations.py

The gold file names each mark by article, offsets and two independent verdicts (code, single or end of a range); its
text is read from the package. A found citation counts as right when its first and last number and its code are
those of the gold. Only citations of codes that the package holds count: they are what becomes an edge between
articles.
"""

import json
import sys
from pathlib import Path
from typing import NamedTuple

from lexarbor.corpus.citations import ReferenceResolver
from lexarbor.corpus.references import canonical, parse
from lexarbor.corpus.sources import DEFAULT_LAW, read_law
from lexarbor.corpus.tree import LawTree

GOLD = Path(__file__).parent.parent / "tests" / "corpus" / "gold" / "citations.jsonl"


class Cited(NamedTuple):
    """A citation by where it begins, not by its text."""

    article: str
    start: int
    first: str
    last: str
    code: str


class Quality(NamedTuple):
    gold: int
    found: int
    right: int
    missed: list[Cited]
    wrong: list[Cited]

    @property
    def precision(self) -> float:
        return self.right / self.found

    @property
    def recall(self) -> float:
        return self.right / self.gold


def gold_citations(tree: LawTree) -> set[Cited]:
    marks = [json.loads(line) for line in GOLD.read_text(encoding="utf-8").splitlines()]
    cited: list[Cited] = []
    for mark in marks:
        if mark["first"] != mark["second"]:
            raise ValueError(f"the two checks disagree on {mark}: settle it before measuring")
        code, link = mark["first"]
        if code not in tree.codes:
            continue
        number = canonical(tree.articles[mark["article"]].text[mark["start"] : mark["end"]])
        if link == "to":
            cited[-1] = cited[-1]._replace(last=number)
        else:
            cited.append(Cited(mark["article"], mark["start"], number, number, code))
    return set(cited)


def found_citations(tree: LawTree, articles: set[str]) -> set[Cited]:
    resolver = ReferenceResolver(tree)
    found: set[Cited] = set()
    for id in articles:
        article = tree.articles[id]
        for reference in parse(article.text):
            if code := resolver.code_of(reference, here=article.code):
                found.add(Cited(id, reference.start, reference.first, reference.last, code))
    return found


def measure(tree: LawTree) -> Quality:
    gold = gold_citations(tree)
    checked = {json.loads(line)["article"] for line in GOLD.read_text(encoding="utf-8").splitlines()}
    found = found_citations(tree, checked)
    return Quality(len(gold), len(found), len(gold & found), sorted(gold - found), sorted(found - gold))


def main() -> None:
    quality = measure(read_law(DEFAULT_LAW))
    lines = [
        "# The citation grammar, checked by hand",
        "",
        "`python benchmarks/measure_citations.py`, on the sample of `benchmarks/sample_citations.py`.",
        "",
        "| gold | found | right | precision | recall |",
        "|---|---|---|---|---|",
        f"| {quality.gold} | {quality.found} | {quality.right} | {quality.precision:.3f} | {quality.recall:.3f} |",
        "",
        "Floors: precision 0.97, recall 0.9. At first sight of the sample it was 0.983 and 0.988; what that showed was",
        "mended, so the figures above are a little too kind.",
    ]
    text = "\n".join(lines) + "\n"
    (GOLD.parents[3] / "results" / "citations.md").write_text(text, encoding="utf-8")
    print(text)
    for name, cases in (("missed", quality.missed), ("wrong", quality.wrong)):
        for case in cases:
            print(f"{name}: {case}", file=sys.stderr)


if __name__ == "__main__":
    main()
