"""The paper's ablations (section "Ablation Study" and appendix "Ablation Details"), and those it leaves open: one seed
each, scored on dev, which choices are made by.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lexarbor.errors import TrainingError
from lexarbor.experiments.jobs import Job
from lexarbor.experiments.lab import Lab
from lexarbor.experiments.main_table import below_graph
from lexarbor.experiments.plans import FRESH, Plan
from lexarbor.experiments.reports import Report
from lexarbor.experiments.rows import Row, Scoring, data_of
from lexarbor.experiments.scales import merged

SEED = 0
ON_HUB = {
    "camembert-base": "CamemBERT",
    "bert-base-multilingual-cased": "mBERT",
    "xlm-roberta-base": "XLM-R",
    "dbmdz/electra-base-french-europeana-cased-discriminator": "ELECTRA-fr",
}
"""The paper's language models, by name on the hub."""
MODELS = {
    FRESH: "from nothing",
    "small": "small, general French",
    "general": "middle, general French",
    "larger": "larger, general French",
    "law": "middle, adapted to the law",
}
CHUNKS, LONGEST = (64, 128, 256, 512), 2048
"""The paper's chunk lengths, and its longest document."""
EPOCHS = (1, 3, 6, 15)
"""The last is the paper's."""
RATES = {4: "a quarter", 16: "a sixteenth"}
"""Parts of the usual learning rate."""
LAYERS = {"gcn": "GCN", "gat": "GAT", "graphsage": "GraphSAGE", "kgnn": "k-GNN", "gatv2": "GATv2"}
EDGES: dict[str, Sequence[str]] = {
    "what stands above (the paper)": ("contains",),
    "+ what stands below": ("contains", "within"),
    "+ neighbouring articles": ("contains", "within", "next", "previous"),
    "+ citations": ("contains", "within", "next", "previous", "cites", "cited"),
}
"""By label, the kinds of edges: each line adds to the one before."""
EVEN: Mapping[str, Any] = {"heard_at_first": {}, "gathered_at_first": {}}
"""Of our layer: begin with the same little of every kind, whatever layers and kinds there are."""
AS_IT_SHIPS = "hearing, as it ships"
TOLD_EVEN = (
    "Hearing, our own layer, begins evenly in these lines, with the same little of each kind of edges; in the last it "
    "begins with what was found to be good without a gradient (results/hearing.md)."
)


@dataclass(frozen=True)
class Variant:
    """A row that is trained."""

    label: str
    job: Job
    over: Job | None = None
    """The retriever that it enriches."""


@dataclass(frozen=True)
class Ablation:
    """Variants of one thing, compared with one of them."""

    title: str
    variants: Sequence[Variant]
    reference: str
    told: str
    beside: Sequence[Row] = ()
    """Rows that were not run here."""

    def report(self, lab: Lab) -> Report:
        split = lab.asked("dev")
        scoring = Scoring(lab, split)
        rows = [scoring.of_jobs(one.label, [one.job], over=[one.over] if one.over else []) for one in self.variants]
        place = next(number for number, row in enumerate(rows) if row.label == self.reference)
        tables = [
            scoring.table(f"{self.title}, {lab.name} {split}", [*rows, *self.beside]),
            scoring.comparisons(
                f"R@100 against {self.reference}", rows, lambda number: None if number == place else place
            ),
        ]
        return Report(f"{self.title} on {lab.name}, {split}", tables, [self.told], {}, data_of([*rows, *self.beside]))

    def jobs(self, lab: Lab) -> list[Job]:
        found = [job for one in self.variants for job in (one.over, one.job) if job is not None]
        return Plan.of(lab).complete(found)


def language_models(lab: Lab) -> Ablation:
    """The paper's table of pre-trained language models."""
    usual, plan = _plans(lab)
    _check_starts(lab)
    variants = [
        Variant(label, usual.text("dsr", SEED) if _is_usual(lab, name) else _from(plan, name))
        for name, label in MODELS.items()
        if name in (FRESH, *lab.values["models"])
    ]
    wanted = {name: ON_HUB.get(name, name) for name in (*(ON_HUB if lab.hub else ()), *lab.starts)}
    variants += [Variant(label, _from(plan, name, named=True)) for name, label in wanted.items()]
    if not any(one.job.key == f"dsr-{SEED}" for one in variants):  # the scale begins from the hub, or from a folder
        named = ON_HUB.get(lab.values["text"]["start"], lab.values["text"]["start"])
        variants = [*(one for one in variants if one.label != named), Variant(named, usual.text("dsr", SEED))]
    command = f"lexarbor experiment language-models --benchmark {lab.name} --scale paper --hub"
    held = {one.label for one in variants}
    beside = [
        Row(f"{label} ({name})", why=f"not run here, it comes from the hub; {command}")
        for name, label in ON_HUB.items()
        if label not in held
    ]
    told = "What both towers of DSR begin from, before they learn from gold; all else is the same."
    reference = next(one.label for one in variants if one.job.key == f"dsr-{SEED}")
    return Ablation("Language models to start from", variants, reference, told, beside)


