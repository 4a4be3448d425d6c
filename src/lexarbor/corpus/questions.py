"""Questions people ask, the articles that answer them, and which questions train, choose or test.

As JSONL, one object a line (`topic` and `description` are optional; questions without labels end after them):

    {"id": "V01", "text": "Mon voisin…", "topic": "Voisinage", "gold": ["A5", "A6"], "split": "train"}
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from lexarbor.corpus.tables import HALF_CHARACTER
from lexarbor.errors import BenchmarkError
from lexarbor.files import replacing

LONGEST = 10_000
"""Characters. Longer texts are documents: nobody types them, and they match everything a little."""

SPLITS = ("train", "dev", "test")

Qrels: TypeAlias = Mapping[str, frozenset[str]]
"""By question id, the ids of the articles that answer it (its gold)."""

Split: TypeAlias = tuple[str, ...]
"""The ids of the questions of one split, in order."""

_NO_TEXT = "holds bytes that are no text: type it, or save it, as UTF-8"


def fault(text: str) -> str | None:
    """What keeps some words from being a question, to follow "the question"; None if nothing does."""
    if not text.strip():
        return "is empty: ask something like 'Puis-je être licencié pendant un arrêt maladie ?'"
    if len(text) > LONGEST:
        return f"has {len(text):,} characters, more than {LONGEST:,}: ask it in a few sentences"
    if HALF_CHARACTER.search(text):
        return _NO_TEXT
    return None


@dataclass(frozen=True, slots=True)
class Question:
    """A legal question in everyday words."""

    id: str
    text: str
    topic: str = ""
    description: str = ""
    """What else the source says of it: keywords, a sub-topic. Never part of the question itself."""

    def __post_init__(self) -> None:
        if not self.id or re.search(r"\s", self.id):
            raise BenchmarkError(f"{self.id!r} cannot be a question's id: give a word without spaces")
        if any(HALF_CHARACTER.search(words) for words in (self.id, self.topic, self.description)):
            raise BenchmarkError(f"question {self.id!a} {_NO_TEXT}")
        if wrong := fault(self.text):
            raise BenchmarkError(f"question '{self.id}' {wrong}")


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Questions with their gold articles and their splits: what systems are trained, chosen and tested on."""

    questions: dict[str, Question]
    qrels: dict[str, frozenset[str]]
    splits: dict[str, Split]
    name: str = "questions"

    def __post_init__(self) -> None:
        for id, question in self.questions.items():
            if id != question.id:
                raise BenchmarkError(f"{self.name}: question '{question.id}' is filed under '{id}'")
            if not self.qrels.get(id):
                raise BenchmarkError(f"{self.name}: question '{id}' has no gold article: label it or leave it out")
        for id in self.qrels:
            if id not in self.questions:
                raise BenchmarkError(f"{self.name}: gold articles are given for '{id}', which is not a question")
        self._check_splits()

    def _check_splits(self) -> None:
        home: dict[str, str] = {}
        for name, ids in self.splits.items():
            for id in ids:
                if id not in self.questions:
                    raise BenchmarkError(f"{self.name}: the split '{name}' names '{id}', which is not a question")
                if id in home:
                    where = f"twice in '{name}'" if home[id] == name else f"in '{home[id]}' and in '{name}'"
                    raise BenchmarkError(f"{self.name}: question '{id}' is {where}: keep it in one split")
                home[id] = name

    def split(self, name: str) -> list[Question]:
        """The questions of a split, in order."""
        return [self.questions[id] for id in self._ids(name)]

    def gold(self, names: Iterable[str]) -> dict[str, frozenset[str]]:
        """The gold articles of every question of some splits (or of one, given by its name)."""
        return {id: self.qrels[id] for id in self._ids(names)}

    def positives(self, names: Iterable[str]) -> frozenset[str]:
        """Ids of the articles that are gold for some question of these splits."""
        return frozenset().union(*self.gold(names).values())

    def _ids(self, names: Iterable[str]) -> Iterator[str]:
        for name in (names,) if isinstance(names, str) else names:
            if name not in self.splits:
                known = ", ".join(self.splits) or "none"
                raise BenchmarkError(f"{self.name} has no split '{name}': it has {known}")
            yield from self.splits[name]


class _Record(NamedTuple):
    """One line's object, its question, and the words that name the line in messages."""

    fields: dict[str, Any]
    question: Question
    place: str


def read_questions(path: str | Path) -> list[Question]:
    """Questions without labels, in the order of the file; other fields than a question's are passed over."""
    return [record.question for record in _records(Path(path))]


