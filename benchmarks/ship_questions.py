"""Gather the synthetic questions that ship: those that came back to their article, and are nobody else's words.

    python benchmarks/ship_questions.py KEPT.jsonl… --data supervision

KEPT are files that `lexarbor round-trip` wrote. Left out is what is near-equal to a sheet's title or chapter, which the
generator may have learned by heart, or to a heading of the law, which the index has already. Writes
src/lexarbor/shipped/questions.jsonl.xz and tells how many there are.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from lexarbor.corpus.sources import DEFAULT_LAW, read_law
from lexarbor.corpus.tree import LawTree
from lexarbor.supervision.answers import same_words
from lexarbor.supervision.folder import SupervisionFolder
from lexarbor.supervision.guard import LeakageGuard
from lexarbor.supervision.synthetic import SHIPPED, SyntheticQuestion, read_synthetic, write_synthetic
from lexarbor.supervision.weak import plain_heading

TARGET = Path(__file__).parent.parent / "src" / "lexarbor" / "shipped" / SHIPPED
SHEETS = ("gold", "sheet", "chapter", "train_chapter")


def others_words(folder: SupervisionFolder, today: LawTree) -> Iterator[str]:
    """Titles of sheets and of their chapters, and headings of the law then and today."""
    yield from (pair.question for pair in folder.pairs if pair.kind in SHEETS)
    paths = [article.headings for article in folder.articles]
    paths += [today.headings(article) for article in today.current()]
    for path in dict.fromkeys(paths):
        yield from (plain_heading(path[-depth:]) for depth in (1, 2, 3))
        yield path[-1] if path else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kept", type=Path, nargs="+")
    parser.add_argument("--data", type=Path, required=True, help="a folder of `lexarbor train prepare`")
    given = parser.parse_args()
    guard = LeakageGuard(others_words(SupervisionFolder.open(given.data), read_law(DEFAULT_LAW)))
    chosen: dict[tuple[str, str], SyntheticQuestion] = {}
    asked = 0
    for question in (one for path in given.kept for one in read_synthetic(path)):
        asked += 1
        if guard.admits(question.question, "others' words"):
            chosen.setdefault((question.article, same_words(question.question)), question)
    write_synthetic(sorted(chosen.values(), key=lambda one: one.article), TARGET)
    articles = len({one.article for one in chosen.values()})
    print(f"{asked} kept, {guard.kept_out.total()} near others' words; {len(chosen)} of {articles} articles ship")
    print(f"{TARGET}: {TARGET.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
