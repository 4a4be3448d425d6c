"""What a server refuses, in one shape: a status, a code for programs, a sentence for people.

No message repeats what was asked, nor any other words of the request.
"""

from typing import Any, NamedTuple


class Kind(NamedTuple):
    status: int
    message: str
    """In English, for programs and those who write them; pages have their own words by the code."""


KINDS = {
    "bad_request": Kind(400, "the request cannot be understood: see /api for what can be asked"),
    "key_needed": Kind(401, "this API needs a key: send it as 'Authorization: Bearer KEY'"),
    "not_found": Kind(404, "there is nothing at this address: see /api for what can be asked"),
    "article_not_held": Kind(404, "no article in force in the law held has this id"),
    "section_not_held": Kind(404, "no code or section of the law held has this id"),
    "day_not_held": Kind(404, "the law of this day is not held here: ask for a day from {first} to {last}"),
    "one_day": Kind(404, "the law of one day alone is held here, that of {only}"),
    "day_not_prepared": Kind(404, "the law of this day is not held here, and no further day is prepared; held: {held}"),
    "method_not_allowed": Kind(405, "this address cannot be asked in this way: see /api"),
    "too_slow": Kind(408, "the request took too long to arrive: send it at once"),
    "expired": Kind(410, "this address of a search has expired: ask again"),
    "too_large": Kind(413, "the request is larger than {most} bytes: send less"),
    "invalid": Kind(422, "some values are missing or wrong: 'fields' tells which"),
    "question_empty": Kind(422, "the question is empty: ask something like 'Puis-je être licencié pendant un arrêt ?'"),
    "question_long": Kind(422, "the question has more than {most} characters: ask it in a few sentences"),
    "question_unreadable": Kind(422, "the question holds bytes that are no text: send it as UTF-8"),
    "k": Kind(422, "k is out of bounds: ask for 1 to {most} articles"),
    "day": Kind(422, "as_of is not a day: write it as YYYY-MM-DD"),
    "code": Kind(422, "a code was named that is not held; held are {held}"),
    "heading": Kind(422, "no heading of the law has the words given in 'under'"),
    "too_many": Kind(429, "too many requests in a short time: wait {seconds} s"),
    "failed": Kind(500, "Lexarbor failed; the server's log tells where, and not what was asked"),
    "busy": Kind(503, "too many questions are waiting: ask again in a moment"),
    "timeout": Kind(503, "the answer took too long: ask again in a moment"),
    "preparing": Kind(503, "the law of this day is being prepared, which takes some minutes: ask again"),
    "day_failed": Kind(503, "the law of this day could not be prepared; the server's log tells why"),
}
_AGAIN = {"busy": 2, "timeout": 2, "preparing": 15, "day_failed": 600}
"""Seconds after which to come back."""
BY_STATUS = {
    400: "bad_request", 401: "key_needed", 404: "not_found", 405: "method_not_allowed", 408: "too_slow",
    413: "too_large", 422: "invalid", 429: "too_many",
}  # fmt: skip
"""The code of what others than we refuse."""


class Refusal(Exception):  # noqa: N818 - nothing has gone wrong
    """Something that is refused."""

    def __init__(self, code: str, *, retry_after: int | None = None, more: dict[str, Any] | None = None, **values: Any):
        """`values` fill the message; `more` is told beside it."""
        self.code = code
        self.values = values
        self.status = KINDS[code].status
        self.message = KINDS[code].message.format(**values)
        self.retry_after = retry_after or _AGAIN.get(code)
        self.more = more or {}
        super().__init__(self.message)

    @property
    def headers(self) -> dict[str, str]:
        found = {"Retry-After": str(self.retry_after)} if self.retry_after else {}
        return found | ({"WWW-Authenticate": "Bearer"} if self.status == 401 else {})

    def as_dict(self) -> dict[str, Any]:
        return {"error": {"code": self.code, "message": self.message, **self.more}}
