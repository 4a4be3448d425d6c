"""`lexarbor train`: the whole way on the tiny corpus; what is refused, before any long work."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from test_cli_errors import refused

from lexarbor.corpus.benchmarks.catalogue import build_benchmark
from lexarbor.evaluation import MEASURES
from lexarbor.graph.enrichment import Enricher
from lexarbor.supervision import preparation
from lexarbor.supervision.synthetic import read_synthetic
from lexarbor.text.encoder import TextEncoder
from lexarbor.text.inputs import article_input
from lexarbor.training import contrastive, generate, graph, mining, stages
from lexarbor.training.generate import GenerateReport
from lexarbor.training.looking import TrainingReport
from lexarbor.training.node_encoders import retriever_checksum

Command = Callable[..., Any]

RECIPES = Path(__file__).parents[2] / "recipes"
PRETRAIN, TEXT, GRAPH, GENERATE = (RECIPES / f"{name}-tiny.yaml" for name in ("pretrain", "dsr", "lge", "generate"))
NEEDS_TORCH = {
    "pretrain": f"-r {PRETRAIN} -d data -o out",
    "text": f"-r {TEXT} -d data -o out",
    "graph": f"-r {GRAPH} -d data -o out",
    "generate": f"-r {GENERATE} -d data -o out",
    "mine": "-m model -d data -o out",
    "export": "model -d data -o out",
}


@pytest.fixture(autouse=True)
def one_thread() -> None:
    """Tiny models are faster so."""
    torch.set_num_threads(1)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be in, with supervision of the tiny benchmark in `data`."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    preparation.prepare("tiny", Path("data"), kinds=["headings", "sentence"])
    return folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_from_a_benchmark_to_the_vectors_of_a_law(
    lexarbor: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def told(*arguments: str) -> dict[str, Any]:
        code, out, err = lexarbor(*arguments, "-f", "json")
        assert (code, err) == (0, "written to data\n" if "prepare" in arguments else "")
        found: dict[str, Any] = json.loads(out)
        return found

    prepared = told("train", "prepare", "-b", "tiny", "--kinds", "headings, sentence", "-o", "data")
    assert prepared["kinds"] == {"gold": 12, "headings": 90, "sentence": 70}
    assert (prepared["benchmark"], prepared["law_as_of"], prepared["articles"]) == ("tiny", "2026-01-01", 61)

    done = lexarbor("train", "vocabulary", "-r", PRETRAIN, "-d", "data", "-o", "words")
    assert done == (0, "words\n", "1,024 pieces\n")

    few = ("--set", "optimisation.steps=11", "--set", "tokenizer=words", "--half", "half")
    pretrained = told("train", "pretrain", "-r", str(PRETRAIN), "-d", "data", "-o", "pretrained", *few)
    assert (pretrained["folder"], pretrained["steps"]) == ("pretrained", 11)
    assert 0 < pretrained["loss"] < 8
    whole, half = (Path(name, "model.safetensors").stat().st_size for name in ("pretrained", "half"))
    assert half < 0.6 * whole

    few = ("--set", "optimisation.steps=8", "--set", "watching.evaluate_every=4", "--set", "start=pretrained")
    trained = told("train", "text", "-r", str(TEXT), "-d", "data", "-o", "retriever", *few)
    assert (trained["folder"], trained["steps"], trained["kept_step"]) == ("retriever", 8, 8)
    assert trained["dev"]["recall@100"] == 1  # of 61 articles
    written = json.loads(Path("retriever/log.json").read_text(encoding="utf-8"))["report"]["dev"]
    assert written.keys() == MEASURES.keys()
    assert trained["dev"] == {name: round(value, 4) for name, value in written.items()}

    mined = lexarbor("train", "mine", "-m", "retriever", "-d", "data", "-o", "mined.jsonl", "--kinds", "gold")
    assert mined == (0, "mined.jsonl\n", "12 pairs\n")
    assert len(Path("mined.jsonl").read_text(encoding="utf-8").splitlines()) == 12

    few = ("--set", "optimisation.steps=4", "--set", "watching.evaluate_every=2", "--set", "encoder=retriever")
    heard = told("train", "graph", "-r", str(GRAPH), "-d", "data", "-o", "graph", *few)
    assert (heard["folder"], heard["steps"], heard["kept_step"]) == ("graph", 4, 4)
    assert heard["dev"].keys() == MEASURES.keys()
    assert Enricher.open("graph").encoder == retriever_checksum(Path("retriever"))

    exported = told("train", "export", "retriever", "-d", "data", "-o", "model")
    encoder = TextEncoder.open("model")
    provenance = encoder.folder.manifest.provenance
    assert (exported["way"], provenance["quantisation"]) == ("int8-smooth", "int8-smooth")
    assert (exported["checksum"], exported["megabytes"]) == (encoder.checksum, round(encoder.folder.size / 1e6, 1))
    assert provenance["recipe"]["optimisation"]["steps"] == 8
    assert provenance["samples"]["benchmark"] == "tiny"

    shipped = stages.export(Path("retriever"), Path("shipped"), way="float32", provenance={"name": "ours"})
    assert shipped.manifest.provenance["name"] == "ours"
    assert shipped.manifest.provenance["recipe"] == provenance["recipe"]

    way = refused(lexarbor("train", "export", "retriever", "--way", "int4", "-o", "other"))
    assert way == "'int4' is no way to export a model: choose one of float32, int8, int8-smooth, int8-blocks"
    assert not Path("other").exists()

    assert lexarbor("encode", "--law", "tiny", "-m", "model", "-o", "vectors")[:2] == (0, "vectors\n")
    ids, vectors = json.loads(Path("vectors/ids.json").read_text(encoding="utf-8")), np.load("vectors/vectors.npy")
    law = build_benchmark("tiny").law
    inputs = [article_input(law.headings(law.articles[id]), law.articles[id].text, encoder.settings) for id in ids]
    assert np.array_equal(vectors, encoder.encode_articles(inputs))


def test_from_a_benchmark_to_questions_of_a_generator(lexarbor: Command, here: Path) -> None:
    few = ("--set", "optimisation.steps=6", "--set", "watching.evaluate_every=3")
    code, out, err = lexarbor("train", "generate", "-r", GENERATE, "-d", "data", "-o", "generator", *few, "-f", "json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    log = json.loads(Path("generator/log.json").read_text(encoding="utf-8"))
    losses = [entry["loss"] for entry in log["log"] if "loss" in entry]
    assert [entry["step"] for entry in log["log"] if "eval_likelihood" in entry] == [3, 6]
    assert (told["folder"], told["steps"], told["seconds"]) == ("generator", 6, log["seconds"])
    assert (told["loss"], told["dev_loss"]) == (round(losses[-1], 4), round(log["dev_loss"], 4))

    asked = lexarbor("augment", "-m", "generator", "-l", "tiny", "--limit", "4", "--questions", "3", "-o", "q.jsonl")
    assert (asked.code, asked.err) == (0, "")
    questions = read_synthetic(Path("q.jsonl"))
    assert len({question.article for question in questions}) == 4
    assert {question.generator for question in questions} == {"generator"}
    written = json.loads(Path("q.settings.json").read_text(encoding="utf-8"))["settings"]
    assert written == {"prefix": "question : ", "headings": True, "input_tokens": 96, "question_tokens": 32}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "prepare -b tiny --kinds headings,oracle -o out",
            "unknown kind of weak pairs 'oracle': choose among headings",
        ),
        ("prepare -b tiny --kinds , -o out", "no kind was named: write kinds joined by commas"),
        ("prepare -b trec -o out", "unknown benchmark 'trec': choose one of vosdroits, "),
        ("prepare -b tiny -o data/manifest.json", "data/manifest.json: is a file; give the name of a folder"),
        ("prepare -b tiny --everyday none.jsonl -o out", "none.jsonl: cannot be read ("),
        ("prepare -b tiny --everyday data/manifest.json -o out", "data/manifest.json, line 1: expected "),
        ("prepare -b tiny --learn-from train+test -o out", "test cannot be learned from: models are tested on it; "),
        ("prepare -b tiny --learn-from + -o out", "no split is named to learn from: name train, or train and dev"),
        ("prepare -b tiny --learn-from train+dve -o out", "the benchmark 'tiny' has no dve questions to learn from: "),
        ("prepare -b bsard --source none -o out", "none: no such folder; give BSARD's CSV files', or"),
        ("prepare -b tiny", "Missing option '--out' / '-o'"),
        (f"pretrain -r {PRETRAIN} -d data -o out --set mask=1", f"{PRETRAIN}: unknown key 'mask': did you mean"),
        (f"text -r {TEXT} -d data -o out --set loss.temprature=1", f"{TEXT}: unknown key 'loss.temprature': did you"),
        (f"text -r {TEXT} -d data -o out --set rubbish", "'rubbish' changes nothing: write it as key=value"),
        (f"text -r {TEXT} -d data -o out --set loss={{", "'loss={': the value cannot be read as YAML"),
        (f"text -r {TEXT} -d data -o out --set optimisation.steps=many", f"{TEXT}: optimisation.steps is 'many'"),
        ("text -r none.yaml -d data -o out", "none.yaml: no such recipe; the shipped ones are in recipes/"),
        ("vocabulary -r none.yaml -d data -o out", "none.yaml: no such recipe"),
        (f"pretrain -r {TEXT} -d data -o out", f"{TEXT} is a recipe of the stage text, not pretrain"),
        (f"text -r {PRETRAIN} -d data -o out", f"{PRETRAIN} is a recipe of the stage pretrain, not text"),
        (f"generate -r {TEXT} -d data -o out", f"{TEXT} is a recipe of the stage text, not generate"),
        (f"graph -r {TEXT} -d data -o out", f"{TEXT} is a recipe of the stage text, not graph"),
        (f"graph -r {GRAPH} -d none -o out", "none: no supervision there"),
        (f"graph -r {GRAPH} -d data -o out", "encoder: there is no retriever in 'models/tiny-onnx'; give"),
        (f"graph -r {GRAPH} -d data -o out --set folds=[a]", f"{GRAPH}: folds names one retriever, 'a'"),
        (f"graph -r {GRAPH} -d data -o out --set graph.layer=gnn", f"{GRAPH}: the graph encoder's layer is 'gnn'"),
        (f"vocabulary -r {GRAPH} -d data -o out", f"{GRAPH} is a recipe of the stage graph, which reads no words"),
        (f"generate -r {GENERATE} -d none -o out", "none: no supervision there"),
        (f"generate -r {GENERATE} -d data -o data", "data is not empty: give a new folder, or resume what is in it"),
        (f"generate -r {GENERATE} -d data -o out --set start=/no/where", "/no/where: there is no such folder"),
        (f"generate -r {GENERATE} -d data -o out --set tokenizer=none", "none/tokenizer.json: no tokenizer to read"),
        (
            f"generate -r {GENERATE} -d data -o out --set kinds={{'sheet':1}}",
            "the supervision folder has no pairs of the kind 'sheet'",
        ),
        (
            f"generate -r {GENERATE} -d data -o out --set near=0.5",
            f"{GENERATE}: judge is '', near is 0.5: name a retriever and a part below 1, or neither",
        ),
        (f"generate -r {GENERATE} -d data -o out --set judge=none --set near=0.5", "none/settings.json: no encoder"),
        (
            f"generate -r {GENERATE} -d data -o out --set question_tokens=129",
            "fresh: writes at most 128 tokens, but question_tokens is 129",
        ),
        (f"generate -r {GENERATE} -d data -o out --resume", "watching.save_every is 0, so nothing was kept to resume"),
        (f"text -r {TEXT} -d none -o out", "none: no supervision there; write it with `lexarbor train prepare`"),
        (f"vocabulary -r {TEXT} -d none -o out", "none: no supervision there"),
        ("mine -m model -d none -o out", "none: no supervision there"),
        ("export model -d none -o out", "none: no supervision there"),
        (
            f"pretrain -r {PRETRAIN} -d data -o out --set start=/no/where",
            "/no/where: there is no such folder",
        ),
        (f"text -r {TEXT} -d data -o out --set start=/no/where", "/no/where: there is no such folder; give one that"),
        (f"text -r {TEXT} -d data -o out --set tokenizer=none", "none/tokenizer.json: no tokenizer to read"),
        (
            f"text -r {TEXT} -d data -o out --set supervision.kinds={{'sheet':1}}",
            "the supervision folder has no pairs of the kind 'sheet'",
        ),
        (f"text -r {TEXT} -d data -o data", "data is not empty: give a new folder, or resume what is in it"),
        ("mine -m model -d data -o out", "model/settings.json: no encoder settings to read"),
        ("mine -m model -d data -o out --kinds oracle", "the supervision folder has no pairs of the kind 'oracle'"),
        ("mine -m model -d data -o none/out", "cannot write none/out: there is no folder none; make it first"),
        ("mine -m model -d data -o data", "cannot write data: it is no plain file; give the name of a file"),
        (f"vocabulary -r {TEXT} -d data -o data/manifest.json", "data/manifest.json: is a file; give the name of a"),
        (f"pretrain -r {PRETRAIN} -d data -o out --half data/manifest.json", "data/manifest.json: is a file; give"),
        (f"pretrain -r {PRETRAIN} -d data -o out --half out", "out: the copy in 16 bits would replace the model"),
        ("export model -d data -o data/manifest.json", "data/manifest.json: is a file; give the name of a folder"),
        (f"text -r {TEXT} -d data -o data --resume --set watching.save_every=1", "data is not empty, and no run's"),
        ("mine -m model -d data -o out --depth 0", "Invalid value for '--depth'"),
        ("export model -d data -o out", "model/settings.json: no encoder settings to read"),
        ("export model -o out", "int8-smooth measures the model on articles: name a supervision folder"),
    ],
)
def test_what_is_wrong_is_told_in_a_line_and_nothing_written(
    lexarbor: Command, here: Path, arguments: str, message: str
) -> None:
    before = names(here / "data")
    line = refused(lexarbor("train", *arguments.split()))
    assert line.startswith(message)
    assert names(here) == ["data"]
    assert names(here / "data") == before


def test_a_final_model_s_questions_are_named_by_their_splits(
    lexarbor: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    line = "train prepare -b tiny --learn-from train+dev --kinds headings -o data -f json"
    code, out, err = lexarbor(*line.split())
    assert (code, err) == (0, "written to data\n")
    told = json.loads(out)
    assert (told["learned_from"], told["kinds"], told["asked"]) == (["train", "dev"], {"gold": 16, "headings": 90}, 8)


@pytest.mark.parametrize(
    ("stage", "recipe", "key"),
    [
        ("pretrain", PRETRAIN, "start"),
        ("text", TEXT, "start"),
        ("graph", GRAPH, "encoder"),
        ("generate", GENERATE, "start"),
    ],
)
def test_a_folder_that_was_refused_can_be_named_again(
    lexarbor: Command, here: Path, stage: str, recipe: Path, key: str
) -> None:
    (here / "out").mkdir()
    line = f"train {stage} -r {recipe} -d data -o out --set {key}=/no/where"
    for _ in range(2):
        assert "/no/where" in refused(lexarbor(*line.split()))
        assert names(here / "out") == []


def test_a_benchmark_without_train_questions_is_refused(
    lexarbor: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny = build_benchmark("tiny")
    splits = {part: ids for part, ids in tiny.questions.splits.items() if part != "train"}
    held = {id for ids in splits.values() for id in ids}
    only = replace(
        tiny.questions,
        questions={id: question for id, question in tiny.questions.questions.items() if id in held},
        qrels={id: gold for id, gold in tiny.questions.qrels.items() if id in held},
        splits=splits,
    )
    monkeypatch.setattr(preparation, "build_benchmark", lambda name, source: replace(tiny, questions=only))
    line = refused(lexarbor("train", "prepare", "-b", "tiny", "-o", tmp_path / "out"))
    assert line.startswith("the benchmark 'tiny' has no train questions over articles: it cannot be learned from; ")
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("stage", "package"),
    [*((stage, package) for stage in NEEDS_TORCH for package in ("torch", "accelerate")), ("graph", "torch_geometric")],
)
def test_without_torch_it_says_what_to_install(
    lexarbor: Command, here: Path, monkeypatch: pytest.MonkeyPatch, stage: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    line = refused(lexarbor("train", stage, *NEEDS_TORCH[stage].split()))
    assert line == "training needs an optional dependency: pip install 'lexarbor[train]'"
    assert names(here) == ["data"]


def test_what_needs_no_torch_does_without(here: Path) -> None:
    code = (
        "import sys; sys.modules.update(dict.fromkeys(sys.argv.pop(1).split(','))); import lexarbor.cli as c; c.main()"
    )

    def run(hidden: str, *arguments: str | Path) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([sys.executable, "-c", code, hidden, *arguments], capture_output=True, text=True)

    hidden = "torch,transformers,onnx"
    assert run(hidden, "train", "prepare", "-b", "tiny", "-o", "again").returncode == 0
    words = ("train", "vocabulary", "-r", PRETRAIN, "-d", "again", "-o", "words")
    assert run(hidden, *words).stdout == "words\n"
    done = run("yaml", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "lexarbor: training needs an optional dependency: pip install 'lexarbor[train]'\n"


@pytest.mark.parametrize(
    ("stage", "recipe", "trains"),
    [("text", TEXT, (contrastive, "train_text")), ("graph", GRAPH, (graph, "train_graph"))],
)
@pytest.mark.parametrize("rank", ["0", "1"])
def test_of_several_processes_the_first_alone_speaks(
    lexarbor: Command,
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    rank: str,
    stage: str,
    recipe: Path,
    trains: tuple[Any, str],
) -> None:
    asked: list[Any] = []

    def train(recipe: Any, folder: Any, out: Path, *, resume: bool) -> TrainingReport:
        asked.append((recipe.optimisation.seed, folder.path, out, resume))
        return TrainingReport(out, 9, 6, 0.123456, {"recall@100": 2 / 3}, 1.5)

    monkeypatch.setattr(*trains, train)
    monkeypatch.setenv("RANK", rank)
    arguments = f"train {stage} -r {recipe} -d data -o out --set optimisation.seed=3 --resume -f tsv"
    rows = ("name\tvalue", "folder\tout", "steps\t9", "kept_step\t6", "loss\t0.1235", "dev\trecall@100 0.6667")
    told = "\n".join((*rows, "seconds\t1.5", "")) if rank == "0" else ""
    assert lexarbor(*arguments.split()) == (0, told, "")
    assert asked == [(3, Path("data"), Path("out"), True)]


@pytest.mark.parametrize("rank", ["0", "1"])
def test_what_to_generate_is_handed_on_and_the_first_process_speaks(
    lexarbor: Command, here: Path, monkeypatch: pytest.MonkeyPatch, rank: str
) -> None:
    asked: list[Any] = []

    def train(recipe: Any, folder: Any, out: Path, *, resume: bool) -> GenerateReport:
        asked.append((recipe.optimisation.seed, folder.path, out, resume))
        return GenerateReport(out, 9, 6, 0.123456, None, 1.5)

    monkeypatch.setattr(generate, "train_generator", train)
    monkeypatch.setenv("RANK", rank)
    arguments = f"train generate -r {GENERATE} -d data -o out --set optimisation.seed=3 --resume -f json"
    code, out, err = lexarbor(*arguments.split())
    assert (code, err) == (0, "")
    told = {"folder": "out", "steps": 9, "kept_step": 6, "loss": 0.1235, "dev_loss": None, "seconds": 1.5}
    assert (json.loads(out) if rank == "0" else out) == (told if rank == "0" else "")
    assert asked == [(3, Path("data"), Path("out"), True)]


def test_what_to_mine_is_handed_on(lexarbor: Command, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(mining, "mine", lambda model, folder, out, **how: asked.append((model, out, how)) or 1234)
    arguments = "train mine -m model -d data -o out.jsonl --kinds gold,headings --depth 9 --skip 2"
    assert lexarbor(*arguments.split()) == (0, "out.jsonl\n", "1,234 pairs\n")
    assert asked == [(Path("model"), Path("out.jsonl"), {"kinds": ("gold", "headings"), "depth": 9, "skip": 2})]
