"""What does the engine lose when people write as they do? Writes results/robustness.md.

    python benchmarks/measure_robustness.py

A hundred dev questions of VosDroits (benchmarks/rewritten.jsonl), as their sheets have them; without accents; with one
typo; and asked anew by us in the first person and everyday words. R@100 by system.
"""

from pathlib import Path

from ask_as_typed import rewritten
from lexarbor.corpus.benchmarks.catalogue import build_benchmark
from lexarbor.evaluation import compare, evaluate
from lexarbor.experiments.systems import build_system
from lexarbor.supervision.disturbing import with_typo, without_accents

RESULTS = Path(__file__).parent.parent / "results"
SYSTEMS = ("bm25+headings", "g-dsr", "hybrid")
MEASURE = "recall@100"


def main() -> None:
    benchmark = build_benchmark("vosdroits")
    anew = rewritten()
    questions = [question for question in benchmark.questions.split("dev") if question.id in anew]
    gold = {id: some for id, some in benchmark.questions.gold(["dev"]).items() if id in anew}
    forms = {
        "as written": {q.id: q.text for q in questions},
        "without accents": {q.id: without_accents(q.text) for q in questions},
        "one typo": {q.id: with_typo(q.text, q.id) for q in questions},
        "first person, everyday words": anew,
    }
    lines = [
        "# What is lost when people write as they do",
        "",
        f"`python benchmarks/measure_robustness.py`: R@100 in % on {len(questions)} dev questions of VosDroits, and",
        "the difference to the question as its sheet has it, with its 95 % interval (paired by question).",
        "",
        f"| system | {' | '.join(forms)} |",
        "|---" * (len(forms) + 1) + "|",
    ]
    for name in SYSTEMS:
        rank = build_system(name, benchmark)
        scores = {
            form: evaluate({id: list(rank(text)) for id, text in asked.items()}, gold, [MEASURE])
            for form, asked in forms.items()
        }
        whole = scores["as written"]
        cells = [f"{100 * whole.mean(MEASURE):.1f}"]
        for form in list(forms)[1:]:
            lost = compare(scores[form], whole, MEASURE).difference
            apart = f"{100 * lost.mean:+.1f} [{100 * lost.low:+.1f}, {100 * lost.high:+.1f}]"
            cells.append(f"{100 * scores[form].mean(MEASURE):.1f}, {apart}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    (RESULTS / "robustness.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("results/robustness.md")


if __name__ == "__main__":
    main()
