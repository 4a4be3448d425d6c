"""`python -m lexarbor.training`: the stages with little but torch; refusals are one line and exit code 2."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lexarbor.supervision.folder import Passage, Supervision, SupervisionFolder, write_supervision
from lexarbor.training.__main__ import main
from lexarbor.training.texts import all_texts

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


def test_text_and_mine_are_handed_on(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    handed: list[Any] = []
    monkeypatch.setattr(
        "lexarbor.training.contrastive.train_text",
        lambda recipe, folder, out, *, resume: handed.append((recipe.stage, folder.path, out, resume)),
    )
    monkeypatch.setattr(
        "lexarbor.training.mining.mine",
        lambda model, folder, out, *, kinds, depth, skip: handed.append((model, folder.path, out, kinds, depth, skip)),
    )
    out = tmp_path / "out"
    assert call("text", "paper-dsr.yaml", data, out, "--resume") == 0
    asked = ["--model", "m", "--kind", "gold", "--depth", "9", "--skip", "1"]
    assert main(["mine", "--data", str(data), "--out", str(out), *asked]) == 0
    assert handed == [("text", data, out, True), (Path("m"), data, out, ["gold"], 9, 1)]


@pytest.mark.parametrize(
    ("stage", "recipe", "more", "told"),
    [
        ("pretrain", "pretrain-tiny.yaml", ["--set", "mask=1"], "did you mean 'masked'?"),
        ("pretrain", "paper-dsr.yaml", [], "is a recipe of the stage text, not pretrain"),
        ("text", "none.yaml", [], "no such recipe"),
        ("pretrain", "pretrain-tiny.yaml", ["--set", "start=/nowhere"], "cannot be loaded as a masked language model"),
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


def test_data_that_is_not_there_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("pretrain", "pretrain-tiny.yaml", tmp_path / "none", tmp_path / "out") == 2
    assert "no supervision there" in capsys.readouterr().err


def test_without_torch_it_says_what_to_install(data: Path, tmp_path: Path) -> None:
    code = "import sys; sys.modules['torch'] = None; from lexarbor.training.__main__ import main; sys.exit(main())"
    recipe = str(RECIPES / "pretrain-tiny.yaml")
    arguments = ["pretrain", "--recipe", recipe, "--data", str(data), "--out", str(tmp_path / "out")]
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "lexarbor: training needs an optional dependency: pip install 'lexarbor[train]'\n"