def _check_starts(lab: Lab) -> None:
    for name in lab.starts:
        if not name.strip() or name.removeprefix("@") in (FRESH, *lab.values["models"]):
            raise TrainingError(
                f"--start is '{name}': give the name of a language model on the hub, or its folder; those of the scale "
                "have rows as it is"
            )


def _is_usual(lab: Lab, name: str) -> bool:
    return bool(lab.values["text"]["start"] == f"@{name}" or (name == FRESH and lab.values["text"]["start"] == FRESH))


def _from(plan: Plan, name: str, *, named: bool = False) -> Job:
    """From one of the scale's, or one that is named as the hub or the disk has it."""
    changes: Mapping[str, Any] = {"start": name} if named else plan.from_model(name)
    return plan.text(f"start-{name.replace('/', '-')}", SEED, changes)


def similarity_loss(lab: Lab) -> Ablation:
    """The paper's table of similarity and loss functions."""
    (usual, plan), variants = _plans(lab), []
    for loss, told in (("contrastive", "Cross-entropy"), ("triplet", "Triplet")):
        for similarity in ("cosine", "dot", "euclidean"):
            changes = {"loss": {"name": loss}, "encoder": {"similarity": similarity}}
            is_usual = merged(lab.values["text"], changes) == lab.values["text"]
            job = usual.text("dsr", SEED) if is_usual else plan.text(f"{loss}-{similarity}", SEED, changes)
            variants.append(Variant(f"{told}, {similarity}", job))
    told = (
        "DSR with each loss and similarity, the temperature of the cross-entropy and the margin of the triplet loss "
        "the same whatever the similarity, as in the paper: they are what was chosen for the first line."
    )
    return Ablation("Similarity and loss", variants, "Cross-entropy, cosine", told)


def passages(lab: Lab) -> Ablation:
    """How an article is read: chunk length, document length, pooling; and in one piece."""
    (as_it_is, plan), encoder = _plans(lab), lab.values["text"]["encoder"]
    chunk, longest, pooling = encoder["chunk_tokens"], encoder["max_tokens"], encoder["chunk_pooling"]
    usual = f"chunks of {chunk}, document of {longest}, {pooling}"
    variants = [Variant(usual, as_it_is.text("dsr", SEED))]
    for tokens in (length for length in CHUNKS if length != chunk):
        changes = {"encoder": {"chunk_tokens": tokens, "max_tokens": max(longest, tokens)}}
        variants.append(Variant(f"chunks of {tokens}", plan.text(f"chunks-{tokens}", SEED, changes)))
    another = longest // 2 if longest == LONGEST else 2 * longest
    changes = {"encoder": {"max_tokens": another}}
    variants.append(Variant(f"document of {another}", plan.text(f"document-{another}", SEED, changes)))
    other = "mean" if pooling == "max" else "max"
    pooled = {"encoder": {"chunk_pooling": other}}
    variants.append(Variant(f"{other} of the chunks", plan.text(f"chunks-{other}", SEED, pooled)))
    flat = plan.text("flat", SEED, {"encoder": {"article": "first", "max_tokens": lab.values["flat"]["max_tokens"]}})
    variants.append(Variant(f"one pass over {lab.values['flat']['max_tokens']} tokens, no second level", flat))
    told = "One value of DSR's article encoder is changed at a time; all else is the same."
    return Ablation("Chunks, document length and pooling", variants, usual, told)


