"""Draws the benchmarks' splits and writes them down as ids. Run once; the files are committed, and a test draws again.

python benchmarks/draw_splits.py [FOLDER]
"""

import json
import sys
from pathlib import Path

from lexarbor.corpus import packages
from lexarbor.corpus.benchmarks import sheets, travail, vosdroits
from lexarbor.corpus.benchmarks.splits import draw, draw_disjoint
from lexarbor.corpus.sources import read_law

COMMITTED = Path(__file__).parent.parent / "src" / "lexarbor" / "corpus" / "benchmarks" / "ids"


def draw_all() -> dict[str, dict[str, tuple[str, ...]]]:
    law = read_law(vosdroits.LAW)
    sheet_list = sheets.read_sheets(packages.fetch(packages.package(vosdroits.SHEETS)))
    labelled = vosdroits.label(sheet_list, law)
    titles = {id: question.text for id, question in labelled.questions.items()}
    sections = travail.read_sections(packages.fetch(packages.package(travail.SHEETS)))
    asked = travail.label(sections, law, titles.values()).questions
    return {
        "vosdroits": draw(titles),
        "vosdroits-disjoint": draw_disjoint(titles, labelled.qrels),
        "travail": {"test": tuple(asked)},
    }


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else COMMITTED
    folder.mkdir(parents=True, exist_ok=True)
    for name, parts in draw_all().items():
        (folder / f"{name}.json").write_text(json.dumps(parts, indent=1) + "\n", encoding="utf-8")
        print(name, {part: len(ids) for part, ids in parts.items()})
