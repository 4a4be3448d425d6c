"""Add dev's questions as people type them to those that a study ranks articles for.

    python benchmarks/ask_as_typed.py supervision supervision-typed

Of the hundred dev questions of benchmarks/rewritten.jsonl: without accents (`unaccented`), with one typo (`typo`),
asked anew (`anew`). They go without gold; benchmarks/report_everyday.py knows it by their ids.
"""

import json
import sys
from pathlib import Path

from lexarbor.supervision.disturbing import with_typo, without_accents
from lexarbor.supervision.folder import Asked, Supervision, SupervisionFolder, write_supervision

REWRITTEN = Path(__file__).with_name("rewritten.jsonl")
"""In everyday words, the first 100 dev questions of VosDroits by the SHA-256 of their ids: written one by one from the
titles alone, no gold article looked at; the titles themselves are not in it.
"""


def rewritten() -> dict[str, str]:
    """The questions asked anew, by id."""
    rows = map(json.loads, REWRITTEN.read_text(encoding="utf-8").splitlines())
    return {row["id"]: row["everyday"] for row in rows}


def main(source: Path, target: Path) -> None:
    held = SupervisionFolder.open(source)
    anew = rewritten()
    asked = list(held.asked)
    for one in held.asked:
        if one.split == "dev" and one.id in anew:
            forms = {
                "unaccented": without_accents(one.text),
                "typo": with_typo(one.text, one.id),
                "anew": anew[one.id],
            }
            asked += [Asked(f"{one.id}~{form}", form, text) for form, text in forms.items()]
    names = ("articles", "passages", "pairs", "texts", "sections", "graph", "facts")
    write_supervision(Supervision(asked=asked, **{name: getattr(held, name) for name in names}), target)
    print(f"{target}: {len(asked) - len(held.asked)} questions more")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
