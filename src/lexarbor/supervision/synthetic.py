"""Synthetic questions on disk: what a model asked about articles, one JSON object a line, packed where the file's name
ends in `.xz`:

    {"article": "LEGIARTI…", "question": "Puis-je…", "generator": "doc2query/msmarco-french-mt5-base-v1", "score": -1.2}
"""

import json
import lzma
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path

from lexarbor.corpus.tables import HALF_CHARACTER
from lexarbor.errors import BenchmarkError, TrainingError
from lexarbor.files import replacing, shipped_path

SHIPPED = "questions.jsonl.xz"
"""What comes with Lexarbor, under `lexarbor/shipped`."""
_FIELDS = ("article", "question", "generator", "score")
_AGAIN = "write the file again with `lexarbor augment`"


@dataclass(frozen=True, slots=True)
class SyntheticQuestion:
    """A question that nobody asked: a model made it up from an article, which should answer it."""

    article: str
    """The article's id."""
    question: str
    generator: str
    """The name of the model that asked, or of its folder."""
    score: float
    """Mean log-probability of the question's tokens under the generator, natural logarithm."""

    def __post_init__(self) -> None:
        for name in ("article", "question", "generator"):
            value = getattr(self, name)
            if not isinstance(value, str) or not value.strip() or HALF_CHARACTER.search(value):
                raise TrainingError(f"the field '{name}' must be text, found {value!a}")
        if not isinstance(self.score, int | float) or isinstance(self.score, bool) or not isfinite(self.score):
            raise TrainingError(f"the field 'score' must be a number, found {self.score!a}")


def shipped_questions() -> Path:
    """The file of the questions that come with Lexarbor."""
    path = shipped_path(SHIPPED)
    if not path.is_file():
        raise BenchmarkError(
            "no synthetic questions come with this copy of Lexarbor: write them with `lexarbor augment`, and name the "
            "file with --questions"
        )
    return path


def read_synthetic(path: Path) -> list[SyntheticQuestion]:
    """The questions in a file, in its order. A line that is none is a `TrainingError` with its number."""
    try:
        content = path.read_bytes()
        if path.suffix == ".xz":
            content = lzma.decompress(content)
    except FileNotFoundError as error:
        raise TrainingError(
            f"{path}: no such file of synthetic questions; write one with `lexarbor augment`"
        ) from error
    except (OSError, lzma.LZMAError) as error:
        raise TrainingError(f"{path}: cannot be read as synthetic questions ({error}); {_AGAIN}") from error
    # not splitlines: it would also cut at the separators that a question may hold
    return list(questions_in(content.removesuffix(b"\n").split(b"\n") if content else (), path))


def questions_in(lines: Iterable[bytes], path: Path) -> Iterator[SyntheticQuestion]:
    """The questions of lines, one each. `path` names their file in messages."""
    for number, line in enumerate(lines, start=1):
        try:
            yield question_of(line.decode("utf-8"))
        except (TrainingError, UnicodeDecodeError, RecursionError) as error:
            raise TrainingError(
                f"{path}, line {number}: not a synthetic question ({error}); mend the line, or {_AGAIN}"
            ) from error


def write_synthetic(questions: Iterable[SyntheticQuestion], path: Path) -> None:
    """Write questions in the order given; the file appears whole or not at all."""
    content = content_of(questions)
    with replacing(path) as temporary:
        temporary.write_bytes(lzma.compress(content) if path.suffix == ".xz" else content)


def content_of(questions: Iterable[SyntheticQuestion]) -> bytes:
    """Questions as the lines of a file that is not packed."""
    return "".join(f"{line_of(question)}\n" for question in questions).encode("utf-8")


def line_of(question: SyntheticQuestion) -> str:
    """A question as its line, without the line's end."""
    return json.dumps(asdict(question), ensure_ascii=False)


def question_of(line: str) -> SyntheticQuestion:
    """The question that a line holds; fields that are not known are passed over."""
    try:
        found = json.loads(line, parse_int=float)  # what is too long for any number becomes infinite, and is refused
    except json.JSONDecodeError as error:
        raise TrainingError(f"not valid JSON at column {error.colno}: {error.msg}") from error
    if not isinstance(found, dict):
        raise TrainingError(f"expected a JSON object, found {type(found).__name__}")
    for name in _FIELDS:
        if name not in found:
            raise TrainingError(f"the field '{name}' is missing")
    return SyntheticQuestion(*(found[name] for name in _FIELDS))
