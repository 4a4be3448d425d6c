"""Write the words that a question may have though the law does not: src/lexarbor/shipped/known-words.txt.

    python benchmarks/ship_words.py

From our own questions in everyday words (recipes/everyday*.jsonl), the lexicon (shipped/everyday-words.tsv), and the
words that the practical sheets use: of sheets that are neither of dev nor of test nor near one, words that several of
them have. What was typed without its accents, and is met with them far more often, is no such word. A list in the order
of the alphabet: no sentence of a sheet can be read from it.
"""

import json
import re
from collections import Counter
from pathlib import Path

from lexarbor.corpus.benchmarks import vosdroits
from lexarbor.corpus.benchmarks.sheets import read_sheets
from lexarbor.corpus.packages import fetch, package
from lexarbor.search.analysis import fold_accents
from lexarbor.supervision.preparation import admitted_sheets, guard_of, with_transfer

ROOT = Path(__file__).parent.parent
SHIPPED = ROOT / "src" / "lexarbor" / "shipped"
WORD = re.compile(r"[^\W\d_]{4,}")
SHEETS = 3
"""How many sheets must have a word."""
FAR_MORE = 10
"""How many times as often a word must be met with accents for its bare letters to be a slip."""


def main() -> None:
    own: Counter[str] = Counter()
    for path in sorted((ROOT / "recipes").glob("everyday*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            own.update(WORD.findall(" ".join(json.loads(line)["questions"]).lower()))
    for line in (SHIPPED / "everyday-words.tsv").read_text(encoding="utf-8").splitlines():
        own.update(WORD.findall(line.split("\t")[0].lower()))
    having: Counter[str] = Counter()
    guard = guard_of(*with_transfer("vosdroits"))
    for sheet in admitted_sheets(read_sheets(fetch(package(vosdroits.SHEETS))), guard):
        words = [sheet.title, *(text for chapter in sheet.chapters for text in (*chapter.titles, chapter.text))]
        having.update(set(WORD.findall(" ".join(words).lower())))
    told = own + having
    spelt: dict[str, int] = {}
    """By bare letters, how often the commonest spelling is met."""
    for word, count in told.items():
        spelt[fold_accents(word)] = max(spelt.get(fold_accents(word), 0), count)
    right = (word for word in own if word not in spelt or told[word] * FAR_MORE > spelt[word])
    known = sorted({*right, *(word for word, sheets in having.items() if sheets >= SHEETS)})
    (SHIPPED / "known-words.txt").write_text("".join(f"{word}\n" for word in known), encoding="utf-8")
    print(f"{SHIPPED / 'known-words.txt'}: {len(own):,} words of ours, {len(known):,} in all")


if __name__ == "__main__":
    main()
