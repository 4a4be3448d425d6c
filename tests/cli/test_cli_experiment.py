"""`lexarbor experiment`: the list, one from its name to its files, its parts alone, and what is refused before work."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lexarbor.errors import BenchmarkError
from lexarbor.experiments import running
from lexarbor.experiments.catalogue import EXPERIMENTS
from lexarbor.experiments.jobs import failed_path

Command = Callable[..., Any]


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which parts were run, of which experiments, without doing anything."""
    done: list[str] = []
    monkeypatch.setattr(running, "prepare", lambda lab, names: done.append(f"prepare {' '.join(names)}"))

    def train(lab: object, names: list[str]) -> dict[str, str]:
        done.append(f"train {' '.join(names)}")
        return {}

    monkeypatch.setattr(running, "train", train)

    def report(lab: object, name: str, out: Path, command: str, among: object) -> list[Path]:
        done.append(f"report {name}")
        return [out / f"{name}.md", out / f"{name}.json"]

    monkeypatch.setattr(running, "report", report)
    return done


def test_the_list_names_each_with_what_it_shows(lexarbor: Command) -> None:
    code, out, err = lexarbor("experiment")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert [line.split()[0] for line in lines] == [*EXPERIMENTS, "all"]
    assert lines[0] == "main            the main table: baselines, DSR step by step, G-DSR, the engine"


def test_an_experiment_that_trains_nothing_is_run_from_its_name_to_its_files(lexarbor: Command, tmp_path: Path) -> None:
    out = tmp_path / "new" / "results"
    code, printed, err = lexarbor("experiment", "dataset", "--benchmark", "tiny", "--out", out)
    assert (code, err) == (0, "")
    assert printed.splitlines() == [str(out / f"dataset-tiny.{ending}") for ending in ("md", "tex", "json")]
    told = json.loads((out / "dataset-tiny.json").read_text(encoding="utf-8"))
    assert told["command"] == f"lexarbor experiment dataset --benchmark tiny --out {out}"
    assert f"`{told['command']}` (benchmark: tiny; " in (out / "dataset-tiny.md").read_text(encoding="utf-8")
    assert not (tmp_path / "cache" / "experiments").exists()  # nothing was prepared


def test_a_command_is_told_as_it_can_be_typed_again(lexarbor: Command, tmp_path: Path) -> None:
    out = tmp_path / "my results"
    assert lexarbor("experiment", "dataset", "-b", "tiny", "-o", out).code == 0
    told = json.loads((out / "dataset-tiny.json").read_text(encoding="utf-8"))
    assert told["command"] == f"lexarbor experiment dataset -b tiny -o '{out}'"


@pytest.mark.parametrize(
    ("only", "done"),
    [
        ((), ["prepare gnns", "train gnns", "report gnns"]),
        (("--only", "prepare"), ["prepare gnns"]),
        (("--only", "train"), ["train gnns"]),
        (("--only", "report"), ["report gnns"]),
    ],
)
def test_all_parts_or_one_alone(
    only: tuple[str, ...], done: list[str], parts: list[str], lexarbor: Command, tmp_path: Path
) -> None:
    code, out, err = lexarbor("experiment", "gnns", "-b", "tiny", "-o", tmp_path, *only)
    assert (code, err, parts) == (0, "", done)
    reported = [str(tmp_path / "gnns.md"), str(tmp_path / "gnns.json")]
    assert out.splitlines() == (reported if done[-1] == "report gnns" else [])


def test_all_of_them_are_prepared_and_trained_together(parts: list[str], lexarbor: Command, tmp_path: Path) -> None:
    assert lexarbor("experiment", "all", "-b", "tiny", "-o", tmp_path).code == 0
    names = " ".join(EXPERIMENTS)
    assert parts == [f"prepare {names}", f"train {names}", *(f"report {name}" for name in EXPERIMENTS)]


