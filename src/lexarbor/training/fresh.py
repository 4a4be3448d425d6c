"""A BERT that has read nothing yet, with a tokenizer of our own."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

from lexarbor.errors import TrainingError
from lexarbor.files import folder_at
from lexarbor.supervision.folder import Supervised
from lexarbor.supervision.texts import all_texts
from lexarbor.text.vocabulary import CLS, MASK, PAD, SEP, UNKNOWN, learn_vocabulary, read_vocabulary, save_vocabulary
from lexarbor.training.hyperparameters import Architecture
from lexarbor.training.recipes import GenerateRecipe, TextRecipe


def fresh_model(
    shape: Architecture, texts: Sequence[str], *, dropout: float, seed: int, tokenizer: str = ""
) -> tuple[PreTrainedTokenizerFast, BertForMaskedLM]:
    """A model with random weights drawn from `seed`, and its tokenizer: learned from the texts, or that of the folder
    `tokenizer`.
    """
    learned = read_vocabulary(Path(tokenizer)) if tokenizer else learn_vocabulary(texts, shape.vocabulary)
    ids = {name: learned.token_to_id(name) for name in (PAD, UNKNOWN, CLS, SEP, MASK)}
    if missing := [name for name, id in ids.items() if id is None]:
        raise TrainingError(
            f"{tokenizer}: its tokenizer has no {missing[0]}; a fresh model needs one that Lexarbor learned"
        )
    config = BertConfig(
        vocab_size=learned.get_vocab_size(),
        hidden_size=shape.hidden,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        intermediate_size=shape.intermediate,
        max_position_embeddings=shape.positions,
        type_vocab_size=1,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=0.0,  # with it attention would be slower, and gain nothing on packed blocks
        pad_token_id=ids[PAD],
    )
    torch.manual_seed(seed)
    model = BertForMaskedLM(config)  # type: ignore[no-untyped-call]
    learned.no_truncation()
    learned.no_padding()
    wrapped = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=learned,
        pad_token=PAD,
        unk_token=UNKNOWN,
        cls_token=CLS,
        sep_token=SEP,
        mask_token=MASK,
        model_max_length=shape.positions,
    )
    return wrapped, model


def write_fresh(
    shape: Architecture, texts: Sequence[str], folder: Path, *, dropout: float, seed: int, tokenizer: str = ""
) -> Path:
    """A fresh model as a plain Hugging Face folder, to start another stage without pre-training."""
    wrapped, model = fresh_model(shape, texts, dropout=dropout, seed=seed, tokenizer=tokenizer)
    model.save_pretrained(folder_at(folder))
    save_vocabulary(wrapped.backend_tokenizer, folder, longest=shape.positions)
    return folder


@contextmanager
def fresh_start(recipe: TextRecipe | GenerateRecipe, data: Supervised) -> Iterator[str]:
    """The folder of a fresh model as a recipe wants it, while it is needed; the tokenizer is learned from the data
    where the recipe names none.
    """
    texts = [] if recipe.tokenizer else all_texts(data)
    seed, tokenizer = recipe.optimisation.seed, recipe.tokenizer
    with TemporaryDirectory() as made:
        write_fresh(recipe.architecture, texts, Path(made), dropout=recipe.dropout, seed=seed, tokenizer=tokenizer)
        yield made
