"""Training runs that are ended in their middle."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest


class Killed(BaseException):
    """As a signal would end a run."""


@contextmanager
def killed_at(batches: type, number: int, *, where: Callable[[Any], bool] = lambda batches: True) -> Iterator[None]:
    """End the block when it asks for a batch of this number: one before it is used, for the loader looks ahead."""
    whole: Callable[[Any, int], Any] = batches.__getitem__  # type: ignore[attr-defined]

    def mortal(self: Any, asked: int) -> Any:
        if asked == number and where(self):
            raise Killed
        return whole(self, asked)

    with pytest.MonkeyPatch.context() as patched, pytest.raises(Killed):
        patched.setattr(batches, "__getitem__", mortal)
        yield
