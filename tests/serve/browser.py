"""A real Chromium before a real `lexarbor serve`: the fixtures of the browser's tests.

Whatever a test does there, the page must keep quiet (no error, nothing that its policy forbids), keep to itself
(nothing from another host) and leave nothing behind (no cookie, nothing stored).

Playwright is imported when a test needs it: `make test` collects these tests without having it.
"""

import asyncio
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from lexarbor.corpus.sources import read_tiny
from lexarbor.search.building import build_index
from lexarbor.search.lexical import tuned
from lexarbor.serve.pages.words import words
from serving import Server, running

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Dialog, Locator, Page, Request

ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--in-process-gpu", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
)
SECONDS = 15
"""For how long a thing on the page is waited for: the machine may be busy."""
TELL_VIOLATIONS = """document.addEventListener("securitypolicyviolation", (event) =>
    console.error(`forbidden by the policy: ${event.violatedDirective} ${event.blockedURI}`));"""
KEPT = "async () => [localStorage.length, sessionStorage.length, (await indexedDB.databases()).length]"


class Visitor:
    """A person with a browser of their own, which starts with nothing and is watched."""

    def __init__(self, browser: "Browser", home: str, lang: str = "fr", **options: Any) -> None:
        self.home, self._words = home.rstrip("/"), words(lang)
        self.gone = False
        self.faults: list[str] = []
        self.refused: set[int] = set()
        """The statuses of refusals that the test asks for: the browser tells each as an error."""
        options = {"viewport": {"width": 1280, "height": 900}, "base_url": self.home} | options
        self.context = browser.new_context(**options)
        self.context.set_default_timeout(SECONDS * 1000)
        self.context.add_init_script(TELL_VIOLATIONS)
        self.context.on("console", self._heard)
        self.context.on("weberror", lambda error: self.faults.append(f"an error of the script: {error.error}"))
        self.context.on("request", self._sent)
        self.context.on("dialog", self._disturbed)
        self.page: Page = self.context.new_page()

    def open(self, path: str, status: int = 200) -> "Page":
        """Go to an address, which answers with this status."""
        if status != 200:
            self.refused.add(status)
        answer = self.page.goto(path)
        assert answer is not None
        assert answer.status == status, f"{path}: {answer.status}"
        return self.page

    @contextmanager
    def going(self) -> Iterator[None]:
        """What is done here leads to another page."""
        with self.page.expect_navigation():
            yield

    def click(self, target: "str | Locator") -> "Page":
        """Follow a link or press a button that leads to another page."""
        with self.going():
            (self.page.locator(target) if isinstance(target, str) else target).click()
        return self.page

    def ask(self, question: str) -> "Page":
        """Type a question into the box of this page, and press Enter."""
        self.page.locator("[data-slash]").fill(question)
        with self.going():
            self.page.keyboard.press("Enter")
        return self.page

    def t(self, key: str, **values: Any) -> str:
        """A phrase of the page, in this visitor's language; all spaces alike, as `texts` has them."""
        return " ".join(self._words(key, **values).split())

    @property
    def path(self) -> str:
        return urlsplit(self.page.url).path

    def texts(self, selector: str) -> list[str]:
        """What the places that are seen say."""
        return [" ".join(text.split()) for text in self.page.locator(f"{selector}:visible").all_inner_texts()]

    def leave(self) -> None:
        """Close the browser, and look at what was noticed and what is left behind."""
        self.gone = True
        for page in self.context.pages:
            if page.url.startswith(self.home) and any(kept := page.evaluate(KEPT)):
                self.faults.append(f"something stored (local, session, database): {kept}")
        self.faults += [f"a cookie: {cookie}" for cookie in self.context.cookies()]
        self.context.close()
        assert not self.faults, "\n".join(self.faults)

    def _heard(self, message: "ConsoleMessage") -> None:
        told = message.text
        expected = any(told.startswith(f"Failed to load resource: {_status(one)}") for one in self.refused)
        if message.type in ("error", "warning") and not expected:
            self.faults.append(f"told in the console: {told}")

    def _sent(self, request: "Request") -> None:
        if not request.url.startswith(f"{self.home}/"):
            self.faults.append(f"a request to somewhere else: {request.url}")

    def _disturbed(self, dialog: "Dialog") -> None:
        self.faults.append(f"a dialog: {dialog.message}")
        dialog.dismiss()


