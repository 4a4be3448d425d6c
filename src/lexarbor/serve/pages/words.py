"""The page's phrases, days and numbers, in French and in English."""

import json
from collections.abc import Mapping
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any

LANGUAGES = ("fr", "en")
"""The first is that of whoever has not chosen."""
_MONTHS = {
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre".split(),
    "en": "January February March April May June July August September October November December".split(),
}
_NARROW = "\u202f"
"""What parts thousands in French."""


class Words:
    """One language."""

    def __init__(self, lang: str) -> None:
        self.lang = lang
        self._phrases = phrases(lang)

    def __contains__(self, key: str) -> bool:
        return key in self._phrases

    def __call__(self, key: str, **values: Any) -> str:
        return self._phrases[key].format(**values)

    def day(self, day: date | None) -> str:
        if day is None:
            return ""
        first = "1er" if self.lang == "fr" and day.day == 1 else str(day.day)
        return f"{first} {_MONTHS[self.lang][day.month - 1]} {day.year}"

    def number(self, number: int) -> str:
        return f"{number:,}".replace(",", _NARROW) if self.lang == "fr" else f"{number:,}"


@cache
def phrases(lang: str) -> Mapping[str, str]:
    found: dict[str, str] = json.loads((files("lexarbor.serve.pages") / "words" / f"{lang}.json").read_text("utf-8"))
    return found


@cache
def words(lang: str) -> Words:
    return Words(lang)


def article_title(number: str, t: Words) -> str:
    """ "Article L1234-9", and an annex by its own name."""
    return number if number[:1].islower() or " " in number else t("article.title", number=number)
