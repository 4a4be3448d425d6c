"""The citation grammar against the links that LEGI's HTML carries on some citations, over the whole default law.

    python benchmarks/compare_links.py

A link names the code it leads to. The grammar gives each linked number the same code, or another.
Links are uneven and have errors of their own (an R. linked as an L.), so this is an agreement, not a truth.
"""

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

from lexarbor.corpus import packages
from lexarbor.corpus.citations import ReferenceResolver
from lexarbor.corpus.legi import read_legi
from lexarbor.corpus.references import parse
from lexarbor.corpus.sources import DEFAULT_LAW
from lexarbor.corpus.tarballs import read_members

_LINK = re.compile(r'<a [^>]*?href="[^"]*cidTexte=(\w+)[^"]*"[^>]*>(.*?)</a>', re.DOTALL)
_TAG = re.compile(r"<[^>]+>")


def articles(tarball: Path) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Id, HTML and, by `cid`, the ids of the codes."""
    codes = {}
    members = read_members(tarball, lambda name: name.startswith("data/LEGITEXT"))
    roots = [json.loads(content) for _, content in members]
    for root in roots:
        codes[root["data"]["cid"]] = root["data"]["id"]
    for root in roots:
        waiting: list[Any] = [root]
        while waiting:
            node = waiting.pop()
            waiting.extend(node.get("children", ()))
            if node["type"] == "article":
                yield node["data"]["id"], node["data"]["texteHtml"] or "", codes


def main() -> None:
    tarball = packages.fetch(packages.package(DEFAULT_LAW))
    law = read_legi(tarball)
    resolver = ReferenceResolver(law)
    agree = differ = 0
    for id, html, codes in articles(tarball):
        article = law.articles[id]
        given: dict[str, set[str | None]] = {}
        for reference in parse(article.text):
            for number in (reference.first, reference.last):
                given.setdefault(number, set()).add(resolver.code_of(reference, here=article.code))
        for code, words in _LINK.findall(html):
            for linked in parse(unescape(_TAG.sub("", words))):
                if linked.first[0].isalpha():
                    same = codes.get(code) in given.get(linked.first, ())
                    agree += same
                    differ += not same
    print(f"{agree + differ:,} linked numbers; the grammar names the link's code for {agree / (agree + differ):.1%}")


if __name__ == "__main__":
    main()
