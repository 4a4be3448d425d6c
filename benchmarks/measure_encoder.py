"""The encoder that ships against the torch model it was exported from: size, likeness, speed.

    python benchmarks/measure_encoder.py RETRIEVER MODEL [MODEL…] [--all] [--write]

RETRIEVER is a folder that training wrote, each MODEL a folder that `lexarbor.text.export` wrote from it. Two threads.
Machines differ and are shared: beside each time stands its ratio to torch's, measured in the same run.
"""

import argparse
import platform
import statistics
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import onnxruntime
import torch
from numpy.typing import NDArray

from lexarbor.corpus.benchmarks.catalogue import build_benchmark
from lexarbor.corpus.sources import DEFAULT_LAW, read_law
from lexarbor.corpus.tree import LawTree
from lexarbor.text.corpus_vectors import encode_law
from lexarbor.text.encoder import TextEncoder
from lexarbor.text.inputs import article_input
from lexarbor.text.retriever import DenseStatuteRetriever
from measure_speed import seconds

RESULTS = Path(__file__).parent.parent / "results"
THREADS = 2
ASKED = 300
TORCH_ARTICLES = 50
"""Articles that torch is timed on: it is slow, and its speed hardly varies."""

Vectors = NDArray[np.float32]


class Times(NamedTuple):
    """What a system took; questions one by one in milliseconds, articles together in seconds."""

    questions: list[float]
    articles: float

    def percentile(self, share: float) -> float:
        return sorted(self.questions)[int(share * len(self.questions))]


class Row(NamedTuple):
    """What is told of one model folder."""

    name: str
    quantisation: str
    megabytes: float
    cosine_min: float
    cosine_mean: float
    centred_mean: float
    question_p50: float
    question_p95: float
    question_gain: float
    tokens_a_second: float
    articles_gain: float
    law_minutes: float
    whole: bool


def spread(inputs: Sequence[str], count: int) -> list[str]:
    """So many texts, evenly over all lengths, in an order that is not that of their lengths."""
    ordered = sorted(inputs, key=len)
    places = (np.arange(min(count, len(ordered))) + 0.5) * len(ordered) / min(count, len(ordered))
    return [ordered[int(place)] for place in np.random.default_rng(0).permutation(places)]


def torch_article(retriever: DenseStatuteRetriever, text: str) -> Vectors:
    chunks = retriever.article_ids([text])[0]
    with torch.no_grad():
        vector = retriever.encode_article_ids(*retriever.padded(chunks), torch.tensor([len(chunks)]))
    return finished(retriever, vector)


def torch_question(retriever: DenseStatuteRetriever, text: str) -> Vectors:
    with torch.no_grad():
        vector = retriever.encode_question_ids(*retriever.padded(retriever.question_ids([text])))
    return finished(retriever, vector)


def finished(retriever: DenseStatuteRetriever, vector: torch.Tensor) -> Vectors:
    if retriever.settings.similarity == "cosine":
        vector = torch.nn.functional.normalize(vector, dim=-1)
    found: Vectors = vector[0].numpy()
    return found


def cosines(found: Vectors, wanted: Vectors) -> NDArray[np.float64]:
    lengths = np.linalg.norm(found, axis=1) * np.linalg.norm(wanted, axis=1)
    return np.asarray((found * wanted).sum(axis=1) / lengths, dtype=np.float64)


def time_torch(retriever: DenseStatuteRetriever, questions: Sequence[str], inputs: Sequence[str]) -> Times:
    torch_article(retriever, inputs[0])
    asked = [seconds(partial(torch_question, retriever, text)) * 1000 for text in questions]
    return Times(asked, seconds(lambda: [torch_article(retriever, text) for text in inputs]))


def time_encoder(encoder: TextEncoder, questions: Sequence[str], inputs: Sequence[str]) -> Times:
    encoder.encode_questions(questions[:20])
    asked = [seconds(partial(encoder.encode_questions, [text])) * 1000 for text in questions]
    return Times(asked, seconds(lambda: encoder.encode_articles(inputs)))


def law_minutes(encoder: TextEncoder, law: LawTree) -> float:
    """Every article, with a cache on disk, as an index is built."""

    def show(done: int, total: int) -> None:
        print(f"\r{done:,} of {total:,} articles", end="" if done < total else "\n", flush=True)

    with TemporaryDirectory() as folder:
        return seconds(lambda: encode_law(encoder, law, Path(folder), show)) / 60


