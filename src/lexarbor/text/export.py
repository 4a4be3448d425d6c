"""From training to use: a torch retriever becomes a model folder that onnxruntime reads.

Each part becomes one graph, checked against torch before it is quantised. A graph reads one text, without padding, so
it needs no mask (why: `lexarbor.text.encoder`); pooling is inside it.
"""

import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import torch
from onnx import ModelProto
from torch import Tensor, nn

from lexarbor import __version__
from lexarbor.errors import ModelError
from lexarbor.text.folder import ARTICLE_ENCODER, ENCODER, SECOND_LEVEL, TOKENIZER, Manifest, ModelFolder, writing
from lexarbor.text.hierarchical import ChunkTransformer, FirstLevel
from lexarbor.text.quantisation import WAYS, Feed, quantised
from lexarbor.text.retriever import DenseStatuteRetriever
from lexarbor.text.settings import EncoderSettings

SAMPLES = 200
"""As many sample texts are enough to see where activations are large."""
_OPSET = 20
"""The first with GELU as one node."""
_TOLERANCE = 1e-4


def export(
    retriever: DenseStatuteRetriever,
    folder: Path,
    *,
    way: str = "int8",
    samples: Sequence[str] = (),
    provenance: Mapping[str, Any] | None = None,
) -> ModelFolder:
    """Write a model folder; an older model there is replaced.

    `way` is one of `quantisation.WAYS`; `int8-smooth` needs `samples`, articles as `article_input` writes them.
    `provenance` goes into the manifest, with the versions of what exported it.
    """
    if way not in WAYS:
        raise ModelError(f"'{way}' is no way to export a model: choose one of {', '.join(WAYS)}")
    if way == "int8-smooth" and not samples:
        raise ModelError("int8-smooth measures the model on sample texts, and none were given: give some articles")
    graphs = _graphs(retriever)
    feeds = _feeds(retriever, graphs, samples[:SAMPLES]) if way == "int8-smooth" else {}
    tokenizer = retriever.tokenizer
    libraries = {name: version(name) for name in ("torch", "transformers", "onnx", "onnxruntime", "tokenizers")}
    manifest = Manifest(
        settings=retriever.settings,
        dimension=int(retriever.question_tower.config.hidden_size),
        special_tokens=(int(tokenizer.cls_token_id), int(tokenizer.sep_token_id)),
        provenance={**(provenance or {}), "quantisation": way, "lexarbor": __version__, "libraries": libraries},
    )
    with writing(folder, manifest) as building:
        (building / TOKENIZER).write_text(tokenizer.backend_tokenizer.to_str(), encoding="utf-8")
        for name, graph in graphs.items():
            (building / name).write_bytes(quantised(graph, way, feeds.get(name, ())).SerializeToString())
    return ModelFolder.open(folder)


class _OneText(nn.Module):
    """A tower with its pooling, for one text without padding."""

    def __init__(self, tower: nn.Module, pooling: str) -> None:
        super().__init__()
        self.tower = tower
        self.pooling = pooling

    def forward(self, ids: Tensor) -> Tensor:
        """`ids` (1, t) to a vector (1, d)."""
        tokens: Tensor = self.tower(input_ids=ids).last_hidden_state  # (1, t, d)
        return tokens[:, 0] if self.pooling == "cls" else tokens.mean(dim=1)


class _OneArticle(nn.Module):
    """The second level for the chunks of one article, all of them present."""

    def __init__(self, second_level: ChunkTransformer) -> None:
        super().__init__()
        self.second_level = second_level

    def forward(self, chunks: Tensor) -> Tensor:
        """`chunks` (1, m, d) to a vector (1, d)."""
        hidden = chunks + self.second_level.positions[: chunks.shape[1]]
        for layer in self.second_level.layers:
            hidden = layer(hidden)
        return hidden.amax(dim=1) if self.second_level.pooling == "max" else hidden.mean(dim=1)


