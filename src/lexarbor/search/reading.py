"""How a question is read before any leg looks for it: its spelling mended, everyday words explained."""

from lexarbor.search.everyday import EverydayWords, shipped_lexicon
from lexarbor.search.spelling import Spelling


class Reader:
    """Reads questions over one law; without its spelling, as they are written."""

    def __init__(self, spelling: Spelling | None) -> None:
        self._spelling = spelling
        self._everyday = EverydayWords(shipped_lexicon() if spelling else {}, spelling.counts if spelling else {})

    def read(self, question: str) -> str:
        return question if self._spelling is None else self._everyday.explained(self._spelling.mended(question))