def _status(status: int) -> str:
    return f"the server responded with a status of {status} "


Visiting = Callable[..., Visitor]


@contextmanager
def quiet(*arguments: str | Path, **variables: str) -> Iterator[Server]:
    """A server that logs nothing until it is ended."""
    with running("serve", "--rate", "0", *arguments, **variables) as server:
        yield server
        server.end(signal.SIGTERM)
        assert server.err.endswith("(Ctrl-C ends it)\n"), server.err


@pytest.fixture(scope="session")
def served(hybrid: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server over the tiny corpus."""
    with quiet("--index", hybrid, LEXARBOR_CACHE=str(tmp_path_factory.mktemp("cache"))) as server:
        yield server.url


@pytest.fixture(scope="session")
def earlier() -> date:
    """A day whose law is held beside the law as it stands."""
    return date(2021, 3, 1)


@pytest.fixture(scope="session")
def indexed() -> Callable[[Path, date], None]:
    """Index the tiny corpus of a day, by words alone, as a law of which other days can be had."""

    def indexed(folder: Path, day: date) -> None:
        build_index(read_tiny().as_of(day), folder, source="own", settings=tuned("headings+text"))

    return indexed


@pytest.fixture(scope="session")
def days_folder(indexed: Callable[[Path, date], None], earlier: date, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cache of `dated`, with the law of two days."""
    cache = tmp_path_factory.mktemp("days")
    indexed(cache / "index", date(2026, 1, 1))
    indexed(cache / f"index-{earlier}", earlier)
    return cache


STRANGE = """from lexarbor.search import engine, outside; from lexarbor.serve import laws; \
laws._prepare = lambda day: None; \
engine.judged = lambda scored, recollection: outside.Outside(0.83, ("Code civil", "Code de la route"))"""


@pytest.fixture(scope="session")
def dated(days_folder: Path) -> Iterator[str]:
    """The address of a server with the law of several days. It never gets ready with a day that it has to prepare, and
    takes every question that names no article for one about other law.
    """
    with quiet("--days", "3", before=STRANGE, LEXARBOR_CACHE=str(days_folder)) as server:
        yield server.url


class Chromium(NamedTuple):
    """A browser that sleeps between the tests that use it.

    Playwright leaves its event loop marked as the one that runs in this thread, also between two calls. Tests of other
    rooms could not run a loop of their own then.
    """

    browser: "Browser"
    loop: asyncio.AbstractEventLoop

    @contextmanager
    def awake(self) -> "Iterator[Browser]":
        asyncio._set_running_loop(self.loop)
        try:
            yield self.browser
        finally:
            asyncio._set_running_loop(None)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Chromium]:
    from playwright.sync_api import expect, sync_playwright

    program = shutil.which("chromium")
    assert program, "the browser's tests need Debian's package chromium: `make test-all` installs it"
    expect.set_options(timeout=SECONDS * 1000)
    playwright = sync_playwright().start()
    chromium = Chromium(playwright.chromium.launch(executable_path=program, args=ARGUMENTS), asyncio.get_running_loop())
    asyncio._set_running_loop(None)
    yield chromium
    with chromium.awake() as browser:
        browser.close()
        playwright.stop()


@pytest.fixture
def visiting(chromium: Chromium, served: str) -> Iterator[Visiting]:
    """Visitors of the page, by the options of a browser's context. When the test is over, each is looked after."""
    visitors: list[Visitor] = []
    with chromium.awake() as browser:

        def visiting(home: str = served, **options: Any) -> Visitor:
            visitors.append(Visitor(browser, home, **options))
            return visitors[-1]

        yield visiting
        for visitor in visitors:
            if not visitor.gone:
                visitor.leave()


@pytest.fixture
def visitor(visiting: Visiting) -> Visitor:
    """One at a desk: a wide window, a keyboard and a mouse."""
    return visiting()


@pytest.fixture(scope="session")
def axe() -> str:
    """The script of axe-core."""
    file = Path(sys.prefix) / "axe/node_modules/axe-core/axe.min.js"
    assert file.is_file(), "the browser's tests need axe-core: `make test-all` installs it"
    return file.read_text(encoding="utf-8")
