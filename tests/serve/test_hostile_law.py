"""A law whose every word is bait: whatever a source holds, a page shows it as text."""

from datetime import date
from html.parser import HTMLParser

import pytest
from fastapi.testclient import TestClient

from lexarbor.corpus.law import Article, Code, Section
from lexarbor.corpus.tree import LawTree
from lexarbor.search.building import build_index
from lexarbor.search.lexical import tuned
from lexarbor.serve.app import build_app
from lexarbor.serve.laws import Laws
from lexarbor.serve.settings import ServeSettings

BAIT = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'><a href='javascript:alert(3)' style=x>bruit</a>{{7*7}}"
PAGES = ("/", "/recherche?q=bruit", "/loi", "/loi/S", "/article/A", "/article/B", "/donnees", "/en/article/A")


class Seen(HTMLParser):
    """Elements and attributes that could do something."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.scripts: list[str | None] = []
        self.bad: list[tuple[str, str]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "script":
            self.scripts.append(dict(attrs).get("src"))
        for name, value in attrs:
            if name.startswith("on") or name in ("style", "srcdoc") or (value or "").lower().startswith("javascript:"):
                self.bad.append((tag, name))

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    law = LawTree(
        [
            Code("C", f"Code {BAIT}"),
            Section("S", f"Titre {BAIT}", 1, "C"),
            Article("A", f"1{BAIT}", "C", f"Le bruit. {BAIT}\n- {BAIT}\nB | {BAIT}\nC | {BAIT}", ("S",), note=BAIT),
            Article("B", "2", "C", "Le bruit de l'article 1.", ("S",)),
        ],
        date=date(2026, 1, 1),
        name=BAIT,
    )
    folder = tmp_path_factory.mktemp("hostile") / "index"
    build_index(law, folder, source=BAIT, settings=tuned("headings+text"))
    return TestClient(build_app(Laws(folder), ServeSettings(folder, rate=0)))


@pytest.mark.parametrize("path", PAGES)
def test_bait_is_shown_as_text(hostile: TestClient, path: str) -> None:
    response = hostile.get(path)
    assert response.status_code == 200
    seen = Seen(response.text)
    assert [source for source in seen.scripts if not (source or "").startswith("/static/script.js?v=")] == []
    assert seen.bad == []
    assert "49" not in seen.text.replace("149", "")
    if path.startswith(("/article", "/loi/")):
        assert "<script>alert(1)</script>" in seen.text  # to be read, not to be run
