"""`lexarbor augment`: the tiny law asked about by a tiny mT5, stopped and resumed; what is refused, in a line."""

import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from test_cli_errors import CODE, LAW, refused

from lexarbor.corpus.sources import read_tiny
from lexarbor.supervision import preparation
from lexarbor.supervision.augmentation import BATCH_SIZE
from lexarbor.supervision.folder import Passage
from lexarbor.supervision.sampling import Sampled, Sampling
from lexarbor.supervision.synthetic import read_synthetic
from lexarbor.training.fresh import write_fresh
from lexarbor.training.generator import QuestionGenerator
from lexarbor.training.hyperparameters import Architecture
from tiny_generator import tiny_mt5

Command = Callable[..., Any]

SHORT = ("--question-tokens", "8", "--questions", "2")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Not to be written to."""
    torch.set_num_threads(1)
    return tiny_mt5(tmp_path_factory.mktemp("generator") / "tiny-mt5")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def law_of(*texts: str) -> str:
    """The name of a law file whose articles have these texts."""
    articles = (
        json.dumps({"kind": "article", "id": f"A{at}", "parent": "C1", "number": str(at), "text": text})
        for at, text in enumerate(texts)
    )
    Path("law.jsonl").write_text("\n".join((LAW, CODE, *articles)), encoding="utf-8")
    return "law.jsonl"


def test_every_article_of_a_law_is_asked_about(lexarbor: Command, here: Path, model: Path) -> None:
    asked = ("augment", "-m", model, "-l", "tiny", *SHORT, "--seed", "3", "-f", "json")
    code, out, err = lexarbor(*asked, "-o", "questions.jsonl")
    assert (code, err) == (0, "")
    questions = read_synthetic(Path("questions.jsonl"))
    ids = [question.article for question in questions]
    assert ids == sorted(ids)
    assert set(ids) == {article.id for article in read_tiny().current()}
    assert len(questions) == 2 * 61
    assert {question.generator for question in questions} == {"tiny-mt5"}
    assert all(question.score < 0 for question in questions)
    told = json.loads(out)
    distinct = told.pop("distinct")
    assert 61 < distinct <= 122
    assert told == {"model": str(model), "out": "questions.jsonl", "articles": 61, "empty": 0, "questions": 122}
    assert names(here) == ["questions.jsonl", "questions.settings.json"]

    assert lexarbor(*asked, "-o", "again.jsonl").code == 0
    assert Path("again.jsonl").read_bytes() == Path("questions.jsonl").read_bytes()
    assert lexarbor(*asked, "--seed", "4", "-o", "other.jsonl").code == 0
    assert Path("other.jsonl").read_bytes() != Path("questions.jsonl").read_bytes()


def test_what_was_stopped_and_cut_ends_as_a_run_that_was_not(
    lexarbor: Command, here: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("augment", "-m", model, "-l", "tiny", *SHORT, "--batch-size", "8")
    assert lexarbor(*asked, "-o", "whole.jsonl").code == 0
    plain = QuestionGenerator.ask

    def until_the_fifth(
        self: QuestionGenerator, articles: Sequence[Passage], sampling: Sampling, *, seed: Sequence[int]
    ) -> list[list[Sampled]]:
        if seed[1] == 5:
            raise KeyboardInterrupt
        return plain(self, articles, sampling, seed=seed)

    with monkeypatch.context() as patched:
        patched.setattr(QuestionGenerator, "ask", until_the_fifth)
        assert lexarbor(*asked, "-o", "questions.jsonl") == (130, "", "")
    os.truncate("questions.jsonl", Path("questions.jsonl").stat().st_size - 30)
    line = refused(lexarbor(*asked, "-o", "questions.jsonl"))
    assert line == "questions.jsonl: is there already; resume it (--resume), or give another file"
    line = refused(lexarbor(*asked, "-o", "questions.jsonl", "--resume", "--top-k", "40"))
    assert line.startswith("questions.jsonl: was begun with sampling.top_k 50, now it is 40; resume it with the same")
    code, _, err = lexarbor(*asked, "-o", "questions.jsonl", "--resume")
    assert (code, err) == (0, "32 of 61 articles were kept from before\n")
    assert Path("questions.jsonl").read_bytes() == Path("whole.jsonl").read_bytes()
    code, _, err = lexarbor(*asked, "-o", "questions.jsonl", "--resume")
    assert (code, err) == (0, "all of it was asked before: nothing was asked again\n")

    content = Path("questions.jsonl").read_bytes()
    Path("questions.jsonl").write_bytes(content[: len(content) // 2])
    line = refused(lexarbor(*asked, "-o", "questions.jsonl", "--resume"))
    assert line.startswith("questions.jsonl, line 61: not a synthetic question (not valid JSON at column ")


def test_an_empty_article_is_passed_over_and_an_endless_one_is_cut(lexarbor: Command, here: Path, model: Path) -> None:
    law = law_of("La pêche est libre.", " \n", "Le port ferme à minuit. " * 4000)
    code, out, err = lexarbor("augment", "-m", model, "-l", law, *SHORT, "-o", "questions.jsonl", "-f", "tsv")
    assert (code, err) == (0, "1 article without text passed over\n")
    assert out.splitlines()[2:6] == ["out\tquestions.jsonl", "articles\t2", "empty\t1", "questions\t4"]
    assert [question.article for question in read_synthetic(Path("questions.jsonl"))] == ["A0", "A0", "A2", "A2"]


def test_the_articles_of_a_supervision_folder(lexarbor: Command, here: Path, model: Path) -> None:
    preparation.prepare("tiny", Path("data"), kinds=["headings"])
    asked = ("augment", "-m", model, *SHORT, "--limit", "3")
    assert lexarbor(*asked, "-d", "data", "-o", "data.jsonl").code == 0
    assert lexarbor(*asked, "-l", "tiny", "-o", "law.jsonl").code == 0
    assert Path("data.jsonl").read_bytes() == Path("law.jsonl").read_bytes()
    assert len(read_synthetic(Path("law.jsonl"))) == 6


def test_how_the_model_is_asked_can_be_changed(lexarbor: Command, here: Path, model: Path) -> None:
    way = "--prefix Demande: --headings --input-tokens 20 --question-tokens 9 --questions 3 --top-k 0 --top-p 1"
    asked = ("augment", "-m", model, "-l", "tiny", "--limit", "2", *way.split(), "--temperature", "0.5")
    assert lexarbor(*asked, "-o", "questions.jsonl").code == 0
    told = json.loads(Path("questions.settings.json").read_text(encoding="utf-8"))
    assert told["settings"] == {"prefix": "Demande:", "headings": True, "input_tokens": 20, "question_tokens": 9}
    assert told["sampling"] == {"questions": 3, "top_k": 0, "top_p": 1.0, "temperature": 0.5, "seed": 0}
    assert (told["articles"], told["questions"], told["generator"]) == (2, 6, "tiny-mt5")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("-m none -l tiny -o q.jsonl", "none: neither a folder nor a checkpoint that the Hugging Face hub gives"),
        ("-m /no/where -l tiny -o q.jsonl", "/no/where: "),
        ("-m BERT -l tiny -o q.jsonl", "BERT: a model of type 'bert' is no encoder with a decoder, which reads"),
        ("-m MODEL -l none -o q.jsonl", "none: no such file, and no law by that name; known are 'tiny', "),
        ("-m MODEL -d none -o q.jsonl", "none: no supervision there; write it with `lexarbor train prepare`"),
        ("-m MODEL -d none -l tiny -o q.jsonl", "--data has articles of its own: leave --law and --law-format out"),
        ("-m MODEL -l empty.jsonl -o q.jsonl", "of 2 articles none has a text: there is nothing to ask about"),
        ("-m MODEL -l tiny -o q.jsonl --questions 0", "questions is 0: ask for one or more of each article"),
        ("-m MODEL -l tiny -o q.jsonl --top-p 0", "top_k is 50, top_p 0.0, "),
        ("-m MODEL -l tiny -o q.jsonl --top-p 1.5", "top_k is 50, top_p 1.5, "),
        ("-m MODEL -l tiny -o q.jsonl --top-p nan", "top_k is 50, top_p nan, "),
        ("-m MODEL -l tiny -o q.jsonl --top-k -1", "top_k is -1, "),
        ("-m MODEL -l tiny -o q.jsonl --temperature 0", "top_k is 50, top_p 0.95, temperature 0.0, "),
        ("-m MODEL -l tiny -o q.jsonl --seed -1", "top_k is 50, top_p 0.95, temperature 1.0, seed -1"),
        ("-m MODEL -l tiny -o q.jsonl --batch-size 0", "batch_size is 0: ask about one article at a time or more"),
        ("-m MODEL -l tiny -o q.jsonl --input-tokens 0", "input_tokens is 0: a generator needs 3 tokens or more"),
        ("-m MODEL -l tiny -o q.jsonl --limit 0", "Invalid value for '--limit'"),
        ("-m MODEL -l tiny -o none/q.jsonl", "cannot write none/q.jsonl: there is no folder none; make it first"),
        ("-m MODEL -l tiny -o .", "cannot write .: it is no plain file; give the name of a file"),
        ("-m MODEL -l tiny -o q.jsonl.xz", "q.jsonl.xz: lines are added to the file as they come, so it cannot be"),
        ("-m MODEL -l tiny -o empty.jsonl", "empty.jsonl: is there already; resume it (--resume), or give another"),
        ("-m MODEL -l tiny -o empty.jsonl --resume", "empty.jsonl: no empty.settings.json beside it tells what it"),
        ("-m MODEL -l tiny", "Missing option '--out' / '-o'"),
    ],
)
def test_what_is_wrong_is_told_in_a_line_and_nothing_written(
    lexarbor: Command, here: Path, model: Path, bert: Path, arguments: str, message: str
) -> None:
    Path(law_of("", " ")).rename("empty.jsonl")
    held = Path("empty.jsonl").read_bytes()
    named = arguments.replace("MODEL", str(model)).replace("BERT", str(bert))
    assert refused(lexarbor("augment", *named.split())).startswith(message.replace("BERT", str(bert)))
    assert names(here) == ["empty.jsonl"]
    assert Path("empty.jsonl").read_bytes() == held


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model without a decoder."""
    shape = Architecture(layers=1, hidden=32, heads=2, intermediate=32, positions=64, vocabulary=400)
    texts = [article.text for article in read_tiny().articles.values()]
    return write_fresh(shape, texts, tmp_path_factory.mktemp("bert") / "bert", dropout=0.0, seed=0)


