"""Clients that behave badly, and bait that must come out inert. For measure_serve.py."""

import asyncio
import contextlib
import json
import socket
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Coroutine
from html.parser import HTMLParser
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from serve_load import HOST, Ask, Line, Reply, elsewhere, form, once, request, search

GENTLE, ABUSER = "127.0.0.2", "127.0.0.3"
"""All of 127/8 is this machine: the two have buckets of their own."""
BIG = 10 * 1024 * 1024
Told = Counter[str]
"""What clients were told, and how often."""
Abuser = Callable[[int, float, Told], Coroutine[Any, Any, None]]
"""Is given a port, for how many seconds to go on, and where to count what it was told."""


async def _drip(port: int, seconds: float, told: Told, begun: bytes) -> None:
    """Begin a request, and go on with a byte a second."""
    async with Line(port, ABUSER) as line:
        line.writer.write(begun)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            with contextlib.suppress(TimeoutError):
                reply = await asyncio.wait_for(line.reader.read(64), 1)
                told[_status(reply)] += 1
                return
            line.writer.write(b"a")
        told["still open"] += 1


def _status(reply: bytes) -> str:
    return reply[9:12].decode() if reply else "closed"


async def slow_head(port: int, seconds: float, told: Told) -> None:
    await _drip(port, seconds, told, b"GET /api/health HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")


async def slow_body(port: int, seconds: float, told: Told) -> None:
    await _drip(port, seconds, told, request("POST", "/api/search", b"x" * 1000)[:-1000])


