"""The dense statute retriever (the paper's section 3.1): s(q, a) = sim(E_Q(q), E_A(a)).

A folder of it holds

    settings.json               how texts are cut, pooled and compared
    encoder/                    the first level, a plain Hugging Face folder: of questions, and of articles if shared
    article_encoder/            that of articles, where there are two towers
    second_level.safetensors    where articles are read by chunks
"""

import shutil
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple, Self
from uuid import uuid4

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from lexarbor.errors import LexarborError, ModelError, TrainingError
from lexarbor.files import folder_at
from lexarbor.text.hierarchical import ChunkTransformer, FirstLevel, FlatArticleEncoder, HierarchicalArticleEncoder
from lexarbor.text.inputs import cut_article, cut_question
from lexarbor.text.settings import EncoderSettings
from lexarbor.text.similarity import SIMILARITIES
from lexarbor.text.towers import Tower, read_tower, write_tower

SETTINGS, ENCODER, ARTICLE_ENCODER = "settings.json", "encoder", "article_encoder"
SECOND_LEVEL = "second_level.safetensors"


class Padded(NamedTuple):
    """Inputs of several lengths side by side."""

    ids: Tensor
    """(n, t), filled up on the right with the padding token."""
    mask: Tensor
    """(n, t), 1 for a token and 0 for padding."""


class DenseStatuteRetriever(nn.Module):
    """A query encoder and an article encoder, which share one tower or have one each.

    Vectors come out raw; `scores` brings them to length 1 where the similarity is the cosine. Use `from_checkpoint` to
    begin one and `load` to go on with one.
    """

    def __init__(self, settings: EncoderSettings, tower: Tower, article_tower: Tower | None = None) -> None:
        """`article_tower` is given where it is not shared. A second level, if the settings have one, is fresh."""
        super().__init__()
        self.settings = settings
        self.tokenizer = tower.tokenizer
        # a shared tower is registered once, so that its weights are counted, saved and synchronised once
        self.question_encoder = FirstLevel(tower.model, settings.pooling) if article_tower else None
        body = (article_tower or tower).model
        first_level = FirstLevel(body, settings.pooling)
        self.article_encoder: FlatArticleEncoder | HierarchicalArticleEncoder
        if settings.hierarchical:
            hidden, heads = int(body.config.hidden_size), int(body.config.num_attention_heads)
            second_level = ChunkTransformer(hidden, heads, settings.max_chunks, settings.chunk_pooling)
            self.article_encoder = HierarchicalArticleEncoder(first_level, second_level)
        else:
            self.article_encoder = FlatArticleEncoder(first_level)

    @classmethod
    def from_checkpoint(
        cls, start: str | Path, settings: EncoderSettings, article_start: str | Path | None = None
    ) -> Self:
        """Begin from any Hugging Face checkpoint, a folder or a name on the hub.

        `article_start` is another one for the article tower alone, as the paper's, which was first adapted to the law;
        it needs two towers.
        """
        if article_start is not None and settings.shared:
            raise TrainingError("a checkpoint for the article tower alone needs two towers: set shared to false")
        tower = read_tower(start, settings)
        if settings.shared:
            return cls(settings, tower)
        article_tower = read_tower(start if article_start is None else article_start, settings)
        _check_pair(tower, article_tower, f"{start} and {article_start}")
        return cls(settings, tower, article_tower)

    @property
    def question_tower(self) -> Any:
        """The transformers model that reads questions."""
        return (self.question_encoder or self.article_encoder.first_level).tower

    @property
    def article_tower(self) -> Any:
        """The transformers model that reads articles or their chunks: the same object, if shared."""
        return self.article_encoder.first_level.tower

    @property
    def second_level(self) -> ChunkTransformer | None:
        """What reads chunks together, if articles are read by chunks."""
        encoder = self.article_encoder
        return encoder.second_level if isinstance(encoder, HierarchicalArticleEncoder) else None

    def question_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """What the query encoder reads of each question."""
        cls_id, sep_id = self.tokenizer.cls_token_id, self.tokenizer.sep_token_id
        return [cut_question(ids, self.settings, cls_id, sep_id) for ids in self._tokenized(texts)]

    def article_ids(self, texts: Sequence[str]) -> list[list[list[int]]]:
        """The chunks that the article encoder reads of each article, whose text `inputs.article_input` made."""
        cls_id, sep_id = self.tokenizer.cls_token_id, self.tokenizer.sep_token_id
        return [cut_article(ids, self.settings, cls_id, sep_id) for ids in self._tokenized(texts)]

    def _tokenized(self, texts: Sequence[str]) -> list[list[int]]:
        if not texts:
            return []
        # not verbose: that a text is longer than the model reads is what we cut for
        ids: list[list[int]] = self.tokenizer(list(texts), add_special_tokens=False, verbose=False)["input_ids"]
        return ids

    def padded(self, rows: Sequence[Sequence[int]]) -> Padded:
        """Rows of token ids as tensors."""
        ids = torch.full((len(rows), max(map(len, rows))), self.tokenizer.pad_token_id, dtype=torch.long)
        mask = torch.zeros_like(ids)
        for place, row in enumerate(rows):
            ids[place, : len(row)] = torch.tensor(row)
            mask[place, : len(row)] = 1
        return Padded(ids, mask)

    def encode_question_ids(self, ids: Tensor, mask: Tensor) -> Tensor:
        """`ids` and `mask` (q, t) to vectors (q, d)."""
        vectors: Tensor = (self.question_encoder or self.article_encoder.first_level)(ids, mask)
        return vectors

    def encode_article_ids(self, ids: Tensor, mask: Tensor, chunk_counts: Tensor) -> Tensor:
        """`ids` and `mask` (c, t) of all chunks, article after article, and how many each has (a), to (a, d)."""
        vectors: Tensor = self.article_encoder(ids, mask, chunk_counts)
        return vectors

    def scores(self, questions: Tensor, articles: Tensor) -> Tensor:
        """Raw vectors (q, d) and (a, d) to scores (q, a), higher for nearer."""
        return SIMILARITIES[self.settings.similarity](questions, articles)

    def save(self, folder: Path) -> None:
        """Write the folder; what is half written has no settings, and `load` refuses it."""
        building = folder_at(folder) / f".saving-{uuid4().hex[:8]}"
        try:
            (folder / SETTINGS).unlink(missing_ok=True)
            write_tower(Tower(self.question_tower, self.tokenizer), building / ENCODER, self.settings)
            if self.question_encoder is not None:
                write_tower(Tower(self.article_tower, self.tokenizer), building / ARTICLE_ENCODER, self.settings)
            if self.second_level is not None:
                weights = {name: weight.contiguous() for name, weight in self.second_level.state_dict().items()}
                save_file(weights, building / SECOND_LEVEL)
            _move(building, folder)
            self.settings.write(folder / SETTINGS)
        except (OSError, SafetensorError) as error:
            raise LexarborError(f"cannot write the model folder {folder}: {error}") from error
        finally:
            shutil.rmtree(building, ignore_errors=True)

    @classmethod
    def load(cls, folder: Path, settings: EncoderSettings | None = None) -> Self:
        """What `save` wrote, on the CPU.

        With other settings the model goes on under those: a flat one gets a fresh second level, a shared tower becomes
        two equal ones, a second level that is not wanted is left out. Two towers cannot become one.
        """
        saved = EncoderSettings.read(folder / SETTINGS)
        settings = settings or saved
        if settings.shared and not saved.shared:
            raise ModelError(f"{folder}: has two towers, which cannot become one: set shared to false")
        tower = read_tower(folder / ENCODER, settings)
        article_tower = None
        if not saved.shared:
            article_tower = read_tower(folder / ARTICLE_ENCODER, settings)
            _check_pair(tower, article_tower, str(folder))
        elif not settings.shared:
            article_tower = Tower(deepcopy(tower.model), tower.tokenizer)
        model = cls(settings, tower, article_tower)
        if model.second_level is not None and saved.hierarchical:
            _read_second_level(model.second_level, folder / SECOND_LEVEL)
        return model


