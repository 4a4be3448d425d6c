"""Ship the everyday questions written for sections: src/lexarbor/shipped/everyday-questions.jsonl.xz.

    python benchmarks/ship_everyday.py

From recipes/everyday.jsonl, which the retriever learned from, and recipes/everyday-rural.jsonl, which was written
later; without those that are near a question of dev, test or Travail.
"""

import json
import lzma
from pathlib import Path

from lexarbor.search.section_questions import SHIPPED
from lexarbor.supervision.everyday import SECTION, read_everyday
from lexarbor.supervision.preparation import guard_of, with_transfer

ROOT = Path(__file__).parent.parent
FILES = ("everyday.jsonl", "everyday-rural.jsonl")


def main() -> None:
    benchmark, transfer = with_transfer("vosdroits")
    guard = guard_of(benchmark, transfer)
    found: dict[str, list[str]] = {}
    for name in FILES:
        for one in read_everyday(ROOT / "recipes" / name):
            kept = [question for question in one.questions if guard.admits(question, SECTION)]
            if one.section and kept:
                found.setdefault(one.section, []).extend(kept)
    target = ROOT / "src" / "lexarbor" / "shipped" / SHIPPED
    with lzma.open(target, "wt", encoding="utf-8", preset=9 | lzma.PRESET_EXTREME) as file:
        for section, questions in found.items():
            file.write(json.dumps({"section": section, "questions": questions}, ensure_ascii=False) + "\n")
    count = sum(map(len, found.values()))
    print(f"{target}: {count:,} questions of {len(found):,} sections, {target.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
