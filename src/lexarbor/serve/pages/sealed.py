"""Questions in addresses that tell nobody anything.

The form is sent by POST, so that the question is in no address; but a page that answers a POST cannot be gone back to.
So the answer to the POST is an address in which the question stands encrypted, with a key that only the running server
has: back, reload and bookmarks work until it is started again, and nothing is kept anywhere.
"""

import base64
import hashlib
import json
import zlib
from datetime import date

from cryptography.fernet import Fernet, InvalidToken

from lexarbor.serve.asking import Asked
from lexarbor.serve.failures import Refusal

LONGEST = 30_000
"""Characters of an address that are looked at."""


class Seal:
    """Encrypts and opens what was asked on the page."""

    def __init__(self, secret: str) -> None:
        self._fernet = Fernet(base64.urlsafe_b64encode(hashlib.sha256(secret.encode()).digest()))

    def close(self, asked: Asked) -> str:
        told = [asked.question, asked.k, asked.codes, asked.as_of and asked.as_of.isoformat()]
        packed = zlib.compress(json.dumps(told, ensure_ascii=False).encode("utf-8", "surrogatepass"), 9)
        sealed = self._fernet.encrypt(packed).decode().rstrip("=")
        if len(sealed) > LONGEST:  # no question is: what is too long are the names of codes
            raise Refusal("too_large", most=LONGEST)
        return sealed

    def open(self, sealed: str) -> Asked:
        """What `close` has closed; anything else is refused as out of date."""
        if len(sealed) > LONGEST or not sealed.isascii():
            raise Refusal("expired")
        try:
            packed = self._fernet.decrypt(sealed + "=" * (-len(sealed) % 4))
        except InvalidToken:
            raise Refusal("expired") from None
        question, k, codes, day = json.loads(zlib.decompress(packed))
        return Asked(question, k, tuple(codes), as_of=day and date.fromisoformat(day))
