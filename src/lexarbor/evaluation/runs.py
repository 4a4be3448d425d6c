"""TREC run and qrels files, in and out: the exchange format of the field, UTF-8, one line an article.

- run: `question Q0 article rank score tag`. As in trec_eval, scores give the order, not the rank column.
  Scores are written in full, so that what is read back has the same order, ties included.
- qrels: `question 0 article relevance`, a whole number; above 0 is relevant.

Blank lines are passed over. A question whose ranking is empty has no line, and so is missing when read back;
it scores 0 either way.
"""

from collections.abc import Iterable, Iterator
from math import isnan
from pathlib import Path

from lexarbor.errors import EvaluationError
from lexarbor.evaluation.rankings import Judgements, Rankings, Run, check_judgements, order, ranking_of
from lexarbor.files import replacing

RUN_LINE = "question Q0 article rank score tag"
QRELS_LINE = "question 0 article relevance"
BYTE_ORDER_MARK = "\ufeff"


def write_run(run: Rankings, path: str | Path, tag: str = "lexarbor") -> None:
    """Write a run, best article first, ranks from 1; `tag` names the system. All or nothing is written."""
    _write(Path(path), _run_lines(run, _one_word(tag, "tag")))


def read_run(path: str | Path) -> Run:
    """Read a run; the articles of each question come ranked, as `order` does it."""
    found: dict[str, dict[str, float]] = {}
    for place, (question, _, article, rank, score, _) in _read(Path(path), RUN_LINE):
        _whole(rank, "rank", place)
        articles = found.setdefault(question, {})
        if article in articles:
            raise EvaluationError(f"{place}: article {article!r} twice for question {question!r}; expected once")
        articles[article] = _score(score, place)
    return {question: order(articles.items()) for question, articles in found.items()}


def write_qrels(judgements: Judgements, path: str | Path) -> None:
    """Write judgements, the articles of a question by id. A question without gold has no line: refused."""
    check_judgements(judgements)
    _write(Path(path), _qrels_lines(judgements))


def read_qrels(path: str | Path) -> dict[str, frozenset[str]]:
    """Read judgements. A question with nothing relevant keeps its empty set, for `evaluate` to name."""
    found: dict[str, dict[str, bool]] = {}
    for place, (question, _, article, relevance) in _read(Path(path), QRELS_LINE):
        articles = found.setdefault(question, {})
        if article in articles:
            raise EvaluationError(f"{place}: article {article!r} twice for question {question!r}; expected once")
        articles[article] = _whole(relevance, "relevance", place) > 0
    return {
        question: frozenset(article for article, relevant in articles.items() if relevant)
        for question, articles in found.items()
    }


def _run_lines(run: Rankings, tag: str) -> Iterator[str]:
    for question in run:
        _one_word(question, "question id")
        for rank, (article, score) in enumerate(ranking_of(question, run), start=1):
            yield f"{question} Q0 {_one_word(article, 'article id')} {rank} {score!r} {tag}\n"


def _qrels_lines(judgements: Judgements) -> Iterator[str]:
    for question, gold in judgements.items():
        _one_word(question, "question id")
        for article in sorted(gold):
            yield f"{question} 0 {_one_word(article, 'article id')} 1\n"


def _one_word(name: str, what: str) -> str:
    """Columns are parted by white space, without quotes; a byte order mark would vanish in reading."""
    if name.split() != [name] or name.startswith(BYTE_ORDER_MARK):
        raise EvaluationError(
            f"{what} {name!r} cannot stand in a TREC file: it is empty, or has white space or a byte "
            "order mark; rename it, for instance with underscores"
        )
    return name


def _write(path: Path, lines: Iterable[str]) -> None:
    try:
        with replacing(path) as temporary, temporary.open("x", encoding="utf-8", newline="\n") as file:
            file.writelines(lines)
    except UnicodeEncodeError as error:
        raise EvaluationError(f"cannot write {path}: {error.object!r} is not valid Unicode text") from error


def _read(path: Path, expected: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each line's place ("file, line 3") and its columns, as many as the expected form has."""
    width = len(expected.split())
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, start=1):
                columns = line.split()
                if not columns:
                    continue
                place = f"{path}, line {number}"
                if len(columns) != width:
                    raise EvaluationError(f"{place}: {len(columns)} columns; expected {width}: {expected}")
                yield place, columns
    except OSError as error:
        raise EvaluationError(f"cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise EvaluationError(f"cannot read {path}: it is not UTF-8 text; expected lines {expected!r}") from error


def _whole(text: str, what: str, place: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise EvaluationError(f"{place}: the {what} is {text!r}; expected a whole number") from error


def _score(text: str, place: str) -> float:
    try:
        score = float(text)
    except ValueError as error:
        raise EvaluationError(f"{place}: the score is {text!r}; expected a number") from error
    if isnan(score):
        raise EvaluationError(f"{place}: the score is {text!r}; expected a number that can be ordered")
    return score
