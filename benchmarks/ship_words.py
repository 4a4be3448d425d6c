"""Write the words that a question may have though the law does not: src/lexarbor/shipped/known-words.txt.

    python benchmarks/ship_words.py

From our own questions in everyday words (recipes/everyday.jsonl), the lexicon (shipped/everyday-words.tsv), and the
words that the practical sheets use: of sheets that are neither of dev nor of test nor near one, words that several of
them have. A list of words in the order of the alphabet: no sentence of a sheet can be read from it.
"""

import json
import re
from collections import Counter
from pathlib import Path

from lexarbor.corpus.benchmarks import vosdroits
from lexarbor.corpus.benchmarks.sheets import read_sheets
from lexarbor.corpus.packages import fetch, package
from lexarbor.supervision.preparation import admitted_sheets, guard_of, with_transfer

ROOT = Path(__file__).parent.parent
SHIPPED = ROOT / "src" / "lexarbor" / "shipped"
WORD = re.compile(r"[^\W\d_]{4,}")
SHEETS = 3
"""How many sheets must have a word."""


def main() -> None:
    own: Counter[str] = Counter()
    for line in (ROOT / "recipes" / "everyday.jsonl").read_text(encoding="utf-8").splitlines():
        own.update(WORD.findall(" ".join(json.loads(line)["questions"]).lower()))
    for line in (SHIPPED / "everyday-words.tsv").read_text(encoding="utf-8").splitlines():
        own.update(WORD.findall(line.split("\t")[0].lower()))
    having: Counter[str] = Counter()
    guard = guard_of(*with_transfer("vosdroits"))
    for sheet in admitted_sheets(read_sheets(fetch(package(vosdroits.SHEETS))), guard):
        words = [sheet.title, *(text for chapter in sheet.chapters for text in (*chapter.titles, chapter.text))]
        having.update(set(WORD.findall(" ".join(words).lower())))
    known = sorted({*own, *(word for word, sheets in having.items() if sheets >= SHEETS)})
    (SHIPPED / "known-words.txt").write_text("".join(f"{word}\n" for word in known), encoding="utf-8")
    print(f"{SHIPPED / 'known-words.txt'}: {len(own):,} words of ours, {len(known):,} in all")


if __name__ == "__main__":
    main()
