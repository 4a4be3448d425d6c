"""A sequence-to-sequence model that writes questions which an article answers: any of the Hugging Face library's own
classes, from a folder or by its name on the hub.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from torch import Tensor
from transformers import (
    MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    LogitsProcessorList,
)
from transformers.modeling_outputs import BaseModelOutput

from lexarbor.errors import ModelError, TrainingError, first_line
from lexarbor.files import write_json
from lexarbor.supervision.folder import Passage
from lexarbor.supervision.sampling import GeneratorSettings, Sampled, Sampling, seed_of
from lexarbor.text.towers import check_weights, position_limit, quietly, read_config

SETTINGS = "generator.json"
"""Beside a model that Lexarbor trained: how it wants to be asked."""


@dataclass(frozen=True)
class QuestionGenerator:
    """Reads articles, writes questions."""

    model: Any
    tokenizer: Any
    settings: GeneratorSettings
    name: str
    fingerprint: str
    """A checksum of the weights, of their precision too."""

    @classmethod
    def open(
        cls, model: str, *, settings: GeneratorSettings | None = None, device: str | None = None
    ) -> "QuestionGenerator":
        """A model with its own settings, or others; on a GPU, in 16 bits, where there is one."""
        device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        loaded = read_seq2seq(model, dtype=torch.bfloat16 if device == "cuda" else torch.float32)
        settings = settings or read_settings(model)
        check_lengths(loaded, settings, model)
        if loaded.generation_config.eos_token_id is None:
            raise ModelError(f"{model}: nothing tells where a question ends; name eos_token_id in its config.json")
        name = Path(model).resolve().name if Path(model).is_dir() else model
        fingerprint = _checksum(loaded)
        return cls(loaded.to(device).eval(), read_tokenizer(model), settings, name, fingerprint)

    @torch.inference_mode()
    def ask(self, articles: Sequence[Passage], sampling: Sampling, *, seed: Sequence[int]) -> list[list[Sampled]]:
        """Questions of each article, `sampling.questions` of them or fewer: what has no words is left out. The same
        articles and seed give the same questions.
        """
        if not articles:
            return []
        device = self.model.device
        read = self.tokenizer(
            [self.settings.read(article) for article in articles],
            padding=True,
            truncation=True,
            max_length=self.settings.input_tokens,
            return_tensors="pt",
        ).to(device)
        ids, mask = read["input_ids"], read["attention_mask"]
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            torch.manual_seed(seed_of(seed))
            written = self.model.generate(
                input_ids=ids,
                attention_mask=mask,
                do_sample=True,
                top_k=sampling.top_k,
                top_p=sampling.top_p,
                temperature=sampling.temperature,
                num_beams=1,
                num_return_sequences=sampling.questions,
                max_new_tokens=self.settings.question_tokens,
                logits_processor=LogitsProcessorList([self._check_chances]),
            )
        scores = self._scores(ids, mask, written.view(len(articles), sampling.questions, -1))
        self._check_numbers(scores)
        texts = self.tokenizer.batch_decode(written, skip_special_tokens=True)
        found = [Sampled(_tidy(text), score) for text, score in zip(texts, scores.flatten().tolist(), strict=True)]
        each = sampling.questions
        return [[one for one in found[start : start + each] if one.question] for start in range(0, len(found), each)]

    def _check_chances(self, written: Tensor, chances: Tensor) -> Tensor:
        """Before a token is drawn: torch would stop, on a GPU for good. Tokens that are ruled out have -inf."""
        self._check_numbers(chances.amax(-1))
        return chances

    def _check_numbers(self, scores: Tensor) -> None:
        if not scores.isfinite().all():
            precision = str(self.model.dtype).removeprefix("torch.")
            wider = "" if precision == "float32" else ", or compute in float32: hide the GPU (CUDA_VISIBLE_DEVICES=)"
            raise ModelError(
                f"{self.name}: computes scores that are no numbers, in {precision}; give another model{wider}"
            )

    def _scores(self, ids: Tensor, mask: Tensor, written: Tensor) -> Tensor:
        """(articles, questions), of `written` (articles, questions, tokens): read again, with nothing left out. One
        question of each article at a time: a token's probabilities over a large vocabulary fill the memory.
        """
        heard = self.model.get_encoder()(input_ids=ids, attention_mask=mask).last_hidden_state
        columns = []
        for question in range(written.shape[1]):
            tokens = written[:, question]
            told = self.model(
                encoder_outputs=BaseModelOutput(last_hidden_state=heard),
                attention_mask=mask,
                decoder_input_ids=tokens[:, :-1],
            )
            chances = (
                told.logits.float().log_softmax(-1).gather(-1, tokens[:, 1:, None]).squeeze(-1)
            )  # (articles, tokens)
            counted = self._until_end(tokens[:, 1:])
            columns.append((chances * counted).sum(1) / counted.sum(1).clamp(min=1))
        return torch.stack(columns, dim=1).double().cpu()

    def _until_end(self, tokens: Tensor) -> Tensor:
        """Whether a token is one of the question's, its end counted, or what fills up after it."""
        ends = torch.as_tensor(self.model.generation_config.eos_token_id, device=tokens.device).flatten()
        ended = torch.isin(tokens, ends).int()
        return (ended.cumsum(1) - ended) == 0