def test_where_models_failed_what_there_is_is_reported_and_the_command_fails(
    parts: list[str], lexarbor: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = {"g-dsr-0": "it begins from law, which could not be trained", "law": "out of memory\n\nTraceback: long"}
    monkeypatch.setattr(running, "train", lambda lab, names: failed)
    work = tmp_path / "work"
    code, out, err = lexarbor("experiment", "gnns", "-b", "tiny", "--work", work, "-o", tmp_path)
    assert (code, parts) == (2, ["prepare gnns", "report gnns"])
    assert out.splitlines() == [str(tmp_path / "gnns.md"), str(tmp_path / "gnns.json")]
    told = f"2 models could not be trained, 'law': out of memory ({work}/failed has all)"
    assert err == f"lexarbor: {told}\n"


def test_what_trains_nothing_says_so_where_a_part_is_asked(lexarbor: Command) -> None:
    for only in ("prepare", "train"):
        code, out, err = lexarbor("experiment", "lengths", "-b", "tiny", "--only", only)
        assert (code, out, err) == (0, "", "lengths trains nothing: it has no part but its report\n")


def test_a_part_alone_reports_what_there_is(lexarbor: Command, tmp_path: Path) -> None:
    work = tmp_path / "work"
    asked = ("experiment", "gnns", "-b", "tiny", "--only", "report", "--work", work, "-o", tmp_path / "out")
    code, out, err = lexarbor(*asked)
    assert (code, out) == (2, "")
    assert err == f"lexarbor: no model of 'gnns' was trained below {work}: run it first, without --only report\n"
    assert not (tmp_path / "out").exists()  # a table of nothing would take the place of another
    failed = failed_path(work, "gcn-0")
    failed.parent.mkdir(parents=True)
    failed.write_text("the loss is nan\n", encoding="utf-8")
    code, out, _ = lexarbor(*asked)
    assert code == 0
    markdown = Path(out.splitlines()[0]).read_text(encoding="utf-8")
    assert markdown.count("not trained in this work folder") == 6
    assert markdown.count("the loss is nan") == 1
    code, out, err = lexarbor(
        "experiment", "tune-lge", "-b", "tiny", "--only", "report", "--work", work, "-o", tmp_path
    )
    assert (code, out) == (2, "")
    assert err == f"lexarbor: the search 'lge' has no trials below {work}: run it first, without --only report\n"


def test_supervision_is_prepared_below_the_cache_unless_a_folder_is_named(lexarbor: Command, tmp_path: Path) -> None:
    for work, arguments in (
        (tmp_path / "cache" / "experiments" / "tiny", ()),
        (tmp_path / "work", ("--work", tmp_path / "work")),
    ):
        asked = ("experiment", "all", "-b", "tiny", "--only", "prepare", "--train-on", "train+dev")
        assert lexarbor(*asked, *arguments) == (0, "", "")
        assert sorted(path.name for path in (work / "data").iterdir()) == [
            "train",
            "train+dev",
            "train+dev.json",
            "train.json",
        ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("mian",), "unknown experiment 'mian': did you mean 'main'?"),
        (("gnns", "--only", "score"), "--only is 'score': choose one of prepare, train, report"),
        (("gnns", "--scale", "big"), "unknown scale 'big': known are paper, small, tiny"),
        (("dataset", "--scale", "tny"), "unknown scale 'tny': did you mean 'tiny'?"),
        (("gnns", "--split", "exam"), "tiny has no split 'exam': choose one of train, dev, test"),
        (("legs", "--split", "exam"), "tiny has no split 'exam'"),
        (("main", "--split", "train"), "--split is 'train', which models have learned from"),
        (("main", "--split", "dev", "--train-on", "train+dev"), "--split is 'dev', which models have learned from"),
        (("main", "--train-on", "dev"), "--train-on is 'dev': write train, or train+dev for final figures"),
        (("gnns", "--train-on", "train+dev"), "'gnns' has no final figures: it is scored on dev"),
        (("all", "--train-on", "train+dev"), "has no final figures"),
        (("tune-lge", "--train-on", "train+dev"), "'tune-lge' has no final figures"),
        (("tune-dsr", "--split", "test"), "'tune-dsr' chooses by dev alone: leave --split out"),
        (("tune-bm25", "--split", "test"), "'tune-bm25' chooses by dev alone: leave --split out"),
        (("all", "--split", "test"), "chooses by dev alone"),
        (("dataset", "--split", "dev"), "'dataset' tells of all questions: leave --split out"),
        (("lengths", "--split", "dev"), "'lengths' tells of all questions"),
        (("main", "--set", "seeds=some"), "seeds is 'some'"),
        (("main", "--set", "tuning.dsr.trails=3"), "tuning has no 'trails'"),
        (("gnns", "--benchmark", "tinny"), "unknown benchmark 'tinny'"),
        (("main", "--set", "txt.dropout=0"), "a scale has no 'txt'"),
        (("main", "--set", "text.dropout"), "changes nothing"),
        (("main", "--workers", "0"), "--workers"),
        (("main", "--seeds", "-1"), "--seeds"),
        (("main", "--questions", "nowhere.jsonl"), "nowhere.jsonl: no such file; `lexarbor augment` writes one"),
        (("main", "--seeds", "101"), "--seeds is 101: 100 at the most"),
        (("main", "--workers", "65"), "--workers is 65: from one process to 64"),
        (("gnns", "--seeds", "3"), "--seeds changes nothing of gnns: leave it out"),
        (("main", "--trials", "3"), "--trials changes nothing of main"),
        (("gnns", "--start", "camembert-base"), "--start changes nothing of gnns"),
        (("main", "--hub"), "--hub changes nothing of main"),
        (("dataset", "--set", "nonsense=1"), "--set changes nothing of dataset"),
        (("legs", "--scale", "tiny"), "--scale changes nothing of legs"),
        (("language-models", "--start", ""), "--start is '': give the name of a language model on the hub"),
        (("language-models", "--start", "small"), "--start is 'small': give the name of a language model on the hub"),
        (("main", "--set", "text.encoder=5"), "text.encoder has keys of its own; name one"),
        (("gnns", "--set", "graph.graph=5"), "graph.graph has keys of its own; name one"),
        (("passages", "--set", "text.encoder.max_tokens=abc"), "encoder.max_tokens is 'abc'"),
        (("edges", "--set", "graph.graph.edges=5"), "graph: "),
        (("main", "--set", "models.general.recipe=5"), "models.general.recipe has keys of its own"),
        (
            ("tune-lge", "--set", "tuning.lge.trials=abc"),
            "tuning.lge.trials is 'abc': give a whole number of 1 or more",
        ),
        (("tune-lge", "--set", "tuning.lge.looks=0"), "tuning.lge.looks is 0"),
        (("tune-lge", "--set", "tuning.lge.set=5"), "tuning.lge.set has keys of its own"),
        (("main", "--set", "models.general.texts=nonsense"), "the texts of 'general' are 'nonsense': known are"),
        (("main", "--models", "nowhere"), "--models nowhere: no experiment has worked there"),
        (("main", "--work", "/dev/null"), "/dev/null: is a file; give the name of a folder"),
        (("lengths", "--train-on", "train+dev"), "'lengths' trains nothing: leave --train-on out"),
    ],
)
def test_what_is_refused_is_refused_before_anything_is_done(
    arguments: tuple[str, ...], said: str, lexarbor: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained: list[object] = []
    monkeypatch.setattr(running, "train_all", lambda *jobs, **how: trained.append(jobs))
    name, *options = arguments
    benchmark = () if "--benchmark" in options else ("-b", "tiny")
    code, out, err = lexarbor("experiment", name, *benchmark, *options, "-o", tmp_path / "out")
    assert (code, out) == (2, "")
    assert said in err
    assert err.startswith("lexarbor: ")
    assert err.count("\n") == 1
    assert trained == []
    assert not (tmp_path / "out").exists()


def test_a_benchmark_that_is_none_is_refused_before_it_is_prepared(lexarbor: Command, tmp_path: Path) -> None:
    code, _, err = lexarbor("experiment", "main", "-b", "nosuch", "--only", "prepare", "--work", tmp_path / "work")
    assert code == 2
    assert "unknown benchmark 'nosuch'" in err
    assert not (tmp_path / "work").exists()


def test_nothing_is_chosen_by_test_where_there_is_no_dev(
    lexarbor: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lexarbor.corpus.benchmarks.catalogue import build_benchmark
    from lexarbor.experiments import lab

    tiny = build_benchmark("tiny")
    questions = replace(tiny.questions, splits={"test": tiny.questions.splits["test"]})
    monkeypatch.setattr(lab, "build_benchmark", lambda name, source: replace(tiny, questions=questions))
    code, out, err = lexarbor("experiment", "tune-bm25", "-b", "tiny", "-o", tmp_path / "out")
    assert (code, out) == (2, "")
    assert err == "lexarbor: 'tune-bm25' chooses by dev, which tiny does not have: give another --benchmark\n"


def test_all_can_be_told_of_by_dev(lexarbor: Command, tmp_path: Path) -> None:
    """Though some experiments tell of all questions."""
    code, out, err = lexarbor(
        "experiment", "all", "-b", "tiny", "--split", "dev", "--only", "report", "--work", tmp_path, "-o", tmp_path
    )
    assert code == 2
    told = [name for name, one in EXPERIMENTS.items() if one.jobs is not None]  # nothing was trained or searched
    assert [line.partition(":")[0] for line in err.splitlines()[:-1]] == told
    assert out.count(".md\n") == len(EXPERIMENTS) - len(told)


def test_what_trains_nothing_needs_nothing_that_trains(tmp_path: Path) -> None:
    block = "import sys; sys.modules.update(dict.fromkeys(('yaml', 'torch', 'optuna', 'transformers')))"
    call = f"{block}; from lexarbor.cli import main; main()"
    command = ["experiment", "dataset", "-b", "tiny", "-o", str(tmp_path)]
    found = subprocess.run([sys.executable, "-c", call, *command], capture_output=True, text=True)
    assert (found.returncode, found.stderr) == (0, "")
    found = subprocess.run(
        [sys.executable, "-c", call, "experiment", "gnns", *command[2:]], capture_output=True, text=True
    )
    assert found.returncode == 2
    assert "pip install 'lexarbor[train]'" in found.stderr


def test_each_line_on_the_way_is_told_once(tmp_path: Path) -> None:
    """In a process of its own, as a person has it whose stderr is a file."""
    command = ["experiment", "language-models", "-b", "tiny", "--work", str(tmp_path / "work"), "-o", str(tmp_path)]
    call = [sys.executable, "-c", "from lexarbor.cli import main; main()", *command]
    found = subprocess.run(call, capture_output=True, text=True, env={**os.environ, "HF_HUB_OFFLINE": "1"})
    lines = [line for line in found.stderr.splitlines() if line.endswith(" begins")]
    assert found.returncode == 0, found.stderr
    assert len(lines) == len(set(lines)) > 5
    assert lines[0] == "lexarbor: vocabulary begins"


def test_all_goes_on_after_one_that_cannot_be_told_of(
    parts: list[str], lexarbor: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = running.report

    def report(lab: object, name: str, out: Path, command: str, among: object) -> list[Path]:
        if name == "legs":
            raise BenchmarkError("not here")
        return told(lab, name, out, command, among)  # type: ignore[arg-type]

    monkeypatch.setattr(running, "report", report)
    code, _, err = lexarbor("experiment", "all", "-b", "tiny", "--only", "report", "-o", tmp_path)
    assert (code, parts) == (2, [f"report {name}" for name in EXPERIMENTS if name != "legs"])
    assert err == f"legs: not here\nlexarbor: 1 of {len(EXPERIMENTS)} could not be told of, as said above: legs\n"


def test_a_call_that_is_stopped_tells_how_it_goes_on(
    lexarbor: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def prepare(lab: object, names: list[str]) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(running, "prepare", prepare)
    found = lexarbor("experiment", "gnns", "-b", "tiny", "-o", tmp_path)
    assert found == (130, "", "stopped: the same command goes on from here\n")


def test_an_out_that_is_a_file_is_refused_unless_nothing_is_reported(
    parts: list[str], lexarbor: Command, tmp_path: Path
) -> None:
    (tmp_path / "results").touch()
    for place in (tmp_path / "results", tmp_path / "results" / "below"):
        code, out, err = lexarbor("experiment", "gnns", "-b", "tiny", "-o", place)
        assert (code, out, parts) == (2, "", [])
        assert "is a file; give the name of a folder" in err
    assert lexarbor("experiment", "gnns", "-b", "tiny", "-o", tmp_path / "results", "--only", "train").code == 0
    assert parts == ["train gnns"]
