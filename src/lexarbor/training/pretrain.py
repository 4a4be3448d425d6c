"""Masked language modelling on the law's own language: from a checkpoint (the paper's "domain adaptation") or from
nothing, with a vocabulary of our own.

Writes a plain Hugging Face folder (`config.json`, `model.safetensors`, tokenizer files) with `recipe.yaml` and
`log.json` beside. While it runs, `checkpoints/` holds what to resume from, where the recipe asks for it.
"""

import json
import logging
import math
import os
import shutil
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
from torch.nn import functional
from transformers import AutoConfig, AutoModelForMaskedLM, AutoTokenizer

from lexarbor.errors import TrainingError
from lexarbor.files import folder_at, replacing
from lexarbor.text.vocabulary import save_vocabulary
from lexarbor.training.arguments import (
    WholeBatchTrainer,
    check_surroundings,
    last_checkpoint,
    training_arguments,
    world_size,
)
from lexarbor.training.blocks import MaskedBlocks, Pieces, pack
from lexarbor.training.fresh import fresh_model
from lexarbor.training.recipes import FRESH, Optimisation, PretrainRecipe, as_dict, read_recipe, write_recipe

logger = logging.getLogger(__name__)

CHECKPOINTS = "checkpoints"
RECIPE = "recipe.yaml"
LOG = "log.json"
_HEADS = (("cls",), ("lm_head",), ("generator_predictions", "generator_lm_head"))
"""Where BERT, RoBERTa with its kin, and ELECTRA keep what leads from a token's vector to the vocabulary."""


def pretrain(
    recipe: PretrainRecipe,
    texts: Sequence[str],
    out: Path,
    *,
    resume: bool = False,
    bar: bool | None = None,
    callbacks: Sequence[transformers.TrainerCallback] = (),
) -> Path:
    """Train as the recipe says and give the folder of the model back.

    `resume` goes on from the last checkpoint in `out`, or starts where there is none; what is learned is the same as
    without the stop. `bar` shows a progress bar (by default, on a terminal).
    """
    check_surroundings(recipe.optimisation, recipe.watching)
    _claim(recipe, out, resume)
    transformers.set_seed(recipe.optimisation.seed)
    tokenizer, model = _start(recipe, texts)
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
        MaskedLanguageModel(model, compiled=optimisation.compile),
        training_arguments(optimisation, recipe.watching, out / CHECKPOINTS, steps),
        batches,
        unit="tokens",
        per_batch=optimisation.batch_size * recipe.block_tokens,
        callbacks=callbacks,
        bar=bar,
    )
    checkpoint = last_checkpoint(out / CHECKPOINTS) if resume else None
    began = time.perf_counter()
    trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    seconds = time.perf_counter() - began
    if trainer.is_world_process_zero():
        _write_model(recipe, tokenizer, model, out)
        _write_log(out / LOG, trainer.state.log_history, {"stream_tokens": len(stream), "seconds": round(seconds, 1)})
        shutil.rmtree(out / CHECKPOINTS, ignore_errors=True)
    return out


class MaskedLanguageModel(torch.nn.Module):
    """A masked language model whose vocabulary projection sees the guessed tokens only: the loss is its output."""

    def __init__(self, model: Any, compiled: bool = False) -> None:
        super().__init__()
        self.guessing = _Guessing(model)
        if compiled:  # the inner module: the trainer wraps the outer one's `forward` in its precision
            self.guessing.compile(dynamic=False)

    def forward(self, ids: torch.Tensor, positions: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        loss: torch.Tensor = self.guessing(ids, positions, targets)
        return loss


class _Guessing(torch.nn.Module):
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


def _write_model(recipe: PretrainRecipe, tokenizer: Any, model: Any, out: Path) -> None:
    model.save_pretrained(out)
    if recipe.start == FRESH:
        save_vocabulary(tokenizer.backend_tokenizer, out, longest=recipe.architecture.positions)
    else:
        tokenizer.save_pretrained(out)


def _claim(recipe: PretrainRecipe, out: Path, resume: bool) -> None:
    """The folder is ours: new, or left by a run of the same recipe."""
    folder_at(out)
    saved = out / RECIPE
    if resume and saved.is_file():
        before, now = as_dict(read_recipe(saved)), as_dict(recipe)
        different = [key for key in now if key != "watching" and now[key] != before.get(key)]
        if different:
            raise TrainingError(f"{out} was begun with another {different[0]}: resume with its own {RECIPE}")
    elif not resume and any(out.iterdir()) and _is_first():
        raise TrainingError(f"{out} is not empty: give a new folder, or resume what is in it")
    if _is_first():
        write_recipe(recipe, saved)


def _is_first() -> bool:
    """Of the processes that `torchrun` started."""
    return os.environ.get("RANK", "0") == "0"


def _steps(optimisation: Optimisation, blocks: int) -> int:
    if optimisation.steps:
        return optimisation.steps
    of_one_step = optimisation.batch_size * optimisation.accumulation * world_size()
    return max(1, math.ceil(optimisation.epochs * blocks / of_one_step))


def _start(recipe: PretrainRecipe, texts: Sequence[str]) -> tuple[Any, Any]:
    """The tokenizer and the model that training starts from."""
    if recipe.start == FRESH:
        seed = recipe.optimisation.seed
        return fresh_model(recipe.architecture, texts, dropout=recipe.dropout, seed=seed, tokenizer=recipe.tokenizer)
    try:
        config = AutoConfig.from_pretrained(recipe.start)
        for name, value in (("hidden_dropout_prob", recipe.dropout), ("attention_probs_dropout_prob", 0.0)):
            if hasattr(config, name):
                setattr(config, name, value)
        model = AutoModelForMaskedLM.from_pretrained(recipe.start, config=config, dtype=torch.float32)
        tokenizer = AutoTokenizer.from_pretrained(recipe.tokenizer or recipe.start)
    except (OSError, ValueError, KeyError) as error:
        found = " ".join(str(error).split())[:200]
        raise TrainingError(
            f"start is '{recipe.start}', which cannot be loaded as a masked language model ({found}): give the name "
            "or folder of one, or 'fresh'"
        ) from error
    longest = _positions(model)
    if longest and recipe.block_tokens > longest:
        raise TrainingError(f"block_tokens is {recipe.block_tokens}: {recipe.start} reads {longest} tokens at most")
    return tokenizer, model


def _positions(model: Any) -> int:
    """How many tokens a model reads; 0 where it has no table of positions."""
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, torch.nn.Embedding):
            # RoBERTa and its kin count positions from the padding's id on
            return module.num_embeddings - (0 if module.padding_idx is None else module.padding_idx + 1)
    return 0


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
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
