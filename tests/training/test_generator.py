"""A generator is asked: the same questions for the same seed, scores that a plain loop finds too, and refusals."""

import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_generate import trained
from tiny_supervision import checkpoint, tiny
from transformers import GPT2Config

from lexarbor.errors import LexarborError, ModelError, TrainingError
from lexarbor.supervision.folder import Passage
from lexarbor.supervision.sampling import GeneratorSettings, Sampling, seed_of
from lexarbor.training.generator import QuestionGenerator, read_seq2seq, read_settings, write_settings
from tiny_generator import tiny_mt5

ARTICLES = [tiny().articles[0], Passage("A1", "La pêche est libre.", ("Code",)), tiny().articles[1]]
"""The second is short: beside the others it is padded."""
SHORT = GeneratorSettings(input_tokens=40, question_tokens=16)
KINDS = ("mt5", "bert2bert")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("generators")
    return {
        "mt5": tiny_mt5(folder / "tiny-mt5"),
        "bert2bert": trained(folder / "ours"),
        "bert": checkpoint(folder / "bert"),
    }


@pytest.fixture(params=KINDS)
def generator(request: pytest.FixtureRequest, models: dict[str, Path]) -> QuestionGenerator:
    return QuestionGenerator.open(str(models[request.param]), settings=SHORT)


class Heard:
    """What the model was asked to write with, and what it wrote, as tokens."""

    def __init__(self, generator: QuestionGenerator, answer: torch.Tensor | None = None) -> None:
        self.plain = generator.model.generate
        self.answer = answer
        generator.model.generate = self

    def __call__(self, **options: Any) -> torch.Tensor:
        self.options = options
        self.written: torch.Tensor = self.plain(**options) if self.answer is None else self.answer
        return self.written


