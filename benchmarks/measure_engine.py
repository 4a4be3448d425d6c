"""The engine's speed and memory: end to end, against sentence-transformers + FAISS, and as the law grows.

    python benchmarks/measure_engine.py RETRIEVER      writes results/engine-speed.md

RETRIEVER is the folder that training wrote and the shipped encoder was exported from. Needs the extra `train` and,
beside it, `pip install faiss-cpu`. Two threads; each stage in a process of its own. Machines differ and are shared:
what counts are the ratios, of numbers from one run, the two systems asked in turn.
"""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from lexarbor.corpus.agreements import AGREEMENTS, read_agreements
from lexarbor.corpus.benchmarks.catalogue import build_benchmark
from lexarbor.corpus.law import Article, Code
from lexarbor.corpus.packages import fetch, package
from lexarbor.corpus.sources import DEFAULT_LAW, read_law
from lexarbor.corpus.tree import LawTree
from lexarbor.search.building import build_index, shipped_models
from lexarbor.search.dense import DenseIndex
from lexarbor.search.engine import Engine
from lexarbor.search.lexical import tuned
from lexarbor.search.store import open_index
from measure_speed import seconds

RESULTS = Path(__file__).parent.parent / "results"
THREADS = "2"
ASKED = 300
CHANGED = 100


def megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def asked() -> list[str]:
    """Questions of VosDroits, train and dev: how long they take does not tell how they are answered."""
    questions = build_benchmark("vosdroits").questions
    return [question.text for split in ("dev", "train") for question in questions.split(split)][:ASKED]


def milliseconds(ask: Callable[[str], object], questions: list[str]) -> list[float]:
    for question in questions[:20]:
        ask(question)
    return [1000 * seconds(partial(ask, question)) for question in questions]


def percentiles(times: list[float]) -> dict[str, float]:
    return {"p50": float(np.percentile(times, 50)), "p95": float(np.percentile(times, 95))}


