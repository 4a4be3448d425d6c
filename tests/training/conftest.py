import pytest
import torch


@pytest.fixture(autouse=True)
def one_thread() -> None:
    """Tiny models are faster so, and sums come in one order."""
    torch.set_num_threads(1)
