"""Systems by name: what a benchmark's table has as rows. A new system is one function and one line in SYSTEMS."""

from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from lexarbor.corpus.benchmarks.catalogue import Benchmark
from lexarbor.corpus.law import Article
from lexarbor.corpus.questions import Question
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import BenchmarkError
from lexarbor.evaluation import Run, ScoredArticle, order
from lexarbor.experiments.expansion import field_of
from lexarbor.search.fields import QUESTIONS
from lexarbor.search.lexical import BM25Settings, LexicalIndex, top, tuned
from lexarbor.search.memory import QuestionMemory

DEPTH = 500
"""How far down a ranking is looked at."""
PAPERS_BM25 = (2.5, 0.2)
"""The paper's k1 and b."""
PAPERS_BENCHMARK, PAPERS_FIELD = "bsard", "text"
"""The questions, and the words of articles, that the paper chose them on."""

Ranker = Callable[[str], Iterable[ScoredArticle]]
"""A question's text to its best articles, DEPTH of them or fewer."""


def bm25(
    benchmark: Benchmark,
    field: str,
    settings: BM25Settings | None = None,
    *,
    analyser: str = "stems",
    questions: Path | None = None,
) -> Ranker:
    """BM25 over one field of the articles, with what was chosen for it and the analyser unless settings are given.
    Where the field is expanded, `questions` names the file to expand it with, unless it is the shipped one.
    """
    settings = settings or settings_for(benchmark, field, analyser)
    articles = in_order(benchmark.law)
    words = field_of(field, benchmark.law, questions)
    index = LexicalIndex.build((words(benchmark.law, article) for article in articles), settings)

    def rank(question: str) -> Iterable[ScoredArticle]:
        scores = index.scores(question)
        return [ScoredArticle(articles[row].id, float(scores[row])) for row in top(scores, DEPTH)]

    return rank


def settings_for(benchmark: Benchmark, field: str, analyser: str = "stems") -> BM25Settings:
    """The parameters that were chosen on this benchmark where the paper did so; else those tuned on VosDroits."""
    if benchmark.name == PAPERS_BENCHMARK and field.removesuffix(QUESTIONS) == PAPERS_FIELD:
        return BM25Settings(*PAPERS_BM25, analyser)
    return tuned(field, analyser)


def memory(benchmark: Benchmark) -> Ranker:
    """The labels of the nearest train questions."""
    remembered = QuestionMemory(benchmark.training.split("train"), benchmark.training.gold(["train"]))

    def rank(question: str) -> Iterable[ScoredArticle]:
        return order(remembered.scores(question).items())[:DEPTH]

    return rank


def popularity(benchmark: Benchmark) -> Ranker:
    """The articles most often cited in train, whatever the question."""
    counts = Counter(article for gold in benchmark.training.gold(["train"]).values() for article in gold)
    ranking = order((article, float(count)) for article, count in counts.items())[:DEPTH]
    return lambda question: ranking


def dsr(benchmark: Benchmark) -> Ranker:
    """The shipped dense statute retriever, as it runs without torch."""
    from lexarbor.experiments import dense

    return dense.dsr(benchmark.law, in_order(benchmark.law), DEPTH)


def g_dsr(benchmark: Benchmark) -> Ranker:
    """The same, its articles' vectors enriched by the shipped graph encoder."""
    from lexarbor.experiments import dense

    return dense.g_dsr(benchmark.law, in_order(benchmark.law), DEPTH)


def hybrid(benchmark: Benchmark, *, legs: tuple[str, ...] | None = None) -> Ranker:
    """The engine as it ships, over the benchmark's law; with some of its legs alone where they are named."""
    from lexarbor.experiments import dense

    return dense.hybrid(benchmark.law, DEPTH, legs)


def walk(benchmark: Benchmark) -> Ranker:
    """A walk down the headings, as legal experts search, by the shipped encoder."""
    from lexarbor.experiments import walk

    return walk.walk(benchmark.law, in_order(benchmark.law), DEPTH)


def walk_words(benchmark: Benchmark) -> Ranker:
    """The same by words alone."""
    from lexarbor.experiments import walk

    return walk.walk_words(benchmark.law, in_order(benchmark.law), DEPTH)


DOC2QUERY = {"doc2query": "text+questions", "doc2query+headings": "headings+text+questions"}
"""BM25 over articles expanded with questions (docT5query): by name, the field."""
SYSTEMS: dict[str, Callable[..., Ranker]] = {
    "bm25": partial(bm25, field="text"),
    "bm25+headings": partial(bm25, field="headings+text"),
    "bm25+lemmas": partial(bm25, field="text", analyser="lemmas"),
    "bm25+headings+lemmas": partial(bm25, field="headings+text", analyser="lemmas"),
    "memory": memory,
    "popularity": popularity,
    "dsr": dsr,
    "g-dsr": g_dsr,
    "hybrid": hybrid,
    "hybrid-without-memory": partial(hybrid, legs=("dense", "bm25", "everyday")),
    "hybrid-without-everyday": partial(hybrid, legs=("dense", "bm25", "memory")),
    "walk": walk,
    "walk-words": walk_words,
    **{name: partial(bm25, field=field) for name, field in DOC2QUERY.items()},
}
TAUGHT = ("memory", "popularity")
"""Those that learn from the benchmark's own train questions."""
_ENGINES = ("hybrid", "hybrid-without-memory", "hybrid-without-everyday")
LEARNED_FROM = dict.fromkeys(("dsr", "g-dsr", "walk", *_ENGINES, *DOC2QUERY), "vosdroits")
"""By system, the split whose train questions it learned from once and for all: of doc2query, its generator."""


def chosen(names: str) -> list[str]:
    """The systems that a list joined by commas names; what is misspelt is told before anything is built."""
    found = [name.strip() for name in names.split(",") if name.strip()]
    if not found:
        raise BenchmarkError(f"no system was named: choose among {', '.join(SYSTEMS)}")
    for name in found:
        _check(name)
    return found


def build_system(name: str, benchmark: Benchmark, *, questions: Path | None = None) -> Ranker:
    """A system by name. `questions` names the file that doc2query expands articles with, unless it is the shipped."""
    _check(name)
    return SYSTEMS[name](benchmark, questions=questions) if name in DOC2QUERY else SYSTEMS[name](benchmark)


def _check(name: str) -> None:
    if name not in SYSTEMS:
        raise BenchmarkError(f"unknown system '{name}': choose among {', '.join(SYSTEMS)}")


def run(ranker: Ranker, questions: Iterable[Question]) -> Run:
    return {question.id: list(ranker(question.text)) for question in questions}


def in_order(law: LawTree) -> list[Article]:
    """The articles in force on the law's date, as in an index, by id: equal scores are ranked by id."""
    held = law.current()
    if not held:
        raise BenchmarkError(f"the law '{law.name}' holds no article to rank: read it whole, or leave this system out")
    return held
