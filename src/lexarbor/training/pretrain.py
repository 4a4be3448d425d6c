"""Masked language modelling on the law's own language: from a checkpoint (the paper's "domain adaptation") or from
nothing, with a vocabulary of our own.

Writes a plain Hugging Face folder (`config.json`, `model.safetensors`, tokenizer files) with `recipe.yaml` and
`log.json` beside. While it runs, `checkpoints/` holds what to resume from, where the recipe asks for it.
"""

import logging
import math
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
import transformers
from safetensors import SafetensorError
from torch.nn import functional
from transformers import AutoModelForMaskedLM, AutoTokenizer

from lexarbor.errors import TrainingError
from lexarbor.files import folder_at, write_json
from lexarbor.text.towers import check_weights, position_limit, quietly, read_config
from lexarbor.text.vocabulary import save_vocabulary
from lexarbor.training.arguments import (
    WholeBatchTrainer,
    check_surroundings,
    fitting,
    training_arguments,
    world_size,
)
from lexarbor.training.blocks import MaskedBlocks, Pieces, pack
from lexarbor.training.fresh import fresh_model
from lexarbor.training.hyperparameters import Optimisation
from lexarbor.training.recipes import FRESH, PretrainRecipe
from lexarbor.training.runs import LOG, claim, finish, is_first

logger = logging.getLogger(__name__)

_INSIDE_ATTENTION = "attention_probs_dropout_prob"
"""Dropout there is off while training, which is faster; what is written keeps the checkpoint's own."""
_HEADS = (("cls",), ("lm_head",), ("generator_predictions", "generator_lm_head"))
"""Where BERT, RoBERTa with its kin, and ELECTRA keep what leads from a token's vector to the vocabulary."""


def pretrain(
    recipe: PretrainRecipe,
    texts: Sequence[str],
    out: Path,
    *,
    resume: bool = False,
    callbacks: Sequence[transformers.TrainerCallback] = (),
    data: str = "",
) -> Path:
    """Train as the recipe says and give the folder of the model back.

    `resume` goes on from the last checkpoint in `out`, or starts where there is none; what is learned is the same as
    without the stop.
    `data` is the checksum of what the texts come from: a run is not resumed with another.
    """
    check_surroundings(recipe.optimisation, recipe.watching)
    checkpoint = claim(recipe, out, resume=resume, data=data)
    transformers.set_seed(recipe.optimisation.seed)
    begun = _start(recipe, texts)
    tokenizer, model = begun.tokenizer, begun.model
    pieces = _pieces(tokenizer, model)
    began = time.perf_counter()
    stream = pack(texts, tokenizer.backend_tokenizer, pieces)
    optimisation = recipe.optimisation
    batches = MaskedBlocks(
        stream,
        pieces,
        block_tokens=recipe.block_tokens,
        batch_size=optimisation.batch_size,
        masked=recipe.masked,
        seed=optimisation.seed,
    )
    steps = _steps(optimisation, batches.blocks)
    batches.count = steps * optimisation.accumulation * world_size()
    logger.info(
        "%d tokens in %.0f s, %d blocks; %d steps", len(stream), time.perf_counter() - began, batches.blocks, steps
    )
    trainer = WholeBatchTrainer(
        MaskedLanguageModel(model),
        training_arguments(optimisation, recipe.watching, out, steps),
        batches,
        unit="tokens",
        per_batch=optimisation.batch_size * recipe.block_tokens,
        callbacks=callbacks,
    )
    began = time.perf_counter()
    with fitting(f"{optimisation.batch_size} blocks", "lower batch_size and raise accumulation"):
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    seconds = time.perf_counter() - began
    if is_first():
        _write_model(recipe, begun, out)
        _write_log(out / LOG, trainer.state.log_history, {"stream_tokens": len(stream), "seconds": round(seconds, 1)})
        finish(out)
    return out


