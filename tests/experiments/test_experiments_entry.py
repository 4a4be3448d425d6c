"""`python -m lexarbor.experiments`: the training half by name, with jobs and without."""

from pathlib import Path

import pytest
from light_training import failing, on_bench

from lexarbor.errors import TrainingError
from lexarbor.experiments.__main__ import main


def test_the_training_half_trains_what_is_named(trained: list[str], work: Path) -> None:
    asked = ["main", "gnns", "--benchmark", "tiny", "--work", str(work)]
    assert main([*asked, "--jobs", "law,dpr-start"]) == 0
    assert trained == ["vocabulary", "general", "dpr-start", "law"]
    assert main([*asked, "--seeds", "1", "--jobs", "g-dsr-0"]) == 0
    assert trained[4:] == ["dsr-law-0", "g-dsr-0"]
    assert main([*asked, "--seeds", "1"]) == 0
    assert trained[6:] == ["dpr-0", "dsr-0", "g-dsr-hearing-0", "gcn-0", "gat-0", "graphsage-0", "kgnn-0"]


def test_the_training_half_ends_with_two_where_a_job_failed(
    work: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    trained = on_bench(monkeypatch, failing("law", TrainingError("no text of a law")))
    assert main(["gnns", "--benchmark", "tiny", "--work", str(work)]) == 2
    told = capsys.readouterr().err.splitlines()[-1]
    assert told.startswith("lexarbor: ")
    assert told.endswith(f" models could not be trained, 'law': no text of a law ({work}/failed has all)")
    assert trained == ["vocabulary", "general", "law"]


def test_the_training_half_knows_of_synthetic_questions(trained: list[str], work: Path) -> None:
    asked = ["main", "--benchmark", "tiny", "--work", str(work), "--jobs"]
    assert main([*asked, "dsr-both-0"]) == 2  # there are none of this law
    assert main([*asked, "dsr-both-0", "--questions", "written.jsonl"]) == 0
    assert trained == ["vocabulary", "general", "law", "dsr-both-0"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "no experiment is named"),
        (["main"], "nothing was prepared there"),
        (["maine"], "unknown experiment 'maine': did you mean 'main'?"),
        (["main", "--jobs", "dsr-9"], "no job is called 'dsr-9'"),
        (["main", "--scale", "huge"], "unknown scale 'huge'"),
        (["main", "--workers", "0"], "--workers is 0"),
        (["main", "--train-on", "dev"], "--train-on is 'dev'"),
        (["gnns", "--train-on", "train+dev"], "'gnns' has no final figures"),
    ],
)
def test_what_the_training_half_refuses(
    arguments: list[str], said: str, trained: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "--benchmark", "tiny", "--work", str(tmp_path)]) == 2
    assert said in capsys.readouterr().err
    assert trained == []
