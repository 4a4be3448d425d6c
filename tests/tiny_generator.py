"""Makes a model that asks questions: a random mT5 of two layers of 32, with a tokenizer of its own."""

from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import MT5Config, MT5ForConditionalGeneration, PreTrainedTokenizerFast

from lexarbor.corpus.sources import read_tiny

PAD, END, UNKNOWN = "<pad>", "</s>", "<unk>"
"""In this order, with the ids that T5 gives them."""

torch.set_num_threads(1)


def tiny_t5_tokenizer(texts: list[str] | None = None) -> PreTrainedTokenizerFast:
    """Pieces learned from some texts, else from the tiny law; as T5's, it ends each text and puts nothing before it."""
    tokenizer = Tokenizer(models.BPE(unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=[PAD, END, UNKNOWN], show_progress=False)
    learned_from = texts or [article.text for article in read_tiny().articles.values()]
    tokenizer.train_from_iterator(learned_from, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(single=f"$A {END}", special_tokens=[(END, 1)])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token=PAD, eos_token=END, unk_token=UNKNOWN)


def tiny_mt5(folder: Path, *, seed: int = 0) -> Path:
    """A folder as `save_pretrained` writes it: `MT5ForConditionalGeneration`, its tokenizer and generation settings."""
    torch.manual_seed(seed)
    tokenizer = tiny_t5_tokenizer()
    config = MT5Config(
        vocab_size=len(tokenizer),
        d_model=32,
        d_kv=8,
        d_ff=64,
        num_layers=2,
        num_decoder_layers=2,
        num_heads=4,
        initializer_factor=0.3,  # with more it says one piece again and again
        dropout_rate=0.1,  # so that a model left in training mode would be seen
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        decoder_start_token_id=tokenizer.pad_token_id,
    )
    model = MT5ForConditionalGeneration(config)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
