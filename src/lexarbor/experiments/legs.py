"""The engine's legs, one by one: what is lost without each, and what each finds alone."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from lexarbor.corpus.benchmarks.catalogue import Benchmark, written_split
from lexarbor.errors import BenchmarkError
from lexarbor.evaluation import MEASURES, Cell, Comparison, ScoredArticle, Scores, Table, compare, evaluate, holm
from lexarbor.experiments.dense import shipped_index
from lexarbor.experiments.lab import Lab
from lexarbor.experiments.reports import Report
from lexarbor.experiments.systems import DEPTH, LEARNED_FROM, run
from lexarbor.graph.model_folder import GraphModelFolder
from lexarbor.graph.shipped import shipped_graph_model
from lexarbor.search.engine import Engine
from lexarbor.search.ranking import LEGS, shipped_weights
from lexarbor.text.folder import ModelFolder
from lexarbor.text.shipped import shipped_model

WHOLE, UNRANKED = "the engine", "without the ranker"
MAIN = "recall@100"
SHOWN = ("recall@10", MAIN, "recall@200", "recall@500", "map", "mrp")
LEARNED, FUSED, ALONE = "learned weights", "reciprocal ranks", "its own scores"
_NOTES = (
    "Where no weights were learned for the legs that are left, their reciprocal ranks are added up: such a row has "
    "lost the learned ranker beside its leg, and is compared with the engine without the ranker.",
    "Parameters: those of the text encoder, by which the dense leg and the memory read a question, and of the graph "
    "encoder, which the dense leg has its articles from.",
    "Differences are paired by question, with a 95 % bootstrap interval; p by randomisation, Holm over the rows.",
)


class Row(NamedTuple):
    """Some of the engine's legs, looked at by themselves."""

    name: str
    legs: tuple[str, ...]
    ranked_by: str


def legs(lab: Lab) -> Report:
    """The shipped engine whole, without its ranker, without each leg, and each leg alone: all over one index."""
    benchmark, split = lab.benchmark, lab.asked("dev")
    _refuse_learned(benchmark, split)
    index, encoder = shipped_index(benchmark.law)
    engine = Engine(index, encoder=encoder)
    unranked = Engine(replace(index, around=None), encoder=encoder)  # the ranker looks around articles
    rows = rows_of(index.legs, shipped_weights())
    asked, gold = benchmark.questions.split(split), benchmark.questions.gold([split])
    scores: dict[str, Scores] = {}
    for done, row in enumerate(rows):
        lab.on_step(done, len(rows))
        searched = unranked if row.ranked_by == FUSED else engine
        scores[row.name] = evaluate(run(partial(_rank, searched, row.legs), asked), gold)
    lab.on_step(len(rows), len(rows))
    return _report(lab, split, rows, scores)


def rows_of(held: Sequence[str], learned: Collection[frozenset[str]]) -> list[Row]:
    """What is looked at in an engine that holds some legs, with weights learned for some sets of them. Of two legs,
    without one is the other alone: that is told once.
    """
    named = {WHOLE: tuple(held)}
    if len(held) > 2:
        named |= {f"without {leg}": tuple(other for other in held if other != leg) for leg in held}
    if len(held) > 1:
        named |= {f"{leg} alone": (leg,) for leg in held}
    rows = [Row(name, some, _ranked_by(some, learned)) for name, some in named.items()]
    if rows[0].ranked_by == LEARNED:
        rows.insert(1, Row(UNRANKED, tuple(held), FUSED))
    return rows


def parameters(some: Iterable[str]) -> int:
    """How many weights some legs need: 0 where they count words."""
    used = set(some)
    text = text_parameters(ModelFolder.open(shipped_model())) if used & {"dense", "memory"} else 0
    graph = GraphModelFolder.open(shipped_graph_model()).weights.values() if "dense" in used else ()
    return text + sum(held.size for held in graph)


