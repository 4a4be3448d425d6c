"""BM25 over headings and text on questions with and without their accents, for several kinds of stem.

    python benchmarks/compare_stems.py

VosDroits train + dev; written into results/stems.md. It is why `stems` gives two terms a word.
"""

from collections.abc import Callable

from baselines import build, write
from lexarbor.evaluation import evaluate
from lexarbor.experiments.systems import bm25
from lexarbor.search.analysis import ANALYSERS, Analyser, fold_accents, stems
from lexarbor.search.lexical import BM25Settings


def only(keep: Callable[[str], bool]) -> Callable[[], Analyser]:
    """The analyser `stems` with one of the two terms it gives a word."""
    both = stems()
    return lambda: lambda text: [term for term in both(text) if keep(term)]


KINDS: dict[str, Callable[[], Analyser]] = {
    "stem of the word": only(lambda term: not term.startswith("_")),
    "stem of its bare letters": only(lambda term: term.startswith("_")),
    "both (the default)": stems,
}


def main() -> None:
    benchmark = build("vosdroits")
    assert benchmark is not None
    gold = benchmark.questions.gold(["train", "dev"])
    lines = [
        "# Stems and accents",
        "",
        "`python benchmarks/compare_stems.py`: BM25 over headings + text, VosDroits train + dev, R@100 in %.",
        "",
        "| terms of a word | questions as written | without accents |",
        "|---|---|---|",
    ]
    for name, kind in KINDS.items():
        ANALYSERS[name] = kind
        ranker = bm25(benchmark, "headings+text", BM25Settings(analyser=name))
        cells = []
        for spell in (str, fold_accents):
            found = {id: list(ranker(spell(benchmark.questions.questions[id].text))) for id in gold}
            cells.append(f"{100 * evaluate(found, gold, ['recall@100']).mean('recall@100'):.1f}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    write("stems.md", "\n".join(lines))


if __name__ == "__main__":
    main()
