"""The paper's main table (section "Main Results"): baselines, the dense statute retriever step by step, the graph."""

from collections.abc import Mapping, Sequence

from lexarbor.evaluation import STRATA, Scores, Stratum, compare, holm, means_by_stratum, recall_figure
from lexarbor.experiments.jobs import Job
from lexarbor.experiments.lab import Lab
from lexarbor.experiments.plans import Plan
from lexarbor.experiments.reports import Report
from lexarbor.experiments.rows import MAIN, Row, Scoring, data_of

DPR_ON_HUB = "etalab-ia/dpr-question_encoder-fr_qa-camembert"
BM25, EXPANDED, DPR_ZERO, DPR = "BM25", "docT5query", "DPR, zero-shot", "DPR, fine-tuned"
DSR, ADAPTED, AUGMENTED = "DSR", "DSR + domain-adaptive pre-training", "DSR + data augmentation"
BOTH, G_DSR, OURS = "DSR + both", "G-DSR (the paper's graph encoder)", "G-DSR (our graph encoder)"
WALK, SHIPPED, ENGINE = "Top-down walk of headings", "G-DSR as it ships", "Engine as it ships"


ORDER = (
    (BM25, EXPANDED), (BM25, DSR), (EXPANDED, DSR), (DSR, DPR), (DPR, ADAPTED), (DSR, ADAPTED), (ADAPTED, AUGMENTED),
    (DSR, AUGMENTED), (ADAPTED, G_DSR), (AUGMENTED, G_DSR), (BOTH, G_DSR),
)  # fmt: skip
"""The paper's steps on R@100, the lower first; the last is what the graph adds to the retriever below it."""
SURE = 0.05
CHOSEN_ON = "vosdroits"
"""The benchmark that BM25's parameters were chosen on, but where the paper chose them, and the recipes of one scale."""
CHOSEN_RECIPES = "small"
"""That scale."""
SHARES_WITH_IT = ("vosdroits-disjoint",)
"""Whose test has questions of that benchmark's train and dev."""


def seeds_of(lab: Lab) -> range:
    return range(lab.seeds or int(lab.values["seeds"]))


def retrievers(lab: Lab, seed: int) -> dict[str, Job]:
    """The trained rows of one seed, by label."""
    plan = Plan.of(lab)
    adapted, augmented = plan.adapted, plan.augmented
    found = {DPR: plan.dpr(seed), DSR: plan.text("dsr", seed), ADAPTED: plan.text("dsr-law", seed, adapted)}
    if lab.augments:
        found[AUGMENTED] = plan.text("dsr-synthetic", seed, augmented)
        found[BOTH] = plan.text("dsr-both", seed, adapted, augmented)
    below = found.get(BOTH, found[ADAPTED])
    found[G_DSR] = plan.graph("g-dsr", below)
    found[OURS] = plan.graph("g-dsr-hearing", below, ours=True)
    return found


def below_graph(lab: Lab, seed: int) -> Job:
    """The retriever that graph encoders enrich: DSR with all that came before it in the table."""
    found = retrievers(lab, seed)
    return found.get(BOTH, found[ADAPTED])


def main_jobs(lab: Lab) -> list[Job]:
    """Seed by seed, so that a table that is cut short has all its rows."""
    plan = Plan.of(lab)
    jobs = [job for seed in seeds_of(lab) for job in retrievers(lab, seed).values()]
    return plan.complete([*plan.zero_shot(), *jobs])


def main(lab: Lab) -> Report:
    """Score every row. Final figures are those of test; models that learned from dev too are scored there alone."""
    split = lab.asked("test")
    scoring = Scoring(lab, split)
    by_seed = [retrievers(lab, seed) for seed in seeds_of(lab)]
    shared = {job.key: job for job in main_jobs(lab)}
    rows = [scoring.of_system(BM25, "bm25"), _expanded(lab, scoring)]
    zero = shared.get("dpr-start") or shared["dpr-untrained"]
    rows.append(scoring.of_jobs(DPR_ZERO, [zero]))
    rows += _hub_rows(lab)
    for label in (DPR, DSR, ADAPTED, AUGMENTED, BOTH, G_DSR, OURS):
        jobs = [found[label] for found in by_seed if label in found]
        if not jobs:
            rows.append(Row(label, why=_without_questions(lab)))
            continue
        below = [below_graph(lab, seed) for seed in seeds_of(lab)] if label in (G_DSR, OURS) else []
        rows.append(scoring.of_jobs(label, jobs, over=below))
    rows += _shipped_rows(scoring)
    title = f"Retrieval on {lab.name}, {split}"
    if lab.train_on != "train":
        title += f", learned from {lab.train_on}"
    places = {row.label: place for place, row in enumerate(rows)}
    curves = {row.label: row.curve for row in rows if row.curve is not None}
    return Report(
        title,
        [
            scoring.table(title, rows),
            scoring.comparisons("R@100, seeds and strata", rows, lambda place: _below(rows, places, place)),
        ],
        [*_told(lab), *order_told(rows, scoring.strata)],
        {"recall": lambda path: recall_figure(curves, path, title=title)},
        data_of(rows),
    )


