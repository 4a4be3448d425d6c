"""Makes checkpoints of each architecture that the paper compares: random, two layers of 32, with a tokenizer of its
own.
"""

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import (
    BertConfig,
    BertModel,
    CamembertConfig,
    CamembertModel,
    ElectraConfig,
    ElectraModel,
    PreTrainedTokenizerFast,
    XLMRobertaConfig,
    XLMRobertaModel,
)

LAW = [
    "Le salarié licencié alors qu'il compte huit mois d'ancienneté a droit à une indemnité de licenciement.",
    "Le contrat de travail à durée indéterminée peut être rompu à l'initiative de l'employeur ou du salarié.",
    "La période d'essai ne se présume pas ; elle est expressément stipulée dans la lettre d'engagement.",
    "Tout salarié a droit chaque année à un congé payé à la charge de l'employeur.",
    "La durée légale du travail effectif des salariés à temps complet est fixée à trente-cinq heures par semaine.",
]
torch.set_num_threads(1)

ARCHITECTURES: dict[str, tuple[Any, Any]] = {
    "bert": (BertConfig, BertModel),
    "camembert": (CamembertConfig, CamembertModel),
    "xlm-roberta": (XLMRobertaConfig, XLMRobertaModel),
    "electra": (ElectraConfig, ElectraModel),
}
BERT_TOKENS = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
ROBERTA_TOKENS = {"cls": "<s>", "pad": "<pad>", "sep": "</s>", "unk": "<unk>", "mask": "<mask>"}


def tiny_tokenizer(architecture: str = "bert", texts: list[str] = LAW) -> PreTrainedTokenizerFast:
    """A vocabulary of pieces, the architecture's special tokens first."""
    special = ROBERTA_TOKENS if "rob" in architecture or architecture == "camembert" else BERT_TOKENS
    tokenizer = Tokenizer(models.BPE(unk_token=special["unk"]))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.BpeTrainer(vocab_size=200, special_tokens=list(special.values()), show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    cls, sep = special["cls"], special["sep"]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{cls} $A {sep}",
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in (cls, sep)],
    )
    names = {f"{name}_token": token for name, token in special.items()}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)


def tiny_config(architecture: str, tokenizer: PreTrainedTokenizerFast, *, positions: int = 66, hidden: int = 32) -> Any:
    config_class, _ = ARCHITECTURES[architecture]
    return config_class(
        vocab_size=len(tokenizer),
        hidden_size=hidden,
        embedding_size=hidden // 2,  # ELECTRA's own; the others do not read it
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=2 * hidden,
        max_position_embeddings=positions,
        pad_token_id=tokenizer.pad_token_id,
        initializer_range=0.3,  # wide, so that what should not matter would be seen
    )


def tiny_checkpoint(
    folder: Path, architecture: str = "bert", *, seed: int = 0, positions: int = 66, hidden: int = 32
) -> Path:
    """A folder as `save_pretrained` writes it."""
    torch.manual_seed(seed)
    tokenizer = tiny_tokenizer(architecture)
    model = ARCHITECTURES[architecture][1](tiny_config(architecture, tokenizer, positions=positions, hidden=hidden))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
