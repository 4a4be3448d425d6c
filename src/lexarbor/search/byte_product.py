"""The product of small integers as a model that onnxruntime runs: (m, d) unsigned × (d, n) signed bytes.

numpy multiplies bytes one by one; onnxruntime has kernels for them that are many times faster than numpy's product of
floats. The model is written here as protobuf, field by field after onnx.proto: the package `onnx`, which could write
it, is needed for training alone.
"""

from collections.abc import Iterable

import numpy as np
import onnxruntime
from numpy.typing import NDArray

_IR_VERSION, _OPSET = 8, 13
_UINT8, _INT8, _INT32 = 2, 3, 6
"""`TensorProto.DataType`."""
Message = list[bytes]
"""In pieces, so that a large matrix is copied once, at the end."""


class ByteProduct:
    """Unsigned bytes times one matrix of signed bytes, exact as long as the former are below 128: of two products of
    larger ones, some processors keep 16 bits.
    """

    def __init__(self, matrix: NDArray[np.int8], threads: int) -> None:
        """`matrix` (n, d): its rows are multiplied with what `times` is given."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        # else a core is kept busy waiting for the next question
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        model = product_model(matrix)
        self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    def times(self, left: NDArray[np.uint8]) -> NDArray[np.int32]:
        """(m, d) to (m, n)."""
        found: NDArray[np.int32] = self._session.run(["product"], {"left": left})[0]
        return found


def product_model(matrix: NDArray[np.int8]) -> bytes:
    """The model as the bytes of an ONNX file, the matrix (n, d) in it."""
    rows, dimension = matrix.shape
    right = _message(
        (1, dimension), (1, rows), (2, _INT8), (8, b"right"), (9, np.ascontiguousarray(matrix.T).tobytes())
    )  # TensorProto: dims, data_type, name, raw_data
    node = _message((1, b"left"), (1, b"right"), (2, b"product"), (4, b"MatMulInteger"))  # input, output, op_type
    graph = _message(
        (1, node),
        (2, b"product"),
        (5, right),
        (11, _tensor(b"left", _UINT8, b"questions", dimension)),
        (12, _tensor(b"product", _INT32, b"questions", rows)),
    )  # GraphProto: node, name, initializer, input, output
    return b"".join(_message((1, _IR_VERSION), (7, graph), (8, _message((1, b""), (2, _OPSET)))))  # ModelProto


def _tensor(name: bytes, kind: int, first: bytes, second: int) -> Message:
    """`ValueInfoProto` of a matrix whose number of rows is known by a name alone."""
    shape = _message((1, _message((2, first))), (1, _message((1, second))))
    return _message((1, name), (2, _message((1, _message((1, kind), (2, shape))))))


def _message(*fields: tuple[int, int | bytes | Message]) -> Message:
    """A protobuf message: each field its number and an integer, or bytes with their length before them."""
    return [part for number, value in fields for part in _field(number, value)]


def _field(number: int, value: int | bytes | Message) -> Message:
    if isinstance(value, int):
        return [_integer(number << 3), _integer(value)]
    parts = [value] if isinstance(value, bytes) else value
    return [_integer(number << 3 | 2), _integer(sum(map(len, parts))), *parts]


def _integer(value: int) -> bytes:
    """Seven bits a byte, the lowest first, the eighth set on all but the last."""
    return bytes(_sevens(value))


def _sevens(value: int) -> Iterable[int]:
    while value > 127:
        yield value & 127 | 128
        value >>= 7
    yield value