@torch.no_grad()
def _graphs(retriever: DenseStatuteRetriever) -> dict[str, ModelProto]:
    """Each part of the retriever as a graph in 32 bits, by its file's name."""
    settings = retriever.settings
    towers = {ENCODER: retriever.question_tower}
    if not settings.shared:
        towers[ARTICLE_ENCODER] = retriever.article_tower
    graphs = {}
    draw = torch.Generator().manual_seed(0)
    for name, original in towers.items():
        tower = deepcopy(original).cpu().float().eval()
        words = int(tower.get_input_embeddings().num_embeddings)
        examples = [torch.randint(words, (1, length), generator=draw) for length in _lengths(settings)]
        trained = FirstLevel(tower, settings.pooling)
        wanted = [trained(ids, torch.ones_like(ids)) for ids in examples]
        tower.set_attn_implementation("eager")  # plain products, which onnxruntime optimises
        graphs[name] = _graph(_OneText(tower, settings.pooling), "ids", examples, wanted)
    if retriever.second_level is not None:
        second = deepcopy(retriever.second_level).cpu().float().eval()
        counts = sorted({1, min(2, settings.max_chunks), settings.max_chunks})
        examples = [torch.randn((1, count, second.positions.shape[1]), generator=draw) for count in counts]
        wanted = [second(chunks, torch.ones(chunks.shape[:2], dtype=torch.bool)) for chunks in examples]
        graphs[SECOND_LEVEL] = _graph(_OneArticle(second), "chunks", examples, wanted)
    return graphs


def _lengths(settings: EncoderSettings) -> list[int]:
    """Lengths to compare a tower with its graph at: an empty text, some, and the longest it will read."""
    longest = max(settings.question_tokens, settings.article_tokens)
    return sorted({length for length in (2, 3, 17) if length < longest} | {longest})


def _graph(module: nn.Module, name: str, examples: Sequence[Tensor], wanted: Sequence[Tensor]) -> ModelProto:
    """A module as an ONNX graph whose second dimension is free; it must give what is wanted of the examples."""
    middle = examples[len(examples) // 2]
    free = torch.export.Dim.DYNAMIC if len(examples) > 1 else None
    with _quietly():
        program = torch.onnx.export(
            module,
            (middle,),
            input_names=[name],
            output_names=["vector"],
            dynamic_shapes=({1: free},),
            opset_version=_OPSET,
            dynamo=True,
            verbose=False,
        )
        assert program is not None  # without a file's name it is returned
        graph: ModelProto = program.model_proto
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    for example, exact in zip(examples, wanted, strict=True):
        found = session.run(None, {name: example.numpy()})[0]
        apart = float(np.abs(found - exact.numpy()).max() / max(float(exact.abs().max()), 1e-6))
        if not apart < _TOLERANCE:
            raise ModelError(
                f"the ONNX graph that reads {name} is {apart:.1e} away from torch at length {example.shape[1]}: this "
                "architecture cannot be exported; begin from another checkpoint"
            )
    return graph


@contextmanager
def _quietly() -> Iterator[None]:
    """Keep the exporter's remarks on its own insides, and on libraries it would also know, to itself."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


def _feeds(
    retriever: DenseStatuteRetriever, graphs: Mapping[str, ModelProto], samples: Sequence[str]
) -> dict[str, list[Feed]]:
    """What each graph reads of some articles."""
    articles = retriever.article_ids(samples)
    rows: list[Feed] = [{"ids": np.array([ids], dtype=np.int64)} for chunks in articles for ids in chunks]
    # a question tower of its own sees articles too here: they hold more kinds of words than questions would
    feeds = {ENCODER: rows, ARTICLE_ENCODER: rows}
    if SECOND_LEVEL in graphs:
        first = graphs.get(ARTICLE_ENCODER, graphs[ENCODER])
        session = onnxruntime.InferenceSession(first.SerializeToString(), providers=["CPUExecutionProvider"])
        read = iter([session.run(None, dict(row))[0] for row in rows])
        feeds[SECOND_LEVEL] = [{"chunks": np.stack([next(read) for _ in chunks], axis=1)} for chunks in articles]
    return feeds
