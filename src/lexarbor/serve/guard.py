"""What stands before every route: security headers, the API's key, the rate of a client, the size and time of a
request, counting; and the last resort where something breaks.

Plain ASGI and no framework: it is passed by every request.
"""

import asyncio
import hmac
import json
import logging
import re
import time
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any

from lexarbor.errors import place_of
from lexarbor.serve import metrics
from lexarbor.serve.failures import Refusal
from lexarbor.serve.limits import TokenBuckets
from lexarbor.serve.settings import ServeSettings, digest

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Respond = Callable[[Scope, Refusal], Awaitable[App]]
"""Makes the answer that tells a refusal, as a page or as JSON."""

SECURITY = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), browsing-topics=()",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""On every answer, unless the route has set one itself."""
OPEN = ("/api/health", "/api/version", "/api/openapi.json")
"""What needs no key."""
FREE = re.compile(r"/static/.*|/api/health")
"""What costs a client nothing."""
LARGEST_FORM = 64 * 1024
"""Bytes of the page's form; the API's bodies may hold many questions."""
MOST_PARAMETERS = 100
"""Of an address."""

POURED_BYTES, POURED_SECONDS = 32 * 1024 * 1024, 2.0
"""How much of a body that is too large is still taken in."""

_log = logging.getLogger(__name__)


class Guard:
    """Wraps the whole application."""

    def __init__(self, app: App, settings: ServeSettings, respond: Respond) -> None:
        self._app, self._settings, self._respond = app, settings, respond
        self._buckets = TokenBuckets(settings.rate / settings.workers, settings.burst)
        self._headers = [(name.encode(), value.encode()) for name, value in SECURITY.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        body = _Body(scope, receive, self._settings)
        answered = _Answered(send, self._headers, body)
        scope["lexarbor.charge"] = lambda cost: self._charge(scope, 1 + cost, paid=1)
        try:
            self._check(scope)
            body.check()
            await self._app(scope, body, answered)
        except Refusal as refusal:
            await self._refuse(scope, receive, answered, refusal)
        except Exception as error:
            _log.error("%s", place_of(error))
            await self._refuse(scope, receive, answered, Refusal("failed"))
        finally:
            route = _route(scope)
            metrics.requests.labels(route, _method(scope), str(answered.status)).inc()
            metrics.request_seconds.labels(route).observe(time.perf_counter() - began)

    def _check(self, scope: Scope) -> None:
        path: str = scope["path"]
        if not FREE.fullmatch(path):
            self._charge(scope, 1)
        if scope["query_string"].count(b"&") >= MOST_PARAMETERS:
            raise Refusal("bad_request")
        if self._settings.keys and _guarded(path) and not self._has_key(scope):
            raise Refusal("key_needed")

    def _charge(self, scope: Scope, cost: int, paid: int = 0) -> None:
        client = scope.get("client")
        if seconds := self._buckets.take(client[0] if client else "", cost, paid):
            raise Refusal("too_many", retry_after=seconds, seconds=seconds)

    def _has_key(self, scope: Scope) -> bool:
        headers = dict(scope["headers"])
        kind, _, given = headers.get(b"authorization", b"").decode("utf-8", "replace").partition(" ")
        if kind.lower() != "bearer":
            given = headers.get(b"x-api-key", b"").decode("utf-8", "replace")
        found = digest(given.strip())
        return any(hmac.compare_digest(found, key) for key in self._settings.keys)

    async def _refuse(self, scope: Scope, receive: Receive, answered: "_Answered", refusal: Refusal) -> None:
        if answered.status:  # too late: the answer has begun
            return
        try:
            answer = await self._respond(scope, refusal)
        except Exception as error:
            _log.error("%s", place_of(error))
            answer = _bare
        await answer(scope, receive, answered)


class _Answered:
    """`send` with our headers, which notes the status."""

    def __init__(self, send: Send, headers: list[tuple[bytes, bytes]], body: "_Body") -> None:
        self._send, self._headers, self._body = send, headers, body
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            given = list(message.get("headers", ()))
            names = {name.lower() for name, _ in given}
            ours = [(name, value) for name, value in self._headers if name not in names]
            if self.status in (408, 413) or self._body.is_left:
                ours.append((b"connection", b"close"))
            if self.status == 413:
                await self._body.pour_away()
            message = {**message, "headers": [*given, *ours]}
        await self._send(message)


class _Body:
    """`receive` that ends where a body is too large or too slow."""

    def __init__(self, scope: Scope, receive: Receive, settings: ServeSettings) -> None:
        self._receive = receive
        most = settings.largest_body
        self._most = most if scope["path"].startswith("/api/") else min(most, LARGEST_FORM)
        self._until = asyncio.get_running_loop().time() + settings.body_seconds
        self._read = 0
        self._whole = False
        headers = dict(scope["headers"])
        told = headers.get(b"content-length", b"0")
        self._length = int(told) if told.isdigit() else 0
        self._chunked = b"transfer-encoding" in headers

    def check(self) -> None:
        """Refuse a body that tells beforehand that it is too large."""
        if self._length > self._most:
            raise Refusal("too_large", most=self._most)

    @property
    def is_left(self) -> bool:
        """Whether some of it has not been taken in: then nobody waits for the rest."""
        return not self._whole and (self._length > 0 or self._chunked)

    async def __call__(self) -> Message:
        if self._whole:  # what comes now is the end of the connection
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._until):
                message = await self._receive()
        except TimeoutError:
            raise Refusal("too_slow") from None
        self._count(message)
        if self._read > self._most:
            raise Refusal("too_large", most=self._most)
        return message

    async def pour_away(self) -> None:
        """Take in what is still coming, for a moment: a client that is cut off while it sends never sees the answer."""
        with suppress(TimeoutError):
            async with asyncio.timeout(POURED_SECONDS):
                while not self._whole and self._read < POURED_BYTES:
                    self._count(await self._receive())

    def _count(self, message: Message) -> None:
        self._read += len(message.get("body", b""))
        self._whole = not message.get("more_body", False)


async def _bare(scope: Scope, receive: Receive, send: Send) -> None:
    """Told where telling a refusal fails."""
    told = json.dumps(Refusal("failed").as_dict()).encode()
    head = [(b"content-type", b"application/json"), (b"content-length", str(len(told)).encode())]
    await send({"type": "http.response.start", "status": 500, "headers": head})
    await send({"type": "http.response.body", "body": told})


def _guarded(path: str) -> bool:
    return path == "/metrics" or (path.startswith("/api/") and not path.startswith(OPEN))


def _route(scope: Scope) -> str:
    """The route's pattern: an address may hold words of the asker."""
    route = scope.get("route")
    return getattr(route, "path", None) or "other"


def _method(scope: Scope) -> str:
    method: str = scope["method"]
    return method if method in ("GET", "HEAD", "POST", "OPTIONS", "PUT", "DELETE", "PATCH") else "other"
