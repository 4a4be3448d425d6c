"""The walk over articles: what is asked, and that a run stopped anywhere ends as one that was not."""

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from fake_generator import ARTICLES, SAMPLING, WORK_ORDER, FakeGenerator, asked, contents
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lexarbor import files
from lexarbor.errors import TrainingError
from lexarbor.supervision import augmentation
from lexarbor.supervision.augmentation import Augmented, augment, settings_file
from lexarbor.supervision.folder import Passage
from lexarbor.supervision.sampling import Sampled, Sampling
from lexarbor.supervision.synthetic import read_synthetic


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """No power is cut here: a test need not wait for the disk, thousands of times."""
    monkeypatch.setattr(files, "flush_to_disk", lambda path: None)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a run that nothing stopped."""
    folder = tmp_path_factory.mktemp("whole")
    asked(folder / "questions.jsonl")
    return contents(folder)


@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """All that a run appends, before it is put in order."""
    folder = tmp_path_factory.mktemp("stream")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(augmentation, "_finish", lambda *arguments: None)
        asked(folder / "questions.jsonl")
    return (folder / "questions.jsonl").read_bytes()


def told(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(settings_file(out).read_text(encoding="utf-8"))
    return found


def test_every_article_with_a_text_is_asked_about_once_the_longest_first(tmp_path: Path) -> None:
    generator, steps = FakeGenerator(), list[tuple[int, int]]()
    twice = [*ARTICLES, Passage("A5", "Un autre texte, qui ne compte pas.")]
    out = tmp_path / "questions.jsonl"
    result = augment(generator, twice, out, SAMPLING, batch_size=3, on_step=lambda *step: steps.append(step))
    assert generator.asked == [((7, 0), WORK_ORDER[:3]), ((7, 1), WORK_ORDER[3:6]), ((7, 2), WORK_ORDER[6:])]
    assert steps == [(0, 8), (3, 8), (6, 8), (8, 8)]
    questions = read_synthetic(out)
    assert [one.article for one in questions] == "A5 A5 A5 A1 A1 A3 A3 A3 A4 A4 A4 A2 A2".split()
    assert {one.generator for one in questions} == {"fake/mt5"}
    assert all(one.score == round(one.score, 4) for one in questions)
    ((first, *_),) = FakeGenerator().ask([ARTICLES[4]], SAMPLING, seed=(7, 0))
    about = [one for one in questions if one.article == "A3"]
    assert (about[0].question, about[0].score) == (first.question, round(first.score, 4))
    distinct = len({one.question.casefold() for one in questions})
    assert result == Augmented(out, articles=8, empty=1, questions=13, distinct=distinct)


def test_beside_the_file_stands_what_it_was_asked_with(tmp_path: Path) -> None:
    out = tmp_path / "questions.jsonl"
    with pytest.raises(KeyboardInterrupt):
        asked(out, FakeGenerator(stop_at=1))
    begun = told(out)
    checksum = begun.pop("articles_sha256")
    assert begun == {
        "generator": "fake/mt5",
        "weights_sha256": "5e" * 32,
        "settings": {"prefix": "Demande : ", "headings": False, "input_tokens": 512, "question_tokens": 60},
        "sampling": {"questions": 3, "top_k": 50, "top_p": 0.95, "temperature": 1.0, "seed": 7},
        "batch_size": 2,
        "articles": 8,
        "finished": False,
    }
    result = asked(out, resume=True)
    finished = hashlib.sha256(out.read_bytes()).hexdigest()
    counts = {"empty": 1, "questions": 13, "distinct": result.distinct, "sha256": finished}
    assert told(out) == {**begun, "articles_sha256": checksum, "finished": True, **counts}
    assert sorted(contents(tmp_path)) == ["questions.jsonl", "questions.settings.json"]


def test_the_same_question_in_other_case_and_spaces_is_not_distinct(tmp_path: Path) -> None:
    class Parrot(FakeGenerator):
        def ask(self, articles: Sequence[Passage], sampling: Sampling, *, seed: Sequence[int]) -> list[list[Sampled]]:
            return [[Sampled("Où ?", -1.0), Sampled("OÙ  ?", -1.0), Sampled(f"{one.id} ?", -1.0)] for one in articles]

    assert asked(tmp_path / "questions.jsonl", Parrot())[1:] == (8, 1, 24, 9)


@pytest.mark.parametrize("stop_at", range(4))
def test_a_run_stopped_at_a_batch_ends_as_one_that_was_not(
    tmp_path: Path, whole: dict[str, bytes], stop_at: int
) -> None:
    out = tmp_path / "questions.jsonl"
    with pytest.raises(KeyboardInterrupt):
        asked(out, FakeGenerator(stop_at))
    steps: list[tuple[int, int]] = []
    again = FakeGenerator()
    asked(out, again, resume=True, on_step=lambda *step: steps.append(step))
    assert contents(tmp_path) == whole
    # the last batch that gave a question is asked again, those before it are not: A9 and A7 gave none
    first = max(0, min(stop_at, 3) - 1)
    assert [seed for seed, _ in again.asked] == [(7, number) for number in range(first, 4)]
    assert steps[0] == (2 * first, 8)


def test_a_run_stopped_about_the_end_of_any_line_ends_as_one_that_was_not(
    tmp_path: Path, whole: dict[str, bytes], stream: bytes
) -> None:
    out = tmp_path / "questions.jsonl"
    with pytest.raises(KeyboardInterrupt):
        asked(out, FakeGenerator(stop_at=0))
    begun = settings_file(out).read_bytes()
    ends = [at + 1 for at, byte in enumerate(stream) if byte == ord("\n")]
    for length in sorted({0, 1, *(end + by for end in ends for by in (-50, -2, -1, 0, 1))} - {len(stream) + 1}):
        settings_file(out).write_bytes(begun)
        out.write_bytes(stream[:length])
        asked(out, resume=True)
        assert contents(tmp_path) == whole


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(
    sizes=st.lists(st.integers(0, 30), min_size=1, max_size=12).filter(any),
    batch_size=st.integers(1, 5),
    cuts=st.lists(st.floats(0, 1), min_size=1, max_size=3),
)
def test_however_often_a_run_is_stopped(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], batch_size: int, cuts: list[float]
) -> None:
    articles = [Passage(f"A{at}", "x" * size) for at, size in enumerate(sizes)]
    folder, other = tmp_path_factory.mktemp("stopped"), tmp_path_factory.mktemp("whole")
    last = (sum(map(bool, sizes)) - 1) // batch_size
    out = folder / "questions.jsonl"
    for cut in cuts:
        with pytest.raises(KeyboardInterrupt):
            augment(FakeGenerator(last), articles, out, SAMPLING, batch_size=batch_size, resume=True)
        if out.exists():
            os.truncate(out, int(cut * out.stat().st_size))
    done = augment(FakeGenerator(), articles, out, SAMPLING, batch_size=batch_size, resume=True)
    straight = augment(FakeGenerator(), articles, other / out.name, SAMPLING, batch_size=batch_size)
    assert contents(folder) == contents(other)
    assert done[1:] == straight[1:]


@pytest.mark.parametrize("where", ["write_json", "write_synthetic", "sha256"])
def test_a_run_stopped_while_it_ends(
    tmp_path: Path, whole: dict[str, bytes], monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    out = tmp_path / "questions.jsonl"
    with pytest.raises(KeyboardInterrupt):
        asked(out, FakeGenerator(stop_at=3))

    def stop(*arguments: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(augmentation, where, stop)
        with pytest.raises(KeyboardInterrupt):
            asked(out, resume=True)
    assert contents(tmp_path) != whole
    asked(out, resume=True)
    assert contents(tmp_path) == whole


def test_a_process_that_is_killed_goes_on(tmp_path: Path, whole: dict[str, bytes]) -> None:
    out = tmp_path / "questions.jsonl"
    program = (
        f"import os, sys; sys.path[:0] = [{str(Path(__file__).parent)!r}]\n"
        "from fake_generator import FakeGenerator, asked\n"
        "from pathlib import Path\n"
        "class Killed(FakeGenerator):\n"
        "    def ask(self, articles, sampling, *, seed):\n"
        f"        if seed[1] == 2: os.kill(os.getpid(), {signal.SIGKILL.value})\n"
        "        return super().ask(articles, sampling, seed=seed)\n"
        f"asked(Path({str(out)!r}), Killed())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert len(read_synthetic(out)) == 10
    asked(out, resume=True)
    assert contents(tmp_path) == whole


def test_what_is_finished_is_not_asked_again(tmp_path: Path, whole: dict[str, bytes]) -> None:
    out = tmp_path / "questions.jsonl"
    first = asked(out)
    before = {path: path.stat() for path in tmp_path.iterdir()}
    steps: list[tuple[int, int]] = []
    assert asked(out, FakeGenerator(stop_at=0), resume=True, on_step=lambda *step: steps.append(step)) == first
    assert steps == [(8, 8)]
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == {
        path: stat.st_mtime_ns for path, stat in before.items()
    }
    assert contents(tmp_path) == whole


def test_with_nothing_there_to_resume_a_run_starts(tmp_path: Path, whole: dict[str, bytes]) -> None:
    (tmp_path / "questions.settings.json").write_text('{"generator": "another"}', encoding="utf-8")
    asked(tmp_path / "questions.jsonl", resume=True)
    assert contents(tmp_path) == whole


def test_a_generator_that_asks_nothing_leaves_an_empty_file(tmp_path: Path) -> None:
    out = tmp_path / "questions.jsonl"
    result = augment(FakeGenerator(), [Passage("A1", "x"), Passage("A2", "y")], out, SAMPLING, batch_size=1)
    assert result == Augmented(out, articles=2, empty=0, questions=0, distinct=0)
    assert out.read_bytes() == b""
    assert augment(FakeGenerator(0), [Passage("A1", "x"), Passage("A2", "y")], out, SAMPLING, batch_size=1, resume=True)


def test_a_full_disk_is_told_and_the_run_goes_on_later(
    tmp_path: Path, whole: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "questions.jsonl"
    with pytest.raises(KeyboardInterrupt):
        asked(out, FakeGenerator(stop_at=2))
    plain = Path.open

    def full(path: Path, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        if mode == "ab":
            raise OSError(28, "No space left on device")
        return plain(path, mode, *arguments, **options)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", full)
        with pytest.raises(TrainingError, match="No space left on device; what is written stays: make room, and"):
            asked(out, resume=True)
    asked(out, resume=True)
    assert contents(tmp_path) == whole


def test_of_two_runs_that_begin_at_once_the_second_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "questions.jsonl"

    def begun_meanwhile(path: Path, content: object) -> None:
        out.write_text("", encoding="utf-8")

    monkeypatch.setattr(augmentation, "write_json", begun_meanwhile)
    with pytest.raises(TrainingError, match="another run has just begun it; wait for that, or give another file"):
        asked(out)