def read_seq2seq(model: str, *, dtype: torch.dtype = torch.float32) -> Any:
    """A model with an encoder and a decoder. Weights are read as data alone, whatever their file."""
    try:
        config = read_config(model)
    except ModelError as error:
        raise ModelError(f"{error}; or train a generator of your own: `lexarbor train generate`") from error
    if not is_seq2seq(config):
        raise ModelError(
            f"{model}: a model of type '{config.model_type}' is no encoder with a decoder, which reads an article and "
            "writes questions: give a sequence-to-sequence model, e.g. doc2query/msmarco-french-mt5-base-v1"
        )
    try:
        with quietly():
            loaded, found = AutoModelForSeq2SeqLM.from_pretrained(
                model, dtype=dtype, output_loading_info=True, ignore_mismatched_sizes=True
            )
    except (OSError, ValueError, RuntimeError, KeyError, SafetensorError) as error:
        raise ModelError(f"{model}: its weights cannot be read ({first_line(error)})") from error
    check_weights(found, model)
    if getattr(loaded.get_encoder(), "pooler", None) is not None:
        loaded.get_encoder().pooler = None  # no question goes through it, and transformers made it up
    return loaded


def is_seq2seq(config: Any) -> bool:
    return type(config) in MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING


def read_tokenizer(model: str) -> Any:
    try:
        with quietly():
            tokenizer = AutoTokenizer.from_pretrained(model)
    except Exception as error:  # the tokenizers package raises that very class
        raise ModelError(f"{model}: no tokenizer can be read ({first_line(error)})") from error
    if len(tokenizer) <= 1 + len(tokenizer.all_special_ids):  # what transformers makes up where there is none
        raise ModelError(f"{model}: no tokenizer there, or one without words; give the model's own")
    return tokenizer


def read_settings(model: str) -> GeneratorSettings:
    """As the model was trained; for a model of the hub, as the paper's authors asked theirs."""
    path = Path(model) / SETTINGS
    if not path.is_file():
        return GeneratorSettings()
    try:
        return GeneratorSettings(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, TrainingError) as error:
        raise ModelError(f"{path}: cannot be read as a generator's settings ({first_line(error)})") from error


def write_settings(settings: GeneratorSettings, folder: Path) -> None:
    write_json(folder / SETTINGS, asdict(settings))


def check_lengths(model: Any, settings: GeneratorSettings, start: str) -> None:
    """Refuse to have more tokens read or written than a model can count; T5 and its kin count none, and have no end."""
    for verb, name, half in (
        ("reads", "input_tokens", model.get_encoder()),
        ("writes", "question_tokens", model.get_decoder()),
    ):
        endless = getattr(half.config, "relative_attention_num_buckets", None)
        limit = None if endless else position_limit(half)
        if limit is not None and getattr(settings, name) > limit:
            raise ModelError(
                f"{start}: {verb} at most {limit} tokens, but {name} is {getattr(settings, name)}: lower it"
            )


def _checksum(model: Any) -> str:
    """Of all weights, with their names and precision."""
    digest = hashlib.sha256()
    for name, weight in model.state_dict().items():
        digest.update(f"{name} {weight.dtype} {tuple(weight.shape)}\n".encode())
        digest.update(weight.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy())
    return digest.hexdigest()


def _tidy(text: str) -> str:
    """One line that begins with a capital: some vocabularies know small letters only. Nothing where it has no word."""
    line = " ".join("".join(one if one.isprintable() else " " for one in text).split())
    return line[:1].upper() + line[1:] if any(one.isalnum() for one in line) else ""
