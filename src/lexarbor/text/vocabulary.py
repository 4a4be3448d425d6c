"""The tokenizer of models that start from nothing: pieces learned from French law.

Byte-pair encoding over bytes, so that any text can be read and nothing is unknown. Before it, what a person may type in
more than one way is made one: case, typographic quotes, dashes and spaces, œ. Accents are kept: they tell words apart.
A word is the same piece after a space, an elision, a hyphen or a bracket. Numbers are read two digits at a time, so
that article numbers ("L1234-9") do not fill the vocabulary.
"""

from collections.abc import Iterable
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from lexarbor.errors import ModelError, TrainingError
from lexarbor.files import folder_at, replacing, write_json

PAD, UNKNOWN, CLS, SEP, MASK = SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
BYTES = 256
FILE = "tokenizer.json"

_FOLDED = (
    ("[\u00ad\u200b-\u200f\u2060\ufeff]", ""),  # soft hyphens and what has no width
    ("[’‘‛ʼ`´′]", "'"),
    ("[“”„«»]", '"'),
    ("[‐‑‒–—―−]", "-"),
    ("[œŒ]", "oe"),
    ("[æÆ]", "ae"),
)
_WORD_AFTER_MARK = r"(?<=[^\p{L}\p{M}\p{N}\s])(?=\p{L})"
_PIECES = r" ?[\p{L}\p{M}]+'?| ?[0-9]{1,2}| ?[^\s\p{L}\p{M}0-9]| +"
"""A word with the apostrophe of its elision, one or two digits, or one other sign; each with the space before it."""


def learn_vocabulary(texts: Iterable[str], size: int) -> Tokenizer:
    """A tokenizer of at most `size` pieces; fewer where the texts hold no more that occur twice."""
    least = BYTES + len(SPECIAL)
    if size < least:
        raise TrainingError(f"a vocabulary of {size} pieces is too small: every byte is one, so give {least} or more")
    tokenizer = Tokenizer(models.BPE(unk_token=UNKNOWN))
    tokenizer.normalizer = _normaliser()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_PIECES), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.Sequence(
        [decoders.ByteLevel(), decoders.Replace(Regex(r"^ |(?<=['(\"-]) (?=\p{L})"), "")]
    )
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        min_frequency=2,
        special_tokens=list(SPECIAL),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    ids = {token: tokenizer.token_to_id(token) for token in SPECIAL}
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{CLS} $A {SEP}",
        pair=f"{CLS} $A {SEP} $B:1 {SEP}:1",
        special_tokens=[(CLS, ids[CLS]), (SEP, ids[SEP])],
    )
    return tokenizer


def _normaliser() -> normalizers.Normalizer:
    steps = [normalizers.Replace(Regex(found), plain) for found, plain in _FOLDED]
    return normalizers.Sequence(
        [
            *steps,
            normalizers.NFKC(),
            normalizers.Lowercase(),
            normalizers.Replace(Regex(_WORD_AFTER_MARK), " "),
            normalizers.Replace(Regex(r"\s{2,}|[^\S ]"), " "),
            normalizers.Strip(),
            normalizers.Prepend(" "),  # the first word is a word like any other
        ]
    )


def save_vocabulary(tokenizer: Tokenizer, folder: Path, longest: int | None = None) -> None:
    """Write what both `tokenizers` and `transformers.AutoTokenizer` read from a folder.

    `longest`: how many tokens the model reads, where one is known.
    """
    folder_at(folder)
    names = {"pad": PAD, "unk": UNKNOWN, "cls": CLS, "sep": SEP, "mask": MASK}
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_input_names": ["input_ids", "attention_mask"],
        "clean_up_tokenization_spaces": False,
        **{f"{name}_token": token for name, token in names.items()},
        **({"model_max_length": longest} if longest else {}),
    }
    with replacing(folder / FILE) as temporary:
        tokenizer.save(str(temporary), pretty=False)
    write_json(folder / "tokenizer_config.json", config)


def read_vocabulary(folder: Path) -> Tokenizer:
    """The tokenizer of a folder."""
    path = folder / FILE
    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises plain Exception
        raise ModelError(f"{path}: no tokenizer to read ({error}); give a folder with a {FILE}") from error
