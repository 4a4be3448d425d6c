"""What may go wrong around an index: a kill at any moment, a flipped byte in any file, hostile questions."""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lexarbor.corpus.sources import read_tiny
from lexarbor.errors import SearchError
from lexarbor.search import Engine, Filters
from lexarbor.search.building import build_index
from lexarbor.search.lexical import tuned

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


def test_a_flipped_byte_in_any_file_is_found_when_the_index_is_opened(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    build_index(read_tiny(), folder, source="tiny", settings=tuned("headings+text"))
    generation = folder / json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["generation"]
    files = [path for path in sorted(generation.rglob("*")) if path.is_file()]
    assert len(files) > 5
    draw = random.Random(0)
    for path in files:
        whole = path.read_bytes()
        at = draw.randrange(len(whole))
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << draw.randrange(8)]) + whole[at + 1 :])
        with pytest.raises(SearchError, match="damaged or missing, its checksum is not the manifest's"):
            Engine.open(folder)
        path.write_bytes(whole)
    Engine.open(folder)


BAIT = st.sampled_from(
    (
        *("' OR 1=1 --", "; DROP TABLE articles", "(a+)+$", "[", "\\", ".*", "%s", "{0}", "$(id)", "<script>", "\x00"),
        *("L. 1234-9", "articles 1 à 999999999", "art.", "L" * 50, "1-" * 50, "du code " * 20, "\u202e", "\x1b[2J"),
        *("ﬁ", "😀", "中文", "العربية"),
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


@pytest.mark.real
@given(HOSTILE, st.lists(HOSTILE, max_size=1), st.lists(HOSTILE, max_size=1))
@settings(max_examples=10_000, deadline=None)
def test_ten_thousand_hostile_questions_crash_nothing(
    engine: Engine, question: str, codes: list[str], under: list[str]
) -> None:
    ask(engine, question, Filters(tuple(codes), tuple(under)))
