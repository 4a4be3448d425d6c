"""What a benchmark is made of: the counterpart of the paper's table of BSARD's topics, and the law below it."""

from collections import Counter
from statistics import mean, median

from lexarbor.corpus.benchmarks.catalogue import Benchmark
from lexarbor.corpus.benchmarks.statistics import statistics
from lexarbor.corpus.law import Article
from lexarbor.evaluation import Cell, Table, strata
from lexarbor.experiments.lab import Lab
from lexarbor.experiments.reports import Report

UNTOLD = "not told"
"""The topic of a question whose source gives none."""
LEARNED = "train"


def dataset(lab: Lab) -> Report:
    """Questions by topic and split, the law by code, labels by split, and what training has seen of the others."""
    benchmark = lab.benchmark
    tables = [topics_table(benchmark), law_table(benchmark), labels_table(benchmark), overlap_table(benchmark)]
    return Report(
        f"What the benchmark {lab.name} is made of",
        [table for table in tables if table.rows],
        data={"statistics": statistics(benchmark)},
    )


def topics(benchmark: Benchmark) -> dict[str, str]:
    """By question, its topic; where the source tells of none at all, the code that most of its gold stands in."""
    questions = benchmark.questions.questions
    if any(question.topic for question in questions.values()):
        return {id: question.topic or UNTOLD for id, question in questions.items()}
    return {id: _main_code(benchmark, id) for id in questions}


def _main_code(benchmark: Benchmark, question: str) -> str:
    law = benchmark.law
    cited = Counter(law.articles[id].code for id in benchmark.questions.qrels[question] if id in law.articles)
    return law.codes[max(law.codes, key=lambda code: cited[code])].title if cited else UNTOLD


def topics_table(benchmark: Benchmark) -> Table:
    """The largest topics first, all of them last."""
    of, splits = topics(benchmark), benchmark.questions.splits
    counts = {split: Counter(of[id] for id in ids) for split, ids in splits.items()}
    total = sum(counts.values(), Counter[str]())
    rows: list[list[Cell]] = [
        [topic, *(counts[split][topic] for split in splits), total[topic]]
        for topic in sorted(total, key=lambda topic: (-total[topic], topic))
    ]
    rows.append(["Total", *(counts[split].total() for split in splits), total.total()])
    by_code = not any(question.topic for question in benchmark.questions.questions.values())
    notes = ["The source tells no topics: a question's is the code that most of its gold stands in."] if by_code else []
    return Table(
        f"Topics of questions, {benchmark.name}",
        ["Topic", *(split.capitalize() for split in splits), "Total"],
        rows,
        notes,
    )


def law_table(benchmark: Benchmark) -> Table:
    """By code, its articles in force and what questions make of them."""
    law = benchmark.law
    articles = law.current()
    labels = Counter(id for gold in benchmark.questions.qrels.values() for id in gold)

    def row(name: str, held: list[Article], sections: int) -> list[Cell]:
        depths = [len(article.path) for article in held]
        cited = [labels[article.id] for article in held if article.id in labels]
        return [name, len(held), sections, max(depths), f"{mean(depths):.1f}", len(cited), sum(cited)]

    by_code: dict[str, list[Article]] = {code: [] for code in law.codes}
    for article in articles:
        by_code[article.code].append(article)
    sections = Counter(law.roots.values())
    rows = [row(law.codes[code].title, held, sections[code]) for code, held in by_code.items() if held]
    if len(rows) > 1:
        rows.append(row("Total", articles, len(law.sections)))
    return Table(
        f"The law of {benchmark.name}",
        ["Code", "Articles", "Sections", "Deepest", "Mean depth", "Gold articles", "Labels"],
        rows,
        ["Depth: levels of sections above an article. A label is a question with one of its gold articles."],
    )


def labels_table(benchmark: Benchmark) -> Table:
    """By split, how many articles answer a question."""
    questions = benchmark.questions

    def row(name: str, gold: list[frozenset[str]]) -> list[Cell]:
        sizes = [len(ids) for ids in gold]
        distinct = len(frozenset[str]().union(*gold))
        return [name, len(gold), sum(sizes), distinct, f"{mean(sizes):.1f}", f"{median(sizes):g}", max(sizes)]

    by_split = {split: list(questions.gold(split).values()) for split in questions.splits}
    rows = [row(split, gold) for split, gold in by_split.items() if gold]
    if len(rows) > 1:
        rows.append(row("Total", [ids for gold in by_split.values() for ids in gold]))
    columns = ["Split", "Questions", "Labels", "Gold articles", "Mean gold", "Median gold", "Most gold"]
    return Table(f"Gold articles of a question, {benchmark.name}", columns, rows)


def overlap_table(benchmark: Benchmark) -> Table:
    """What is gold in training too: questions by stratum, and the share of labels."""
    rows: list[list[Cell]] = []
    supervised = benchmark.training.positives([LEARNED]) if LEARNED in benchmark.training.splits else frozenset[str]()
    for split in benchmark.questions.splits:
        if split == LEARNED or not supervised:
            continue
        gold = benchmark.questions.gold(split)
        groups = strata(gold, supervised)
        labels = [id in supervised for ids in gold.values() for id in ids]
        counted = [len(groups[name]) for name in ("seen", "partial", "unseen")]
        rows.append([split, *counted, len(labels), sum(labels), f"{100 * mean(labels):.1f}"])
    return Table(
        f"Labels that training has, {benchmark.name}",
        ["Split", "Seen", "Partial", "Unseen", "Labels", "In training", "In training (%)"],
        rows,
        ["Questions whose gold articles are all, in part, or not at all gold of some question of training."],
    )
