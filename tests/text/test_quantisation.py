"""Graphs in 8 bits, on matrices small enough to follow."""

import numpy as np
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper, numpy_helper

from lexarbor.text.quantisation import WAYS, quantised

IN_8_BITS = [way for way in WAYS if way != "float32"]
DRAW = np.random.default_rng(0)
TABLE = DRAW.normal(size=(100, 32)).astype(np.float32)
MATRIX = DRAW.normal(size=(32, 32)).astype(np.float32)

NO_GAINS = np.ones(32, dtype=np.float32)


def graph(table: NDArray[np.float32], matrix: NDArray[np.float32], gains: NDArray[np.float32] = NO_GAINS) -> ModelProto:
    """Rows of a table, each place with its gain, multiplied twice by the same matrix."""
    nodes = [
        helper.make_node("Gather", ["table", "ids"], ["rows"], name="look up"),
        helper.make_node("Mul", ["rows", "gains"], ["gained"], name="gain"),
        helper.make_node("MatMul", ["gained", "matrix"], ["once"], name="first"),
        helper.make_node("Tanh", ["once"], ["bent"], name="bend"),
        helper.make_node("MatMul", ["bent", "matrix"], ["vectors"], name="second"),
    ]
    ids = helper.make_tensor_value_info("ids", TensorProto.INT64, [1, None])
    vectors = helper.make_tensor_value_info("vectors", TensorProto.FLOAT, [1, None, 32])
    weights = {"table": table, "matrix": matrix, "gains": gains}
    tensors = [numpy_helper.from_array(values, name) for name, values in weights.items()]
    made = helper.make_graph(nodes, "tiny", [ids], [vectors], tensors)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


def run(model: ModelProto, ids: list[int]) -> NDArray[np.float32]:
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    found: NDArray[np.float32] = session.run(None, {"ids": np.array([ids])})[0]
    return found


def feeds() -> list[dict[str, NDArray[np.int64]]]:
    return [{"ids": np.array([[place, 99 - place]])} for place in range(100)]


def error(model: ModelProto, exact: ModelProto) -> float:
    """The mean distance of vectors from the exact ones, in parts of their length."""
    found, wanted = (np.concatenate([run(one, [place]) for place in range(100)]) for one in (model, exact))
    return float(np.linalg.norm(found - wanted) / np.linalg.norm(wanted))


@pytest.mark.parametrize("way", IN_8_BITS)
def test_products_are_near_and_the_graph_given_is_not_touched(way: str) -> None:
    exact = graph(TABLE, MATRIX)
    before = exact.SerializeToString()
    assert error(quantised(exact, way, feeds()), exact) < 0.02
    assert exact.SerializeToString() == before
    assert quantised(exact, "float32") is exact


@pytest.mark.parametrize("way", IN_8_BITS)
def test_no_large_matrix_stays_in_32_bits(way: str) -> None:
    small = quantised(graph(TABLE, MATRIX), way, feeds())
    floats = [tensor for tensor in small.graph.initializer if tensor.data_type == TensorProto.FLOAT]
    assert max(np.prod(tensor.dims) for tensor in floats) <= 100  # scales alone


@pytest.mark.parametrize("way", IN_8_BITS)
def test_a_row_of_a_table_keeps_its_own_scale(way: str) -> None:
    table = TABLE * np.logspace(-3, 3, 100, dtype=np.float32)[:, None]
    exact = graph(table, MATRIX)
    found, wanted = (run(one, [0]) for one in (quantised(exact, way, feeds()), exact))
    assert np.linalg.norm(found - wanted) < 0.02 * np.linalg.norm(wanted)


def test_smoothing_saves_what_one_large_number_would_drown() -> None:
    gains = np.ones(32, dtype=np.float32)
    gains[5] = 300  # one place far out, as trained models have them, that its matrix hardly listens to
    matrix = MATRIX / gains[:, None]
    exact = graph(TABLE, matrix, gains)
    plain, smooth = (error(quantised(exact, way, feeds()), exact) for way in ("int8", "int8-smooth"))
    assert smooth < plain / 3
