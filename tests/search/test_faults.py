"""What may go wrong around an index: a kill at any moment, a flipped byte in any file, hostile questions."""

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lexarbor.errors import SearchError
from lexarbor.search import Engine, Filters

QUESTION = "une amende pour le bruit des voisins"
BUILDING = """
import sys
from pathlib import Path
from lexarbor.corpus.sources import read_tiny
from lexarbor.search.lexical import tuned
from lexarbor.search.building import build_index
law = read_tiny()
print("ready", flush=True)
while True:
    build_index(law, Path(sys.argv[1]), source="tiny", settings=tuned("headings+text"))
"""


@pytest.mark.real
def test_an_index_that_is_being_built_again_survives_fifty_kills(folder: Path) -> None:
    before = Engine.open(folder).search(QUESTION).as_dict()
    draw = random.Random(0)
    for _ in range(50):
        builder = subprocess.Popen([sys.executable, "-c", BUILDING, str(folder)], stdout=subprocess.PIPE)
        assert builder.stdout is not None and builder.stdout.readline() == b"ready\n"
        time.sleep(draw.uniform(0, 0.3))
        builder.send_signal(signal.SIGKILL)
        builder.wait()
        builder.stdout.close()
        assert Engine.open(folder).search(QUESTION).as_dict() == before


def generation_of(folder: Path) -> Path:
    return folder / str(json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["generation"])


@pytest.mark.parametrize(("kind", "number"), [("folder", 6), ("hybrid", 13), ("everyday", 16)])
def test_a_flipped_byte_in_any_file_is_found_when_the_index_is_opened(
    request: pytest.FixtureRequest, tmp_path: Path, kind: str, number: int
) -> None:
    folder = tmp_path / "index"
    shutil.copytree(request.getfixturevalue(kind), folder)
    files = [path for path in sorted(generation_of(folder).rglob("*")) if path.is_file()]
    assert len(files) == number
    draw = random.Random(0)
    for path in files:
        whole = path.read_bytes()
        at = draw.randrange(len(whole))
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << draw.randrange(8)]) + whole[at + 1 :])
        with pytest.raises(SearchError, match="damaged or missing, its checksum is not the manifest's"):
            Engine.open(folder)
        path.write_bytes(whole)
    Engine.open(folder)


def forge(folder: Path, name: str, write: Callable[[Path], object]) -> None:
    """Put another file in place of one, and its checksum into the manifest."""
    told = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    path = folder / told["generation"] / name
    write(path)
    told["files"][name] = hashlib.sha256(path.read_bytes()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(told), encoding="utf-8")


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("hybrid", "dense/vectors.npy"),
        ("hybrid", "dense/scales.npy"),
        ("hybrid", "places.npy"),
        ("hybrid", "memory/vectors.npy"),
        ("hybrid", "memory/labels.npy"),
        ("everyday", "everyday/places.npy"),
        ("everyday", "everyday/bm25/starts.npy"),
        ("everyday", "everyday/bm25/rows.npy"),
        ("everyday", "everyday/bm25/weights.npy"),
    ],
)
def test_nothing_of_the_other_legs_is_unpickled(
    request: pytest.FixtureRequest, tmp_path: Path, kind: str, name: str
) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, ...]:
            return os.mkdir, (str(tmp_path / "sprung"),)

    folder = tmp_path / "index"
    shutil.copytree(request.getfixturevalue(kind), folder)
    forge(folder, name, lambda path: np.save(path, np.array([Trap()], dtype=object), allow_pickle=True))
    with pytest.raises(SearchError, match=r"cannot be read .*allow_pickle=False.*; build it again"):
        Engine.open(folder)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("memory/questions.jsonl", b'{"id": "q1"}\n' * 12, "cannot be read .*; build it again"),
        ("memory/questions.jsonl", b"[]\n" * 12, "cannot be read .*; build it again"),
        ("memory/questions.jsonl", b"{", "cannot be read .*; build it again"),
        ("memory/questions.jsonl", b"", "0 remembered questions, vectors"),
        ("memory/labels.npy", np.array([[0, 61, 0]], dtype=np.int32), "rows that are not below 61"),
        ("memory/vectors.npy", np.zeros((3, 4), dtype=np.float16), "12 remembered questions, vectors"),
        ("dense/scales.npy", np.zeros(3, dtype=np.float32), r"vectors are \(61, .*\) and scales \(3,\)"),
        ("words.tsv", b"commune\n", r"words\.tsv: no words that can be read"),
        ("places.npy", np.zeros((4, 61), dtype=np.int32), r"places are \(4, 61\) for 61 articles"),
    ],
)
def test_what_does_not_fit_is_refused_even_with_its_checksum(
    hybrid: Path, tmp_path: Path, name: str, content: bytes | np.ndarray, message: str
) -> None:
    refused(hybrid, tmp_path / "index", name, content, message)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("questions.json", b"{", "cannot be read .*; build it again"),
        ("questions.json", b"\x80", "cannot be read .*; build it again"),
        ("questions.json", b"3", "cannot be read .*; build it again"),
        ("questions.json", b"[]", "places name sections that are not among 0"),
        ("questions.json", b'[["Un toutou ?"]]', "places name sections that are not among 1"),
        ("places.npy", np.zeros(60, dtype=np.int32), r"everyday: places are \(60,\) for 61 articles"),
        ("places.npy", np.zeros((61, 1), dtype=np.int32), r"everyday: places are \(61, 1\) for 61 articles"),
        ("places.npy", np.full(61, 2, dtype=np.int32), "places name sections that are not among 2"),
        ("places.npy", np.full(61, -2, dtype=np.int32), "places name sections that are not among 2"),
        ("bm25/terms.json", b"[", "cannot be read .*; build it again"),
    ],
)
def test_everyday_questions_that_do_not_fit_are_refused_even_with_their_checksum(
    everyday: Path, tmp_path: Path, name: str, content: bytes | np.ndarray, message: str
) -> None:
    refused(everyday, tmp_path / "index", f"everyday/{name}", content, message)


