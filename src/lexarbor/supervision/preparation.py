"""From a benchmark's packages to a supervision folder: everything a training run needs, and nothing it must not see."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from lexarbor.corpus import packages
from lexarbor.corpus.agreements import AGREEMENTS, AgreementArticle, read_agreements
from lexarbor.corpus.benchmarks import vosdroits
from lexarbor.corpus.benchmarks.catalogue import Benchmark, build_benchmark
from lexarbor.corpus.benchmarks.sheets import Sheet, read_sheets
from lexarbor.corpus.sources import DEFAULT_LAW, read_law
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import TrainingError
from lexarbor.graph.legislation import LegislativeGraph, legislative_graph, section_headings
from lexarbor.supervision import weak
from lexarbor.supervision.everyday import (
    EVERYDAY,
    EverydayQuestions,
    disturbed_pairs,
    everyday_pairs,
    read_everyday,
)
from lexarbor.supervision.folder import (
    Asked,
    Pair,
    Passage,
    Supervision,
    SupervisionFolder,
    check_place,
    write_supervision,
)
from lexarbor.supervision.guard import LeakageGuard
from lexarbor.supervision.negatives import with_bm25_negatives
from lexarbor.supervision.synthetic_pairs import SyntheticFile, synthetic_pairs

GOLD = "gold"
TRAIN = ("train",)
HELD_OUT = ("dev", "test")
"""Splits that the guard watches, but for what is learned from: dev, where a final model is trained once more."""
SHEETS_AND_AGREEMENTS = ("vosdroits", "vosdroits-disjoint")
"""Benchmarks that have more to learn from than their law: sheets, and the agreements that stand under the same law."""
LABELLED = (GOLD, "description", "train_chapter", "train_text", EVERYDAY)
"""Kinds whose positives are gold articles: they get BM25 negatives. A synthetic question knows but the article that
it was made from, and what BM25 finds beside is mostly that article's neighbours, which answer as well."""

Step = Callable[[int, int], None]


def prepare(
    name: str,
    folder: Path,
    *,
    learn_from: Sequence[str] = TRAIN,
    source: str | None = None,
    also_for: Sequence[str] = (),
    kinds: Sequence[str] = (),
    synthetic: Iterable[Path] = (),
    everyday: Path | None = None,
    on_step: Step = lambda done, total: None,
) -> SupervisionFolder:
    """Supervision for a benchmark, written into a folder.

    `learn_from` names the splits whose questions are learned from: with dev among them, as the paper trains its final
    models, dev is held out no more. `source` is where the law is read from, for BSARD law and questions. `also_for`
    names further benchmarks whose held-out sheets are kept out too: a language model can then serve them all. `kinds`
    are the weak kinds wanted, all that apply if none; `synthetic` are files of questions that become one more kind;
    with a file of `everyday` questions come their pairs, and those of questions as people type them.
    """
    learned = tuple(dict.fromkeys(learn_from))
    _check_splits(learned)
    for kind in kinds:
        if kind not in weak.KINDS:
            raise TrainingError(f"unknown kind of weak pairs '{kind}': choose among {', '.join(weak.KINDS)}")
    check_place(folder)
    made_up = [SyntheticFile.read(path) for path in dict.fromkeys(synthetic)]
    in_everyday_words = read_everyday(everyday) if everyday else []
    benchmark, transfer = with_transfer(name, source)
    _check_questions(benchmark, learned)
    for file in made_up:
        file.check(benchmark.law)
    others = [build_benchmark(other, source) for other in also_for]
    guard = guard_of(benchmark, transfer, learned, others)
    sheets: tuple[Sheet, ...] = ()
    agreements: tuple[AgreementArticle, ...] = ()
    texts: list[str] = []
    if name in SHEETS_AND_AGREEMENTS:
        sheets = tuple(admitted_sheets(read_sheets(packages.fetch(packages.package(vosdroits.SHEETS))), guard))
        found = read_agreements(packages.fetch(packages.package(AGREEMENTS)))
        agreements = tuple(admitted_agreements(found, guard))
        texts = list(_changed(read_law(DEFAULT_LAW), benchmark.law))
    sources = weak.Sources(benchmark.law, guard, sheets, agreements, benchmark.questions.gold(learned))
    wanted = tuple(dict.fromkeys(kinds)) or tuple(weak.KINDS)
    supervision = gather(
        benchmark, sources, wanted, texts, on_step, learned=learned, synthetic=made_up, everyday=in_everyday_words
    )
    if transfer is not None:
        supervision.asked.extend(Asked(one.id, "travail", one.text) for one in transfer.questions.split("test"))
    return write_supervision(supervision, folder)


def _check_splits(learned: tuple[str, ...]) -> None:
    if not learned:
        raise TrainingError("no split is named to learn from: name train, or train and dev for a final model")
    if "test" in learned:
        raise TrainingError(
            "test cannot be learned from: models are tested on it; name train, or train and dev for a final model"
        )


def _check_questions(benchmark: Benchmark, learned: tuple[str, ...]) -> None:
    """Refuse a benchmark that has no law, or lacks a split that is to be learned from."""
    splits = benchmark.questions.splits
    if not benchmark.law.articles or ("train" in learned and not splits.get("train")):
        raise TrainingError(
            f"the benchmark '{benchmark.name}' has no train questions over articles: it cannot be learned from; "
            "choose vosdroits, vosdroits-disjoint, bsard or tiny"
        )
    for part in learned:
        if not splits.get(part):
            known = ", ".join(name for name, ids in splits.items() if ids and name != "test")
            raise TrainingError(
                f"the benchmark '{benchmark.name}' has no {part} questions to learn from: name some of {known}"
            )


