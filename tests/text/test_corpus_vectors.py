"""A whole law to vectors: in order, each wording once, the longest first, going on where it stopped."""

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from resource import RLIMIT_FSIZE, getrlimit, setrlimit

import numpy as np
import pytest
from numpy.typing import NDArray

from lexarbor.corpus.sources import read_tiny
from lexarbor.errors import LexarborError
from lexarbor.text import corpus_vectors
from lexarbor.text.corpus_vectors import encode_inputs, encode_law
from lexarbor.text.settings import EncoderSettings
from toy_encoder import Toy

TINY = read_tiny()
TEXTS = [f"article {'long ' * (place % 7)}{place}" for place in range(40)]
HEADER, RECORD = 24, 32 + 4 * 4 + 4


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_vectors, "BLOCK", 8)


def files(cache: Path) -> list[Path]:
    return sorted(cache.iterdir())


@pytest.mark.parametrize("headings", [True, False])
def test_the_law_comes_in_the_order_of_its_ids(headings: bool) -> None:
    toy = Toy(EncoderSettings(headings=headings))
    found = encode_law(toy, TINY)
    assert found.ids == tuple(sorted(TINY.articles))
    for id, vector in zip(found.ids, found.vectors, strict=True):
        article = TINY.articles[id]
        place = " > ".join(TINY.headings(article)) + "\n" if headings else ""
        assert np.array_equal(vector, Toy().encode_articles([place + article.text])[0])


def test_the_longest_come_first_and_equal_ones_once() -> None:
    toy = Toy()
    texts = ["bb", "a", "dddd", "bb", "ccc", "", "a"]
    assert np.array_equal(encode_inputs(toy, texts), Toy().encode_articles(texts))
    assert toy.asked == ["dddd", "ccc", "bb", "a", ""]


def test_nothing_gives_nothing(tmp_path: Path) -> None:
    assert encode_inputs(Toy(), [], tmp_path / "cache").shape == (0, 4)
    assert not (tmp_path / "cache").exists()


def test_steps_count_articles_and_begin_with_those_known(tmp_path: Path) -> None:
    steps: list[tuple[int, int]] = []
    encode_inputs(Toy(), TEXTS[:20], tmp_path)
    encode_inputs(Toy(), [*TEXTS, TEXTS[-1]], tmp_path, lambda done, total: steps.append((done, total)))
    assert steps[0] == (20, 41)
    assert steps[-1] == (41, 41)
    assert len(steps) == 4  # 20 wordings in blocks of 8
    assert steps == sorted(steps)


def test_what_is_known_is_not_encoded_again(tmp_path: Path) -> None:
    first, second, third = Toy(), Toy(), Toy()
    wanted = encode_inputs(first, TEXTS, tmp_path)
    assert np.array_equal(encode_inputs(second, TEXTS[::-1], tmp_path), wanted[::-1])
    assert second.asked == []
    assert len(files(tmp_path)) == 1
    changed = [*TEXTS[:-1], "un texte changé", "moitié \ud800", ""]
    assert np.array_equal(encode_inputs(third, changed, tmp_path), Toy().encode_articles(changed))
    assert third.asked == ["un texte changé", "moitié \ud800", ""]
    assert len(files(tmp_path)) == 2


def test_another_encoder_shares_no_vector(tmp_path: Path) -> None:
    encode_inputs(Toy(), TEXTS, tmp_path)
    near, far = Toy(checksum="ab" * 31 + "cd"), Toy(checksum="cd" * 32)
    for other in (near, far):
        encode_inputs(other, TEXTS, tmp_path)
        assert len(other.asked) == len(TEXTS)


def test_a_file_cut_anywhere_loses_only_the_record_that_was_cut(tmp_path: Path) -> None:
    texts = TEXTS[:5]
    wanted = encode_inputs(Toy(), texts, tmp_path)
    (path,) = files(tmp_path)
    whole = path.read_bytes()
    assert len(whole) == HEADER + RECORD * len(texts)
    for length in range(len(whole) + 1):
        path.write_bytes(whole[:length])
        toy = Toy()
        assert np.array_equal(encode_inputs(toy, texts, tmp_path), wanted)
        assert len(toy.asked) == len(texts) - max(length - HEADER, 0) // RECORD
        for other in set(files(tmp_path)) - {path}:
            other.unlink()


