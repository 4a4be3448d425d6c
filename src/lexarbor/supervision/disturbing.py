"""Questions as people type them: without accents, with a typo."""

import random
import re
import unicodedata

LIGATURES = str.maketrans({"œ": "oe", "Œ": "Oe", "æ": "ae", "Æ": "Ae"})
LONG_WORD = re.compile(r"[^\W\d_]{5,}")
AZERTY = ("&é\"'(-è_çà", "azertyuiop", "qsdfghjklmù", "wxcvbn")
"""The rows of keys, from the top; each is half a key to the right of the row above it."""


def without_accents(text: str) -> str:
    """The text with bare letters: no accent, no cedilla, no ligature."""
    bare = "".join(letter for letter in unicodedata.normalize("NFD", text) if not unicodedata.combining(letter))
    return bare.translate(LIGATURES)


def keys_around() -> dict[str, str]:
    """Of each letter that has a key of its own, the letters on the keys that touch it."""
    places = {key: (row, column) for row, keys in enumerate(AZERTY) for column, key in enumerate(keys)}
    touching = {(0, -1), (0, 1), (-1, 0), (-1, 1), (1, -1), (1, 0)}
    return {
        key: "".join(other for other, (y, x) in places.items() if other.isalpha() and (y - row, x - column) in touching)
        for key, (row, column) in places.items()
        if key.isalpha()
    }


AROUND = keys_around()


def typos(word: str) -> list[list[str]]:
    """What one slip makes of a word, a list for each kind of slip that can befall it; its first letter stays."""
    after_first = range(1, len(word))
    dropped = [word[:place] + word[place + 1 :] for place in after_first]
    doubled = [word[:place] + word[place] + word[place:] for place in after_first]
    swapped = [
        word[:place] + word[place + 1] + word[place] + word[place + 2 :]
        for place in after_first[:-1]
        if word[place] != word[place + 1]
    ]
    neighbours = [
        word[:place] + (key.upper() if word[place].isupper() else key) + word[place + 1 :]
        for place in after_first
        for key in AROUND.get(word[place].lower(), "")
    ]
    return [kind for kind in (dropped, doubled, swapped, neighbours) if kind]


def with_typo(text: str, seed: str) -> str:
    """The text with one typo in one word of five letters or more; as it is where there is no such word.

    The word, the kind of typo and its place are drawn from `seed`, the id of the question.
    """
    words = list(LONG_WORD.finditer(text))
    if not words:
        return text
    draw = random.Random(seed)
    word = draw.choice(words)
    return text[: word.start()] + draw.choice(draw.choice(typos(word.group()))) + text[word.end() :]
