"""What a server's memory holds of a question once it is answered: nothing."""

import subprocess
import sys
from pathlib import Path

ASK_AND_LOOK = """
import asyncio, gc, sys
from pathlib import Path
from lexarbor.serve.asking import Asked, Desk
from lexarbor.serve.laws import Laws
from lexarbor.serve.settings import ServeSettings

def word():
    return "".join(["zebul", "onette"])  # nowhere whole in the program

def held():
    sought = word()
    found = []
    objects = gc.get_objects()
    caches = [one for one in objects if "lru_cache" in type(one).__name__]  # their dictionaries are not tracked
    for one in [*objects, *(inner for cache in caches for inner in gc.get_referents(cache))]:
        if isinstance(one, dict):
            inside = [*one.keys(), *one.values()]
        elif isinstance(one, (list, tuple, set, frozenset)):
            inside = list(one)
        else:
            continue
        if any(isinstance(text, str) and sought in text for text in inside):
            found.append(repr(one)[:200])
    return found

def ask():
    index = Path(sys.argv[1])
    desk = Desk(Laws(index), ServeSettings(index))
    asked = Asked(f"Mon voisin {word()} fait du bruit la nuit", 5, under=("tranquillité",), explain=True)
    return desk, asyncio.run(desk.answer(asked, lambda answer: len(answer.hits)))

desk, hits = ask()
gc.collect()
print(hits, *held(), sep="\\n")
"""


def test_no_cache_keeps_a_word_of_a_question(hybrid: Path) -> None:
    done = subprocess.run([sys.executable, "-c", ASK_AND_LOOK, str(hybrid)], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["5"]