def test_what_is_damaged_is_not_believed(tmp_path: Path) -> None:
    wanted = encode_inputs(Toy(), TEXTS, tmp_path)
    (path,) = files(tmp_path)
    whole = path.read_bytes()
    draw = random.Random(0)
    for _ in range(50):
        place = draw.randrange(HEADER, len(whole))
        path.write_bytes(whole[:place] + bytes([whole[place] ^ (1 << draw.randrange(8))]) + whole[place + 1 :])
        toy = Toy()
        assert np.array_equal(encode_inputs(toy, TEXTS, tmp_path), wanted)
        assert len(toy.asked) == 1
        for other in set(files(tmp_path)) - {path}:
            other.unlink()


def test_other_files_in_the_folder_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / "README").write_text("vectors", encoding="utf-8")
    (tmp_path / f"{'ab' * 8}-00000000.vectors").write_bytes(b"something else" * 100)
    toy = Toy()
    encode_inputs(toy, TEXTS, tmp_path)
    assert len(toy.asked) == len(TEXTS)


def test_a_failure_keeps_what_was_done(tmp_path: Path) -> None:
    class Failing(Toy):
        def encode_articles(self, inputs: Iterable[str]) -> NDArray[np.float32]:
            if len(self.asked) >= 16:
                raise MemoryError
            return super().encode_articles(inputs)

    with pytest.raises(MemoryError):
        encode_inputs(Failing(), TEXTS, tmp_path)
    toy = Toy()
    encode_inputs(toy, TEXTS, tmp_path)
    assert len(toy.asked) == len(TEXTS) - 16


def test_a_full_disk_is_told_and_a_closed_pipe_is_not_taken_for_it(tmp_path: Path) -> None:
    def closed(done: int, total: int) -> None:
        if done:
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        encode_inputs(Toy(), TEXTS, tmp_path / "pipe", closed)
    with limited(RLIMIT_FSIZE, 100), pytest.raises(LexarborError, match=r"cannot be kept \(File too large\); what"):
        encode_inputs(Toy(), TEXTS, tmp_path / "full")


@contextmanager
def limited(what: int, most: int) -> Iterator[None]:
    before = getrlimit(what)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    setrlimit(what, (most, before[1]))
    try:
        yield
    finally:
        setrlimit(what, before)
        signal.signal(signal.SIGXFSZ, ignored)


SLOW = """
import sys, time
sys.path[:0] = sys.argv[2:]
from pathlib import Path
from test_corpus_vectors import TEXTS, Toy
from lexarbor.text import corpus_vectors

class Slow(Toy):
    def encode_articles(self, inputs):
        if self.asked:
            time.sleep(0.01)
        return super().encode_articles(inputs)

corpus_vectors.BLOCK = 1
corpus_vectors.encode_inputs(Slow(), TEXTS, Path(sys.argv[1]), lambda done, total: print(done, flush=True))
"""


@pytest.mark.parametrize("kill_at", [3, 17])
def test_a_killed_run_is_taken_up_where_it_was(tmp_path: Path, kill_at: int) -> None:
    room = Path(__file__).parent
    command = [sys.executable, "-c", SLOW, str(tmp_path), str(room), str(room.parent)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if int(line) == kill_at:
                os.kill(process.pid, signal.SIGKILL)
                break
    assert process.returncode == -signal.SIGKILL
    toy = Toy()
    assert np.array_equal(encode_inputs(toy, TEXTS, tmp_path), Toy().encode_articles(TEXTS))
    assert 0 < len(toy.asked) <= len(TEXTS) - kill_at


def test_a_folder_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LexarborError, match=r"file"):
        encode_inputs(Toy(), TEXTS, tmp_path / "file")
    with pytest.raises(LexarborError, match=r"cannot make the folder"):
        encode_inputs(Toy(), TEXTS, tmp_path / "file" / "cache")
