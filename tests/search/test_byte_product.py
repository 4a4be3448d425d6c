"""The product of bytes, and the model of it."""

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexarbor.search.byte_product import ByteProduct, product_model


@given(st.integers(1, 5), st.integers(1, 300), st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_the_product_is_exact(questions: int, rows: int, dimension: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    matrix = draw.integers(-127, 128, (rows, dimension), dtype=np.int8)
    left = draw.integers(0, 128, (questions, dimension), dtype=np.uint8)
    found = ByteProduct(matrix, 1).times(left)
    assert found.dtype == np.int32
    assert (found == left.astype(int) @ matrix.astype(int).T).all()


def test_the_largest_numbers_do_not_overflow() -> None:
    matrix = np.full((3, 1000), -127, dtype=np.int8)
    assert (ByteProduct(matrix, 2).times(np.full((2, 1000), 127, dtype=np.uint8)) == -127 * 127 * 1000).all()


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (200, 130)])
def test_the_model_is_what_onnx_reads_and_accepts(shape: tuple[int, int]) -> None:
    matrix = np.random.default_rng(0).integers(-127, 128, shape, dtype=np.int8)
    model = onnx.load_model_from_string(product_model(matrix))
    onnx.checker.check_model(model, full_check=True)
    (held,) = model.graph.initializer
    assert (onnx.numpy_helper.to_array(held) == matrix.T).all()
    assert model.SerializeToString() == product_model(matrix)
