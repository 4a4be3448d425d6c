"""The page's addresses. French ones stand at the root, English ones under /en; each page has the same place in both."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import date
from functools import cache
from importlib.resources import files
from urllib.parse import quote, urlencode

PATHS = {
    "home": ("/", "/en/"),
    "search": ("/recherche", "/en/search"),
    "sealed": ("/recherche/{sealed}", "/en/search/{sealed}"),
    "tree": ("/loi", "/en/law"),
    "section": ("/loi/{id}", "/en/law/{id}"),
    "article": ("/article/{id}", "/en/article/{id}"),
    "data": ("/donnees", "/en/data"),
    "privacy": ("/confidentialite", "/en/privacy"),
    "help": ("/aide", "/en/help"),
    "api": ("/api", "/en/api"),
}
"""By the name of a page: its address in French and in English."""
_LASTING = frozenset(("tree", "section", "article"))
"""Pages that keep to the day that was chosen."""


class Links:
    """Addresses as seen from one page."""

    def __init__(self, lang: str, root: str = "", as_of: date | None = None) -> None:
        self.lang, self.root, self.as_of = lang, root, as_of

    def __call__(self, name: str, **values: str) -> str:
        path = self.root + PATHS[name][self.lang == "en"]
        path = path.format(**{key: quote(value, safe="") for key, value in values.items()})
        return f"{path}?as_of={self.as_of}" if self.as_of and name in _LASTING else path

    def json(self, *path: str, **values: str | Sequence[str]) -> str:
        """An address of the API."""
        return self._asking(f"{self.root}/api/{'/'.join(quote(part, safe='') for part in path)}", values)

    def share(self, question: str, codes: Sequence[str]) -> str:
        """The address of a search with the question in it."""
        return self._asking(self("search"), {"q": question, "code": codes})

    def _asking(self, path: str, values: Mapping[str, str | Sequence[str]]) -> str:
        given = {name: value for name, value in values.items() if value}
        if self.as_of:
            given["as_of"] = str(self.as_of)
        return f"{path}?{urlencode(given, doseq=True)}" if given else path

    def asset(self, name: str) -> str:
        """A static file; the address changes with its content, so that browsers may keep it."""
        return f"{self.root}/static/{name}?v={_fingerprint(name)}"


@cache
def _fingerprint(name: str) -> str:
    return hashlib.sha256((files("lexarbor.serve") / "static" / name).read_bytes()).hexdigest()[:12]