class AnsweredQuestion(NamedTuple):
    """A question of one's own and the articles that answer it, named as its file names them."""

    question: Question
    articles: tuple[str, ...]


def read_answered(path: str | Path) -> list[AnsweredQuestion]:
    """Questions with `gold` on every line, in the order of the file."""
    return [AnsweredQuestion(record.question, tuple(sorted(_gold(record)))) for record in _records(Path(path))]


def read_question_set(path: str | Path, name: str | None = None) -> QuestionSet:
    """Questions with `gold` and `split` on every line; named after the file unless `name` is given."""
    path = Path(path)
    questions: dict[str, Question] = {}
    qrels: dict[str, frozenset[str]] = {}
    splits: dict[str, list[str]] = {}
    for record in _records(path):
        id = record.question.id
        questions[id] = record.question
        qrels[id] = _gold(record)
        split = _field(record, "split")
        if split is None:
            continue
        if not isinstance(split, str) or not split:
            raise BenchmarkError(f'{record.place}: "split" must be a name or null, found {split!r}')
        splits.setdefault(split, []).append(id)
    in_order = sorted(splits, key=lambda split: SPLITS.index(split) if split in SPLITS else len(SPLITS))
    return QuestionSet(questions, qrels, {split: tuple(splits[split]) for split in in_order}, name or path.stem)


def write_question_set(question_set: QuestionSet, path: str | Path) -> None:
    """A set as JSONL that `read_question_set` reads; the file appears whole or not at all."""
    path = Path(path)
    home = {id: split for split, ids in question_set.splits.items() for id in ids}
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        for id, question in question_set.questions.items():
            record: dict[str, Any] = {"id": id, "text": question.text}
            if question.topic:
                record["topic"] = question.topic
            if question.description:
                record["description"] = question.description
            record |= {"gold": sorted(question_set.qrels[id]), "split": home.get(id)}
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


def _records(path: Path) -> Iterator[_Record]:
    seen: dict[str, int] = {}
    for number, line in _lines(path):
        place = f"{path}, line {number}"
        fields = _object(line, place)
        try:
            question = _question(fields)
        except BenchmarkError as error:
            raise BenchmarkError(f"{place}: {error}") from error
        first = seen.setdefault(question.id, number)
        if first != number:
            raise BenchmarkError(f"{place}: the id '{question.id}' is already that of line {first}: give it another")
        yield _Record(fields, question, place)
    if not seen:
        raise BenchmarkError(f'{path}: no question inside; give JSONL lines like {{"id": "1", "text": "…"}}')


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BenchmarkError(f"{path}: cannot be read ({error.strerror}); give a JSONL file of questions") from error
    # Not str.splitlines: it would also cut at the line separators that JSON allows inside a text.
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if line.strip():
            try:
                yield number, line.decode("utf-8")
            except UnicodeDecodeError as error:
                raise BenchmarkError(f"{path}, line {number}: not UTF-8 text; save the file as UTF-8") from error


def _object(line: str, place: str) -> dict[str, Any]:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:
        why = f"{error.msg} at column {error.colno}" if isinstance(error, json.JSONDecodeError) else str(error)
        raise BenchmarkError(f"{place}: not JSON ({why}); give one object a line") from error
    if not isinstance(fields, dict):
        raise BenchmarkError(f"{place}: expected a JSON object, found {type(fields).__name__}")
    return fields


def _question(fields: dict[str, Any]) -> Question:
    for key in ("id", "text"):
        if key not in fields:
            raise BenchmarkError(f'the key "{key}" is missing: a question is {{"id": "1", "text": "…"}}')
    id = fields["id"]
    if isinstance(id, int) and not isinstance(id, bool):
        id = str(id)
    others = (fields["text"], fields.get("topic") or "", fields.get("description") or "")
    for key, value in zip(("id", "text", "topic", "description"), (id, *others), strict=True):
        if not isinstance(value, str):
            raise BenchmarkError(f'"{key}" must be text, found {type(value).__name__}')
    return Question(id, *others)


def _gold(record: _Record) -> frozenset[str]:
    gold = _field(record, "gold")
    if not isinstance(gold, list) or not gold or not all(isinstance(id, str) and id for id in gold):
        raise BenchmarkError(f'{record.place}: "gold" must be a list of one or more article ids, as text')
    return frozenset(gold)


def _field(record: _Record, key: str) -> Any:
    if key not in record.fields:
        raise BenchmarkError(
            f'{record.place}: the key "{key}" is missing: a labelled question has "gold", in a set "split" too'
        )
    return record.fields[key]