def test_a_generator_is_known_by_its_folder_and_its_own_settings(
    models: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(models["mt5"])
    assert QuestionGenerator.open(".").name == "tiny-mt5"
    other = QuestionGenerator.open(str(models["mt5"]))
    assert (other.name, other.settings) == ("tiny-mt5", GeneratorSettings("", False, 512, 60))
    ours = QuestionGenerator.open(str(models["bert2bert"]))
    assert (ours.name, ours.settings) == ("ours", GeneratorSettings("question : ", True, 48, 24))
    assert QuestionGenerator.open(str(models["bert2bert"]), settings=SHORT).settings == SHORT
    assert not ours.model.training
    assert ours.model.dtype == torch.float32


def test_the_same_articles_and_seed_give_the_same_questions(generator: QuestionGenerator) -> None:
    torch.manual_seed(1)
    first = generator.ask(ARTICLES, Sampling(questions=2), seed=(3, 4))
    torch.manual_seed(2)
    assert generator.ask(ARTICLES, Sampling(questions=2), seed=(3, 4)) == first
    assert [len(questions) for questions in first] == [2, 2, 2]
    assert len({one.question for questions in first for one in questions}) == 6
    other = generator.ask(ARTICLES, Sampling(questions=2), seed=(3, 5))
    assert not {one.question for some in first for one in some} & {one.question for some in other for one in some}


def test_the_callers_chance_is_left_as_it_was(generator: QuestionGenerator) -> None:
    torch.manual_seed(7)
    before = torch.random.get_rng_state()
    generator.ask(ARTICLES, Sampling(questions=1), seed=(0,))
    assert torch.equal(torch.random.get_rng_state(), before)


def test_nothing_is_asked_about_nothing(generator: QuestionGenerator) -> None:
    assert generator.ask([], Sampling(), seed=(0,)) == []


def naive_score(generator: QuestionGenerator, article: Passage, tokens: list[int], ends: list[int]) -> float:
    """Of the start token and what follows it: the article alone, without padding, and a loop up to the end."""
    read = generator.tokenizer(
        generator.settings.read(article), truncation=True, max_length=generator.settings.input_tokens
    )
    with torch.no_grad():
        told = generator.model(
            input_ids=torch.tensor([read["input_ids"]]), decoder_input_ids=torch.tensor([tokens])
        ).logits[0]
    total = count = 0
    for place, token in enumerate(tokens[1:]):
        total += torch.log_softmax(told[place].double(), dim=0)[token].item()
        count += 1
        if token in ends:
            break
    return total / count


@pytest.mark.parametrize("sampling", [Sampling(12, 0, 1.0), Sampling(12, 40, 0.9, 0.7)], ids=["all", "few"])
def test_scores_are_those_of_a_plain_loop(generator: QuestionGenerator, sampling: Sampling) -> None:
    heard = Heard(generator)
    generator.ask(ARTICLES, sampling, seed=(0,))
    # what it likes to write shall be an end, so that some questions end, though not all
    ends = [token for token, _ in Counter(heard.written[:, 2:].flatten().tolist()).most_common(9)]
    generator.model.generation_config.eos_token_id = ends
    found = generator.ask(ARTICLES, sampling, seed=(1, 2))
    written = heard.written.view(3, 12, -1).tolist()
    lengths = set()
    for article, questions, rows in zip(ARTICLES, found, written, strict=True):
        spoken = [
            row for row in rows if any(map(str.isalnum, generator.tokenizer.decode(row, skip_special_tokens=True)))
        ]
        for one, tokens in zip(questions, spoken, strict=True):
            assert one.score == pytest.approx(naive_score(generator, article, tokens, ends), abs=1e-5)
            length = next((place for place, token in enumerate(tokens) if place and token in ends), 16)
            lengths.add(length)
            text = generator.tokenizer.decode(tokens[1 : length + 1], skip_special_tokens=True)
            text = " ".join(re.sub(r"[\x00-\x1f\x7f-\xa0\xad]", " ", text).split())
            assert one.question == text[0].upper() + text[1:]
    assert len(lengths) > 3 and max(lengths) == 16


def test_the_likeliest_token_alone_leaves_no_choice(generator: QuestionGenerator) -> None:
    heard = Heard(generator)
    generator.ask(ARTICLES[:1], Sampling(questions=3, top_k=1), seed=(0,))
    tokens, *others = heard.written.tolist()
    assert others == [tokens, tokens]
    read = generator.tokenizer(ARTICLES[0].text, truncation=True, max_length=40, return_tensors="pt")["input_ids"]
    with torch.no_grad():
        told = generator.model(input_ids=read, decoder_input_ids=torch.tensor([tokens[:-1]])).logits[0]
    assert told.argmax(-1).tolist() == tokens[1:]


def test_what_has_no_words_is_left_out(generator: QuestionGenerator) -> None:
    tokenizer, config = generator.tokenizer, generator.model.generation_config
    word = tokenizer("valombre", add_special_tokens=False)["input_ids"][:1]
    spoken = [config.decoder_start_token_id, *word, config.eos_token_id]
    silent = [config.decoder_start_token_id, config.eos_token_id, config.pad_token_id]
    Heard(generator, torch.tensor([silent, spoken, spoken, silent, silent, silent]))
    found = generator.ask(ARTICLES, Sampling(questions=2), seed=(0,))
    said = tokenizer.decode(word).strip()
    assert [[one.question for one in questions] for questions in found] == [[said.capitalize()]] * 2 + [[]]


def test_an_article_is_read_as_the_settings_say(models: dict[str, Path]) -> None:
    settings = GeneratorSettings("Demande : ", True, 60, 8)
    generator = QuestionGenerator.open(str(models["mt5"]), settings=settings)
    heard = Heard(generator)
    article = Passage("A1", "La pêche est libre.", ("Code", "Eaux"))
    generator.ask([article], Sampling(questions=1), seed=(0,))
    expected = generator.tokenizer("Demande : Code > Eaux\nLa pêche est libre.")["input_ids"]
    assert heard.options["input_ids"].tolist() == [expected]
    assert heard.written.shape[1] <= 1 + 8


def test_an_article_of_twenty_thousand_words_is_cut(generator: QuestionGenerator) -> None:
    words = "Le port de la ville ferme à minuit. ".split() * 2500
    heard = Heard(generator)
    found = generator.ask([Passage("A1", " ".join(words))], Sampling(questions=2), seed=(0,))
    assert heard.options["input_ids"].shape == (1, 40)
    assert generator.ask([Passage("A1", " ".join(words[:200]))], Sampling(questions=2), seed=(0,)) == found


def test_a_fingerprint_tells_weights_and_their_precision(
    models: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = QuestionGenerator.open(str(models["mt5"])).fingerprint
    assert len(bytes.fromhex(plain)) == 32
    moved = Path(shutil.copytree(models["mt5"], tmp_path / "tiny-mt5"))
    assert QuestionGenerator.open(str(moved), settings=SHORT).fingerprint == plain
    weights = load_file(moved / "model.safetensors")
    one = weights["decoder.final_layer_norm.weight"]
    one[-1] = one[-1].nextafter(torch.tensor(2.0))
    save_file(weights, moved / "model.safetensors", {"format": "pt"})
    assert QuestionGenerator.open(str(moved)).fingerprint != plain
    halved = read_seq2seq(str(models["mt5"]), dtype=torch.bfloat16)
    monkeypatch.setattr("lexarbor.training.generator.read_seq2seq", lambda model, dtype: halved)
    assert QuestionGenerator.open(str(models["mt5"])).fingerprint != plain


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e38])
@pytest.mark.parametrize("drawn", [True, False])
def test_scores_that_are_no_numbers_are_refused(models: dict[str, Path], value: float, drawn: bool) -> None:
    generator = QuestionGenerator.open(str(models["mt5"]), settings=SHORT)
    if not drawn:
        Heard(generator, torch.tensor([[0, 5, 6, 1]] * 3))
    with torch.no_grad():
        generator.model.decoder.final_layer_norm.weight.fill_(value)
    with pytest.raises(ModelError) as found:
        generator.ask(ARTICLES, Sampling(questions=1), seed=(0,))
    told = "tiny-mt5: computes scores that are no numbers, in float32; give another model"
    assert str(found.value) == told
    generator.model.bfloat16()
    with pytest.raises(ModelError) as found:
        generator.ask(ARTICLES, Sampling(questions=1), seed=(0,))
    wider = ", or compute in float32: hide the GPU (CUDA_VISIBLE_DEVICES=)"
    assert str(found.value) == told.replace("float32", "bfloat16") + wider


