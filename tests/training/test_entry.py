"""`python -m lexarbor.training`: the stages with little but torch; refusals are one line and exit code 2."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tiny_supervision import tiny

from lexarbor.errors import LexarborError
from lexarbor.supervision.folder import Pair, Passage, Supervision, SupervisionFolder, write_supervision
from lexarbor.supervision.sampling import Sampling
from lexarbor.supervision.synthetic import read_synthetic
from lexarbor.supervision.texts import all_texts
from lexarbor.training import stages
from lexarbor.training.__main__ import main

RECIPES = Path(__file__).parents[2] / "recipes"
SMALL = ["architecture.layers=1", "architecture.vocabulary=300", "optimisation.steps=2", "optimisation.batch_size=2"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    articles = [Passage("A1", "Le maire tient l'étang.", ("Code", "Eaux")), Passage("A2", "La pêche est libre.")]
    passages = [Passage("S1", "Comment pêcher ?", ("Fiche",)), Passage("S2", "", ())]
    write_supervision(Supervision(articles, passages, texts=["Un texte.", "La pêche est libre."]), tmp_path / "data")
    return tmp_path / "data"


def call(stage: str, recipe: str, data: Path, out: Path, *more: str) -> int:
    return main([stage, "--recipe", str(RECIPES / recipe), "--data", str(data), "--out", str(out), *more])


def test_pretraining_reads_every_text_once_in_order(data: Path) -> None:
    assert all_texts(SupervisionFolder.open(data)) == [
        "Code > Eaux\nLe maire tient l'étang.",
        "La pêche est libre.",
        "Fiche\nComment pêcher ?",
        "Un texte.",
    ]


def test_pretrain_writes_a_model(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "model"
    assert call("pretrain", "pretrain-tiny.yaml", data, out, *(f"--set={change}" for change in SMALL)) == 0
    assert (out / "model.safetensors").is_file()
    assert "steps: 2\n" in (out / "recipe.yaml").read_text()


def test_a_vocabulary_can_be_learned_alone_and_used(data: Path, tmp_path: Path) -> None:
    small = [f"--set={change}" for change in SMALL]
    assert call("vocabulary", "pretrain-tiny.yaml", data, tmp_path / "tokenizer", *small) == 0
    given = f"--set=tokenizer={tmp_path / 'tokenizer'}"
    assert call("pretrain", "pretrain-tiny.yaml", data, tmp_path / "one", *small, given) == 0
    assert call("pretrain", "pretrain-tiny.yaml", data, tmp_path / "two", *small, "--half", str(tmp_path / "half")) == 0
    names = ("tokenizer.json", "tokenizer_config.json", "model.safetensors")
    assert all((tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes() for name in names)
    half, whole = ((tmp_path / name / "model.safetensors").stat().st_size for name in ("half", "two"))
    assert half < 0.6 * whole


def test_a_finished_folder_is_not_trained_over(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "recipe.yaml").touch()
    assert call("pretrain", "pretrain-tiny.yaml", data, tmp_path / "model") == 2
    assert "is not empty" in capsys.readouterr().err


def test_text_graph_and_mine_are_handed_on(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    handed: list[Any] = []
    for stage in ("contrastive.train_text", "graph.train_graph"):
        monkeypatch.setattr(
            f"lexarbor.training.{stage}",
            lambda recipe, folder, out, *, resume: handed.append((recipe.stage, folder.path, out, resume)),
        )
    monkeypatch.setattr(
        "lexarbor.training.mining.mine",
        lambda model, folder, out, *, kinds, depth, skip: handed.append((model, folder.path, out, kinds, depth, skip)),
    )
    out = tmp_path / "out"
    assert call("text", "paper-dsr.yaml", data, out, "--resume") == 0
    assert call("graph", "paper-lge.yaml", data, out) == 0
    asked = ["--model", "m", "--kind", "gold", "--depth", "9", "--skip", "1"]
    assert main(["mine", "--data", str(data), "--out", str(out), *asked]) == 0
    assert handed == [("text", data, out, True), ("graph", data, out, False), (Path("m"), data, out, ["gold"], 9, 1)]


def test_a_generator_is_trained_and_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    articles = tiny().articles[:5]
    write_supervision(Supervision(articles, pairs=[Pair("gold", "Qui ?", (articles[3].id,))]), tmp_path / "data")
    model, data = tmp_path / "model", str(tmp_path / "data")
    small = [f"--set={change}" for change in (*SMALL, "kinds={gold: 1, gaps: 1}", "watching={}")]
    assert call("generate", "generate-tiny.yaml", tmp_path / "data", model, *small) == 0
    assert (model / "generator.json").is_file()
    assert "steps: 2\n" in (model / "recipe.yaml").read_text()

    def asked(name: str, *more: str) -> int:
        out = str(tmp_path / name)
        return main(["augment", "--model", str(model), "--data", data, "--out", out, "--questions", "2", *more])

    assert asked("one.jsonl") == 0
    questions = read_synthetic(tmp_path / "one.jsonl")
    assert [question.article for question in questions] == [one.id for one in articles for _ in range(2)]
    assert {question.generator for question in questions} == {"model"}
    assert asked("two.jsonl", "--batch-size", "256", "--seed", "0") == 0
    assert asked("other.jsonl", "--seed", "1") == asked("prefixed.jsonl", "--prefix", "titre : ") == 0
    one, two, *others = ((tmp_path / f"{name}.jsonl").read_bytes() for name in ("one", "two", "other", "prefixed"))
    assert one == two
    assert one not in others and others[0] != others[1]

    capsys.readouterr()
    assert asked("one.jsonl") == 2
    assert "one.jsonl: is there already; resume it" in capsys.readouterr().err
    assert asked("one.jsonl", "--resume") == 0
    assert (tmp_path / "one.jsonl").read_bytes() == one


def test_what_to_generate_and_augment_is_handed_on(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    handed: list[Any] = []
    monkeypatch.setattr(
        "lexarbor.training.generate.train_generator",
        lambda recipe, folder, out, *, resume: handed.append((recipe.stage, folder.path, out, resume)),
    )
    monkeypatch.setattr(stages, "augment", lambda *given, **how: handed.append((*given, how)))
    out = tmp_path / "out"
    assert call("generate", "generate.yaml", data, out, "--resume") == 0
    more = ["--questions", "3", "--seed", "4", "--batch-size", "9", "--resume", "--prefix", "titre : "]
    assert main(["augment", "--data", str(data), "--out", str(out), "--model", "m", *more]) == 0
    assert main(["augment", "--data", str(data), "--out", str(out), "--model", "m"]) == 0
    articles = SupervisionFolder.open(data).articles
    changed = {"settings": {"prefix": "titre : "}, "batch_size": 9, "resume": True}
    own = {"settings": {}, "batch_size": 16, "resume": False}
    assert handed == [
        ("generate", data, out, True),
        ("m", articles, out, Sampling(questions=3, seed=4), changed),
        ("m", articles, out, Sampling(), own),
    ]


@pytest.mark.parametrize(
    ("model", "out", "more", "told"),
    [
        ("/no/where", "q.jsonl", [], "/no/where: there is no such folder"),
        ("m", "none/q.jsonl", [], "there is no folder"),
        ("m", "q.jsonl.xz", [], "it cannot be packed; leave .xz out"),
        ("m", "q.jsonl", ["--questions=0"], "questions is 0: ask for one or more of each article"),
        ("m", "q.jsonl", ["--seed=-1"], "seed -1"),
    ],
)
def test_what_cannot_be_asked_is_one_line(
    model: str, out: str, more: list[str], told: str, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(tmp_path.iterdir())
    assert main(["augment", "--model", model, "--data", str(data), "--out", str(tmp_path / out), *more]) == 2
    found = capsys.readouterr()
    assert found.out == ""
    assert found.err.startswith("lexarbor: ") and found.err.count("\n") == 1
    assert told in found.err
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("stage", "recipe", "more", "told"),
    [
        ("pretrain", "pretrain-tiny.yaml", ["--set", "mask=1"], "did you mean 'masked'?"),
        ("pretrain", "paper-dsr.yaml", [], "is a recipe of the stage text, not pretrain"),
        ("text", "none.yaml", [], "no such recipe"),
        ("generate", "dsr-tiny.yaml", [], "is a recipe of the stage text, not generate"),
        ("pretrain", "generate-tiny.yaml", [], "is a recipe of the stage generate, not pretrain"),
        ("generate", "generate-tiny.yaml", [], "the supervision folder holds no questions"),
        ("generate", "generate-tiny.yaml", ["--set", "near=0.5"], "name a retriever and a part below 1, or neither"),
        ("generate", "generate-tiny.yaml", ["--set", "kind={gold: 1}"], "did you mean 'kinds'?"),
        ("pretrain", "pretrain-tiny.yaml", ["--set", "start=/nowhere"], "there is no such folder"),
    ],
)
def test_what_is_refused_is_one_line_and_two(
    stage: str,
    recipe: str,
    more: list[str],
    told: str,
    data: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert call(stage, recipe, data, tmp_path / "out", *more) == 2
    found = capsys.readouterr()
    assert found.out == ""
    assert found.err.splitlines()[-1].startswith("lexarbor: ")
    assert told in found.err.splitlines()[-1]


@pytest.mark.parametrize("wrong", [["--depth=-1"], ["--depth=0"], ["--skip=-1"]])
def test_a_depth_that_cannot_be_is_refused(
    wrong: list[str], data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mine", "--data", str(data), "--out", str(tmp_path / "out"), "--model", "m", *wrong]) == 2
    assert "expected a depth of 1 or more and a skip of 0 or more" in capsys.readouterr().err


@pytest.fixture
def no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long work must not begin."""

    def begun(*_: Any, **__: Any) -> None:
        raise AssertionError("long work began")

    for name in ("pretrain.pretrain", "mining.mine", "stages.learn_vocabulary"):
        monkeypatch.setattr(f"lexarbor.training.{name}", begun)
    monkeypatch.setattr("lexarbor.text.retriever.DenseStatuteRetriever.load", begun)


