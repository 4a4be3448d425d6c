"""Takes the pictures of docs/screenshots/: `python docs/take_screenshots.py`, where `make test-all` has been run.

They show the tiny invented law, with its train questions remembered: no real law is in this repository.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from lexarbor.corpus.sources import TINY, read_tiny_questions

FOLDER = Path(__file__).parent / "screenshots"
COMMAND = [sys.executable, "-c", "from lexarbor.cli import main; main()"]
QUESTION = "Combien coûte une place au marché ?"
ARTICLE = "/article/VALARTI0031"
"""It cites three articles, and one cites it."""
MOST_BYTES = 150_000


class Picture(NamedTuple):
    name: str
    path: str
    """Where it is taken; empty for the results of QUESTION."""
    options: dict[str, Any]
    width: int = 1280
    height: int = 900
    top: str = "body"
    """What is at the top of the picture."""


PICTURES = (
    Picture("home", "/", {}, height=1130),
    Picture("results", "", {}),
    Picture("article", ARTICLE, {}, height=1000),
    Picture("phone", "", {"has_touch": True, "is_mobile": True}, 390, 844, ".found-head"),
    Picture("dark", "", {"color_scheme": "dark"}),
)


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """The address of a server over the tiny law."""
    questions, index = folder / "questions.jsonl", folder / "index"
    held = read_tiny_questions()
    lines = [{"id": one.id, "text": one.text, "gold": sorted(held.qrels[one.id])} for one in held.split("train")]
    questions.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    environment = os.environ | {"LEXARBOR_CACHE": str(folder / "cache")}
    make = [*COMMAND, "index", "--law", TINY, "--questions", questions, "--index", index]
    subprocess.run(make, env=environment, stdout=subprocess.DEVNULL, check=True)
    serve = [*COMMAND, "serve", "--index", index, "--port", "0"]
    server = subprocess.Popen(serve, env=environment, stderr=subprocess.PIPE, text=True, encoding="utf-8")
    try:
        assert server.stderr
        addresses = (re.search(r"http://\S+(?=/ )", line) for line in server.stderr)
        yield next(address[0] for address in addresses if address)
    finally:
        server.terminate()
        server.communicate()


def take(browser: Browser, address: str, picture: Picture) -> None:
    size = {"width": picture.width, "height": picture.height}
    with browser.new_context(viewport=size, base_url=address, **picture.options) as context:
        page = context.new_page()
        page.goto(picture.path or "/")
        if not picture.path:
            ask(page)
        page.locator(picture.top).evaluate("top => top.scrollIntoView()")
        file = FOLDER / f"{picture.name}.png"
        page.screenshot(path=file)
    with Image.open(file) as image:
        image.convert("RGB").quantize(128, dither=Image.Dither.NONE).save(file, optimize=True)
    if (found := file.stat().st_size) > MOST_BYTES:
        raise SystemExit(f"{file} has {found} bytes, more than {MOST_BYTES}")


def ask(page: Page) -> None:
    page.locator("#q").fill(QUESTION)
    page.locator("#q").press("Enter")
    page.locator(".hits").wait_for()


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as address, sync_playwright() as playwright:
        program = shutil.which("chromium")
        with playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"]) as browser:
            for picture in PICTURES:
                take(browser, address, picture)


if __name__ == "__main__":
    main()