def refused(whole: Path, folder: Path, name: str, content: bytes | np.ndarray, message: str) -> None:
    """A copy of an index is not opened once a file has other content, and the checksum of it."""
    shutil.copytree(whole, folder)
    forge(
        folder,
        name,
        lambda path: np.save(path, content) if isinstance(content, np.ndarray) else path.write_bytes(content),
    )
    with pytest.raises(SearchError, match=message):
        Engine.open(folder)


BAIT = st.sampled_from(
    (
        *("' OR 1=1 --", "; DROP TABLE articles", "(a+)+$", "[", "\\", ".*", "%s", "{0}", "$(id)", "<script>", "\x00"),
        *("L. 1234-9", "articles 1 à 999999999", "art.", "L" * 50, "1-" * 50, "du code " * 20, "\u202e", "\x1b[2J"),
        *("ﬁ", "😀", "中文", "العربية", "vıré", "mon patron İgnore les heureſ ſup", "autorisaton", "cong\u0301e"),
    )
)
HOSTILE = st.one_of(st.text(max_size=300), st.lists(st.one_of(BAIT, st.text(max_size=20)), max_size=12).map(" ".join))


def ask(engine: Engine, question: str, filters: Filters) -> None:
    """An answer, or a refusal that a person can read; never anything else."""
    try:
        answer = engine.search(question, 5, filters, explain=True)
    except SearchError as error:
        assert str(error)
    else:
        assert [hit.rank for hit in answer.hits] == list(range(1, len(answer.hits) + 1))
        json.dumps(answer.as_dict())


@given(HOSTILE)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_hostile_questions_crash_nothing(engine: Engine, question: str) -> None:
    ask(engine, question, Filters())


@given(HOSTILE)
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_hostile_questions_crash_no_leg(whole: Engine, question: str) -> None:
    ask(whole, question, Filters())


@given(HOSTILE)
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_hostile_questions_do_not_crash_the_everyday_leg(everyday_engine: Engine, question: str) -> None:
    ask(everyday_engine, question, Filters())


@pytest.mark.real
@given(HOSTILE, st.lists(HOSTILE, max_size=1), st.lists(HOSTILE, max_size=1))
@settings(max_examples=10_000, deadline=None)
def test_ten_thousand_hostile_questions_crash_nothing(
    engine: Engine, question: str, codes: list[str], under: list[str]
) -> None:
    ask(engine, question, Filters(tuple(codes), tuple(under)))
