"""The grammar on the citations checked by hand: `benchmarks/measure_citations.py`, with the real package."""

import runpy
from pathlib import Path

import pytest

from lexarbor.corpus.sources import DEFAULT_LAW, read_law

MEASURE = Path(__file__).parents[2] / "benchmarks" / "measure_citations.py"


@pytest.mark.real
def test_precision_and_recall_on_citations_checked_twice() -> None:
    quality = runpy.run_path(str(MEASURE))["measure"](read_law(DEFAULT_LAW))
    assert quality.gold >= 200
    assert quality.precision >= 0.97, quality.wrong
    assert quality.recall >= 0.9, quality.missed
