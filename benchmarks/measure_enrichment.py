"""The whole default law enriched without torch, by each layer: time, and likeness to torch with the same weights.

    python benchmarks/measure_enrichment.py

Features are the shipped encoder's, from the cache (encoded first where it has none: some minutes). Two threads.
Machines differ and are shared: beside each time stands its ratio to torch's, in the same run. Writes
results/enrichment.md.
"""

import os
import platform
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "2")  # before numpy is imported, which reads it once

import numpy as np
import torch
from numpy.typing import NDArray

from lexarbor.corpus.packages import cache_folder
from lexarbor.corpus.sources import DEFAULT_LAW, read_law
from lexarbor.graph.encoder import LegislativeGraphEncoder
from lexarbor.graph.enrichment import Enricher
from lexarbor.graph.features import encode_nodes
from lexarbor.graph.legislation import LegislativeGraph, legislative_graph
from lexarbor.graph.model_folder import GraphModelFolder
from lexarbor.graph.settings import GraphSettings
from lexarbor.graph.shipped import shipped_graph_model
from lexarbor.text.shipped import open_shipped

RESULTS = Path(__file__).parent.parent / "results"
THREADS = 2
LAYERS = ("gatv2", "gat", "gcn", "graphsage", "kgnn", "hearing")

Vectors = NDArray[np.float32]


def timed(work: Callable[[], Vectors]) -> tuple[Vectors, float]:
    began = time.perf_counter()
    found = work()
    return found, time.perf_counter() - began


def row(
    name: str,
    settings: GraphSettings,
    weights: dict[str, NDArray[np.float16]],
    features: Vectors,
    graph: LegislativeGraph,
) -> str:
    """One line of the table."""
    dimension = features.shape[1]
    enricher = Enricher(settings, dimension, "shipped", weights)
    model = LegislativeGraphEncoder.from_arrays(settings, dimension, weights).eval()
    edges = {kind: torch.from_numpy(ends.astype(np.int64)) for kind, ends in graph.edges.items()}

    @torch.no_grad()
    def by_torch() -> Vectors:
        found: Vectors = model(torch.from_numpy(features), edges).numpy()
        return found

    found, seconds = timed(lambda: enricher.enrich(features, graph, encoder="shipped"))
    expected, torch_seconds = timed(by_torch)
    apart = float(np.abs((found - expected) / np.linalg.norm(expected, axis=1, keepdims=True)).max())
    size = sum(array.size for array in weights.values())
    return f"| {name} | {size:,} | {seconds:.1f} | {seconds / torch_seconds:.2f} | {apart:.1e} |"


def main() -> None:
    torch.set_num_threads(THREADS)
    encoder = open_shipped(THREADS)
    law = read_law(DEFAULT_LAW)
    began = time.perf_counter()
    graph = legislative_graph(law)
    built = time.perf_counter() - began
    features = encode_nodes(encoder, law, graph, cache_folder() / "vectors")
    shipped = GraphModelFolder.open(shipped_graph_model())
    rows = [row("**shipped**", shipped.settings, dict(shipped.weights), features, graph)]
    for layer in LAYERS:
        torch.manual_seed(0)
        settings = GraphSettings(layer=layer, layers=3)
        weights = LegislativeGraphEncoder(settings, encoder.dimension).to_arrays()
        rows.append(row(f"`{layer}`, 3 layers, untrained", settings, weights, features, graph))
    count = sum(ends.shape[1] for ends in graph.edges.values())
    lines = [
        "# Enrichment without torch",
        "",
        f"`python benchmarks/measure_enrichment.py`: {DEFAULT_LAW}, {len(graph.articles):,} articles and",
        f"{len(graph.sections):,} sections, {count:,} edges of six kinds; {THREADS} threads, Python",
        f"{platform.python_version()}, {platform.machine()}. The graph is made in {built:.1f} s, citations read from",
        "the texts included. Apart: the largest difference from torch's numbers with the same weights in 16 bits,",
        "torch's vectors at length 1.",
        "",
        "| model | parameters | seconds | × torch's | apart |",
        "|---|---|---|---|---|",
        *rows,
    ]
    (RESULTS / "enrichment.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
