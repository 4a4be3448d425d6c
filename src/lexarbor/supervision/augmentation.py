"""Questions asked about every article of a law, in a file that a stopped run goes on with (paper, "Data augmentation").

    questions.jsonl           one question a line, see `lexarbor.supervision.synthetic`
    questions.settings.json   what they were asked with; once all are, how many there are and the checksum of the file

Articles are asked about in batches, the longest first, and the lines of a batch are appended when it is done. What a
batch is asked with (its articles and its seed) depends on nothing that came before. So a file that was stopped at any
byte is the beginning of the whole one: the last batch that has a line may lack others, and is asked again; all before
it are done, also those that gave no question. In the end the lines are put in the order in which articles were given.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from lexarbor.errors import TrainingError
from lexarbor.files import check_file, sha256, write_json
from lexarbor.supervision.answers import same_words
from lexarbor.supervision.folder import Passage
from lexarbor.supervision.sampling import GeneratorSettings, Sampled, Sampling
from lexarbor.supervision.synthetic import (
    SyntheticQuestion,
    content_of,
    questions_in,
    read_synthetic,
    write_synthetic,
)

BATCH_SIZE = 16
_DECIMALS = 4
"""Of a score: enough to compare by, half the digits of a number as it comes."""
_ANEW = "remove it to start anew, or give another file"
_OTHER_ARTICLES = "other articles; resume it with the same --law or --data, and the same --limit"
_DIFFERENCES = {
    "weights_sha256": "another model of that name, or on a machine that computes in another precision; resume it with "
    "that model on such a machine",
    "articles": _OTHER_ARTICLES,
    "articles_sha256": _OTHER_ARTICLES,
}
"""What it means that a setting differs, and what to do, where its values tell a person nothing."""

Batches = Sequence[Sequence[Passage]]
OnStep = Callable[[int, int], None]


class Generator(Protocol):
    """What is asked of a model here; `lexarbor.training.generator.QuestionGenerator` is one."""

    @property
    def name(self) -> str: ...
    @property
    def fingerprint(self) -> str:
        """A checksum of the weights as they compute: what tells two models of one name apart."""
        ...

    @property
    def settings(self) -> GeneratorSettings: ...
    def ask(
        self, articles: Sequence[Passage], sampling: Sampling, *, seed: Sequence[int]
    ) -> Sequence[Sequence[Sampled]]: ...


class Augmented(NamedTuple):
    """What a finished file holds."""

    out: Path
    articles: int
    """That were asked about."""
    empty: int
    """Articles without text, passed over."""
    questions: int
    distinct: int
    """Questions that differ in more than case and spaces."""


def augment(
    generator: Generator,
    articles: Sequence[Passage],
    out: Path,
    sampling: Sampling,
    *,
    batch_size: int = BATCH_SIZE,
    resume: bool = False,
    on_step: OnStep = lambda done, total: None,
) -> Augmented:
    """Ask about every article that has a text, each id once. `on_step` hears how many articles are done, of how many;
    the first time, how many were done before.
    """
    check_out(out, resume=resume)
    if batch_size < 1:
        raise TrainingError(f"batch_size is {batch_size}: ask about one article at a time or more")
    given: dict[str, Passage] = {}
    for article in articles:
        given.setdefault(article.id, article)
    asked = [article for article in given.values() if article.text.strip()]
    if not asked:
        raise TrainingError(f"of {len(given):,} articles none has a text: there is nothing to ask about")
    settings = {
        "generator": generator.name,
        "weights_sha256": generator.fingerprint,
        "settings": asdict(generator.settings),
        "sampling": asdict(sampling),
        "batch_size": batch_size,
        "articles": len(asked),
        "articles_sha256": _checksum(asked),
    }
    longest = sorted(asked, key=lambda article: (-len(article.text), article.id))
    batches = [longest[start : start + batch_size] for start in range(0, len(longest), batch_size)]
    finished = None
    done = 0
    if out.exists():
        finished = _begun(out, settings)
        done = _whole_batches(out, generator.name, batches) if finished is None else len(batches)
    else:
        write_json(settings_file(out), {**settings, "finished": False})
        _create(out)
    _ask(generator, batches, done, out, sampling, on_step)
    return _finish(out, settings, asked, len(given) - len(asked), finished)


def check_out(out: Path, *, resume: bool) -> None:
    """Refuse, before long work, a file that cannot be written to or holds something already."""
    check_file(out)
    if out.suffix == ".xz":
        raise TrainingError(f"{out}: lines are added to the file as they come, so it cannot be packed; leave .xz out")
    if out.exists() and not resume:
        raise TrainingError(f"{out}: is there already; resume it (--resume), or give another file")


def _create(out: Path) -> None:
    """Of two runs that begin at once the second is refused."""
    with _telling(out):
        try:
            out.open("xb").close()
        except FileExistsError as error:
            raise TrainingError(f"{out}: another run has just begun it; wait for that, or give another file") from error


def settings_file(out: Path) -> Path:
    """Where it is told what the questions of a file were asked with."""
    return out.with_suffix(".settings.json")


def _begun(out: Path, settings: Mapping[str, Any]) -> str | None:
    """Refuse to go on with other settings than those a file was begun with; the checksum of its lines in their order,
    if all had been asked.
    """
    path = settings_file(out)
    try:
        earlier = json.loads(path.read_text(encoding="utf-8"))
        before = _flat(earlier)
        finished: str | None = earlier["sha256"] if earlier["finished"] else None
    except FileNotFoundError as error:
        raise TrainingError(f"{out}: no {path.name} beside it tells what it was asked with; {_ANEW}") from error
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise TrainingError(f"{path}: cannot be read, so {out.name} cannot be resumed; {_ANEW}") from error
    for name, now in _flat(settings).items():
        if before.get(name) != now:
            values = f"{name} {before.get(name)!r}, now it is {now!r}; resume it with the same"
            raise TrainingError(f"{out}: was begun with {_DIFFERENCES.get(name, values)}, or give another file")
    return finished


def _flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Each setting by its full name, e.g. sampling.top_k."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        flat |= {f"{name}.{key}": one for key, one in value.items()} if isinstance(value, dict) else {name: value}
    return flat


def _whole_batches(out: Path, generator: str, batches: Batches) -> int:
    """How many batches of a stopped run are done; what follows their lines is cut off."""
    number_of = {article.id: number for number, batch in enumerate(batches) for article in batch}
    lines = out.read_bytes().split(b"\n")[:-1]  # after the last end of a line stands nothing, or a line that was cut
    last = kept = 0
    for row, question in enumerate(questions_in(lines, out)):
        number = number_of.get(question.article, -1)
        if number < last or question.generator != generator:
            raise TrainingError(
                f"{out}, line {row + 1}: this run would not have asked about '{question.article}' here; {_ANEW}"
            )
        if number > last:
            last, kept = number, row
    with _telling(out):
        os.truncate(out, sum(len(line) + 1 for line in lines[:kept]))
    return last


def _ask(generator: Generator, batches: Batches, done: int, out: Path, sampling: Sampling, on_step: OnStep) -> None:
    """Ask about the batches that are not done yet, and append what comes."""
    total = sum(map(len, batches))
    articles = sum(map(len, batches[:done]))
    on_step(articles, total)
    for number, batch in enumerate(batches[done:], start=done):
        answers = generator.ask(batch, sampling, seed=(sampling.seed, number))
        questions = [
            SyntheticQuestion(article.id, one.question, generator.name, round(one.score, _DECIMALS))
            for article, sampled in zip(batch, answers, strict=True)
            for one in sampled
        ]
        with _telling(out), out.open("ab") as file:
            file.write(content_of(questions))
        articles += len(batch)
        on_step(articles, total)


def _finish(
    out: Path, settings: Mapping[str, Any], asked: Sequence[Passage], empty: int, finished: str | None
) -> Augmented:
    """Put the lines in the order of the articles. The settings say first that all is asked and what the file will be:
    a run stopped between the two finds its lines in either order, and ends here once more.
    """
    place = {article.id: at for at, article in enumerate(asked)}
    questions = sorted(read_synthetic(out), key=lambda question: place.get(question.article, -1))
    checksum = hashlib.sha256(content_of(questions)).hexdigest()
    if finished not in (None, checksum):
        raise TrainingError(f"{out}: was finished, and is damaged or changed since; {_ANEW}")
    distinct = len({same_words(question.question) for question in questions})
    result = Augmented(out, len(asked), empty, len(questions), distinct)
    if finished is None:
        counts = {"empty": empty, "questions": result.questions, "distinct": distinct, "sha256": checksum}
        write_json(settings_file(out), {**settings, "finished": True, **counts})
    if sha256(out) != checksum:
        write_synthetic(questions, out)
    return result


def _checksum(articles: Sequence[Passage]) -> str:
    """Of all that a generator may read, and of the order of the file."""
    held = [[article.id, article.text, article.headings] for article in articles]
    return hashlib.sha256(json.dumps(held).encode("ascii")).hexdigest()


@contextmanager
def _telling(out: Path) -> Iterator[None]:
    """What the disk refuses, as an error for a person."""
    try:
        yield
    except OSError as error:
        raise TrainingError(
            f"cannot write {out}: {error.strerror or error}; what is written stays: make room, and resume"
        ) from error