@pytest.mark.usefixtures("no_work")
def test_a_place_that_cannot_be_written_is_told_of_first(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    below = tmp_path / "file" / "out"
    assert call("vocabulary", "pretrain-tiny.yaml", data, below) == 2
    assert call("pretrain", "pretrain-tiny.yaml", data, tmp_path / "out", "--half", str(below)) == 2
    assert call("pretrain", "pretrain-tiny.yaml", data, tmp_path / "out", "--half", str(tmp_path / "out")) == 2
    assert main(["mine", "--data", str(data), "--out", str(below), "--model", "m"]) == 2
    assert main(["mine", "--data", str(data), "--out", str(tmp_path), "--model", "m"]) == 2
    with pytest.raises(LexarborError, match="a file; give the name of a folder"):
        stages.export(tmp_path / "m", below, way="int8")
    told = [line.removeprefix("lexarbor: ") for line in capsys.readouterr().err.splitlines()]
    file = tmp_path / "file"
    assert told == [
        f"{below}: {file} is a file; give the name of a folder",
        f"{below}: {file} is a file; give the name of a folder",
        f"{tmp_path / 'out'}: the copy in 16 bits would replace the model itself; give it another folder",
        f"cannot write {below}: there is no folder {file}; make it first",
        f"cannot write {tmp_path}: it is no plain file; give the name of a file",
    ]
    assert not (tmp_path / "out").exists()


def test_a_run_is_resumed_with_its_own_data_only(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = [*(f"--set={change}" for change in SMALL), "--set=watching.save_every=1"]
    assert call("pretrain", "pretrain-tiny.yaml", data, tmp_path / "out", *more) == 0
    assert (tmp_path / "out" / "data.sha256").is_file()
    (tmp_path / "out" / "log.json").unlink()  # as if stopped before its end
    write_supervision(Supervision([Passage("A1", "Autre chose.")]), tmp_path / "other")
    assert call("pretrain", "pretrain-tiny.yaml", tmp_path / "other", tmp_path / "out", *more, "--resume") == 2
    assert "was begun with other data" in capsys.readouterr().err
    assert call("pretrain", "pretrain-tiny.yaml", data, tmp_path / "out", *more, "--resume") == 0


def test_a_folder_whose_batch_did_not_fit_can_be_named_again(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise MemoryError

    small = [f"--set={change}" for change in SMALL]
    with monkeypatch.context() as patched:
        patched.setattr("lexarbor.training.pretrain.MaskedLanguageModel.forward", full)
        assert call("pretrain", "pretrain-tiny.yaml", data, tmp_path / "out", *small) == 2
    assert "a batch of 2 blocks does not fit in this memory" in capsys.readouterr().err
    assert call("pretrain", "pretrain-tiny.yaml", data, tmp_path / "out", *small) == 0


def test_data_that_is_not_there_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("pretrain", "pretrain-tiny.yaml", tmp_path / "none", tmp_path / "out") == 2
    assert "no supervision there" in capsys.readouterr().err


@pytest.mark.parametrize("package", ["torch", "transformers", "accelerate", "safetensors"])
def test_without_torch_and_its_companions_it_says_what_to_install(package: str, data: Path, tmp_path: Path) -> None:
    code = f"import sys; sys.modules['{package}'] = None; from lexarbor.training.__main__ import main; sys.exit(main())"
    recipe = str(RECIPES / "pretrain-tiny.yaml")
    arguments = ["pretrain", "--recipe", recipe, "--data", str(data), "--out", str(tmp_path / "out")]
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "lexarbor: training needs an optional dependency: pip install 'lexarbor[train]'\n"
