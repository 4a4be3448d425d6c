"""Questions in everyday words that sections of the law answer, and BM25 over them: they have the words that people use
and the law does not.

They were written for this project (docs/search.md tells how), and ship as text in
`shipped/everyday-questions.jsonl.xz`, one line a section:

    {"section": "LEGISCTA…", "questions": ["…", "…"]}
"""

import json
import lzma
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from lexarbor.corpus.tree import LawTree
from lexarbor.errors import ModelError, SearchError
from lexarbor.files import shipped_path
from lexarbor.search.analysis import analyser
from lexarbor.search.lexical import BM25Settings, LexicalIndex

Floats = NDArray[np.float32]
Questions = Mapping[str, Sequence[str]]
"""By the id of a section."""

SHIPPED = "everyday-questions.jsonl.xz"
SETTINGS = BM25Settings(k1=1.2, b=0.4)
"""Lucene's k1, and little weight on length, as questions are all short; not tuned."""
NOWHERE = -1
"""The place of a row whose section has no questions."""


class SectionQuestions:
    """The questions of each section that has some, and where the rows of an index stand among them."""

    def __init__(self, questions: Sequence[Sequence[str]], places: NDArray[np.int32], lexical: LexicalIndex) -> None:
        """`places` (n): which of `questions` are those of the section that each row stands in, or NOWHERE."""
        if len(places) and not NOWHERE <= places.min() <= places.max() < len(questions):
            raise SearchError(f"places name sections that are not among {len(questions)}")
        self.questions = questions
        self.places = places
        self._lexical = lexical
        self._places = places.astype(np.intp)  # what numpy would turn them into for each question
        self._terms = cache(lambda place: [tuple(set(lexical.analyse(one))) for one in questions[place]])

    @classmethod
    def build(cls, law: LawTree, article_ids: Sequence[str], questions: Questions) -> Self | None:
        """None where no section of the law has a question with a word in it: it is another law."""
        numbers: dict[str, int] = {}
        places = np.full(len(article_ids), NOWHERE, dtype=np.int32)
        for row, id in enumerate(article_ids):
            section = law.articles[id].parent
            if questions.get(section):
                places[row] = numbers.setdefault(section, len(numbers))
        held = [list(questions[section]) for section in numbers]
        analyse = analyser(SETTINGS.analyser)
        if not any(analyse(one) for some in held for one in some):
            return None
        return cls(held, places, LexicalIndex.build(map("\n".join, held), SETTINGS))

    def scores(self, question: str) -> Floats:
        """(n) of the section that each row stands in: 0 where its questions share no word with the one asked."""
        found = np.append(self._lexical.scores(question), np.float32(0))  # the last one is NOWHERE's
        return found.take(self._places)

    def terms(self, question: str) -> frozenset[str]:
        """What `nearest` compares of the one asked: the same for all rows."""
        return frozenset(self._lexical.analyse(question))

    def nearest(self, row: int, asked: frozenset[str]) -> str | None:
        """Of the questions of a row's section, the one that shares the most of its terms with the one asked."""
        place = int(self.places[row])
        if place == NOWHERE:
            return None

        def likeness(terms: tuple[str, ...]) -> float:
            shared = len(asked.intersection(terms))
            return shared / max(len(asked) + len(terms) - shared, 1)

        likest = list(map(likeness, self._terms(place)))
        return self.questions[place][likest.index(max(likest))]

    def save(self, folder: Path) -> None:
        folder.mkdir()
        (folder / "questions.json").write_text(json.dumps(self.questions, ensure_ascii=False), encoding="utf-8")
        np.save(folder / "places.npy", self.places)
        self._lexical.save(folder / "bm25")

    @classmethod
    def load(cls, folder: Path, rows: int) -> Self:
        questions = json.loads((folder / "questions.json").read_text(encoding="utf-8"))
        places = np.load(folder / "places.npy", allow_pickle=False)
        if places.shape != (rows,):
            raise SearchError(f"{folder}: places are {places.shape} for {rows} articles")
        return cls(questions, places, LexicalIndex.load(folder / "bm25", SETTINGS, len(questions)))


def read_section_questions(path: Path) -> dict[str, tuple[str, ...]]:
    """From a file as it ships."""
    try:
        with lzma.open(path, "rt", encoding="utf-8") as file:
            told = [json.loads(line) for line in file]
        found = {one["section"]: tuple(one["questions"]) for one in told}
        if len(found) < len(told) or not all(isinstance(one["questions"], list) for one in told):
            raise ValueError("each section stands there once, with a list of questions")
        return found
    except (OSError, EOFError, lzma.LZMAError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{path}: no questions that can be read ({error}); install Lexarbor again") from error


@cache
def shipped_questions() -> dict[str, tuple[str, ...]]:
    """Those that come with Lexarbor; none where this copy has none."""
    path = shipped_path(SHIPPED)
    return read_section_questions(path) if path.is_file() else {}
