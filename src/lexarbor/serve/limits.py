"""How much one client may ask: a bucket of tokens for each, filled at a steady rate."""

import hashlib
import ipaddress
import math
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable

MOST_CLIENTS = 10_000
"""Buckets kept; those of clients unheard of for the longest go first, and by then they are full again."""


class TokenBuckets:
    """Clients are known by a keyed hash of their address, whose key dies with the process."""

    def __init__(self, rate: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        """`rate`: tokens a second; 0: no limit."""
        self._rate, self._burst, self._clock = rate, burst, clock
        self._buckets: OrderedDict[bytes, tuple[float, float]] = OrderedDict()
        """By client: how many tokens there were, and when."""
        self._secret = secrets.token_bytes(16)

    def take(self, client: str, cost: int = 1, paid: int = 0) -> int:
        """Take tokens out of a client's bucket. 0 where there were enough; else seconds to wait, and none is taken.

        `paid`: how many of them were taken before, and stay so.
        """
        if not self._rate:
            return 0
        cost = min(cost, self._burst)  # what costs more than a bucket holds costs a full one
        name = self._name(client)
        now = self._clock()
        held, since = self._buckets.pop(name, (float(self._burst), now))
        held = min(held + (now - since) * self._rate, float(self._burst))
        enough = held + paid >= cost
        self._buckets[name] = (held + paid - cost if enough else held, now)
        if len(self._buckets) > MOST_CLIENTS:
            self._buckets.popitem(last=False)
        return 0 if enough else math.ceil((cost - held) / self._rate)

    def _name(self, client: str) -> bytes:
        """An IPv6 client is known by its network: it has more addresses than buckets are kept."""
        try:
            address = ipaddress.ip_address(client)
            if address.version == 6:
                inner = address.ipv4_mapped  # how a socket of both kinds shows an IPv4 client
                client = str(inner or ipaddress.ip_network((int(address), 64), strict=False))
        except ValueError:
            pass  # a socket without an address
        return hashlib.blake2b(client.encode("utf-8", "replace"), digest_size=16, key=self._secret).digest()
