"""From a law to an index: BM25, citations, and, with models at hand, the other legs and the places of articles."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Required, TypedDict, Unpack

import numpy as np

from lexarbor.corpus.questions import AnsweredQuestion
from lexarbor.corpus.tree import LawTree
from lexarbor.errors import SearchError
from lexarbor.graph.enrichment import Enricher, enrich_law
from lexarbor.graph.shipped import open_shipped_graph
from lexarbor.search.dense import DenseIndex
from lexarbor.search.fields import FIELDS
from lexarbor.search.lexical import BM25Settings, LexicalIndex
from lexarbor.search.links import Links
from lexarbor.search.named_articles import ReferenceReader
from lexarbor.search.reading import Reader
from lexarbor.search.recollection import Recollection, Remembered
from lexarbor.search.section_questions import Questions, SectionQuestions, shipped_questions
from lexarbor.search.shipped_memory import SheetMemory, shipped_memory
from lexarbor.search.spelling import Spelling, known_words
from lexarbor.search.store import EncoderOfIndex, Index, check_place, write_index
from lexarbor.search.surroundings import Surroundings
from lexarbor.text.corpus_vectors import OnStep, encode_law
from lexarbor.text.encoder import TextEncoder
from lexarbor.text.known_vectors import KnownVectors, shipped_vectors
from lexarbor.text.shipped import open_shipped


@dataclass(frozen=True, slots=True)
class Models:
    """What the legs beside BM25 are made with."""

    encoder: TextEncoder
    folder: Path | None = None
    """Where the encoder lies; None for the one that ships."""
    enricher: Enricher | None = None
    known: KnownVectors | None = None
    memory: SheetMemory | None = None
    everyday: Questions = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.encoder.settings.similarity == "euclidean":
            raise SearchError("articles are ranked by the product of vectors: give an encoder of cosine or dot")


def shipped_models() -> Models:
    """Those that come with Lexarbor."""
    return Models(open_shipped(), None, open_shipped_graph(), shipped_vectors(), shipped_memory(), shipped_questions())


class HowToIndex(TypedDict, total=False):
    """The arguments of `make_index` beside the law and the field."""

    source: Required[str]
    settings: Required[BM25Settings]
    models: Models | None
    questions: Sequence[AnsweredQuestion]
    cache: Path | None
    on_step: OnStep


def build_index(law: LawTree, folder: Path, *, field: str = "headings+text", **how: Unpack[HowToIndex]) -> None:
    """Index the articles that are in force on the law's date; an index already there stays until the new one is
    whole. The other arguments are those of `make_index`.
    """
    check_place(folder)
    write_index(make_index(law, field=field, **how), folder, field=field)


def make_index(
    law: LawTree,
    *,
    source: str,
    settings: BM25Settings,
    field: str = "headings+text",
    models: Models | None = None,
    questions: Sequence[AnsweredQuestion] = (),
    cache: Path | None = None,
    on_step: OnStep = lambda done, total: None,
) -> Index:
    """An index that is not on disk yet. Without `models` it has BM25 alone; `questions` are one's own, remembered
    beside those that ship. `cache` and `on_step` are as in `lexarbor.text.corpus_vectors.encode_law`.
    """
    held = law.as_of(law.date) if law.date else law
    if not held.articles:
        raise SearchError(f"the law '{law.name}' holds no article in force: nothing to index")
    ids = tuple(sorted(held.articles))
    lexical = LexicalIndex.build((FIELDS[field](held, held.articles[id]) for id in ids), settings)
    links = Links.build(held, ids)
    if models is None:
        if questions:
            raise SearchError("questions are remembered by their vectors: index with an encoder to remember any")
        return Index(held, lexical, links, ids, source)
    vectors = _vectors(models, held, cache, on_step)
    spelling = Spelling.build((FIELDS[field](held, held.articles[id]) for id in ids), known_words())
    return Index(
        held,
        lexical,
        links,
        ids,
        source,
        DenseIndex.build(vectors),
        Surroundings.build(held, ids, links),
        _recollection(models, held, ids, questions, Reader(spelling)),
        EncoderOfIndex(models.encoder.checksum, models.folder),
        spelling,
        SectionQuestions.build(held, ids, models.everyday),
    )


def _vectors(models: Models, law: LawTree, cache: Path | None, on_step: OnStep) -> np.ndarray:
    if models.enricher is None:
        return encode_law(models.encoder, law, cache, on_step, models.known).vectors
    return enrich_law(models.enricher, models.encoder, law, cache, on_step, models.known).vectors


def _recollection(
    models: Models, law: LawTree, ids: Sequence[str], own: Sequence[AnsweredQuestion], reader: Reader
) -> Recollection | None:
    memory = models.memory
    if memory is not None and memory.encoder != models.encoder.checksum:
        memory = None  # its vectors are of another encoder
    shipped = memory.over(law, ids) if memory is not None else None
    if shipped is not None and not len(shipped.labels):
        shipped = None  # it speaks of another law
    if not own:
        return shipped
    found = _own(models.encoder, law, ids, own, reader)
    if shipped is None:
        return found
    later = found.labels + np.array([len(shipped.questions), 0, 0], dtype=np.int32)
    return Recollection(
        (*shipped.questions, *found.questions),
        np.concatenate([shipped.vectors, found.vectors]),
        np.concatenate([shipped.labels, later]),
        len(ids),
    )


def _own(
    encoder: TextEncoder, law: LawTree, ids: Sequence[str], own: Sequence[AnsweredQuestion], reader: Reader
) -> Recollection:
    """Questions of one's own, read as those that will be asked; an article is named by its id, its `cid` or as people
    write it.
    """
    rows = {law.articles[id].cid: row for row, id in enumerate(ids)} | {id: row for row, id in enumerate(ids)}
    references = ReferenceReader(law)
    labels: list[tuple[int, int, int]] = []
    for number, (question, answers) in enumerate(own):
        for named in answers:
            found = [rows[named]] if named in rows else [rows[id] for id in references.read(named).ids]
            if not found:
                raise SearchError(
                    f"question '{question.id}' is answered by '{named}', which is no article in force of the law "
                    f"'{law.name}': give its id or its number with the code"
                )
            labels += [(number, row, 0) for row in found]
    vectors = encoder.encode_questions([reader.read(question.text) for question, _ in own])
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)  # likeness is of directions
    remembered = [Remembered(question.id, text=question.text) for question, _ in own]
    return Recollection(remembered, vectors, np.unique(np.array(labels, dtype=np.int32), axis=0), len(ids))