def order_told(rows: Sequence[Row], strata: Mapping[Stratum, Sequence[str]] | None = None) -> list[str]:
    """Whether the paper's order on R@100 holds, step by step, each with its evidence; of one that does not, where."""
    held = {row.label: row.scores for row in rows if row.scores is not None}
    found = {
        f"{low} < {high}": (held[low], held[high], compare(held[high], held[low], MAIN))
        for low, high in ORDER
        if low in held and high in held
    }
    corrected = holm({step: one.p_randomisation for step, (_, _, one) in found.items()})
    told = []
    for step, (low, high, one) in found.items():
        apart = one.difference
        if not round(100 * apart.mean, 1):
            word = "equal"
        elif corrected[step] < SURE:
            word = "holds" if apart.mean > 0 else "does not hold"
        else:
            word = "holds on average, not surely" if apart.mean > 0 else "does not hold on average"
        told.append(
            f"- {step}: **{word}** ({100 * low.mean(MAIN):.1f}, {100 * high.mean(MAIN):.1f}; difference "
            f"{100 * apart.mean:+.1f}, 95 % {100 * apart.low:+.1f} to {100 * apart.high:+.1f}, p = "
            f"{corrected[step]:.4f} after Holm)" + (_where(low, high, strata) if strata and "not hold" in word else "")
        )
    begun = "The order of the paper's main table on R@100, step by step"
    return [f"{begun} (sure: p below {SURE} after Holm over these steps):\n\n" + "\n".join(told)] if told else []


def _where(low: Scores, high: Scores, strata: Mapping[Stratum, Sequence[str]]) -> str:
    """Both systems of a step, stratum by stratum."""
    left, right = means_by_stratum(low, strata), means_by_stratum(high, strata)
    parts = [part for part in STRATA[1:] if strata[part]]
    return "; " + ", ".join(f"{part} {100 * left[part][MAIN]:.1f}, {100 * right[part][MAIN]:.1f}" for part in parts)


def _expanded(lab: Lab, scoring: Scoring) -> Row:
    if not lab.augments:
        return Row(EXPANDED, why=_without_questions(lab))
    return scoring.of_system(EXPANDED, "doc2query")


def _shipped_rows(scoring: Scoring) -> list[Row]:
    """What comes with Lexarbor, on other supervision and other language models than the rows above."""
    from lexarbor.experiments.legs import parameters

    encoder, enriched = parameters(("memory",)), parameters(("dense",))
    return [
        scoring.of_system(WALK, "walk", parameters=encoder),
        scoring.of_system(SHIPPED, "g-dsr", parameters=enriched),
        scoring.of_system(ENGINE, "hybrid", parameters=enriched),
    ]


def _hub_rows(lab: Lab) -> list[Row]:
    """The paper's own DPR, where the hub was not asked."""
    if "dpr" in lab.values:
        return []
    command = f"lexarbor experiment main --benchmark {lab.name} --scale paper"
    return [Row(f"DPR from {DPR_ON_HUB}", why=f"not run here, it comes from the hub; {command}")]


def _without_questions(lab: Lab) -> str:
    return (
        "not run here, it needs synthetic questions of this law: write them with lexarbor augment, then "
        f"lexarbor experiment main --benchmark {lab.name} --questions FILE"
    )


def _below(rows: Sequence[Row], places: dict[str, int], place: int) -> int | None:
    """What a row is compared with: the one that it adds something to or, where that was not run, what that adds to."""
    of = {EXPANDED: BM25, DPR: DPR_ZERO, ADAPTED: DSR, AUGMENTED: DSR, BOTH: ADAPTED, G_DSR: BOTH, OURS: BOTH}
    of |= {DSR: EXPANDED, ENGINE: SHIPPED}
    label = of.get(rows[place].label)
    while label is not None and (label not in places or rows[places[label]].scores is None):
        label = of.get(label)
    return None if label is None else places[label]


def _told(lab: Lab) -> list[str]:
    from lexarbor.experiments.systems import PAPERS_BENCHMARK

    told = [
        f"Models learned from {lab.train_on}. Seeds vary the stages that learn from gold and from the graph; language "
        "models and DPR's general stage are trained once and shared. Training is one seed's own stage, beside other "
        "workers. What differs from the paper: docs/reproduction.md."
    ]
    chosen = [] if lab.name == PAPERS_BENCHMARK else ["BM25's k1 and b"]
    chosen += ["recipes"] if lab.scale_name == CHOSEN_RECIPES else []
    if lab.name != CHOSEN_ON and chosen:
        shared = ", which has questions of this test among those that it was chosen by"
        told.append(
            f"What is not learned here ({', '.join(chosen)}) was chosen on {CHOSEN_ON}"
            + (f"{shared}." if lab.name in SHARES_WITH_IT else ".")
        )
    return told