def measure(options: argparse.Namespace) -> tuple[list[Row], str]:
    torch.set_num_threads(THREADS)
    retriever = DenseStatuteRetriever.load(options.retriever).eval()
    settings = retriever.settings
    law = read_law(options.law)
    all_inputs = [article_input(law.headings(article), article.text, settings) for article in law.articles.values()]
    inputs = spread(all_inputs, options.articles)
    questions = [question.text for question in build_benchmark(options.questions).questions.split("train")][:ASKED]
    wanted = np.stack([torch_article(retriever, text) for text in inputs])
    few = spread(inputs, TORCH_ARTICLES)
    tokens = sum(len(ids) for chunks in retriever.article_ids(inputs) for ids in chunks)
    slow = time_torch(retriever, questions, few)
    rows = []
    for folder in options.models:
        encoder = TextEncoder.open(folder, threads=THREADS)
        found = encoder.encode_articles(inputs)
        alike = cosines(found, wanted)
        centre = wanted.mean(axis=0)
        fast = time_encoder(encoder, questions, inputs)
        few_seconds = seconds(partial(encoder.encode_articles, few))
        rows.append(
            Row(
                folder.name,
                str(encoder.folder.manifest.provenance.get("quantisation", "")),
                encoder.folder.size / 1e6,
                float(alike.min()),
                float(alike.mean()),
                float(cosines(found - centre, wanted - centre).mean()),
                statistics.median(fast.questions),
                fast.percentile(0.95),
                statistics.median(slow.questions) / statistics.median(fast.questions),
                tokens / fast.articles,
                slow.articles / few_seconds,
                law_minutes(encoder, law) if options.all else fast.articles * len(all_inputs) / len(inputs) / 60,
                options.all,
            )
        )
    told = (
        f"{len(inputs)} articles of {options.law} spread over all lengths ({tokens / len(inputs):.0f} tokens read of "
        f"each), {len(questions)} train questions of {options.questions}. Articles are read as "
        f"`{settings.article}`, {settings.max_tokens} tokens at most. Torch: a question "
        f"{statistics.median(slow.questions):.2f} ms, "
        f"{slow.articles * len(all_inputs) / len(few) / 60:.1f} minutes for the law's {len(all_inputs):,} articles."
    )
    return rows, told


def table(rows: Sequence[Row], told: str) -> str:
    lines = [
        "# The encoder that ships, against torch",
        "",
        f"`python benchmarks/measure_encoder.py RETRIEVER MODEL…`, Python {platform.python_version()}, onnxruntime "
        f"{onnxruntime.__version__}, torch {torch.__version__}, {THREADS} threads of {platform.machine()}, one text "
        f"a run. {told}",
        "",
        "Centred: the cosine after the mean of all vectors is taken away, which is stricter. Gain: torch's time over "
        "this one's, in the same run.",
        "",
        "| model | weights | MB | cosine min | mean | centred | question p50, ms | p95, ms | gain | tokens/s | gain "
        "| the law, minutes |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        how = "" if row.whole else " (extrapolated)"
        lines.append(
            f"| {row.name} | {row.quantisation} | {row.megabytes:.1f} | {row.cosine_min:.4f} | {row.cosine_mean:.4f} "
            f"| {row.centred_mean:.4f} | {row.question_p50:.2f} | {row.question_p95:.2f} | {row.question_gain:.1f} "
            f"| {row.tokens_a_second:,.0f} | {row.articles_gain:.1f} | {row.law_minutes:.1f}{how} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("retriever", type=Path, help="the torch model")
    parser.add_argument("models", type=Path, nargs="+", help="model folders exported from it")
    parser.add_argument("--law", default=DEFAULT_LAW)
    parser.add_argument("--questions", default="vosdroits", help="a benchmark, whose train questions are asked")
    parser.add_argument("--articles", type=int, default=500, help="how many articles are compared and timed")
    parser.add_argument("--all", action="store_true", help="time the whole law instead of extrapolating")
    parser.add_argument("--write", action="store_true", help="write results/encoder.md")
    options = parser.parse_args()
    text = table(*measure(options))
    print(text)
    if options.write:
        (RESULTS / "encoder.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