def test_another_model_of_the_same_name_does_not_go_on(
    lexarbor: Command, here: Path, model: Path, tmp_path: Path
) -> None:
    asked = ("augment", "-l", "tiny", *SHORT, "--limit", "2", "-o", "questions.jsonl", "--resume")
    assert lexarbor(*asked, "-m", model).code == 0
    other = tiny_mt5(tmp_path / "tiny-mt5", seed=1)
    line = refused(lexarbor(*asked, "-m", other))
    assert line.startswith("questions.jsonl: was begun with another model of that name, or on a machine that computes")
    line = refused(lexarbor(*asked, "-m", model, "--limit", "3"))
    assert line.startswith("questions.jsonl: was begun with other articles; resume it with the same --law or --data")


@pytest.mark.parametrize("given", [(), ("--batch-size", "7")])
def test_where_memory_ends_there_is_advice(
    lexarbor: Command, here: Path, model: Path, monkeypatch: pytest.MonkeyPatch, given: tuple[str, ...]
) -> None:
    def greedy(*_: Any, **__: Any) -> list[list[Sampled]]:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(QuestionGenerator, "ask", greedy)
    count = given[1] if given else BATCH_SIZE  # the command's own is typed: numpy must not be loaded for its help
    assert refused(lexarbor("augment", "-m", model, "-l", "tiny", *SHORT, *given, "-o", "questions.jsonl")) == (
        f"a batch of {count} articles does not fit in this memory: start anew, in another file, with a lower "
        "--batch-size"
    )


@pytest.mark.parametrize("package", ["torch", "transformers"])
def test_without_torch_it_says_what_to_install(
    lexarbor: Command, here: Path, model: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    line = refused(lexarbor("augment", "-m", model, "-l", "tiny", "-o", "questions.jsonl"))
    assert line.endswith(" needs an optional dependency: pip install 'lexarbor[train]'")
    assert names(here) == []
