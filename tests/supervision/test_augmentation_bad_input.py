"""What cannot be asked or resumed is refused with a clear line, and the file left as it was."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from fake_generator import ARTICLES, SAMPLING, FakeGenerator, asked, contents

from lexarbor.errors import LexarborError, TrainingError
from lexarbor.supervision.augmentation import augment, settings_file
from lexarbor.supervision.folder import Passage
from lexarbor.supervision.sampling import GeneratorSettings, Sampled, Sampling

SAME = "resume it with the same"
OTHER_MODEL = (
    "another model of that name, or on a machine that computes in another precision; resume it with that model on such "
    "a machine"
)
OTHER_ARTICLES = "other articles; resume it with the same --law or --data, and the same --limit"


@pytest.mark.parametrize(
    ("changed", "difference"),
    [
        ({"sampling": Sampling(questions=4, seed=7)}, f"sampling.questions 3, now it is 4; {SAME}"),
        ({"sampling": Sampling(questions=3, seed=7, top_p=0.9)}, f"sampling.top_p 0.95, now it is 0.9; {SAME}"),
        ({"sampling": Sampling(questions=3)}, f"sampling.seed 7, now it is 0; {SAME}"),
        ({"batch_size": 3}, f"batch_size 2, now it is 3; {SAME}"),
        ({"name": "fake/t5"}, f"generator 'fake/mt5', now it is 'fake/t5'; {SAME}"),
        ({"fingerprint": "7f" * 32}, OTHER_MODEL),
        ({"settings": GeneratorSettings()}, f"settings.prefix 'Demande : ', now it is ''; {SAME}"),
        ({"articles": ARTICLES[1:]}, OTHER_ARTICLES),
        ({"articles": [*ARTICLES[:-1], Passage("A8", "Autre")]}, OTHER_ARTICLES),
        ({"articles": [*ARTICLES[:-1], Passage("A8", "Article", ("Code",))]}, OTHER_ARTICLES),
        ({"articles": ARTICLES[::-1]}, OTHER_ARTICLES),
    ],
)
@pytest.mark.parametrize("stop_at", [2, None], ids=["stopped", "finished"])
def test_other_settings_are_refused_by_name_and_the_file_left(
    tmp_path: Path, changed: dict[str, Any], difference: str, stop_at: int | None
) -> None:
    out = tmp_path / "questions.jsonl"
    try:
        asked(out, FakeGenerator(stop_at))
    except KeyboardInterrupt:
        assert stop_at is not None
    before = contents(tmp_path)
    given = {"sampling": SAMPLING, "articles": ARTICLES, "batch_size": 2, **changed}
    generator = FakeGenerator()
    for name in ("name", "fingerprint", "settings"):
        setattr(generator, name, given.pop(name, getattr(generator, name)))
    with pytest.raises(TrainingError) as refused:
        augment(generator, out=out, resume=True, **given)
    assert str(refused.value) == f"{out}: was begun with {difference}, or give another file"
    assert (contents(tmp_path), generator.asked) == (before, [])


def damage(content: bytes, line: int, replacement: bytes) -> bytes:
    lines = content.split(b"\n")
    lines[line - 1] = replacement
    return b"\n".join(lines)


@pytest.mark.parametrize(
    ("line", "replacement", "message"),
    [
        (2, b'{"article": "A3", "ques', "line 2: not a synthetic question (not valid JSON at column 19"),
        (4, b"\0\0\0", "line 4: not a synthetic question (not valid JSON at column 1: "),
        (3, b"", "line 3: not a synthetic question (not valid JSON at column 1: "),
        (
            2,
            b'{"article": "B1", "question": "Qui ?", "generator": "fake/mt5", "score": -1}',
            "line 2: this run would not have asked about 'B1' here; remove it to start anew, or give another file",
        ),
        (
            10,
            b'{"article": "A3", "question": "Qui ?", "generator": "fake/mt5", "score": -1}',
            "line 10: this run would not have asked about 'A3' here",
        ),
        (
            1,
            b'{"article": "A3", "question": "Qui ?", "generator": "other", "score": -1}',
            "line 1: this run would not have asked about 'A3' here",
        ),
    ],
)
def test_a_line_damaged_in_the_middle_is_refused_by_its_number(
    tmp_path: Path, line: int, replacement: bytes, message: str
) -> None:
    out = tmp_path / "questions.jsonl"
    with pytest.raises(KeyboardInterrupt):
        asked(out, FakeGenerator(stop_at=3))
    out.write_bytes(damage(out.read_bytes(), line, replacement))
    before = contents(tmp_path)
    with pytest.raises(TrainingError) as refused:
        asked(out, resume=True)
    assert str(refused.value).startswith(f"{out}, {message}")
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content[: content.index(b"\n") + 1], "was finished, and is damaged or changed since; remove"),
        (lambda content: content.replace(b"O", b"o", 1), "was finished, and is damaged or changed since; remove"),
        (lambda content: content.replace(b'"A5"', b'"B1"', 1), "was finished, and is damaged or changed since"),
        (lambda content: content[:-3], "line 13: not a synthetic question"),
    ],
)
def test_a_finished_file_that_was_changed_is_refused(tmp_path: Path, change: Any, message: str) -> None:
    out = tmp_path / "questions.jsonl"
    asked(out)
    out.write_bytes(change(out.read_bytes()))
    before = contents(tmp_path)
    with pytest.raises(TrainingError, match=message):
        asked(out, resume=True)
    assert contents(tmp_path) == before


def test_a_file_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    out = tmp_path / "questions.jsonl"
    out.write_text("mine\n", encoding="utf-8")
    with pytest.raises(TrainingError, match=r"is there already; resume it \(--resume\), or give another file"):
        asked(out)
    with pytest.raises(TrainingError, match=r"no questions\.settings\.json beside it tells what it was asked with"):
        asked(out, resume=True)
    settings_file(out).write_text("[]", encoding="utf-8")
    with pytest.raises(TrainingError, match=r"settings\.json: cannot be read, so questions\.jsonl cannot be resumed"):
        asked(out, resume=True)
    assert out.read_text(encoding="utf-8") == "mine\n"


def test_what_cannot_be_asked_is_refused_and_nothing_written(tmp_path: Path) -> None:
    for articles in ([], [Passage("A1", ""), Passage("A2", "\n ")]):
        with pytest.raises(TrainingError, match=f"of {len(articles)} articles none has a text: there is nothing to"):
            augment(FakeGenerator(), articles, tmp_path / "questions.jsonl", SAMPLING)
    with pytest.raises(TrainingError, match="batch_size is 0: ask about one article at a time or more"):
        asked(tmp_path / "questions.jsonl", batch_size=0)
    with pytest.raises(TrainingError, match=r"so it cannot be packed; leave \.xz out"):
        asked(tmp_path / "questions.jsonl.xz")
    with pytest.raises(LexarborError, match="there is no folder"):
        asked(tmp_path / "none" / "questions.jsonl")
    with pytest.raises(LexarborError, match="it is no plain file"):
        asked(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_score_that_is_no_number_is_told_at_once(tmp_path: Path) -> None:
    class Broken(FakeGenerator):
        def _about(self, article: Passage, sampling: Sampling, seed: Sequence[int], place: int) -> list[Sampled]:
            return [Sampled("Qui ?", float("nan"))]

    with pytest.raises(TrainingError, match="the field 'score' must be a number, found nan"):
        asked(tmp_path / "questions.jsonl", Broken())