def text_parameters(folder: ModelFolder) -> int:
    """The weights of a BERT that we trained from nothing, by the architecture that its manifest tells; the numbers
    that 8 bits need beside them (scales, zero points) are none.
    """
    try:
        told = folder.manifest.provenance["recipes"]["pretrain"]["architecture"]
        layers, hidden, inner = (int(told[name]) for name in ("layers", "hidden", "intermediate"))
        read = int(told["vocabulary"]) + int(told["positions"]) + 1  # one type of token
    except (KeyError, TypeError, ValueError) as error:
        raise BenchmarkError(
            f"{folder.path}: its manifest does not tell the architecture (no {error}), by which parameters are "
            "counted: export the model with its recipes"
        ) from error
    norm = 2 * hidden
    attention = 4 * (hidden + 1) * hidden + norm
    forward = (hidden + 1) * inner + (inner + 1) * hidden + norm
    return read * hidden + norm + layers * (attention + forward)


def _refuse_learned(benchmark: Benchmark, split: str) -> None:
    known = set(written_split(LEARNED_FROM["hybrid"])["train"])
    if not known.isdisjoint(question.id for question in benchmark.questions.split(split)):
        raise BenchmarkError(
            f"the engine learned from questions of the split '{split}' of {benchmark.name}: it would find the answers "
            "it was given; choose another split"
        )


def _rank(engine: Engine, some: tuple[str, ...], question: str) -> list[ScoredArticle]:
    return [ScoredArticle(*found) for found in engine.rank(question, DEPTH, legs=some)]


def _ranked_by(some: Sequence[str], learned: Collection[frozenset[str]]) -> str:
    """As `lexarbor.search.scoring` ranks what these legs have found."""
    if len(some) == 1:
        return ALONE
    return LEARNED if frozenset(some) in learned else FUSED


def _report(lab: Lab, split: str, rows: Sequence[Row], scores: Mapping[str, Scores]) -> Report:
    against = {row.name: other for row in rows if (other := _against(row, scores))}
    compared = {name: compare(scores[name], scores[other], MAIN) for name, other in against.items()}
    corrected = holm({name: found.p_randomisation for name, found in compared.items()})
    cells: list[list[Cell]] = []
    data = {}
    for row in rows:
        weights, means = parameters(row.legs), scores[row.name].means()
        difference = compared.get(row.name)
        cells.append(
            [
                row.name,
                row.ranked_by,
                f"{weights / 1e6:.1f}M" if weights else None,
                *(means[measure] for measure in SHOWN),
                against.get(row.name),
                _told(difference) if difference else None,
                f"{corrected[row.name]:.4f}" if difference else None,
            ]
        )
        data[row.name] = {"legs": list(row.legs), "ranked_by": row.ranked_by, "parameters": weights, "means": means}
        if difference:
            data[row.name] |= {"against": against[row.name], "difference": difference.difference._asdict()}
            data[row.name]["p_holm"] = corrected[row.name]
    columns = ["System", "Ranked by", "Parameters", *(MEASURES[measure].label for measure in SHOWN)]
    columns += ["Against", f"Difference of {MEASURES[MAIN].label}", "p (Holm)"]
    questions = len(scores[WHOLE].questions)
    table = Table(f"{lab.name}, {split}: {questions} questions", columns, cells, _NOTES)
    told = ["What each leg adds to the engine that ships, and what it finds alone."]
    if missing := [leg for leg in LEGS if leg not in rows[0].legs]:
        told.append(
            f"Over this law the engine has no {' and no '.join(missing)}: what ships of it speaks of other law."
        )
    return Report("Each leg of the engine", [table], told, data={"split": split, "rows": data})


def _against(row: Row, scored: Collection[str]) -> str | None:
    """What a row is compared with: what has lost nothing but what the row is named by."""
    if row.name == WHOLE:
        return None
    return UNRANKED if row.ranked_by == FUSED and UNRANKED in scored and row.name != UNRANKED else WHOLE


def _told(compared: Comparison) -> str:
    mean, low, high = (100 * value for value in compared.difference)
    return f"{mean:+.1f} [{low:+.1f}, {high:+.1f}]"