class MaskedLanguageModel(torch.nn.Module):
    """A masked language model whose vocabulary projection sees the guessed tokens only: the loss is its output."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model
        self._head = next((names for names in _HEADS if all(hasattr(model, name) for name in names)), None)

    def forward(self, ids: torch.Tensor, positions: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        if self._head is None:  # an architecture we do not know: correct, and slower
            chosen = self.model(input_ids=ids).logits.flatten(0, 1).index_select(0, positions)
        else:
            hidden = self.model.base_model(input_ids=ids).last_hidden_state  # (blocks, tokens, width)
            chosen = hidden.flatten(0, 1).index_select(0, positions)  # (guesses, width)
            for name in self._head:
                chosen = getattr(self.model, name)(chosen)  # (guesses, vocabulary)
        return functional.cross_entropy(chosen.float(), targets)


def write_half(folder: Path, target: Path) -> None:
    """A copy of a model folder with weights in 16 bits, half as large."""
    model = AutoModelForMaskedLM.from_pretrained(folder, dtype=torch.float16)
    model.save_pretrained(folder_at(target))
    AutoTokenizer.from_pretrained(folder).save_pretrained(target)


class _Begun(NamedTuple):
    """What training starts from."""

    tokenizer: Any
    model: Any
    attention_dropout: float | None
    """The checkpoint's own rate inside attention; none where it says nothing."""


def _write_model(recipe: PretrainRecipe, begun: _Begun, out: Path) -> None:
    if begun.attention_dropout is not None:
        setattr(begun.model.config, _INSIDE_ATTENTION, begun.attention_dropout)
    begun.model.save_pretrained(out)
    if recipe.start == FRESH:
        save_vocabulary(begun.tokenizer.backend_tokenizer, out, longest=recipe.architecture.positions)
    else:
        begun.tokenizer.save_pretrained(out)


def _steps(optimisation: Optimisation, blocks: int) -> int:
    if optimisation.steps:
        return optimisation.steps
    of_one_step = optimisation.batch_size * optimisation.accumulation * world_size()
    return max(1, math.ceil(optimisation.epochs * blocks / of_one_step))


def _start(recipe: PretrainRecipe, texts: Sequence[str]) -> _Begun:
    if recipe.start == FRESH:
        seed, given = recipe.optimisation.seed, recipe.tokenizer
        fresh = fresh_model(recipe.architecture, texts, dropout=recipe.dropout, seed=seed, tokenizer=given)
        return _Begun(*fresh, attention_dropout=None)
    config = read_config(recipe.start)
    try:
        held = getattr(config, _INSIDE_ATTENTION, None)
        for name, value in (("hidden_dropout_prob", recipe.dropout), (_INSIDE_ATTENTION, 0.0)):
            if hasattr(config, name):
                setattr(config, name, value)
        with quietly():
            model, found = AutoModelForMaskedLM.from_pretrained(
                recipe.start,
                config=config,
                dtype=torch.float32,
                use_safetensors=True,
                output_loading_info=True,
                ignore_mismatched_sizes=True,  # told of below
            )
        tokenizer = AutoTokenizer.from_pretrained(recipe.tokenizer or recipe.start)
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        said = " ".join(str(error).split())[:200]
        raise TrainingError(
            f"start is '{recipe.start}', which cannot be loaded as a masked language model ({said}): give the name "
            "or folder of one, or 'fresh'"
        ) from error
    body = f"{model.base_model_prefix}."
    check_weights(found, recipe.start, body)
    if any(not name.startswith(body) for name in found["missing_keys"]):
        logger.warning("%s has no head for masked language modelling: training begins with a fresh one", recipe.start)
    longest = position_limit(model)
    if longest is not None and recipe.block_tokens > longest:
        raise TrainingError(f"block_tokens is {recipe.block_tokens}: {recipe.start} reads {longest} tokens at most")
    return _Begun(tokenizer, model, held)


def _pieces(tokenizer: Any, model: Any) -> Pieces:
    named = {"cls": tokenizer.cls_token_id, "sep": tokenizer.sep_token_id, "mask": tokenizer.mask_token_id}
    for name, id in named.items():
        if id is None:
            raise TrainingError(f"the tokenizer has no {name} token: masked language modelling needs a BERT-like model")
    size = len(tokenizer)
    if size > model.get_input_embeddings().num_embeddings:
        raise TrainingError(
            f"the tokenizer has {size} pieces, the model knows {model.get_input_embeddings().num_embeddings}: "
            "give the tokenizer that the model was trained with"
        )
    return Pieces(named["cls"], named["sep"], named["mask"], tuple(tokenizer.all_special_ids), size)


def _write_log(path: Path, history: list[dict[str, Any]], figures: dict[str, Any]) -> None:
    rates = [entry["tokens_per_second"] for entry in history if "tokens_per_second" in entry]
    found = {
        **figures,
        "tokens_per_second": statistics.median(rates) if rates else None,
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu",
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "log": [entry for entry in history if "loss" in entry],
    }
    write_json(path, found)
