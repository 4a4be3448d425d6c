"""One family of exceptions. Each message is for a person: what was found, what was expected, what to do next.

The command line prints the message as one line and exits with code 2; a library user catches `LexarborError`.
"""

from collections.abc import Sequence
from difflib import get_close_matches


class LexarborError(Exception):
    """Anything Lexarbor refuses to do, with a message fit to be read by a person."""


class CorpusError(LexarborError):
    """A law file that cannot be read as law: the message names the file and the place in it."""


class FetchError(LexarborError):
    """A package that could not be fetched or did not match its checksum."""


class BenchmarkError(LexarborError):
    """Questions, labels or splits that do not fit together."""


class SearchError(LexarborError):
    """A question or an index that cannot be searched."""


class EvaluationError(LexarborError):
    """A run or a set of judgements that cannot be scored."""


class TrainingError(LexarborError):
    """A recipe, a checkpoint or supervision that a model cannot be trained with."""


class ModelError(LexarborError):
    """A model folder that cannot be read or does not fit."""


class GraphError(LexarborError):
    """A graph of the law that does not hold together, or is not the graph of the law it is used with."""


class ServeError(LexarborError):
    """A server that cannot be started as it was asked to be."""


class MissingExtraError(LexarborError):
    """A part of Lexarbor was asked for whose dependencies are not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional dependency: pip install 'lexarbor[{extra}]'")


def first_line(error: BaseException) -> str:
    """What another library says first, or the error's kind where it says nothing: to be told within a message."""
    return next(iter(str(error).splitlines()), type(error).__name__)


def place_of(error: BaseException) -> str:
    """Where something broke, without a word of what it was about: for logs that must not tell what people asked."""
    at = error.__traceback__
    while at and at.tb_next:
        at = at.tb_next
    return f"{type(error).__name__} at {at and at.tb_frame.f_code.co_filename}, line {at and at.tb_lineno}"


def nearest(word: object, known: Sequence[str]) -> str:
    """What a word that is not known may have been meant for: to be told within a message."""
    near = get_close_matches(str(word), known, n=1)
    return f"did you mean '{near[0]}'?" if near else f"known are {', '.join(known)}"
