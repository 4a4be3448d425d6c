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
HELD_OUT = ("dev", "test")
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
    kinds: Sequence[str] = (),
    synthetic: Iterable[Path] = (),
    everyday: Path | None = None,
    on_step: Step = lambda done, total: None,
) -> SupervisionFolder:
    """Supervision for a benchmark, written into a folder. `kinds` are the weak kinds wanted, all that apply if none;
    `synthetic` are files of questions that become one more kind; with a file of `everyday` questions come their pairs,
    and those of questions as people type them.
    """
    for kind in kinds:
        if kind not in weak.KINDS:
            raise TrainingError(f"unknown kind of weak pairs '{kind}': choose among {', '.join(weak.KINDS)}")
    check_place(folder)
    made_up = [SyntheticFile.read(path) for path in dict.fromkeys(synthetic)]
    in_everyday_words = read_everyday(everyday) if everyday else []
    benchmark, transfer = with_transfer(name)
    if not benchmark.questions.splits.get("train") or not benchmark.law.articles:
        raise TrainingError(
            f"the benchmark '{name}' has no train questions over articles: it cannot be learned from; "
            "choose vosdroits, vosdroits-disjoint, bsard or tiny"
        )
    for file in made_up:
        file.check(benchmark.law)
    guard = guard_of(benchmark, transfer)
    sheets: tuple[Sheet, ...] = ()
    agreements: tuple[AgreementArticle, ...] = ()
    texts: list[str] = []
    if name in SHEETS_AND_AGREEMENTS:
        sheets = tuple(admitted_sheets(read_sheets(packages.fetch(packages.package(vosdroits.SHEETS))), guard))
        found = read_agreements(packages.fetch(packages.package(AGREEMENTS)))
        agreements = tuple(admitted_agreements(found, guard))
        texts = list(_changed(read_law(DEFAULT_LAW), benchmark.law))
    gold = benchmark.questions.gold(["train"])
    sources = weak.Sources(benchmark.law, guard, sheets, agreements, gold)
    wanted = tuple(dict.fromkeys(kinds)) or tuple(weak.KINDS)
    supervision = gather(benchmark, sources, wanted, texts, on_step, synthetic=made_up, everyday=in_everyday_words)
    if transfer is not None:
        supervision.asked.extend(Asked(one.id, "travail", one.text) for one in transfer.questions.split("test"))
    return write_supervision(supervision, folder)


def with_transfer(name: str) -> tuple[Benchmark, Benchmark | None]:
    """A benchmark, and the transfer test over the same law where there is one: Travail is built upon VosDroits."""
    if name != "vosdroits":
        return build_benchmark(name), None
    transfer = build_benchmark("travail")
    return Benchmark(name, transfer.law, transfer.training, transfer.training), transfer


def gather(
    benchmark: Benchmark,
    sources: weak.Sources,
    kinds: Iterable[str],
    texts: list[str],
    on_step: Step,
    *,
    synthetic: Sequence[SyntheticFile] = (),
    everyday: Sequence[EverydayQuestions] = (),
) -> Supervision:
    """Gold, weak, synthetic and everyday pairs with their passages, BM25's negatives, and the questions to rank for."""
    articles = benchmark.law.current()
    held = {article.id for article in articles}
    gold = [
        Pair(GOLD, question.text, tuple(sorted(benchmark.questions.qrels[question.id])), source=question.id)
        for question in benchmark.questions.split("train")
    ]
    made_up = synthetic_pairs((one for file in synthetic for one in file.questions), held, sources.guard)
    plain = everyday_pairs(everyday, benchmark.questions.gold(["train"]), benchmark.law, sources.guard)
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
        asked=list(_asked(benchmark)),
        sections=list(_sections(benchmark.law, graph)),
        graph=graph,
        facts={
            "benchmark": benchmark.name,
            "law": benchmark.law.name,
            "law_as_of": benchmark.law.date.isoformat() if benchmark.law.date else None,
            "kept_out_by_the_guard": dict(sources.guard.kept_out),
            **({"synthetic": [file.facts(held) for file in synthetic]} if synthetic else {}),
        },
    )


def guard_of(benchmark: Benchmark, transfer: Benchmark | None = None) -> LeakageGuard:
    """The guard of a benchmark's dev and test questions, and of all those of a transfer test over the same law."""
    parts = [part for part in HELD_OUT if part in benchmark.questions.splits]
    held_out = [question for part in parts for question in benchmark.questions.split(part)]
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


def _asked(benchmark: Benchmark) -> Iterator[Asked]:
    """Dev with its gold, to choose by; test as bare questions."""
    for part in HELD_OUT:
        if part in benchmark.questions.splits:
            for question in benchmark.questions.split(part):
                gold = tuple(sorted(benchmark.questions.qrels[question.id])) if part == "dev" else ()
                yield Asked(question.id, part, question.text, gold)
