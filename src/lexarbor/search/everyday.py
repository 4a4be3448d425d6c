"""Everyday words in the law's own: a lexicon that was written for this project.

"Mon patron m'a viré" shares no word with the law; "employeur" and "licenciement" do. What the law itself often says
stays as it is: such words stand in questions of all kinds, and need no help.
"""

import re
from collections.abc import Mapping
from functools import cache
from itertools import groupby
from operator import itemgetter

from lexarbor.errors import ModelError
from lexarbor.files import shipped_path

RARE = 200
"""An everyday expression is explained if the law has one of its words less often than this."""
MOST = 9
"""Words added to a question."""
_WORD = re.compile(r"[^\W\d_]{3,}")


class EverydayWords:
    """What people say, and what the law says in its place."""

    def __init__(self, lexicon: Mapping[str, str], counts: Mapping[str, int]) -> None:
        """`lexicon`: the law's words by everyday expression, in small letters; `counts`: how often it has a word."""
        self._lexicon = {
            said: meant
            for said, meant in lexicon.items()
            if any(counts.get(word, 0) < RARE for word in _WORD.findall(said))
        }
        longest_first = sorted(self._lexicon, key=lambda said: (said[0], -len(said), said))
        by_letter = (  # a tenth of the time that one long list would take, which `re` tries from end to end
            f"{re.escape(first)}(?:{'|'.join(re.escape(said[1:]) for said in some)})"
            for first, some in groupby(longest_first, key=itemgetter(0))
        )
        self._said = re.compile(rf"(?<!\w)(?:{'|'.join(by_letter)})(?!\w)", re.IGNORECASE)

    def explained(self, question: str) -> str:
        """The question, and behind it the law's words for what it says in everyday ones."""
        if not self._lexicon:
            return question
        written = question.replace("’", "'")  # as telephones write it
        there = set(re.findall(r"\w+", written.lower()))
        added: dict[str, None] = {}
        for said in self._said.findall(written):
            meant = self._lexicon.get(said.lower(), "")  # none for "vıré": IGNORECASE takes ı for i, and ſ for s
            added |= dict.fromkeys(word for word in meant.split() if word not in there)
        return " ".join((question, *list(added)[:MOST])) if added else question


@cache
def shipped_lexicon() -> Mapping[str, str]:
    """The one that comes with Lexarbor; empty where this copy has none."""
    path = shipped_path("everyday-words.tsv")
    if not path.is_file():
        return {}
    try:
        rows = (line.split("\t", 1) for line in path.read_text(encoding="utf-8").splitlines())
        return {said: meant.strip() for said, meant in rows}
    except ValueError as error:
        raise ModelError(f"{path}: not a list of expressions ({error}); install Lexarbor again") from error
