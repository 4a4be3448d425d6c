"""ONNX graphs in 8 bits: a quarter of the size, faster, nearly the same vectors.

Tables of embeddings keep one scale a row, matrices one a column or a block. What multiplies a matrix is quantised
while the model runs: `int8` takes one scale for the whole text, so one very large number in a text costs all others
their precision. `int8-smooth` first moves such numbers from the activations into the matrices (SmoothQuant, Xiao et
al. 2023: x W = (x / s) (s W), with s measured on sample texts); `int8-blocks` gives every 32 numbers a scale of their
own, and is slower. `benchmarks/measure_encoder.py` tells what each does to a trained model.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.quantization.onnx_model import ONNXModel

WAYS = ("float32", "int8", "int8-smooth", "int8-blocks")
_LEAST_ROWS = 64
"""Tables with fewer rows stay as they are: nothing would be saved."""
_SMOOTHING = 0.3
"""How much of an activation's spread goes to the weights: 0 none, 1 all."""
_BLOCK = 32

Feed = Mapping[str, NDArray[Any]]


def quantised(graph: ModelProto, way: str, samples: Sequence[Feed] = ()) -> ModelProto:
    """The graph in 8 bits; `samples` are inputs that `int8-smooth` measures activations on."""
    if way == "float32":
        return graph
    graph = _copy(graph)
    ONNXModel(graph).replace_gemm_with_matmul()
    _quantise_tables(graph)
    if way == "int8-blocks":
        return _in_blocks(graph)
    if way == "int8-smooth":
        _smooth(graph, samples)
    return _in_columns(graph)


def _quantise_tables(graph: ModelProto) -> None:
    """Rows of a table are looked up in 8 bits and multiplied by their own scale."""
    tables = {tensor.name: tensor for tensor in graph.graph.initializer if _is_table(tensor)}
    written: set[str] = set()
    for node in [node for node in graph.graph.node if node.op_type == "Gather" and node.input[0] in tables]:
        name, rows, out = node.input[0], node.input[1], node.output[0]
        if name not in written:
            values = numpy_helper.to_array(tables[name])
            largest = np.abs(values).max(axis=1, keepdims=True)  # (rows, 1)
            scales = (np.maximum(largest, np.finfo(np.float32).tiny) / 127).astype(np.float32)
            _add(graph, f"{name}_rows", np.round(values / scales).clip(-127, 127).astype(np.int8))
            _add(graph, f"{name}_scales", scales)
            written.add(name)
        _replace(
            graph,
            node,
            helper.make_node("Gather", [f"{name}_rows", rows], [f"{out}_row"]),
            helper.make_node("Gather", [f"{name}_scales", rows], [f"{out}_row_scale"]),
            helper.make_node("Cast", [f"{out}_row"], [f"{out}_row_number"], to=TensorProto.FLOAT),
            helper.make_node("Mul", [f"{out}_row_number", f"{out}_row_scale"], [out]),
        )
    _drop_unused(graph)


def _is_table(tensor: TensorProto) -> bool:
    return tensor.data_type == TensorProto.FLOAT and len(tensor.dims) == 2 and tensor.dims[0] >= _LEAST_ROWS


def _in_columns(graph: ModelProto) -> ModelProto:
    """Matrices with one scale a column, activations with one scale a text, products in whole numbers."""
    with _quietly(), TemporaryDirectory() as folder:
        path = Path(folder) / "quantised.onnx"
        quantize_dynamic(
            graph,
            path,
            op_types_to_quantize=["MatMul"],
            per_channel=True,
            weight_type=QuantType.QInt8,
            extra_options={"MatMulConstBOnly": True},
        )
        return onnx.load(path)


def _in_blocks(graph: ModelProto) -> ModelProto:
    """Matrices and activations with a scale for every 32 numbers."""
    with _quietly():
        from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

        quantizer = MatMulNBitsQuantizer(graph, block_size=_BLOCK, is_symmetric=True, accuracy_level=4, bits=8)
        quantizer.process()
    found: ModelProto = quantizer.model.model
    return found


def _smooth(graph: ModelProto, samples: Sequence[Feed]) -> None:
    """Divide what enters the matrices by a scale for each place, and multiply the matrices' rows by it."""
    weights = {tensor.name: tensor for tensor in graph.graph.initializer}
    products: dict[str, list[NodeProto]] = {}
    for node in graph.graph.node:
        if node.op_type == "MatMul" and node.input[1] in weights:
            products.setdefault(node.input[0], []).append(node)
    largest = _largest(graph, list(products), samples)
    for entering, nodes in products.items():
        matrices = [numpy_helper.to_array(weights[node.input[1]]) for node in nodes]
        heaviest = np.max([np.abs(matrix).max(axis=1) for matrix in matrices], axis=0)
        scales = np.maximum(largest[entering], 1e-5) ** _SMOOTHING / np.maximum(heaviest, 1e-5) ** (1 - _SMOOTHING)
        scales = (scales / np.exp(np.log(scales).mean())).astype(np.float32)
        _add(graph, f"{entering}_smoothing", 1 / scales)
        smoothed = helper.make_node("Mul", [entering, f"{entering}_smoothing"], [f"{entering}_smooth"])
        graph.graph.node.insert(list(graph.graph.node).index(nodes[0]), smoothed)
        for node, matrix in zip(nodes, matrices, strict=True):
            # under a new name: other nodes may multiply by the same matrix
            node.input[:] = [f"{entering}_smooth", f"{node.input[1]}_{entering}"]
            _add(graph, node.input[1], matrix * scales[:, None])
    _drop_unused(graph)


def _largest(graph: ModelProto, names: list[str], samples: Iterable[Feed]) -> dict[str, NDArray[np.float32]]:
    """The largest magnitude at each place of some activations, over all samples."""
    watched = _copy(graph)
    watched.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names)
    session = onnxruntime.InferenceSession(watched.SerializeToString(), providers=["CPUExecutionProvider"])
    largest: dict[str, NDArray[np.float32]] = {}
    for feed in samples:
        for name, values in zip(names, session.run(names, dict(feed)), strict=True):
            seen = np.abs(values).reshape(-1, values.shape[-1]).max(axis=0)
            largest[name] = np.maximum(largest.get(name, seen), seen)
    return largest


@contextmanager
def _quietly() -> Iterator[None]:
    """onnxruntime's tools tell each step, and set up logging for the whole process where nobody has."""
    root, level = logging.getLogger(), logging.root.manager.disable
    nobody = logging.NullHandler()
    root.addHandler(nobody)
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(level)
        root.removeHandler(nobody)


def _copy(graph: ModelProto) -> ModelProto:
    copy = ModelProto()
    copy.CopyFrom(graph)
    return copy


def _add(graph: ModelProto, name: str, values: NDArray[Any]) -> None:
    graph.graph.initializer.append(numpy_helper.from_array(values, name))


def _replace(graph: ModelProto, node: NodeProto, *others: NodeProto) -> None:
    place = list(graph.graph.node).index(node)
    graph.graph.node.remove(node)
    for offset, other in enumerate(others):
        graph.graph.node.insert(place + offset, other)


def _drop_unused(graph: ModelProto) -> None:
    used = {name for node in graph.graph.node for name in node.input}
    for tensor in [tensor for tensor in graph.graph.initializer if tensor.name not in used]:
        graph.graph.initializer.remove(tensor)
