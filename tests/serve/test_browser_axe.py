"""In a real browser: axe-core finds nothing to object to, on any kind of page, in both languages, in light and dark, on
a desk and on a phone.
"""

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from browser import Visiting, Visitor

pytestmark = pytest.mark.real
pytest_plugins = ["browser"]

PAGES = {
    "home": ("/", "/en/"),
    "results": ("/recherche?q=place+de+march%C3%A9&code=VALTEXT02", "/en/search?q=place+de+march%C3%A9&code=VALTEXT02"),
    "none": ("/recherche?q=%3F!", "/en/search?q=%3F!"),
    "article": ("/article/VALARTI0031", "/en/article/VALARTI0031"),
    "table": ("/article/VALARTI0035", "/en/article/VALARTI0035"),
    "section": ("/loi/VALSCTA0103", "/en/law/VALSCTA0103"),
    "tree": ("/loi", "/en/law"),
    "data": ("/donnees", "/en/data"),
    "privacy": ("/confidentialite", "/en/privacy"),
    "help": ("/aide", "/en/help"),
    "api": ("/api", "/en/api"),
}
OF_DAYS = {
    "outside": ("/recherche?q=place+en+cr%C3%A8che", "/en/search?q=place+en+cr%C3%A8che", 200),
    "not held": ("/recherche?q=L999-9&as_of=2021-03-01", "/en/search?q=L999-9&as_of=2021-03-01", 200),
    "preparing": ("/loi?as_of=2022-02-02", "/en/law?as_of=2022-02-02", 503),
}
WIDTHS = (1280, 390)
OPEN_ALL = "document.querySelectorAll('details').forEach((one) => { one.open = true; })"
OBJECTIONS = """async (rules) => (await axe.run({resultTypes: ["violations"], preload: false, ...rules}))
    .violations.flatMap((rule) =>
        rule.nodes.map((node) => `${rule.impact}: ${rule.id}: ${node.target}: ${node.failureSummary}`))"""
ALL: dict[str, Any] = {}
COLOURS = {"runOnly": ["color-contrast", "link-in-text-block"]}
"""The rules that dark mode may break."""
SMALL = """async () => (await axe.run({runOnly: ["target-size"], preload: false})).violations.flatMap((rule) =>
    rule.nodes.map((node) => `${node.target}: ${node.failureSummary}`))"""
DRAWN = """() => {
    const light = (colour) => {
        const parts = colour.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255);
        const linear = parts.map((part) => part <= .04045 ? part / 12.92 : ((part + .055) / 1.055) ** 2.4);
        return .2126 * linear[0] + .7152 * linear[1] + .0722 * linear[2] + .05;
    };
    return [...document.querySelectorAll("svg.graph text")].map((text) => {
        const box = text.parentElement.querySelector(":scope > rect");
        const ground = box ? getComputedStyle(box).fill : getComputedStyle(document.body).backgroundColor;
        const [one, other] = [getComputedStyle(text).fill, ground].map(light);
        return Math.max(one, other) / Math.min(one, other);
    });
}"""
"""How much each text of the drawing stands out: axe cannot tell what is behind it."""


def looked_at(visitor: "Visitor", axe: str, path: str, status: int = 200) -> None:
    """One page in all its looks, its folds open."""
    page = visitor.open(path, status)
    page.evaluate(OPEN_ALL)
    page.evaluate(axe)
    found = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 844})
        for scheme, rules in (("light", ALL), ("dark", COLOURS)):
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            found += [f"{path} {width} {scheme}: {objection}" for objection in page.evaluate(OBJECTIONS, rules)]
    assert not found, "\n\n".join(found)


@pytest.mark.parametrize("lang", [0, 1], ids=["fr", "en"])
@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_objected_to(visitor: "Visitor", axe: str, name: str, lang: int) -> None:
    looked_at(visitor, axe, PAGES[name][lang])


@pytest.mark.parametrize("lang", [0, 1], ids=["fr", "en"])
@pytest.mark.parametrize("name", OF_DAYS)
def test_nor_where_there_are_several_days(visiting: "Visiting", dated: str, axe: str, name: str, lang: int) -> None:
    looked_at(visiting(dated), axe, OF_DAYS[name][lang], OF_DAYS[name][2])


@pytest.mark.parametrize("path", ["/rien", "/en/nothing"])
def test_nor_to_an_error(visitor: "Visitor", axe: str, path: str) -> None:
    looked_at(visitor, axe, path, 404)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_is_drawn_stands_out(visiting: "Visiting", scheme: str) -> None:
    contrasts = visiting(color_scheme=scheme).open("/article/VALARTI0046").evaluate(DRAWN)
    assert len(contrasts) >= 10
    assert min(contrasts) >= 4.5


def test_fingers_have_room(visiting: "Visiting", axe: str) -> None:
    """24 by 24 pixels, or as much space around (WCAG 2.2, 2.5.8)."""
    visitor = visiting(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    for name in ("home", "results", "article", "section", "help"):
        page = visitor.open(PAGES[name][0])
        page.evaluate(OPEN_ALL)
        page.evaluate(axe)
        assert not (small := page.evaluate(SMALL)), f"{name}: {small}"


def test_axe_would_object(visitor: "Visitor", axe: str) -> None:
    page = visitor.open("/")
    page.evaluate(axe)
    page.locator("h1").evaluate("heading => { heading.style.color = '#234'; }")
    page.locator("html").evaluate("html => html.removeAttribute('lang')")
    found = page.evaluate(OBJECTIONS, ALL)
    assert [objection.split(": ")[:3] for objection in found] == [
        ["serious", "color-contrast", "#hero-title"], ["serious", "html-has-lang", "html"]
    ]  # fmt: skip
    assert page.evaluate(OBJECTIONS, COLOURS) == found[:1]
