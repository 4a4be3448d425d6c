"""How long articles and questions are, in words and in tokens of the shipped encoder."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexarbor.corpus.law import Article
from lexarbor.errors import ModelError
from lexarbor.evaluation import Table
from lexarbor.evaluation.drawings import Histogram, histogram_figure
from lexarbor.evaluation.tables import Cell, percent
from lexarbor.experiments.lab import Lab
from lexarbor.experiments.reports import Report
from lexarbor.text.folder import TOKENIZER
from lexarbor.text.inputs import with_headings
from lexarbor.text.shipped import shipped_model

LIMITS = (128, 256, 512, 1024)
"""Tokens that encoders commonly read at most; 1024 is the paper's."""
QUANTILES = {"First quartile": 25, "Median": 50, "Third quartile": 75, "95th percentile": 95, "Longest": 100}
BLOCK = 256
"""Texts tokenized at once: whole laws would fill the memory with tokens."""
WORDS, TOKENS, WITH_HEADINGS = "words", "tokens", "tokens with headings"
ALL, GOLD, QUESTIONS = "all articles", "gold articles", "questions"

Lengths = NDArray[np.int64]
Measure = Callable[[Sequence[str]], Lengths]


class Spread(NamedTuple):
    """The lengths of some texts by one measure."""

    texts: str
    unit: str
    lengths: Lengths

    def row(self) -> list[Cell]:
        """Quantiles as whole numbers, then the share of texts above each limit, which only tokens have."""
        quantiles = np.percentile(self.lengths, list(QUANTILES.values()))
        above = [percent(float((self.lengths > limit).mean())) if self.unit != WORDS else None for limit in LIMITS]
        return [self.texts, self.unit, len(self.lengths), *(round(value) for value in quantiles.tolist()), *above]


def lengths(lab: Lab) -> Report:
    """The lengths of all articles in force, of those that are gold, and of questions."""
    spreads = measured(lab)
    table = Table(
        f"Lengths of articles and questions, {lab.name}",
        ["Texts", "Unit", "Number", *QUANTILES, *(f"Above {limit} (%)" for limit in LIMITS)],
        [spread.row() for spread in spreads],
        ["Words are what spaces part; tokens are the shipped encoder's, without special tokens."],
        group="Texts",
    )
    return Report(
        "How long articles and questions are",
        [table],
        _told(spreads),
        figures={"": partial(histogram_figure, panels(spreads))} if spreads else {},
        data={"longest": {f"{held.texts}, {held.unit}": int(held.lengths.max()) for held in spreads}},
    )


def _told(spreads: Sequence[Spread]) -> list[str]:
    """What an encoder that stops reading misses."""
    for held in spreads:
        if (held.texts, held.unit) == (ALL, WITH_HEADINGS):
            above = ", ".join(f"{percent(float((held.lengths > limit).mean()))}% above {limit}" for limit in LIMITS)
            return [f"Of all articles, below their headings as the shipped encoder reads them, {above} tokens."]
    return []


def measured(lab: Lab) -> list[Spread]:
    """Lengths by texts and unit; in words alone where no encoder is shipped, of questions alone where there is no
    law.
    """
    law, questions = lab.benchmark.law, lab.benchmark.questions
    measures: dict[str, Measure] = {WORDS: _words}
    if (tokens := token_counter()) is not None:
        measures[TOKENS] = tokens
    articles = law.current()
    gold = frozenset().union(*questions.qrels.values())
    is_gold = np.array([article.id in gold for article in articles], dtype=bool)
    found: dict[tuple[str, str], Lengths] = {}
    for unit, measure in measures.items():
        found[ALL, unit] = measure([article.text for article in articles])
        found[QUESTIONS, unit] = measure([question.text for question in questions.questions.values()])
    if tokens is not None:
        found[ALL, WITH_HEADINGS] = tokens([_below_headings(lab, article) for article in articles])
    for texts, unit in list(found):
        if texts == ALL:
            found[GOLD, unit] = found[texts, unit][is_gold]
    units = (WORDS, TOKENS, WITH_HEADINGS)
    ordered = [(texts, unit) for texts in (ALL, GOLD, QUESTIONS) for unit in units if (texts, unit) in found]
    return [Spread(*place, found[place]) for place in ordered if found[place].size]


def panels(spreads: Sequence[Spread]) -> list[Histogram]:
    """A panel for articles, all and gold together, and one for questions; in words, then in tokens."""
    drawn: list[Histogram] = []
    for title, texts in (("Articles", (ALL, GOLD)), ("Questions", (QUESTIONS,))):
        for unit in (WORDS, TOKENS):
            series = {held.texts: held.lengths for held in spreads if held.texts in texts and held.unit == unit}
            marks = LIMITS if unit == TOKENS and title == "Articles" else ()
            if series:
                drawn.append(Histogram(title, unit, series, log=title == "Articles", marks=marks))
    return drawn


def token_counter() -> Measure | None:
    """Counts the tokens of texts as the shipped encoder cuts them; None where no encoder is shipped."""
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(shipped_model() / TOKENIZER))
    except ModelError:
        return None
    tokenizer.no_truncation()  # it may still carry the lengths of its training
    tokenizer.no_padding()

    def count(texts: Sequence[str]) -> Lengths:
        blocks = (texts[start : start + BLOCK] for start in range(0, len(texts), BLOCK))
        encoded = (held for block in blocks for held in tokenizer.encode_batch(list(block), add_special_tokens=False))
        return np.array([len(held.ids) for held in encoded], dtype=np.int64)

    return count


def _words(texts: Sequence[str]) -> Lengths:
    return np.array([len(text.split()) for text in texts], dtype=np.int64)


def _below_headings(lab: Lab, article: Article) -> str:
    return with_headings(lab.benchmark.law.headings(article), article.text)