def learning(lab: Lab) -> Ablation:
    """What the paper's recipe holds fixed: how long and how fast DSR learns, by which negatives, in how many towers,
    and whether it reads headings.
    """
    (as_it_is, plan), text = _plans(lab), lab.values["text"]
    optimisation = text["optimisation"]
    long = f"{optimisation['steps']} steps" if optimisation.get("steps") else _counted(optimisation["epochs"], "epoch")
    usual = f"{long}, as in the main table"
    variants = [Variant(usual, as_it_is.text("dsr", SEED))]

    def add(label: str, name: str, **changes: Mapping[str, Any]) -> None:
        variants.append(Variant(label, plan.text(f"learning-{name}", SEED, changes)))

    for epochs in EPOCHS:
        if (label := _counted(epochs, "epoch")) != long:
            add(label, f"epochs-{epochs}", optimisation={"epochs": epochs, "steps": 0})
    for part, share in RATES.items():
        lower = optimisation["learning_rate"] / part
        add(f"{share} of the rate", f"rate-{part}", optimisation={"learning_rate": lower})
    add("negatives of the batch alone", "in-batch", supervision={"negatives": "none"})
    add("one tower for questions and articles", "one-tower", encoder={"shared": True})
    add("headings before the text", "headings", encoder={"headings": True})
    told = (
        "What the paper's recipe for DSR holds fixed, one thing changed at a time; all else is the same. Questions "
        "whose gold articles are gold of no question of train (unseen) tell what is learned beyond labels."
    )
    return Ablation("How DSR learns from gold", variants, usual, told)


def _counted(count: float, what: str) -> str:
    return f"{count:g} {what}{'' if count == 1 else 's'}"


def gnns(lab: Lab) -> Ablation:
    """The paper's table of graph neural networks, and our own layer."""
    (usual, plan), below = _plans(lab), below_graph(lab, SEED)
    variants = [Variant("no graph", below)]
    for layer, label in LAYERS.items():
        changes = {"graph": {"layer": layer}}
        is_usual = layer == lab.values["graph"]["graph"]["layer"]
        job = usual.graph("g-dsr", below) if is_usual else plan.graph(layer, below, changes)
        variants.append(Variant(label, job, below))
    variants.append(Variant("hearing (ours)", usual.graph("g-dsr-hearing", below, ours=True), below))
    told = "The paper's graph encoder over one retriever, its layers by another graph neural network each; and ours."
    return Ablation("Graph neural networks", variants, "no graph", told)


def layers(lab: Lab) -> Ablation:
    """How far an article hears."""
    (usual, plan), below = _plans(lab), below_graph(lab, SEED)
    variants = [Variant("no graph", below)]
    for count in (1, 2, 3, 4):
        if count == lab.values["graph"]["graph"]["layers"]:
            job = usual.graph("g-dsr", below)
        else:
            job = plan.graph(f"g-dsr-layers-{count}", below, {"graph": {"layers": count}})
        variants.append(Variant(f"{_papers(lab)}, {_counted(count, 'layer')}", job, below))
    for count in (1, 2, 3, 4):
        job = plan.graph(f"g-dsr-hearing-layers-{count}", below, {"graph": {"layers": count}, **EVEN}, ours=True)
        variants.append(Variant(f"hearing, {_counted(count, 'layer')}", job, below))
    variants.append(Variant(AS_IT_SHIPS, usual.graph("g-dsr-hearing", below, ours=True), below))
    told = f"As far as an article hears, in steps. {TOLD_EVEN}"
    return Ablation("Layers of the graph encoder", variants, "no graph", told)


def _papers(lab: Lab) -> str:
    """What the paper's graph encoder is made of, unless told otherwise GATv2."""
    layer: str = lab.values["graph"]["graph"]["layer"]
    return LAYERS.get(layer, layer)


def edges(lab: Lab) -> Ablation:
    """What an article hears."""
    (usual, plan), below = _plans(lab), below_graph(lab, SEED)
    variants = [Variant("no graph", below)]
    for number, (label, kinds) in enumerate(EDGES.items()):
        if list(kinds) == list(lab.values["graph"]["graph"]["edges"]):
            job = usual.graph("g-dsr", below)
        else:
            job = plan.graph(f"g-dsr-edges-{number}", below, {"graph": {"edges": list(kinds)}})
        variants.append(Variant(f"{_papers(lab)}: {label}", job, below))
    for number, (label, kinds) in enumerate(EDGES.items()):
        changes = {"graph": {"edges": list(kinds)}, **EVEN}
        job = plan.graph(f"g-dsr-hearing-edges-{number}", below, changes, ours=True)
        variants.append(Variant(f"hearing: {label}", job, below))
    variants.append(Variant(AS_IT_SHIPS, usual.graph("g-dsr-hearing", below, ours=True), below))
    told = f"Kinds of edges, each line with those before it. {TOLD_EVEN}"
    return Ablation("Kinds of edges", variants, "no graph", told)


def _plans(lab: Lab) -> tuple[Plan, Plan]:
    """Of rows that stand in the main table too, ranked for all questions; and of the others, for those of dev alone."""
    return Plan.of(lab), Plan.of(lab, (lab.split or "dev",))
