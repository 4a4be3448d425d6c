"""The first level on disk: plain Hugging Face folders, read from any checkpoint and written so that others can load
them, with transformers (`AutoModel`, `AutoTokenizer`) or with Sentence Transformers.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import signature
from logging import CRITICAL, getLogger
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError
from transformers import (
    MODEL_MAPPING,
    AutoConfig,
    AutoModel,
    AutoTokenizer,
    BertConfig,
    BertModel,
    DPRContextEncoder,
    DPRQuestionEncoder,
)
from transformers.utils import logging

from lexarbor.errors import ModelError, first_line
from lexarbor.text.settings import EncoderSettings


class Tower(NamedTuple):
    """A BERT-type model without a head, and the tokenizer it was trained with."""

    model: Any
    tokenizer: Any


def read_tower(start: str | Path, settings: EncoderSettings) -> Tower:
    """The body of a checkpoint, in 32 bits, from a folder or by its name on the Hugging Face hub."""
    config = read_config(start)
    if config.model_type == "dpr":
        tower = _dpr_tower(start, config)
    else:
        architecture: Any = MODEL_MAPPING.get(type(config), None)
        if architecture is None:
            raise ModelError(f"{start}: a checkpoint of type '{config.model_type}' has no encoder that can be loaded")
        # the pooler is a layer over [CLS] that our vectors do not go through; some architectures have none to leave out
        options = {"add_pooling_layer": False} if "add_pooling_layer" in signature(architecture).parameters else {}
        tokenizer = _tokenizer(start)
        tower = Tower(_read_model(AutoModel, start, **options), tokenizer)
    _check(tower, settings, start)
    return tower


def _read_model(loader: Any, start: str | Path, **options: Any) -> Any:
    try:
        with quietly():
            model, found = loader.from_pretrained(
                start,
                dtype=torch.float32,
                use_safetensors=True,
                output_loading_info=True,
                ignore_mismatched_sizes=True,  # told of below
                **options,
            )
    except (OSError, ValueError, RuntimeError, KeyError, SafetensorError) as error:
        raise ModelError(f"{start}: its weights cannot be read ({first_line(error)}); {_EXPECTED}") from error
    check_weights(found, start)
    return model


_DPR = {"DPRQuestionEncoder": DPRQuestionEncoder, "DPRContextEncoder": DPRContextEncoder}


def _dpr_tower(start: str | Path, config: Any) -> Tower:
    """The BERT inside a dense passage retriever's encoder (Karpukhin et al. 2020), whose vector is its [CLS].

    `AutoModel` takes each such checkpoint for a question encoder, and the BERT inside would be saved as another.
    """
    named = next(iter(config.architectures or ()), "no architecture")
    if named not in _DPR:
        raise ModelError(f"{start}: a checkpoint of type 'dpr' with {named}: expected {' or '.join(_DPR)}")
    if config.projection_dim:
        raise ModelError(
            f"{start}: projects its vectors to {config.projection_dim} numbers, by a layer that our encoders do not "
            "have: give a DPR checkpoint with projection_dim 0"
        )
    tokenizer = _tokenizer(start)
    inside = _read_model(_DPR[named], start).base_model.bert_model
    told = {name: value for name, value in config.to_diff_dict().items() if name not in _OF_DPR}
    architecture: Any = BertModel
    body = architecture(BertConfig(**told), add_pooling_layer=False).eval()
    body.load_state_dict(inside.state_dict())
    return Tower(body, tokenizer)


_OF_DPR = ("model_type", "architectures", "projection_dim", "transformers_version", "dtype")
"""What a DPR checkpoint's configuration says of itself, not of the BERT inside."""
_EXPECTED = "give a folder with config.json, model.safetensors and tokenizer.json, as save_pretrained writes it"


def read_config(start: str | Path) -> Any:
    """The checkpoint's configuration: the first thing read, so that a wrong name is told of at once."""
    folder = Path(start)
    if folder.is_dir() and not (folder / "config.json").is_file():
        raise ModelError(f"{folder}: no config.json in this folder; {_EXPECTED}")
    if not folder.is_dir() and (isinstance(start, Path) or _is_path(start)):
        raise ModelError(f"{folder}: there is no such folder; give one that holds a checkpoint")
    try:
        with quietly():
            return AutoConfig.from_pretrained(start)
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(
            f"{start}: neither a folder nor a checkpoint that the Hugging Face hub gives ({first_line(error)}); "
            f"{_EXPECTED}"
        ) from error