def with_transfer(name: str, source: str | None = None) -> tuple[Benchmark, Benchmark | None]:
    """A benchmark, and the transfer test over the same law where there is one: Travail is built upon VosDroits."""
    if name != "vosdroits":
        return build_benchmark(name, source), None
    transfer = build_benchmark("travail", source)
    return Benchmark(name, transfer.law, transfer.training, transfer.training), transfer


def gather(
    benchmark: Benchmark,
    sources: weak.Sources,
    kinds: Iterable[str],
    texts: list[str],
    on_step: Step,
    *,
    learned: Sequence[str] = TRAIN,
    synthetic: Sequence[SyntheticFile] = (),
    everyday: Sequence[EverydayQuestions] = (),
) -> Supervision:
    """Gold, weak, synthetic and everyday pairs with their passages, BM25's negatives, and the questions to rank for."""
    articles = benchmark.law.current()
    held = {article.id for article in articles}
    gold = [
        Pair(GOLD, question.text, tuple(sorted(benchmark.questions.qrels[question.id])), source=question.id)
        for part in learned
        for question in benchmark.questions.split(part)
    ]
    made_up = synthetic_pairs((one for file in synthetic for one in file.questions), held, sources.guard)
    plain = everyday_pairs(everyday, benchmark.questions.gold(learned), benchmark.law, sources.guard)
    pairs = [*gold, *weak.weak_pairs(sources, kinds), *made_up, *plain]
    graph = legislative_graph(benchmark.law)
    pairs = list(with_bm25_negatives(pairs, benchmark.law, articles, kinds=LABELLED, on_step=on_step))
    if everyday:
        pairs += disturbed_pairs(pairs)
    return Supervision(
        articles=[Passage(article.id, article.text, benchmark.law.headings(article)) for article in articles],
        passages=list(weak.passages(sources)),
        pairs=pairs,
        texts=texts,
        asked=list(_asked(benchmark, learned)),
        sections=list(_sections(benchmark.law, graph)),
        graph=graph,
        facts={
            "benchmark": benchmark.name,
            "learned_from": list(learned),
            "law": benchmark.law.name,
            "law_as_of": benchmark.law.date.isoformat() if benchmark.law.date else None,
            "kept_out_by_the_guard": dict(sources.guard.kept_out),
            **({"synthetic": [file.facts(held) for file in synthetic]} if synthetic else {}),
        },
    )


def guard_of(
    benchmark: Benchmark,
    transfer: Benchmark | None = None,
    learned: Sequence[str] = TRAIN,
    others: Iterable[Benchmark] = (),
) -> LeakageGuard:
    """The guard of a benchmark's dev and test questions, less those learned from, of all those of a transfer test over
    the same law, and of dev and test of other benchmarks.
    """
    held_out = [question for part in _held_out(benchmark, learned) for question in benchmark.questions.split(part)]
    for other in others:
        held_out += [question for part in _held_out(other, TRAIN) for question in other.questions.split(part)]
    titles = [question.text for question in held_out]
    if transfer is not None:
        for question in transfer.questions.questions.values():
            titles += (question.text, question.topic, question.text.removeprefix(f"{question.topic} : "))
    return LeakageGuard(titles, (question.id for question in held_out))


def admitted_sheets(sheets: Iterable[Sheet], guard: LeakageGuard) -> Iterator[Sheet]:
    """Sheets that are neither held out nor near one that is, without the chapters that are."""
    for sheet in sheets:
        if sheet.id in guard.sheets:
            guard.kept_out["held-out sheets"] += 1
        elif guard.admits(sheet.title, "sheets near one"):
            chapters = (
                chapter
                for chapter in sheet.chapters
                if guard.admits_under((sheet.title, *chapter.titles), "chapters near one")
            )
            yield replace(sheet, chapters=tuple(chapters))


def admitted_agreements(articles: Iterable[AgreementArticle], guard: LeakageGuard) -> Iterator[AgreementArticle]:
    """Articles of agreements, each text once, none under a heading that is near a title held out."""
    seen: set[str] = set()
    for article in articles:
        plain = tuple(weak.plain_heading([title]) for title in article.headings)
        if article.text not in seen and all(
            guard.admits_under(headings, "agreements near one") for headings in (article.headings, plain)
        ):
            seen.add(article.text)
            yield article


def _changed(today: LawTree, learned: LawTree) -> Iterator[str]:
    """Texts of today's law that the benchmark's law does not have: to know its language."""
    known = {article.text for article in learned.articles.values()}
    for article in today.articles.values():
        if article.text not in known:
            yield "\n".join((*today.headings(article), article.text))


def _sections(law: LawTree, graph: LegislativeGraph) -> Iterator[Passage]:
    """The graph's codes and sections, each by its title and those above it."""
    headings = section_headings(law)
    for id in graph.sections:
        *above, title = headings[id]
        yield Passage(id, title, tuple(above))


def _held_out(benchmark: Benchmark, learned: Sequence[str]) -> list[str]:
    return [part for part in HELD_OUT if part in benchmark.questions.splits and part not in learned]


def _asked(benchmark: Benchmark, learned: Sequence[str]) -> Iterator[Asked]:
    """Dev with its gold, to choose by, unless it is learned from; test as bare questions."""
    for part in _held_out(benchmark, learned):
        for question in benchmark.questions.split(part):
            gold = tuple(sorted(benchmark.questions.qrels[question.id])) if part == "dev" else ()
            yield Asked(question.id, part, question.text, gold)
