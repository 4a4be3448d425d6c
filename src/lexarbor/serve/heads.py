"""How a request's head is read: one that has no end, or that takes too long to come, ends the connection, and so does
an answer that is not read.

uvicorn leaves this to a reverse proxy; not everybody has one.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_BYTES = 64 * 1024
"""Of a request line and headers."""
SECONDS = 15.0
"""From the first byte, or from the connection, to the end of the head."""
UNREAD_SECONDS = 30.0
"""In which a client that does not read at all is given up."""


class BoundedHeads(HttpToolsProtocol):
    """uvicorn's protocol, less patient."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._read = 0
        """Bytes of the head that is being read."""
        self._unread = 0
        """Bytes of an answer that were not taken when it was last looked at."""
        self._clock: asyncio.TimerHandle | None = None
        """Runs while a head is being read."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._begin()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._read += len(data)
        if self._clock and self._read > MOST_BYTES:
            self.transport.close()

    def on_message_begin(self) -> None:
        self._begin()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._end()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end()
        super().connection_lost(exc)

    def timeout_keep_alive_handler(self) -> None:
        """An answer that is not read would be held for ever: closing waits until all is sent."""
        left = self.transport.get_write_buffer_size()
        if left and left != self._unread:
            self._unread = left
            self.timeout_keep_alive_task = self.loop.call_later(UNREAD_SECONDS, self.timeout_keep_alive_handler)
        elif left:
            self.transport.abort()
        else:
            super().timeout_keep_alive_handler()

    def _begin(self) -> None:
        self._end()
        self._read = 0
        self._clock = self.loop.call_later(SECONDS, self.transport.close)

    def _end(self) -> None:
        if self._clock:
            self._clock.cancel()
            self._clock = None
