"""In a real browser, with a keyboard alone: every stop is seen, and all can be done."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from browser import Visiting, Visitor

pytestmark = pytest.mark.real
pytest_plugins = ["browser"]

RESULTS, ARTICLE = "/recherche?q=place+de+march%C3%A9", "/article/VALARTI0031"
MOST_STOPS = 150
STOP = """() => {
    const stop = document.activeElement, style = getComputedStyle(stop), box = stop.getBoundingClientRect();
    const ring = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
    let behind = stop.parentElement;
    while (behind && getComputedStyle(behind).backgroundColor === "rgba(0, 0, 0, 0)") behind = behind.parentElement;
    const light = (colour) => {
        const parts = colour.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255);
        const linear = parts.map((part) => part <= .04045 ? part / 12.92 : ((part + .055) / 1.055) ** 2.4);
        return .2126 * linear[0] + .7152 * linear[1] + .0722 * linear[2] + .05;
    };
    const [one, other] = [style.outlineColor, getComputedStyle(behind || document.body).backgroundColor].map(light);
    stop.dataset.stops = Number(stop.dataset.stops || 0) + 1;
    return {
        html: stop.outerHTML.slice(0, 120).replace(/\\s+/g, " "),
        text: (stop.innerText ?? stop.textContent).trim(),
        href: stop.getAttribute("href"),
        name: stop.tagName.toLowerCase(),
        times: Number(stop.dataset.stops),
        seen: box.width > 8 && box.height > 8 && box.bottom > 0 && box.top < innerHeight && box.right > 0,
        ring: ring || style.boxShadow !== "none",
        contrast: Math.max(one, other) / Math.min(one, other),
    };
}"""
"""Where the focus is, and whether that can be seen: 3:1 is what WCAG asks of a ring."""
STOPS = """() => [...document.querySelectorAll(
        "a[href], button, input:not([type=hidden]), textarea, summary, [tabindex='0']"
    )].filter((one) => one.checkVisibility({visibilityProperty: true})).length"""
"""How many places a keyboard should reach."""


def stops(visitor: "Visitor") -> Iterator[dict[str, Any]]:
    """Press Tab: each stop in turn, which must be seen, until the focus leaves the page."""
    for _ in range(MOST_STOPS):
        visitor.page.keyboard.press("Tab")
        stop = visitor.page.evaluate(STOP)
        if stop["name"] == "body" or stop["times"] > 1:
            return
        assert stop["seen"], f"the focus cannot be seen: {stop['html']}"
        assert stop["ring"], f"the focus is not drawn: {stop['html']}"
        assert stop["contrast"] >= 3, f"the focus is hard to see ({stop['contrast']:.1f}:1): {stop['html']}"
        yield stop
    raise AssertionError("there is no end to the stops: " + stop["html"])


def reach(visitor: "Visitor", **wanted: str) -> None:
    """Press Tab until the focus is on what is wanted."""
    for stop in stops(visitor):
        if all(stop[key] == value for key, value in wanted.items()):
            return
    raise AssertionError(f"not reached: {wanted}")


def test_a_question_is_asked_read_and_left_again(visitor: "Visitor") -> None:
    page = visitor.open("/")
    reach(visitor, text=visitor.t("skip"))
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    reach(visitor, name="textarea")
    page.keyboard.type("Combien coûte une place au marché ?")
    with visitor.going():
        page.keyboard.press("Enter")
    hits = visitor.texts(".hits h3")
    reach(visitor, text=visitor.t("skip"))
    page.keyboard.press("Enter")
    reach(visitor, text=hits[1])
    with visitor.going():
        page.keyboard.press("Enter")
    assert visitor.texts("h1") == [hits[1]]
    page.go_back()
    assert visitor.texts(".hits h3") == hits


def test_a_code_is_chosen(visitor: "Visitor") -> None:
    page = visitor.open("/")
    reach(visitor, name="textarea")
    page.keyboard.type("place")
    reach(visitor, text=visitor.t("filters.title_codes"))
    page.keyboard.press("Enter")
    reach(visitor, name="input")
    page.keyboard.press("Space")
    reach(visitor, text=visitor.t("filters.apply"))
    with visitor.going():
        page.keyboard.press("Enter")
    assert len(set(visitor.texts(".hits .badge.code"))) == 1


@pytest.mark.parametrize(
    ("path", "scheme"),
    [
        *[(path, "light") for path in ("/", RESULTS, ARTICLE, "/article/VALARTI0035", "/loi/VALTEXT01")],
        *[(path, "dark") for path in ("/", RESULTS, ARTICLE)],
    ],
)
def test_every_stop_is_seen(visiting: "Visiting", path: str, scheme: str) -> None:
    visitor = visiting(color_scheme=scheme)
    page = visitor.open(path)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    there = page.evaluate(STOPS)
    assert len(list(stops(visitor))) == there