def _check_pair(tower: Tower, article_tower: Tower, where: str) -> None:
    """Two towers read one vocabulary and write vectors of one length."""
    if tower.tokenizer.get_vocab() != article_tower.tokenizer.get_vocab():
        raise ModelError(f"{where}: their tokenizers differ; both towers must begin from one vocabulary")
    widths = tower.model.config.hidden_size, article_tower.model.config.hidden_size
    if widths[0] != widths[1]:
        raise ModelError(f"{where}: vectors of {widths[0]} and {widths[1]} numbers cannot be compared")


def _read_second_level(second_level: ChunkTransformer, path: Path) -> None:
    try:
        second_level.load_state_dict(load_file(path))
    except (OSError, SafetensorError) as error:
        raise ModelError(
            f"{path}: cannot be read ({error}); the model folder is damaged, fetch or train it again"
        ) from error
    except RuntimeError as error:
        raise ModelError(
            f"{path}: does not fit the settings ({' '.join(str(error).split())}); keep the saved ones"
        ) from error


def _move(building: Path, folder: Path) -> None:
    """Put the parts in the place of those of an earlier save, of which nothing stays."""
    for name in (ENCODER, ARTICLE_ENCODER):
        shutil.rmtree(folder / name, ignore_errors=True)
    (folder / SECOND_LEVEL).unlink(missing_ok=True)
    for part in building.iterdir():
        part.rename(folder / part.name)


def tower_of(start: str, wanted: str) -> str:
    """Of a retriever's folder the tower's own, or the shared one; any other checkpoint as it is named."""
    if not is_retriever(start):
        return start
    folder = Path(start) / wanted
    return str(folder if folder.is_dir() else Path(start) / ENCODER)


def is_retriever(start: str) -> bool:
    """Whether a checkpoint is a folder that `save` wrote."""
    return (Path(start) / SETTINGS).is_file()