def test_settings_are_written_and_read(tmp_path: Path) -> None:
    assert read_settings("doc2query/some-model") == read_settings(str(tmp_path)) == GeneratorSettings()
    write_settings(GeneratorSettings("p : ", True, 99, 9), tmp_path)
    assert read_settings(str(tmp_path)) == GeneratorSettings("p : ", True, 99, 9)


def refused(model: Path | str, **options: Any) -> str:
    with pytest.raises(LexarborError) as found:
        QuestionGenerator.open(str(model), **options)
    assert "\n" not in str(found.value)
    assert isinstance(found.value, ModelError)
    return str(found.value)


def test_models_that_cannot_write_questions_are_refused(models: dict[str, Path], tmp_path: Path) -> None:
    told = refused(models["bert"])
    assert told.startswith(
        f"{models['bert']}: a model of type 'bert' is no encoder with a decoder, which reads an article and writes "
        "questions: give a sequence-to-sequence model, e.g. "
    )
    GPT2Config(n_layer=1, n_head=2, n_embd=8, vocab_size=9).save_pretrained(tmp_path / "gpt2")
    assert "a model of type 'gpt2' is no encoder with a decoder" in refused(tmp_path / "gpt2")
    assert "there is no such folder" in refused(tmp_path / "none")
    assert "neither a folder nor a checkpoint that the Hugging Face hub gives" in refused("nobody/nothing")
    assert "no config.json in this folder" in refused(tmp_path)


