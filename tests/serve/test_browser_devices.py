"""In a real browser: phones, dark mode, paper, less motion, and no JavaScript."""

from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest

if TYPE_CHECKING:
    from browser import Visiting, Visitor

pytestmark = pytest.mark.real
pytest_plugins = ["browser"]

QUESTION = "Combien coûte une place au marché ?"
FAIRS = "Code des fêtes, marchés et jardins de Valombre"
FINES, TABLE = "/article/VALARTI0031", "/article/VALARTI0035"
PAGES = {
    **dict.fromkeys(("/", "/recherche?q=place+de+march%C3%A9", "/recherche?q=%3F!", "/recherche?q=L999-9"), 200),
    **dict.fromkeys((FINES, TABLE, "/article/VALARTI0046", "/article/VALARTI0070", "/loi", "/loi/VALSCTA0103"), 200),
    **dict.fromkeys(("/donnees", "/confidentialite", "/aide", "/api", "/en/", "/en/api", "/en/data"), 200),
    "/rien": 404,
}
"""Every kind of page, with its status."""
OPEN_ALL = "document.querySelectorAll('details').forEach((one) => { one.open = true; })"
TOO_WIDE = """() => document.documentElement.scrollWidth <= innerWidth ? "" : [...document.querySelectorAll("body *")]
    .filter((one) => one.getBoundingClientRect().right > innerWidth + 1 && !one.closest(".scroll"))
    .map((one) => one.outerHTML.slice(0, 100)).join("\\n") || "something"
"""
GROUND = """() => {
    const [ground, ink] = ["backgroundColor", "color"].map((name) => getComputedStyle(document.body)[name]);
    const light = (colour) => colour.match(/\\d+/g).reduce((sum, part) => sum + Number(part), 0) / 765;
    return [light(ground), light(ink)];
}"""
"""How light the ground and the ink are, from 0 to 1."""


def phone(visiting: "Visiting") -> "Visitor":
    return visiting(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)


def test_no_page_scrolls_sideways_on_a_phone(visiting: "Visiting") -> None:
    visitor = phone(visiting)
    for path, status in PAGES.items():
        page = visitor.open(path, status)
        page.evaluate(OPEN_ALL)
        for width in (390, 320):
            page.set_viewport_size({"width": width, "height": 844})
            assert page.evaluate("innerWidth") == width, f"{path} is shrunk to fit"
            assert not (wide := page.evaluate(TOO_WIDE)), f"{path}: {wide}"


def test_on_a_phone_the_tree_is_folded_above_the_results(visiting: "Visiting") -> None:
    visitor = phone(visiting)
    page = visitor.open("/")
    page.locator("#q").fill(QUESTION)
    with visitor.going():
        page.locator(".go").tap()
    assert not page.locator(".tree").is_visible()
    fold = page.locator(".fold")
    assert fold.get_attribute("open") is None
    assert not fold.locator(".branches").first.is_visible()
    fold.locator("> summary").tap()
    fold.locator("[href='#hit-3']").tap()
    page.wait_for_url("**#hit-3")
    assert page.evaluate("document.activeElement.id") == "hit-3"
    with visitor.going():
        page.locator("#hit-3 h3 a").tap()
    assert visitor.path.startswith("/article/")
    page.go_back()
    assert page.locator("#q").input_value() == QUESTION


def test_dark_mode_is_dark(visiting: "Visiting") -> None:
    light, dark = visiting(), visiting(color_scheme="dark")
    for path in ("/", FINES):
        ground, ink = light.open(path).evaluate(GROUND)
        assert ground > 0.9
        assert ink < 0.3
        ground, ink = dark.open(path).evaluate(GROUND)
        assert ground < 0.2
        assert ink > 0.8


def test_an_article_is_printed_without_navigation(visitor: "Visitor") -> None:
    page = visitor.open(FINES)
    page.emulate_media(media="print")
    for selector in (".skip", ".menu", ".quick", ".switch", ".neighbours", ".drawing", ".bottom nav"):
        assert page.locator(selector).count() == 1
        assert not page.locator(selector).is_visible(), selector
    for selector in ("h1", ".law-text", "nav > .crumbs", ".badges", ".day", ".lists", ".advice"):
        assert page.locator(selector).is_visible(), selector
    ground, ink = page.evaluate(GROUND)
    assert ground == 1
    assert ink == 0
    assert page.pdf().startswith(b"%PDF")


def test_where_less_motion_is_asked_for_nothing_moves(visiting: "Visiting", dated: str) -> None:
    moving = "() => getComputedStyle(document.querySelector('.preparing .logo')).animationName"
    visitor = visiting(dated)
    assert visitor.open("/loi?as_of=2022-02-02", 503).evaluate(moving) == "breathe"
    visitor.page.emulate_media(reduced_motion="reduce")
    assert visitor.page.evaluate(moving) == "none"


def test_without_javascript_questions_are_asked_filtered_and_shared(visiting: "Visiting") -> None:
    visitor = visiting(java_script_enabled=False)
    page = visitor.open("/")
    page.locator("#q").fill(QUESTION)
    visitor.click(".go")
    assert page.locator(".hits > li").count() == 10
    page.locator(".filters > summary").click()
    page.get_by_label(FAIRS).check()
    visitor.click(".fields button")
    assert set(visitor.texts(".hits .badge.code")) == {FAIRS}
    hits = visitor.texts(".hits h3")

    assert not page.locator("[data-copy]").is_visible()
    visitor.click("[data-open]")
    assert parse_qs(urlsplit(page.url).query) == {"q": [QUESTION], "code": ["VALTEXT02"]}
    assert visitor.texts(".hits h3") == hits
    assert page.get_by_label(FAIRS).is_checked()


def test_without_javascript_the_law_is_read(visiting: "Visiting") -> None:
    visitor = visiting(java_script_enabled=False)
    page = visitor.open("/")
    visitor.click(".examples button >> nth=0")
    page.locator(".why summary").first.click()
    assert page.locator(".why li").first.is_visible()
    branch = page.locator(".tree details").first
    branch.locator("> summary").click()
    assert not page.locator(".tree .lit").first.is_visible()
    branch.locator("> summary").click()
    page.locator(".tree [href='#hit-4']").click()
    assert page.url.endswith("#hit-4")
    first = visitor.texts(".hits h3")[0]
    visitor.click(".hits h3 a >> nth=0")
    assert visitor.texts("h1") == [first]
    visitor.click("nav .crumbs a >> nth=-1")
    assert page.locator(".rows li").count() > 0
    page.locator("#quick-q").fill(QUESTION)
    visitor.click(".quick button")
    assert page.locator("#q").input_value() == QUESTION
    visitor.click(".switch")
    assert page.locator("#q").input_value() == QUESTION
    assert page.locator("html").get_attribute("lang") == "en"