def _tokenizer(start: str | Path) -> Any:
    try:
        with quietly():
            tokenizer = AutoTokenizer.from_pretrained(start)
    except Exception as error:  # the tokenizers package raises that very class
        raise ModelError(f"{start}: no tokenizer can be read ({first_line(error)}); {_EXPECTED}") from error
    if getattr(tokenizer, "backend_tokenizer", None) is None:
        raise ModelError(f"{start}: its tokenizer has no tokenizer.json, which search needs; {_EXPECTED}")
    if len(tokenizer) <= len(tokenizer.all_special_ids):
        raise ModelError(f"{start}: no tokenizer there, or one without words; {_EXPECTED}")
    for name in ("cls_token", "sep_token", "pad_token"):
        if getattr(tokenizer, f"{name}_id") is None:
            raise ModelError(f"{start}: its tokenizer has no {name}; give a BERT-type checkpoint")
    return tokenizer


def check_weights(found: dict[str, Any], start: str | Path, body: str = "") -> None:
    """Refuse what transformers would fill with random numbers, as it says in its `output_loading_info`; of what is
    missing only what begins with `body`, where a head on it may be fresh.
    """
    absent = {name for name in found["missing_keys"] if name.startswith(body) and "pooler" not in name}
    unfit = {name for name, *_ in found["mismatched_keys"]}
    for what, names in (("missing", absent - unfit), ("of another size than config.json says", unfit)):
        if names:
            raise ModelError(f"{start}: {len(names)} weights are {what}, {min(names)} for one; {_EXPECTED}")


def _check(tower: Tower, settings: EncoderSettings, start: str | Path) -> None:
    """Refuse a checkpoint that cannot read as many tokens as the settings ask for, or lacks some of them."""
    words = tower.model.get_input_embeddings().num_embeddings
    if max(tower.tokenizer.get_vocab().values()) >= words:
        raise ModelError(
            f"{start}: its tokenizer has {len(tower.tokenizer)} tokens, its model only {words}: they are not of the "
            "same checkpoint"
        )
    limit = position_limit(tower.model)
    wanted = {
        "question_tokens": settings.question_tokens,
        ("chunk_tokens" if settings.hierarchical else "max_tokens"): settings.article_tokens,
    }
    for name, tokens in wanted.items():
        if limit is not None and tokens > limit:
            raise ModelError(
                f"{start}: reads at most {limit} tokens at once, but {name} is {tokens}: lower {name}, or take "
                "article: hierarchical for long articles"
            )


def position_limit(model: Any) -> int | None:
    """The most tokens a model can read at once; none where positions have no end."""
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, torch.nn.Embedding):
            # RoBERTa's family (CamemBERT, XLM-R) counts positions from after that of padding: 514 are 512
            taken = 0 if module.padding_idx is None else module.padding_idx + 1
            return module.num_embeddings - taken
    limit = getattr(model.config, "max_position_embeddings", None)
    return int(limit) if limit else None


def write_tower(tower: Tower, folder: Path, settings: EncoderSettings) -> None:
    """Save as a plain folder: weights as safetensors, the tokenizer, and what Sentence Transformers reads."""
    length = max(settings.article_tokens, settings.question_tokens)
    before = tower.tokenizer.model_max_length
    with quietly():
        tower.model.save_pretrained(folder)
        tower.tokenizer.model_max_length = length
        try:
            tower.tokenizer.save_pretrained(folder)
        finally:
            tower.tokenizer.model_max_length = before
    pooling = {
        "word_embedding_dimension": tower.model.config.hidden_size,
        "pooling_mode_cls_token": settings.pooling == "cls",
        "pooling_mode_mean_tokens": settings.pooling == "mean",
    }
    (folder / "1_Pooling").mkdir(exist_ok=True)
    for name, content in (("modules.json", _MODULES), ("1_Pooling/config.json", pooling)):
        (folder / name).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


_MODULES = [
    {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
    {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
]
"""Under the names that every version of Sentence Transformers knows."""


def _is_path(start: str) -> bool:
    """Whether a name can only be a folder's. On the hub a name is NAME or OWNER/NAME, and no owner is called models."""
    return start.startswith(("/", ".", "~", "models/")) or start.count("/") > 1 or Path(start).is_absolute()


@contextmanager
def quietly() -> Iterator[None]:
    """Keep transformers' bars and reports to itself; what matters in them is raised as an error."""
    library: Any = logging
    verbosity, bars = library.get_verbosity(), library.is_progress_bar_enabled()
    hub = getLogger("huggingface_hub")
    hub_level = hub.level
    hub.setLevel(CRITICAL)  # where there is no network it tells of each try
    library.set_verbosity_error()
    library.disable_progress_bar()
    try:
        yield
    finally:
        hub.setLevel(hub_level)
        library.set_verbosity(verbosity)
        if bars:
            library.enable_progress_bar()