def test_lengths_above_what_a_model_can_are_refused(models: dict[str, Path]) -> None:
    bert = models["bert2bert"]
    told = refused(bert, settings=GeneratorSettings(input_tokens=65))
    assert told == f"{bert}: reads at most 64 tokens, but input_tokens is 65: lower it"
    told = refused(bert, settings=GeneratorSettings(input_tokens=64, question_tokens=65))
    assert told == f"{bert}: writes at most 64 tokens, but question_tokens is 65: lower it"
    longest = QuestionGenerator.open(str(bert), settings=GeneratorSettings(input_tokens=64, question_tokens=64))
    assert len(longest.ask([Passage("A1", "mot " * 99)], Sampling(questions=1), seed=(0,))) == 1
    QuestionGenerator.open(str(models["mt5"]), settings=GeneratorSettings(input_tokens=9999, question_tokens=999))


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        "3",
        '{"prefix": "a", "beams": 4}',
        '{"input_tokens": "many"}',
        '{"input_tokens": 1}',
        '{"question_tokens": 20.5}',
        '{"prefix": 3}',
        '{"headings": "no"}',
    ],
)
def test_settings_that_are_damaged_are_refused(models: dict[str, Path], tmp_path: Path, content: str) -> None:
    folder = Path(shutil.copytree(models["bert2bert"], tmp_path / "model"))
    (folder / "generator.json").write_text(content, encoding="utf-8")
    assert refused(folder).startswith(f"{folder / 'generator.json'}: cannot be read as a generator's settings (")


def test_a_folder_that_is_not_whole_is_refused(models: dict[str, Path], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(models["mt5"], tmp_path / "model"))
    weights = load_file(folder / "model.safetensors")
    one = "decoder.final_layer_norm.weight"
    save_file({name: weights[name] for name in weights if name != one}, folder / "model.safetensors", {"format": "pt"})
    assert f"1 weights are missing, {one} for one" in refused(folder)
    save_file(weights | {one: torch.zeros(3)}, folder / "model.safetensors", {"format": "pt"})
    assert "1 weights are of another size" in refused(folder)
    (folder / "model.safetensors").write_bytes(b"damaged")
    assert "its weights cannot be read" in refused(folder)
    (folder / "model.safetensors").unlink()
    assert "its weights cannot be read" in refused(folder)


def test_a_model_without_tokenizer_or_end_is_refused(models: dict[str, Path], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(models["mt5"], tmp_path / "model"))
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()
    assert "no tokenizer there, or one without words" in refused(folder)
    (folder / "tokenizer.json").write_text("{", encoding="utf-8")
    assert "no tokenizer can be read" in refused(folder)
    for name in ("config.json", "generation_config.json"):
        held = json.loads((models["mt5"] / name).read_text(encoding="utf-8"))
        (folder / name).write_text(json.dumps(held | {"eos_token_id": None}), encoding="utf-8")
    assert "nothing tells where a question ends" in refused(folder)


def test_impossible_settings_are_refused() -> None:
    for settings, told in (
        ({"input_tokens": 2}, "input_tokens is 2"),
        ({"question_tokens": 0}, "question_tokens is 0"),
    ):
        with pytest.raises(TrainingError, match=told):
            GeneratorSettings(**settings)
    for sampling in ({"top_k": -1}, {"top_p": 0.0}, {"top_p": float("nan")}, {"temperature": 0.0}, {"seed": -1}):
        with pytest.raises(TrainingError, match=r"expected top_k ≥ 0, 0 < top_p ≤ 1"):
            Sampling(**sampling)
    with pytest.raises(TrainingError, match="questions is 0"):
        Sampling(questions=0)


def test_seeds_of_neighbours_are_far_apart() -> None:
    seeds = [seed_of((one, other)) for one in range(30) for other in range(30)]
    assert len(set(seeds)) == 900
    assert all(0 <= seed < 1 << 63 for seed in seeds)
    assert abs(seeds[0] - seeds[1]) > 1 << 32
    assert seed_of((0, 1)) == seeds[1]