def stage_build(folder: Path, retriever: Path) -> dict[str, Any]:
    """An index of the default law from what ships, and again after some articles have changed."""
    law = read_law(DEFAULT_LAW)
    cache = folder.parent / "vectors"
    keywords: dict[str, Any] = {"source": DEFAULT_LAW, "settings": tuned("headings+text"), "cache": cache}
    first = seconds(lambda: build_index(law, folder, models=shipped_models(), **keywords))
    changed = set(sorted(law.articles)[:: len(law.articles) // CHANGED][:CHANGED])
    nodes = [replace(one, text=one.text + " Modifié.") if one.id in changed else one for one in law.nodes()]
    amended = LawTree(nodes, date=law.date, history=law.history, name=law.name)
    other = folder.parent / "amended"
    return {
        "build_s": first,
        "rebuild_s": seconds(lambda: build_index(amended, other, models=shipped_models(), **keywords)),
        "build_mb": megabytes(),
    }


def stage_open(folder: Path, retriever: Path) -> dict[str, Any]:
    opening = sorted(seconds(lambda: Engine.open(folder)) for _ in range(5))[2]
    asking = sorted(seconds(lambda: Engine.open(folder).search("congés payés")) for _ in range(5))[2]
    return {"open_s": opening, "first_s": asking}


def stage_ask(folder: Path, retriever: Path) -> dict[str, Any]:
    questions = asked()
    before = megabytes()
    engine = Engine.open(folder)
    times = milliseconds(engine.search, questions)
    explained = milliseconds(partial(engine.search, explain=True), questions)
    legs = {
        leg: percentiles(milliseconds(partial(engine.rank, k=10, legs=[leg]), questions))["p50"]
        for leg in engine.index.legs
    }
    return {
        "ask": percentiles(times),
        "explained": percentiles(explained),
        "legs": legs,
        "mb": megabytes(),
        "before": before,
    }


def stage_against(folder: Path, retriever: Path) -> dict[str, Any]:
    """The engine and its dense leg beside sentence-transformers + FAISS over the same vectors, asked in turn."""
    import faiss
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Normalize, Pooling, Transformer

    torch.set_num_threads(int(THREADS))
    faiss.omp_set_num_threads(int(THREADS))
    questions = asked()
    engine = Engine.open(folder)
    dense = engine.index.dense
    assert dense is not None
    tower = Transformer(str(retriever / "encoder"), max_seq_length=64)
    model = SentenceTransformer(modules=[tower, Pooling(tower.get_embedding_dimension()), Normalize()], device="cpu")
    flat = faiss.IndexFlatIP(dense.dimension)
    flat.add(dense.vectors * dense.scales[:, None])

    def theirs(question: str) -> object:
        return flat.search(model.encode([question], show_progress_bar=False), 10)

    def ours(question: str) -> object:
        return engine.rank(question, 10, legs=["dense"])

    rounds = [[milliseconds(ask, questions) for ask in (theirs, ours, engine.search)] for _ in range(3)]
    found = [float(np.median([np.mean(one[place]) for one in rounds])) for place in range(3)]
    return {"theirs_ms": found[0], "dense_ms": found[1], "engine_ms": found[2]}


def stage_agreements(folder: Path, retriever: Path) -> dict[str, Any]:
    """The codes and, below one more code, the articles of collective agreements: about 100,000."""
    return _grown(folder, 100_000)


def stage_million(folder: Path, retriever: Path) -> dict[str, Any]:
    """Vectors and places alone, drawn by chance: speed and memory of the dense leg."""
    draw = np.random.default_rng(0)
    dense = DenseIndex(draw.integers(-127, 128, (1_000_000, 384), dtype=np.int8), np.ones(1_000_000, dtype=np.float32))
    questions = draw.normal(size=(20, 1, 384)).astype(np.float32)
    times = [1000 * seconds(partial(dense.scores, question)) for question in questions]
    return {"dense": percentiles(times[3:]), "mb": megabytes()}


def _grown(folder: Path, articles: int) -> dict[str, Any]:
    index = open_index(folder)
    law = index.law
    code = Code("AGREEMENTS", "Conventions collectives")
    more: list[Article] = []
    for number, one in enumerate(read_agreements(fetch(package(AGREEMENTS)))):
        if len(law.articles) + len(more) >= articles:
            break
        more.append(Article(id=f"ZKALI{number:07}", number=str(number), code=code.id, text=one.text, path=()))
    grown = LawTree([*law.nodes(), code, *more], date=law.date, history=law.history, name="grown")
    target = folder.parent / "grown"
    draw = np.random.default_rng(0)

    class Drawn:
        """Stands for the encoder of articles, so that an hour of encoding is not measured: vectors by chance."""

        def __init__(self) -> None:
            self.encoder = shipped_models().encoder

        def __getattr__(self, name: str) -> Any:
            return getattr(self.encoder, name)

        def encode_articles(self, inputs: list[str]) -> Any:
            return draw.normal(size=(len(list(inputs)), 384)).astype(np.float32)

    models = replace(shipped_models(), encoder=Drawn(), enricher=None)  # type: ignore[arg-type]
    build_index(grown, target, source="grown", settings=tuned("headings+text"), models=models)
    opening = seconds(lambda: Engine.open(target))
    engine = Engine.open(target)
    times = milliseconds(engine.search, asked())
    return {"articles": len(grown.articles), "open_s": opening, "ask": percentiles(times), "mb": megabytes()}


STAGES = {
    "build": stage_build,
    "open": stage_open,
    "ask": stage_ask,
    "against": stage_against,
    "agreements": stage_agreements,
    "million": stage_million,
}


def main(retriever: Path) -> None:
    found: dict[str, dict[str, Any]] = {}
    with TemporaryDirectory() as temporary:
        folder = Path(temporary) / "index"
        for stage in STAGES:
            command = [sys.executable, __file__, stage, str(folder), str(retriever)]
            done = subprocess.run(
                command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": THREADS}
            )
            if done.returncode:
                sys.exit(f"{stage}: {done.stderr[-2000:]}")
            found[stage] = json.loads(done.stdout.splitlines()[-1])
            print(stage, found[stage], flush=True)
    write(found)


def write(found: dict[str, dict[str, Any]]) -> None:
    build, ask, against = found["build"], found["ask"], found["against"]
    grown, million = found["agreements"], found["million"]
    of_grown = f"{grown['ask']['p50']:.1f}, {grown['ask']['p95']:.1f}"
    of_million = f"{million['dense']['p50']:.0f} ms, {million['mb']:.0f} MB"
    rows = [
        f"| index built from what ships, headings encoded | {build['build_s']:.1f} s |",
        f"| built again after {CHANGED} articles changed (under 60 s) | {build['rebuild_s']:.1f} s |",
        f"| index opened (at most 1 s) | {found['open']['open_s']:.2f} s |",
        f"| opened, the encoder too, and a first question answered | {found['open']['first_s']:.2f} s |",
        f"| a question end to end, p50 (at most 10 ms) | {ask['ask']['p50']:.1f} ms |",
        f"| p95 (at most 25 ms) | {ask['ask']['p95']:.1f} ms |",
        f"| the same explained, p50, p95 | {ask['explained']['p50']:.1f}, {ask['explained']['p95']:.1f} ms |",
        f"| one leg alone, p50 | {', '.join(f'{leg} {took:.1f} ms' for leg, took in ask['legs'].items())} |",
        f"| peak memory of a process that asks (under 600 MB) | {ask['mb']:.0f} MB |",
        f"| sentence-transformers (torch) + FAISS, a question, mean | {against['theirs_ms']:.1f} ms |",
        f"| our dense leg, mean | {against['dense_ms']:.1f} ms |",
        f"| **ratio of questions a second** (at least 4) | **{against['theirs_ms'] / against['dense_ms']:.1f}** |",
        f"| our whole engine, mean | {against['engine_ms']:.1f} ms |",
        f"| **ratio of questions a second** (at least 1.3) | **{against['theirs_ms'] / against['engine_ms']:.1f}** |",
        f"| {grown['articles']:,} articles (with agreements, vectors drawn): p50, p95 | {of_grown} ms |",
        f"| the same: opened, peak memory of building and asking | {grown['open_s']:.2f} s, {grown['mb']:.0f} MB |",
        f"| 1,000,000 vectors (drawn), the dense leg's product: p50, peak memory | {of_million} |",
    ]
    lines = [
        "# The engine's speed",
        "",
        "`python benchmarks/measure_engine.py RETRIEVER`, two cores, the default law (29,115 articles), questions of",
        "VosDroits one by one, two threads. The machine is shared: read ratios first.",
        "",
        "| what | measured |",
        "|---|---|",
        *rows,
    ]
    (RESULTS / "engine-speed.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (RESULTS / "engine-speed.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print("results/engine-speed.md")


if __name__ == "__main__":
    if len(sys.argv) == 4:
        print(json.dumps(STAGES[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3]))))
    elif len(sys.argv) == 2:
        main(Path(sys.argv[1]))
    else:
        sys.exit(__doc__)