async def big_body(port: int, seconds: float, told: Told, *, chunked: bool = False, head: bool = False) -> None:
    """Again and again, 10 MB: as a body whose length is told, in chunks, or as one line of the head."""
    piece = b"x" * 65536
    if head:
        begun = b"GET /api/health HTTP/1.1\r\nHost: localhost\r\nX-Long: "
    elif chunked:
        begun = b"POST /api/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        begun, piece = begun + b"Transfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + piece + b"\r\n"
    else:
        begun = request("POST", "/api/search", b"x")[:-1].replace(b"Length: 1\r\n", b"Length: %d\r\n" % BIG)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            async with Line(port, ABUSER) as line:
                answered = asyncio.create_task(line.reader.read(64))
                line.writer.write(begun)
                for _ in range(BIG // 65536):
                    if answered.done():
                        break
                    line.writer.write(piece)
                    await line.writer.drain()
                await asyncio.wait([answered], timeout=max(until - time.monotonic(), 1))
                told[_status(answered.result()) if answered.done() else "no answer"] += 1
                answered.cancel()
        except OSError:
            told["cut off"] += 1
            await asyncio.gather(answered, return_exceptions=True)


async def never_read(port: int, seconds: float, told: Told) -> None:
    """Ask for all that can be had, several times, and read none of it."""
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        held.setblocking(False)
        held.bind((ABUSER, 0))
        loop = asyncio.get_running_loop()
        await loop.sock_connect(held, (HOST, port))
        with contextlib.suppress(OSError):
            await loop.sock_sendall(held, search("Puis-je être licencié ?", k=100, explain=True) * 8)
        await asyncio.sleep(seconds)
        told["not read"] += 1


async def hammer(port: int, seconds: float, told: Told) -> None:
    """As fast as it can, all from one address."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            async with Line(port, ABUSER) as line:
                while time.monotonic() < until:
                    told[str((await line.exchange(form("congés"))).status)] += 1
        except (OSError, EOFError, TimeoutError):
            told["cut off"] += 1


class Abuse(NamedTuple):
    what: str
    clients: int
    abuser: Abuser
    seconds: float = 15
    limited: bool = False
    """Whether the server limits the rate of a client."""


async def _chunked(port: int, seconds: float, told: Told) -> None:
    await big_body(port, seconds, told, chunked=True)


async def _long_head(port: int, seconds: float, told: Told) -> None:
    await big_body(port, seconds, told, head=True)


ABUSES = [
    Abuse("the head of a request, a byte a second", 200, slow_head, 40),
    Abuse("a body announced, then a byte a second", 50, slow_body, 20),
    Abuse("bodies of 10 MB, length told", 20, big_body),
    Abuse("bodies of 10 MB in chunks", 20, _chunked),
    Abuse("a line of 10 MB in the head", 20, _long_head),
    Abuse("8 answers of 100 whole articles asked for, none read", 20, never_read, 40),
    Abuse("asking without pause, above the rate", 8, hammer, limited=True),
]


async def abused(port: int, abuse: Abuse, questions: list[str], look: Callable[[], dict[str, float]]) -> dict[str, Any]:
    """A gentle client before and during an abuse. `look` tells how the server is; it is asked before and at the end."""

    async def asked(seconds: float) -> dict[str, Any]:
        asks = [Ask(search(question, k=10)) for question in questions[: round(5 * seconds)]]
        return await elsewhere(port=port, asks=asks, source=GENTLE)

    before = await asked(10)
    told: Told = Counter()
    looked = look()
    at_work = [asyncio.create_task(abuse.abuser(port, abuse.seconds, told)) for _ in range(abuse.clients)]
    await asyncio.sleep(1)
    during = await asked(abuse.seconds - 3)
    held = look()
    await asyncio.gather(*at_work)
    return {"before": before, "during": during, "told": told, "looked": (looked, held)}


MARK = "zqbait7"
BAITS = [
    f"<script>{MARK}()</script>", f'"><script src=//{MARK}></script>', f"'><img src=x onerror={MARK}()>",
    f'" autofocus onfocus="{MARK}()', f"' onmouseover='{MARK}()", f"</textarea><{MARK}>", f"</title><{MARK}>",
    f"<svg/onload={MARK}()>", f"<!--{MARK}--><b>", f"javascript:{MARK}()", f"//{MARK}.example/", f"/\\{MARK}.example",
    f"{{{{7*7}}}}{MARK}{{% raw %}}", f"{MARK}\r\nSet-Cookie: {MARK}=1", f"{MARK}\r\n\r\n<script>{MARK}()</script>",
    f"{MARK}\nX-Injected: {MARK}", f"{MARK}%0d%0aSet-Cookie:%20{MARK}=1", f"{MARK}嘍嘊Set-Cookie: {MARK}",
    f"congés payés <mark onclick={MARK}()>licenciement</mark>", f"L1234-9<iframe src={MARK}>",
    f"{MARK}\u2028<style>@import'//{MARK}'</style>", f"]]><{MARK}/>", f"+ADw-script+AD4-{MARK}", f"\x00<{MARK}\x00>",
    f"&lt;script&gt;{MARK}&#60;script&#62;", f"%3Cscript%3E{MARK}", f"<scr<script>ipt>{MARK}</scr</script>ipt>",
]  # fmt: skip
FORM = "application/x-www-form-urlencoded"
_FIXED = {"question": "congés payés"}


def baited(bait: str) -> dict[str, bytes]:
    """Requests that hold a bait, by the place where it stands."""
    at, q = quote(bait, safe=""), {"q": "congés payés"}
    plain = "".join(one for one in bait if one >= " ").encode("utf-8")
    found = {}
    for name in ("q", "k", "code", "under", "as_of", "explain", bait):
        found[f"api ?{name[:8]}"] = request("GET", "/api/search?" + urlencode(q | {name: bait}))
    for name in ("question", "k", "codes", "under", "as_of", "explain", "questions", bait):
        value = [bait] if name in ("codes", "under", "questions") else bait
        given = ({} if name == "questions" else _FIXED) | {name: value}
        found[f"api body {name[:8]}"] = request("POST", "/api/search", json.dumps(given).encode())
    found["api body"] = request("POST", "/api/search", bait.encode())
    found["api type"] = request("POST", "/api/search", b"{}", more=b"X-Api-Key: " + plain + b"\r\n")
    for path in ("/api/articles/", "/api/tree/", "/article/", "/loi/", "/recherche/", "/", "/en/article/", "/en/law/",
                 "/en/search/", "/en/", "/static/", "/api/"):  # fmt: skip
        found[path] = request("GET", path + at)
    found["related"] = request("GET", f"/api/articles/{at}/related")
    for page in ("/recherche", "/en/search"):
        for name in ("q", "k", "code", "as_of"):
            given_form = urlencode(q | {name: bait})
            found[f"{page} ?{name}"] = request("GET", f"{page}?{given_form}")
            found[f"{page} form {name}"] = request("POST", page, given_form.encode(), FORM)
    for page in ("/loi", "/article/LEGIARTI000033020833", "/api/tree"):
        found[f"{page} ?as_of"] = request("GET", f"{page}?as_of={at}")
    for name in ("Referer", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Prefix", "Accept-Language", "Origin"):
        found[name] = request("POST", "/recherche", b"q=x", FORM, f"{name}: ".encode() + plain + b"\r\n")
        found[f"{name} /en"] = request("GET", "/en", more=f"{name}: ".encode() + plain + b"\r\n")
    found["Host"] = request("GET", "/en").replace(b"Host: " + HOST.encode(), b"Host: " + plain)
    return found


HARMLESS = [
    *(("GET", path, b"") for path in (
        "/", "/loi", "/loi/LEGITEXT000006072050", "/article/LEGIARTI000033020833", "/article/x", "/donnees",
        "/confidentialite", "/aide", "/api", "/recherche?q=L9999-99", "/recherche?q=recette+de+tarte",
    )),
    *(("POST", "/recherche", f"q={q}&k={k}".encode()) for q in ("licenciement", "L1234-9", "xyzzy") for k in (1, 30)),
]  # fmt: skip
"""What shows the elements of the templates."""


class Elements(HTMLParser):
    """The elements of a page with their attributes, and what is dangerous in any page."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: defaultdict[str, set[str]] = defaultdict(set)
        self.dangers: list[str] = []
        self._in_script = False
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found[tag] |= {name for name, _ in attrs}
        given = dict(attrs)
        self._in_script = tag == "script"
        if tag == "script" and not (given.get("src") or "").startswith("/static/"):
            self.dangers.append("a script that is not ours")
        for name, value in attrs:
            if name.startswith("on") or name == "style":
                self.dangers.append(f"attribute {name}")
            address = (value or "").strip().lower()
            ours = address.startswith(("/", "#", "https://")) and not address.startswith(("//", "/\\"))
            if name in ("href", "src", "action", "formaction", "xlink:href") and not ours:
                self.dangers.append(f"{name} leads to {address[:40]!r}")

    def handle_endtag(self, tag: str) -> None:
        self._in_script = False

    def handle_data(self, data: str) -> None:
        if self._in_script and data.strip():
            self.dangers.append("words within a script")

    def handle_comment(self, data: str) -> None:
        if MARK in data:
            self.dangers.append("bait in a comment")


def dangers(reply: Reply, known: dict[str, set[str]]) -> list[str]:
    """What is wrong with an answer to bait."""
    head, kind = reply.head.lower(), reply.header(b"content-type")
    found = ["bait in a header"] if MARK.encode() in head else []
    found += [f"header {name.decode()}" for name in (b"set-cookie", b"x-injected") if name in head]
    if reply.status >= 500:
        found.append(f"status {reply.status}")
    if kind.startswith(b"text/html"):
        page = Elements(reply.body.decode())
        more = [f"<{tag}>" for tag in page.found if tag not in known]
        more += [f"<{tag} {name}>" for tag in page.found if tag in known for name in page.found[tag] - known[tag]]
        return found + page.dangers + more
    if kind.startswith(b"application/json"):
        json.loads(reply.body)
        return found + ([] if reply.header(b"x-content-type-options") == b"nosniff" else ["JSON without nosniff"])
    return found + ([f"bait in {kind.decode() or 'an answer of no type'}"] if MARK.encode() in reply.body else [])


async def try_baits(port: int) -> dict[str, Any]:
    """Every bait at every place."""

    async def asked(raw: bytes) -> list[Reply]:
        replies = [await once(port, raw)]
        if replies[0].status == 303:
            replies.append(await once(port, request("GET", replies[0].header(b"location").decode())))
        return replies

    known: defaultdict[str, set[str]] = defaultdict(set)
    for lang in ("fr", "en"):
        for method, path, body in HARMLESS:
            there = path if lang == "fr" else "/en" + path.replace("/recherche", "/search").replace("/loi", "/law")
            for reply in await asked(request(method, there, body, FORM)):
                for tag, names in Elements(reply.body.decode()).found.items():
                    known[tag] |= names
    tried, harmful, statuses = 0, {}, Counter[str]()
    for bait in BAITS:
        places = baited(bait)
        for place, replies in zip(places, await asyncio.gather(*map(asked, places.values())), strict=True):
            for reply in replies:
                tried += 1
                statuses[str(reply.status)] += 1
                if wrong := dangers(reply, known):
                    harmful[f"{place}: {bait!r}"] = wrong
    return {"tried": tried, "harmful": harmful, "statuses": statuses, "baits": len(BAITS), "places": len(baited("x"))}
